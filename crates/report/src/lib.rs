//! Analyses as text, JSON, CSV, Markdown, HTML and plots.
//!
//! Everything that shows reads an [`Analysis`](assay_analysis::Analysis) and nothing else: these are pure functions to strings and bytes.
//! They must not print, read files, look at a clock or compute statistics; the only arithmetic here is that of formatting.
//!
//! - [`number`]: values, percents and durations as people read them.
//! - [`words`]: a comparison as a sentence.
//! - [`terminal`]: the screen. [`progress`]: the lines shown while measuring.
//! - [`benchmarks`]: a suite, in all forms.
//! - [`overview`]: many series in one table.
//! - [`describe`]: one series from every side.
//! - [`calibration`]: how far this machine is to be believed. [`doctor`]: what disturbs it, and what shields.
//! - [`profile`]: where the time goes, as table, flame graph and page.
//! - [`replication`]: a run and its repetition. [`history`]: runs that are kept. [`bisect`]: which commit did it.
//! - [`test_log`]: which tests write most into a log. [`mutation`]: which changes of the source the tests notice.
//! - [`farm`]: what came of every version on every platform.
//! - [`charts`]: plots as SVG and PNG. [`html`]: the page one can publish.
//! - [`protocol`]: the chain from validity to effect, step by step.
//! - [`planning`]: how many runs.
//! - [`json`], [`csv`], [`markdown`]: the same for programs, spreadsheets and pull requests.
//!
//! ```
//! use assay_analysis::{Options, analyse};
//! use assay_data::{Metric, Samples};
//! use assay_report::benchmarks::Shown;
//! use assay_report::terminal::{Screen, render};
//!
//! let mut samples = Samples::new(vec![Metric::wall()]);
//! let build = samples.add_subject("build");
//! (0..9).for_each(|i| samples.push_value(build, 2.0 + f64::from(i * 5 % 9) / 100.0));
//! let analysis = analyse(&samples, &Options::default())?;
//! let text = render(&analysis, Shown::default(), &Screen { width: 80, color: false, unicode: true, whole: false });
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
pub mod csv;
pub mod describe;
pub mod doctor;
pub mod farm;
pub mod findings;
pub mod glossary;
mod grid;
pub mod history;
pub mod html;
pub mod json;
mod label;
mod layout;
pub mod markdown;
mod medians;
pub mod mutation;
mod names;
mod noise;
pub use assay_analysis::number;
pub mod overview;
mod packed;
pub mod planning;
mod plot;
pub mod preloaded;
pub mod profile;
pub mod progress;
pub mod protocol;
pub mod remarks;
pub mod replication;
mod sarif;
mod scan;
mod scan_table;
mod screen_table;
mod secondary;
pub mod site;
mod small_table;
pub mod terminal;
pub mod test_log;
pub mod tests_run;
mod ticks;
pub mod watching;
pub mod words;
