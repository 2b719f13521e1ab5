//! Findings: what a check of an assumption found, as data that every report renders.
//!
//! A finding has a stable code (listed in `docs/reference/findings.md`), so that scripts can rely on it, the numbers behind
//! it, and what to do about it ([`Advice`]). Files and reports write it in the same layout. Nothing here decides; the checks that make
//! findings live in the analysis.

use crate::advice::Advice;
use serde::{Deserialize, Serialize};

pub mod shared;

/// How much a finding matters to the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the verdict stands.
    Note,
    /// The verdict may be off, or could be had more cheaply: follow the advice.
    Warning,
    /// The verdict was changed or withheld because of this.
    Serious,
}

impl Severity {
    /// The word for it, as JSON and pages write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Serious => "serious",
        }
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name, upper case with underscores: `DRIFT`, `TIMEOUTS`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in one plain sentence without a final full stop.
    pub message: String,
    /// The subject concerned, by its name; `None` when it concerns the whole run.
    #[serde(default)]
    pub subject: Option<String>,
    /// The numbers behind it, each with its name; base units. An object in JSON; `null` for a number that is not known (NaN here).
    #[serde(default, with = "evidence")]
    pub evidence: Vec<(String, f64)>,
    /// What to do about it: alternatives, the best first. Empty when there is nothing to do.
    #[serde(default)]
    pub advice: Vec<Advice>,
}

impl Finding {
    /// A finding about the whole run, without numbers or advice yet.
    pub fn new(code: &str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            severity,
            message: message.into(),
            subject: None,
            evidence: Vec::new(),
            advice: Vec::new(),
        }
    }

    /// Names the subject that the finding is about.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    /// Adds a number behind the finding.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.evidence.push((name.to_owned(), value));
        self
    }

    /// Adds something to do about it, after what was added before.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<Advice>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// A number behind the finding, by its name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.evidence.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
    }
}

/// The numbers as an object, in their order.
mod evidence {
    use serde::de::{Deserializer, MapAccess, Visitor};
    use serde::ser::Serializer;
    use std::fmt;

    pub(super) fn serialize<S: Serializer>(
        evidence: &[(String, f64)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(evidence.iter().map(|(name, value)| (name, value)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, f64)>, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, f64)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Option<f64>>()? {
                    pairs.push((name, value.unwrap_or(f64::NAN)));
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::Action;
    use serde_json::json;

    #[test]
    fn a_finding_is_written_as_objects_and_read_back() {
        let finding = Finding::new("LOAD", Severity::Warning, "busy")
            .with("load_1m", 3.5)
            .with("cpus_online", 2.0)
            .advise(Action::StopOtherWork);
        let written = serde_json::to_value(&finding).expect("plain data");
        let advice =
            json!([{"action": "stop_other_work", "text": "stop other work on this machine"}]);
        assert_eq!(
            written,
            json!({
                "code": "LOAD", "severity": "warning", "message": "busy", "subject": null,
                "evidence": {"load_1m": 3.5, "cpus_online": 2.0}, "advice": advice,
            })
        );
        assert_eq!(serde_json::from_value::<Finding>(written).expect("as written"), finding);
    }

    #[test]
    fn what_is_not_known_is_null() {
        let finding =
            Finding::new("CLOCK_SOURCE", Severity::Warning, "slow").with("cost", f64::NAN);
        let written = serde_json::to_string(&finding).expect("plain data");
        assert!(written.contains(r#""evidence":{"cost":null}"#), "{written}");
        let read: Finding = serde_json::from_str(&written).expect("as written");
        assert!(read.number("cost").is_some_and(f64::is_nan));
    }
}
