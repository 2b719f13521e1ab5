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
        /// Command that started the process.
        command: String,
        /// Directory in which the process was started.
        directory: String,
        /// Process ID of the keeper that started the process.
        keeper: u64,
        /// Process ID.
        process: u64,
        /// `ready`, `loading`, or the reason why the process is unavailable.
        standing: String,
        /// Start time, in UTC.
        since: String,
        /// Time of the last use, in UTC.
        used: String,
        /// Number of runs requested from the process.
        runs: u64,
        /// Time until the process ends if it remains unused, in seconds.
        ends_in: f64,
        /// Memory of all stages, in bytes. Shared memory is divided among the stages.
        memory: u64,
        /// Stages, in order.
        stages: Vec<HeldProcessStage>,
        /// State that a fork does not preserve, and files that could not be loaded.
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
        /// Loading time, in seconds.
        seconds: f64,
        /// Share of the memory, in bytes; `null` if unknown.
        memory: Option<u64>,
    }
}
