//! The data model of `assay`: measurements, the plan and the machine behind them, and the files
//! that store them.
//!
//! Everything that measures produces [`Samples`], and everything that decides reads them. This
//! crate holds the model, the `.assay` format ([`assay_file`]), the importers ([`import`]) and the
//! raw exporters ([`export`]), and parses the numbers that programs report ([`reading`],
//! [`protocol`]). It must not make decisions, compute statistics, read a clock or print.
//!
//! ```
//! use assay_data::{Metric, Samples};
//!
//! let mut samples = Samples::new(vec![Metric::wall()]);
//! let old = samples.add_subject("old");
//! samples.push_value(old, 0.812);
//! assert_eq!(samples.series(old, 0).values, [0.812]);
//! ```

pub mod advice;
pub mod assay_file;
mod declared_unit;
pub mod environment;
mod excerpt;
pub mod export;
pub mod farm;
pub mod finding;
mod histogram;
pub mod import;
pub mod input;
pub mod limits;
mod lines;
pub mod list;
pub mod metric_names;
pub mod mutation;
mod number;
pub mod path;
pub mod plan;
pub mod private;
pub mod protocol;
pub mod publishing;
mod read_error;
pub mod reading;
pub mod samples;
pub mod seen;
pub mod select;
pub mod source;
pub mod system_error;
pub mod test_log;
pub mod test_results;
pub mod threads;
pub mod tool;
pub mod unit;
pub mod xml;

pub use advice::{Action, Advice, Invocation};
pub use environment::Environment;
pub use finding::{Finding, Severity, code};
pub use histogram::{Histogram, HistogramError};
pub use plan::{Plan, StopReason, StopRule, Threshold};
pub use read_error::{FilePosition, ReadError};
pub use samples::{
    Better, Design, Inner, Metric, Observation, Outcome, ParameterValue, Pass, Recorded, Row,
    Samples, Series, Side, Subject, Summary,
};
pub use source::{Purpose, Source, Turn};
pub use tool::Tool;
pub use unit::Unit;
