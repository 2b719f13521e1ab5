//! The state of a version on a platform as a farm reports it, and the description of a platform.
//! Nothing is decided or requested here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts that describe a platform, by name: `os`, `kernel`, `libc`, `cpu`, `microcode`, `arch`,
/// `runtime.ruby`, `setting.governor`, …
pub type Facts = BTreeMap<String, String>;

/// Result of a version on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Tests ran and all passed.
    Passed,
    /// Tests ran and some failed.
    Failed,
    /// Tests started but could not be run to the end.
    Errored,
    /// There is no evidence that a test ran.
    NotTested,
    /// The version or one of its dependencies could not be installed or compiled.
    InstallFailed,
    /// The job exceeded its time limit.
    TimedOut,
    /// The machine caused the failure, not the version.
    Infrastructure,
    /// The node that held the job disappeared repeatedly.
    Lost,
}

impl State {
    /// All states, in the order of their definition.
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

    /// Returns the name used in the store and on the wire.
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

    /// Returns the state with this name, or `None` if there is no such state.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns true if another attempt may have a different result, because this one gives no
    /// information about the version.
    #[must_use]
    pub const fn is_retried(self) -> bool {
        matches!(self, Self::Infrastructure | Self::Lost)
    }
}
