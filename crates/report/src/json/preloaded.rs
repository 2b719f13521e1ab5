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
        command: String = held.command.clone(),
        /// The directory that it was started in.
        directory: String = held.directory.clone(),
        /// Process id of the process that keeps it.
        keeper: u64 = held.keeper,
        /// Its own process id.
        process: u64 = held.process,
        /// `ready`, `loading`, or the reason why it is unavailable.
        standing: String = held.standing.clone(),
        /// Time of its start, UTC.
        since: String = held.since.clone(),
        /// Time of its last use, UTC.
        used: String = held.used.clone(),
        /// Number of runs requested from it.
        runs: u64 = held.runs,
        /// Time until it ends, if it is not used, s.
        ends_in: f64 = held.ends_in,
        /// Memory of all its stages, B; shared memory is divided among the stages.
        memory: u64 = held.memory,
        /// Its stages, first one first.
        stages: Vec<HeldProcessStage> = held.stages.iter().map(HeldProcessStage::of).collect(),
        /// Limits of a fork, and files that could not be loaded.
        notes: Vec<String> = held.notes.clone(),
    }
}

view! {
    /// A stage of a process that is kept loaded.
    HeldProcessStage of (stage: &HeldStage) {
        /// `framework`, `application` or `helpers`.
        name: String = stage.name.clone(),
        /// Its process id.
        process: u64 = stage.process,
        /// Number of files that it loaded.
        files: u64 = stage.files,
        /// Loading time, s.
        seconds: f64 = stage.seconds,
        /// Its share of the memory, B; `null` if unknown.
        memory: Option<u64> = stage.memory,
    }
}
