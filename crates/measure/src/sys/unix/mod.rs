//! macOS and the BSDs: what POSIX has, and for the rest the answer that this system does not offer it.

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

/// The runner that is used unless another is named.
pub(crate) const BEST_RUNNER: RunnerKind = RunnerKind::Portable;
