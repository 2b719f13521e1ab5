//! Analyses as text, JSON, CSV, Markdown, HTML and plots.
//!
//! All renderers read an [`Analysis`](assay_analysis::Analysis) and nothing else. They are pure
//! functions that return strings or bytes: they must not print, read files, look at a clock or
//! compute statistics, and the only arithmetic here is for formatting. Only [`console`] prints and
//! writes files, and it is only used by programs.
//!
//! - [`number`]: values, percentages and durations in readable form.
//! - [`words`]: a comparison as a sentence.
//! - [`terminal`]: the report for the terminal. [`progress`]: the lines shown while measuring.
//! - [`benchmarks`]: a suite of benchmarks in every output format.
//! - [`overview`]: many series in one table.
//! - [`describe`]: a single series in detail.
//! - [`calibration`]: how far measurements on this machine can be trusted. [`doctor`]: sources of
//!   disturbance, and protections against them.
//! - [`profile`]: where the time is spent, as a table, a flame graph and a page.
//! - [`replication`]: a run and its repetition. [`claim`]: a result on several machines.
//!   [`history`]: stored runs. [`bisect`]: the commit responsible for a change.
//! - [`check`]: the answer about a pull request. [`why`]: the cause of a difference.
//! - [`test_log`]: the tests that write most to a log. [`mutation`]: the source changes that the
//!   tests detect.
//! - [`farm`]: the results of every version on every platform.
//! - [`charts`]: plots as SVG and PNG. [`html`]: the page for publication.
//! - [`protocol`]: the chain from validity to effect, step by step.
//! - [`planning`]: the number of runs needed.
//! - [`json`], [`csv`], [`markdown`]: the same results for programs, spreadsheets and pull
//!   requests.
//!
//! ```
//! use assay_analysis::{Options, analyse};
//! use assay_data::{Metric, Samples};
//! use assay_report::benchmarks::DisplayOptions;
//! use assay_report::terminal::{Screen, render};
//!
//! let mut samples = Samples::new(vec![Metric::wall()]);
//! let build = samples.add_subject("build");
//! (0..9).for_each(|i| samples.push_value(build, 2.0 + f64::from(i * 5 % 9) / 100.0));
//! let analysis = analyse(&samples, &Options::default())?;
//! let screen = Screen { width: 80, color: false, unicode: true, whole: false };
//! let text = render(&analysis, DisplayOptions::default(), &screen);
//! assert!(text.starts_with("'build' takes 2.040 s [2.010 … 2.070]"), "{text}");
//! # Ok::<(), assay_analysis::analysis::AnalysisError>(())
//! ```

mod all_table;
mod answers;
pub mod benchmarks;
pub mod benchstat;
pub mod bisect;
pub mod calibration;
pub mod charts;
pub mod check;
mod checks;
pub mod claim;
pub mod console;
pub mod csv;
pub mod describe;
pub mod doctor;
mod escape;
pub mod farm;
pub mod findings;
pub mod glossary;
mod goals;
mod grid;
pub mod history;
pub mod html;
pub mod json;
mod label;
mod layout;
pub mod markdown;
mod markup;
mod medians;
pub mod mutation;
mod names;
mod noise;
pub use assay_analysis::number;
pub use names::is_invisible;
pub mod overview;
mod packed;
pub mod planning;
mod plot;
pub mod preloaded;
pub mod profile;
pub mod progress;
pub mod protocol;
mod ranking;
pub mod remarks;
pub mod replication;
mod sarif;
mod scan;
mod scan_table;
mod screen_table;
mod secondary;
pub mod shell;
pub mod site;
mod small_table;
pub mod terminal;
pub mod test_log;
pub mod tests_run;
mod ticks;
pub mod watching;
pub mod why;
pub mod words;
