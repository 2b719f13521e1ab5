//! The outcome of a sampled program.

use crate::runner::Outcome;

/// Outcome and resource use of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessEnd {
    /// Outcome of the process.
    pub outcome: Outcome,
    /// Wall time, in seconds.
    pub wall_seconds: f64,
    /// Processor time of all processes, including a sampler outside the program, in seconds.
    pub cpu_seconds: f64,
    /// Processor time of the started process itself, without its children, in seconds. If a sampler
    /// started the program, this is the sampler's own time.
    pub leader_cpu_seconds: f64,
    /// True if the user interrupted the run.
    pub interrupted: bool,
    /// The end of standard error.
    pub said: String,
}
