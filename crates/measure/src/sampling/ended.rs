//! How a sampled program ended.

use crate::runner::Outcome;

/// How a run ended, and its resource use.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// Wall time, seconds.
    pub wall_seconds: f64,
    /// Processor time of all processes, including a sampler outside the program, seconds.
    pub cpu_seconds: f64,
    /// The part of that used by the started process itself, without its children, seconds: that of
    /// the sampler, if it started the program.
    pub leader_cpu_seconds: f64,
    /// True if the user interrupted.
    pub interrupted: bool,
    /// The end of the output on standard error.
    pub said: String,
}
