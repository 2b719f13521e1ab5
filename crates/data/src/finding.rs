//! Findings: what a check of an assumption found, as data that every report renders.
//!
//! A finding has a stable code (listed in `docs/reference/findings.md`), so that scripts can rely on it, the numbers behind
//! it, and what to do next. Nothing here decides; the checks that make findings live in the analysis.

use serde::{Deserialize, Serialize};

/// How much a finding matters to the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the verdict stands.
    Note,
    /// The verdict may be off, or could be had more cheaply: do what `next_step` says.
    Warning,
    /// The verdict was changed or withheld because of this.
    Serious,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The numbers behind it, each with its name; base units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<(String, f64)>,
    /// What to do about it: a command or an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
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
            next_step: None,
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

    /// Says what to do next.
    #[must_use]
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }
}
