//! A finding as JSON, with its advice.

use super::values::{NamedValues, Severity, View, view};
use assay_data::Invocation;
use serde::Serialize;
use serde_json::{Map, Value};

view! {
    /// A finding of a check.
    Finding of (finding: &assay_data::Finding) {
        /// Stable code of the finding, listed in [findings](findings.md).
        code: String,
        /// Severity of the finding.
        severity: Severity,
        /// The finding in one sentence.
        message: String,
        /// Name of the subject; `null` for the whole run.
        subject: Option<String>,
        /// The numbers of the finding, by name, in base units; `null` for an unknown number.
        evidence: NamedValues<Option<f64>>,
        /// Ways to deal with it, best first.
        advice: Vec<Advice>,
    }
}

/// One way to deal with a finding.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// A stable word, such as `decide_by`, `measure_longer` or `stop_other_work`; `do` and `run`
    /// are actions that no option of assay performs.
    pub action: String,
    /// The action in words.
    pub text: String,
    /// The option of this verb that performs the action; `null` if there is none.
    pub option: Option<String>,
    /// The value for the option; `null` if there is none.
    pub value: Option<String>,
    /// A command to run instead; `null` if there is none.
    pub command: Option<String>,
    /// Details of the action, by name: the `metric` to decide by, the number of `seconds`, `runs`
    /// or `values`, their `units` or `rows`, the `setting` of the tool that recorded, the `page` to
    /// read.
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
