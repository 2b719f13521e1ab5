//! A finding as JSON, and what to do about it.

use super::values::{Named, Severity};
use assay_data::How;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// What a check found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Its stable name, listed in [findings](findings.md).
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one sentence.
    pub message: String,
    /// What it is about, by its name; `null` for the whole run.
    pub subject: Option<String>,
    /// The numbers behind it, by name, in base units; `null` for one that is not known.
    pub evidence: Named<Option<f64>>,
    /// What to do about it: alternatives, the best first.
    pub advice: Vec<Advice>,
}

/// One way to deal with a finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// A stable word, such as `decide_by`, `measure_longer` or `stop_other_work`; `do` and `run` are what no option of assay does.
    pub action: String,
    /// The same in words.
    pub text: String,
    /// The option of this verb that does it; `null` where there is none.
    pub option: Option<String>,
    /// The value to give to the option; `null` where there is none.
    pub value: Option<String>,
    /// A command to run instead; `null` where there is none.
    pub command: Option<String>,
    /// What belongs to the action, by name: the `metric` to decide by, how many `seconds`, `runs`, `values`, of which `units` or
    /// `rows`, the `setting` that the tool that recorded is to be given, the `page` to read.
    pub details: Map<String, Value>,
}

impl From<&assay_data::Advice> for Advice {
    fn from(advice: &assay_data::Advice) -> Self {
        let (option, value, command) = match &advice.how {
            None => (None, None, None),
            Some(How::Option(name, value)) => (Some((*name).to_owned()), value.clone(), None),
            Some(How::Command(line)) => (None, None, Some(line.clone())),
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

impl From<&assay_data::Finding> for Finding {
    fn from(finding: &assay_data::Finding) -> Self {
        Self {
            code: finding.code.clone(),
            severity: (&finding.severity).into(),
            message: finding.message.clone(),
            subject: finding.subject.clone(),
            evidence: finding.evidence.iter().map(|(name, v)| (name.clone(), Some(*v))).collect(),
            advice: finding.advice.iter().map(Advice::from).collect(),
        }
    }
}
