//! The counting passes of a run.

use serde::{Deserialize, Serialize};

/// A counting pass, in runs separate from the measured ones: counting slows a program down, so
/// nothing is timed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pass {
    /// Calls of `malloc` and related functions.
    Allocations,
    /// Instructions on a simulated processor.
    Instructions,
    /// Several exact counts in one run.
    Exact,
    /// Events of the hardware counters.
    Counters,
}

impl Pass {
    /// All passes.
    pub const ALL: [Self; 4] = [Self::Allocations, Self::Instructions, Self::Exact, Self::Counters];

    /// Name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allocations => "allocations",
            Self::Instructions => "instructions",
            Self::Exact => "exact",
            Self::Counters => "counters",
        }
    }
}

/// A block with its pass; `None` for a measurement.
pub type InPass = (Option<Pass>, u32);
