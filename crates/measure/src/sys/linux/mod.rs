//! Linux: the launcher, which is started from a memory file, the page shared with it, signal
//! handlers, `/proc` and `/sys`.

pub(crate) mod child;
pub(crate) mod clock;
pub(crate) mod descriptors;
pub(crate) mod facts;
pub(crate) mod inotify;
pub(crate) mod knobs;
pub(crate) mod launched;
pub(crate) mod launcher;
pub(crate) mod locked;
pub(crate) mod machine_settings;
pub(crate) mod memory;
mod parse;
pub(crate) mod perf;
pub(crate) mod processes;
pub(crate) mod relay;
pub(crate) mod signals;
pub(crate) mod usage;

use crate::runner::RunnerKind;

/// Default runner.
pub(crate) const BEST_RUNNER: RunnerKind = RunnerKind::Launcher;
