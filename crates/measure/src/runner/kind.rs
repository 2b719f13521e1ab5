//! The engines, and how one is chosen.

use super::engine::Engine;
use super::portable::Portable;
use crate::error::MeasureError;
use crate::sys;
use std::{fmt, io};

/// Name of the environment variable that selects the kind of runner.
pub const RUNNER: &str = "ASSAY_RUNNER";

/// The kinds of runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerKind {
    /// The small program that starts, times and reaps commands. Available only on Linux.
    Launcher,
    /// A thread of this process that uses `posix_spawn` and `wait4`. It counts no events, and does
    /// not support process settings.
    Portable,
}

impl RunnerKind {
    const ALL: [Self; 2] = [Self::Launcher, Self::Portable];

    /// Returns the kind of runner for this process: the one that [`RUNNER`] names, or otherwise the
    /// best one on the system.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::UnknownRunner`] if the variable names no known kind.
    pub fn chosen() -> Result<Self, MeasureError> {
        let Some(named) = std::env::var_os(RUNNER).filter(|named| !named.is_empty()) else {
            return Ok(sys::BEST_RUNNER);
        };
        let offered = || Self::ALL.into_iter().filter(|kind| kind.is_offered());
        offered().find(|kind| named == kind.to_string().as_str()).ok_or_else(|| {
            let offered: Vec<String> = offered().map(|kind| format!("`{kind}`")).collect();
            MeasureError::UnknownRunner {
                named: named.to_string_lossy().into_owned(),
                offered: offered.join(" and "),
            }
        })
    }

    fn is_offered(self) -> bool {
        self == Self::Portable || self == sys::BEST_RUNNER
    }

    pub(super) fn start(self) -> Result<Box<dyn Engine>, MeasureError> {
        let started: io::Result<Box<dyn Engine>> = match self {
            Self::Launcher => sys::launched::launcher(),
            Self::Portable => Portable::start().map(|own| -> Box<dyn Engine> { Box::new(own) }),
        };
        started.map_err(|source| MeasureError::Launcher { source })
    }
}

/// Writes the name of the kind.
impl fmt::Display for RunnerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Launcher => "launcher",
            Self::Portable => "portable",
        })
    }
}
