//! What a farm says of versions: what came of one on a platform, and what a platform is. Nothing is decided here, and nobody is asked.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a platform is, by name: `os`, `kernel`, `libc`, `cpu`, `microcode`, `arch`, `runtime.ruby`, `setting.governor`, …
pub type Facts = BTreeMap<String, String>;

/// What came of a version on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Tests ran, and all passed.
    Passed,
    /// Tests ran, and some failed.
    Failed,
    /// Tests began, and could not be run to the end.
    Errored,
    /// There is no evidence that a test ran.
    NotTested,
    /// It, or something that it needs, could not be installed or compiled.
    InstallFailed,
    /// It took longer than it may.
    TimedOut,
    /// The machine was at fault, not the version.
    Infrastructure,
    /// Whoever had it was not heard of again, several times.
    Lost,
}

impl State {
    /// All states, in the order of their meaning.
    pub const ALL: [Self; 8] = [
        Self::Passed,
        Self::Failed,
        Self::Errored,
        Self::NotTested,
        Self::InstallFailed,
        Self::TimedOut,
        Self::Infrastructure,
        Self::Lost,
    ];

    /// As in the store and over the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::NotTested => "not_tested",
            Self::InstallFailed => "install_failed",
            Self::TimedOut => "timed_out",
            Self::Infrastructure => "infrastructure",
            Self::Lost => "lost",
        }
    }

    /// The state of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether another try may come to something else, since it says nothing about the version.
    #[must_use]
    pub const fn is_retried(self) -> bool {
        matches!(self, Self::Infrastructure | Self::Lost)
    }
}
