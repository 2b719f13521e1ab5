//! Results as JSON for programs. Each document has its own type: the fields are the members of the
//! document in order, and the doc comments become the reference page and the JSON Schema.
//!
//! Numbers are in base units. Values that are unknown, not finite or meaningless are `null`. A key
//! must not be dropped because its value is unknown, so that readers need not distinguish absent
//! from empty. Nothing is computed here.

mod answers;
mod battery;
mod bisect;
mod calibration;
mod check;
mod claim;
mod comparison;
mod curve;
mod description;
mod doctor;
mod finding;
mod history;
mod listing;
mod mutation;
mod of_analysis;
mod plan;
mod planning;
mod preloaded;
mod profile;
mod replication;
mod result;
mod rigorous;
mod sampled;
pub mod schema;
mod series;
mod suites;
mod synthetic;
mod test_log;
mod values;
mod watching;
mod why;

pub use battery::{GroupTests, PairTests};
pub use bisect::Bisection;
pub use calibration::Calibrated;
pub use check::{Checked, Explanation};
pub use claim::Claims;
pub use comparison::{Comparison, Family};
pub use curve::Curve;
pub use description::{Description, Summary};
pub use doctor::Diagnosis;
pub use finding::Finding;
pub use history::{
    Blessing, ChangedRun, Gated, Happenings, RunContents, RunList, StoreChange, Trends,
};
pub use listing::{Failure, Listed, Listing, SmokeTest};
pub use mutation::Mutated;
pub use plan::{Plan, Threshold};
pub use planning::ExperimentPlan;
pub use preloaded::HeldProcesses;
pub use profile::{ProfileDifference, ProfileShares};
pub use replication::Repetition;
pub use result::{Decision, Mean, Only, Row, Side};
pub use rigorous::Rigorous;
pub use sampled::SuiteShares;
pub use series::SeriesDescription;
pub use suites::TestSuite;
pub use synthetic::Synthetic;
pub use test_log::TestLog;
pub use values::{Estimate, Interval, Verdict};
pub use watching::WatchedRun;
pub use why::Reasons;

use assay_data::ParameterValue;
use assay_data::export::{Escapes, plain_text};
use serde::Serialize;
use serde_json::{Map, Value};

/// Version of the document layouts.
pub const VERSION: u64 = 1;

/// Facts about a report that a result does not contain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// The command that shows the result, such as `run` or `compare`.
    pub verb: String,
    /// The tool and version that made this report, as in `assay 0.1.0`.
    pub tool: String,
    /// The command line, as arguments.
    pub argv: Vec<String>,
    /// Path of the file with the samples, if they were kept.
    pub file: Option<String>,
}

/// The members with which every document begins.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head {
    /// Version of this layout: 1.
    pub schema: u64,
    /// The command that wrote this document.
    pub verb: &'static str,
}

impl Head {
    fn of(verb: &'static str) -> Self {
        Self { schema: VERSION, verb }
    }
}

/// Returns a document as text that ends with a line feed and contains no control characters other
/// than line feeds.
///
/// # Errors
///
/// Never fails for the documents of this crate, whose keys are all strings.
pub fn text(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| plain_text(&text, Escapes::Json) + "\n")
}

/// Returns a document as a single line that ends with a line feed, for a sequence of documents.
///
/// # Errors
///
/// Returns the same errors as [`text`].
pub fn line(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(document).map(|text| plain_text(&text, Escapes::Json) + "\n")
}

/// Returns parameters by name. Numbers remain numbers.
pub(crate) fn parameters(pairs: &[(String, ParameterValue)]) -> Map<String, Value> {
    let value = |value: &ParameterValue| serde_json::to_value(value).unwrap_or(Value::Null);
    pairs.iter().map(|(name, own)| (name.clone(), value(own))).collect()
}
