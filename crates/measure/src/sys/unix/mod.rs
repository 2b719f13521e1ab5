//! macOS and the BSDs, using features of POSIX. Functions that need more report that this system
//! does not support them.

pub(crate) mod child;
pub(crate) mod clock;
pub(crate) mod descriptors;
pub(crate) mod facts;
pub(crate) mod knobs;
pub(crate) mod launched;
pub(crate) mod locked;
pub(crate) mod memory;
pub(crate) mod perf;
pub(crate) mod signals;
pub(crate) mod waker;

use crate::runner::RunnerKind;

/// Default runner.
pub(crate) const BEST_RUNNER: RunnerKind = RunnerKind::Portable;
