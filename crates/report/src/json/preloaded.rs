//! The processes kept loaded by `assay warm`, as JSON.

use super::Head;
use super::values::view;
use crate::preloaded::{Held, HeldStage};

view! {
    /// What is kept loaded: of all projects of this user.
    HeldProcesses of (held: &[Held]) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("warm"),
        /// The processes.
        held: Vec<HeldProcess> = held.iter().map(HeldProcess::of).collect(),
    }
}

view! {
    /// A process that is kept loaded.
    HeldProcess of (held: &Held) {
        /// The command with which it was started.
        command: String = held.command.clone(),
        /// The directory in which it was started.
        directory: String = held.directory.clone(),
        /// The number of the process that keeps it.
        keeper: u64 = held.keeper,
        /// Its own number.
        process: u64 = held.process,
        /// `ready`, `loading`, or why it can't be had.
        standing: String = held.standing.clone(),
        /// Since when it is kept, in UTC.
        since: String = held.since.clone(),
        /// When it was used last, in UTC.
        used: String = held.used.clone(),
        /// Runs that it was asked for.
        runs: u64 = held.runs,
        /// It ends when it is not used for so long from now, s.
        ends_in: f64 = held.ends_in,
        /// What all its stages hold in memory, B; of what they share each has its part.
        memory: u64 = held.memory,
        /// Its stages, the first one first.
        stages: Vec<HeldProcessStage> = held.stages.iter().map(HeldProcessStage::of).collect(),
        /// What a fork does not carry over, and what could not be loaded.
        notes: Vec<String> = held.notes.clone(),
    }
}

view! {
    /// A stage of a process that is kept loaded.
    HeldProcessStage of (stage: &HeldStage) {
        /// `framework`, `application` or `helpers`.
        name: String = stage.name.clone(),
        /// The number of its process.
        process: u64 = stage.process,
        /// How many files it loaded.
        files: u64 = stage.files,
        /// How long that took, s.
        seconds: f64 = stage.seconds,
        /// Its share of memory, B; `null`: not known.
        memory: Option<u64> = stage.memory,
    }
}
