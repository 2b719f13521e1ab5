//! The processes kept loaded by `assay warm`, as JSON.

use super::Head;
use super::values::view;
use crate::preloaded::{HeldStage, PreloadedProcess};

view! {
    /// Processes kept loaded for all projects of this user.
    HeldProcesses of (held: &[PreloadedProcess]) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("warm"),
        /// The processes.
        held: Vec<HeldProcess> => held,
    }
}

view! {
    /// A process that is kept loaded.
    HeldProcess of (held: &PreloadedProcess) {
        /// The command that started it.
        command: String,
        /// The directory that it was started in.
        directory: String,
        /// Process ID of its keeper.
        keeper: u64,
        /// Process ID.
        process: u64,
        /// `ready`, `loading`, or the reason why it is unavailable.
        standing: String,
        /// Time of its start, UTC.
        since: String,
        /// Time of its last use, UTC.
        used: String,
        /// Number of runs requested from it.
        runs: u64,
        /// Time until it ends if it remains unused, s.
        ends_in: f64,
        /// Memory of all stages, B; shared memory is divided among the stages.
        memory: u64,
        /// Stages, in order.
        stages: Vec<HeldProcessStage>,
        /// Limits of a fork, and files that could not be loaded.
        notes: Vec<String>,
    }
}

view! {
    /// A stage of a process that is kept loaded.
    HeldProcessStage of (stage: &HeldStage) {
        /// `framework`, `application` or `helpers`.
        name: String,
        /// Process ID.
        process: u64,
        /// Number of loaded files.
        files: u64,
        /// Loading time, s.
        seconds: f64,
        /// Share of the memory, B; `null` if unknown.
        memory: Option<u64>,
    }
}
