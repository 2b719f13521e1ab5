//! The outcome of a sampled program.

use crate::runner::Outcome;

/// Outcome and resource use of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// Wall time, seconds.
    pub wall_seconds: f64,
    /// Processor time of all processes, including a sampler outside the program, seconds.
    pub cpu_seconds: f64,
    /// The part of the processor time used by the started process itself, without its children,
    /// seconds. If the sampler started the program, this is the sampler's own time.
    pub leader_cpu_seconds: f64,
    /// True if the user interrupted.
    pub interrupted: bool,
    /// The last part of standard error.
    pub said: String,
}
