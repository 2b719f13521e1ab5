//! Findings: the results of checks of assumptions, as data that every report renders.
//!
//! A finding has a stable code from the catalog ([`code`]) that scripts can rely on, the numbers
//! behind it, and advice ([`Advice`]). Files and reports write it in the same layout. Nothing is
//! decided here; the checks that create findings are in the analysis.

use crate::advice::Advice;
use serde::{Deserialize, Serialize};

pub mod code;
pub mod shared;

pub use code::Code;

/// Importance of a finding for the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, but the verdict holds.
    Note,
    /// The verdict may be wrong, or could be reached at lower cost. Follow the advice.
    Warning,
    /// The verdict was changed or withheld because of the finding.
    Serious,
}

impl Severity {
    /// Returns the name used in JSON and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Serious => "serious",
        }
    }
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name, upper case with underscores: `DRIFT`, `TIMEOUTS`.
    pub code: String,
    /// Importance for the verdict.
    pub severity: Severity,
    /// The message, in one plain sentence without a final period.
    pub message: String,
    /// Name of the subject concerned; `None` if the finding concerns the whole run.
    #[serde(default)]
    pub subject: Option<String>,
    /// The named numbers behind the finding, in base units. In JSON, this is an object in which an
    /// unknown number (NaN here) is `null`.
    #[serde(default, with = "evidence")]
    pub evidence: Vec<(String, f64)>,
    /// Alternative actions, best first; empty if there is nothing to do.
    #[serde(default)]
    pub advice: Vec<Advice>,
}

impl Finding {
    /// Creates a finding about the whole run, with the usual severity of its code and without
    /// numbers or advice.
    pub fn new(code: &Code, message: impl Into<String>) -> Self {
        Self {
            code: code.name.to_owned(),
            severity: code.severities[0],
            message: message.into(),
            subject: None,
            evidence: Vec::new(),
            advice: Vec::new(),
        }
    }

    /// Changes the severity.
    #[must_use]
    pub fn at(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Returns true if the finding has this code.
    pub fn is(&self, code: &Code) -> bool {
        self.code == code.name
    }

    /// Returns true if the finding says the same as `other` does about a different subject, so that
    /// a reader needs only one of them.
    pub fn is_like(&self, other: &Self) -> bool {
        let names =
            |own: &Self| own.evidence.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        self.code == other.code && self.severity == other.severity && names(self) == names(other)
    }

    /// Sets the subject that the finding is about.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    /// Adds a number to the evidence.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.evidence.push((name.to_owned(), value));
        self
    }

    /// Adds advice after the advice already there.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<Advice>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Returns the number `name` from the evidence.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.evidence.iter().find(|(known, _)| known == name).map(|&(_, value)| value)
    }
}

/// Serializes the numbers as an object, in order.
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
        let finding = Finding::new(crate::code::MACHINE_BUSY, "busy")
            .at(Severity::Warning)
            .with("load_1m", 3.5)
            .with("cpus_online", 2.0)
            .advise(Action::StopOtherWork);
        let written = serde_json::to_value(&finding).expect("plain data");
        let advice =
            json!([{"action": "stop_other_work", "text": "stop other work on this machine"}]);
        assert_eq!(
            written,
            json!({
                "code": "MACHINE_BUSY", "severity": "warning", "message": "busy", "subject": null,
                "evidence": {"load_1m": 3.5, "cpus_online": 2.0}, "advice": advice,
            })
        );
        assert_eq!(serde_json::from_value::<Finding>(written).expect("as written"), finding);
    }

    #[test]
    fn what_is_not_known_is_null() {
        let finding = Finding::new(crate::code::SYSTEM_SETTINGS, "slow")
            .at(Severity::Warning)
            .with("cost", f64::NAN);
        let written = serde_json::to_string(&finding).expect("plain data");
        assert!(written.contains(r#""evidence":{"cost":null}"#), "{written}");
        let read: Finding = serde_json::from_str(&written).expect("as written");
        assert!(read.number("cost").is_some_and(f64::is_nan));
    }
}
