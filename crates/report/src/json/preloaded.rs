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
        held: Vec<HeldProcess> = held.iter().map(HeldProcess::of).collect(),
    }
}

view! {
    /// A process that is kept loaded.
    HeldProcess of (held: &PreloadedProcess) {
        /// The command that started it.
        command: String,
        /// The directory that it was started in.
        directory: String,
        /// Process id of the process that keeps it.
        keeper: u64,
        /// Its own process id.
        process: u64,
        /// `ready`, `loading`, or the reason why it is unavailable.
        standing: String,
        /// Time of its start, UTC.
        since: String,
        /// Time of its last use, UTC.
        used: String,
        /// Number of runs requested from it.
        runs: u64,
        /// Time until it ends, if it is not used, s.
        ends_in: f64,
        /// Memory of all its stages, B; shared memory is divided among the stages.
        memory: u64,
        /// Its stages, first one first.
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
        /// Its process id.
        process: u64,
        /// Number of files that it loaded.
        files: u64,
        /// Loading time, s.
        seconds: f64,
        /// Its share of the memory, B; `null` if unknown.
        memory: Option<u64>,
    }
}
