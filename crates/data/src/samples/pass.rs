//! The counting passes of a run.

use serde::{Deserialize, Serialize};

/// A pass of runs in which events are counted. These runs are separate from the measured ones
/// because counting slows a program down, so nothing is timed in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pass {
    /// Counts calls to `malloc` and related functions.
    Allocations,
    /// Counts instructions on a simulated processor.
    Instructions,
    /// Several exact counts in one run.
    Exact,
    /// Counts events with hardware counters.
    Counters,
}

impl Pass {
    /// All passes.
    pub const ALL: [Self; 4] = [Self::Allocations, Self::Instructions, Self::Exact, Self::Counters];

    /// Returns the name used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allocations => "allocations",
            Self::Instructions => "instructions",
            Self::Exact => "exact",
            Self::Counters => "counters",
        }
    }
}

/// A pass and a block within it. The pass is `None` for measurements.
pub type InPass = (Option<Pass>, u32);
