//! A finding as JSON, with its advice.

use super::values::{NamedValues, Severity, View, view};
use assay_data::Invocation;
use serde::Serialize;
use serde_json::{Map, Value};

view! {
    /// A finding of a check, such as a warning about a measurement.
    Finding of (finding: &assay_data::Finding) {
        /// Stable code of the finding; [findings](findings.md) lists all codes.
        code: String,
        /// Severity of the finding.
        severity: Severity,
        /// The finding in one sentence.
        message: String,
        /// Name of the subject that the finding is about; `null` for the whole run.
        subject: Option<String>,
        /// Numbers that support the finding, by name, in base units. An unknown number is `null`.
        evidence: NamedValues<Option<f64>>,
        /// Ways to deal with the finding, best first.
        advice: Vec<Advice>,
    }
}

/// One way to deal with a finding.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// Stable identifier of the action, such as `decide_by`, `measure_longer` or `stop_other_work`.
    /// The actions `do` and `run` are not available as an option of assay.
    pub action: String,
    /// Description of the action.
    pub text: String,
    /// Option of the current verb that performs the action; `null` if there is none.
    pub option: Option<String>,
    /// Value for `option`; `null` if there is none.
    pub value: Option<String>,
    /// Command to run instead; `null` if there is none.
    pub command: Option<String>,
    /// Details of the action, by name: the `metric` to decide by, the number of `seconds`, `runs`
    /// or `values`, their `units` or `rows`, the `setting` of the tool that recorded the data, the
    /// `page` to read.
    pub details: Map<String, Value>,
}

impl View<assay_data::Advice> for Advice {
    fn view(advice: &assay_data::Advice) -> Self {
        let (option, value, command) = match &advice.how {
            None => (None, None, None),
            Some(Invocation::Option(name, value)) => {
                (Some((*name).to_owned()), value.clone(), None)
            }
            Some(Invocation::Command(line)) => (None, None, Some(line.clone())),
        };
        let mut details = match serde_json::to_value(&advice.action) {
            Ok(Value::Object(details)) => details,
            _ => Map::new(),
        };
        let mut taken = |key: &str| match details.shift_remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let action = taken("action").unwrap_or_default();
        let text = taken("text").unwrap_or_else(|| advice.action.to_string());
        let command = command.or_else(|| taken("command"));
        Self { action, text, option, value, command, details }
    }
}
