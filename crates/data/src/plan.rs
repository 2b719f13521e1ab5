//! The plan of a run: everything decided before the first measurement, recorded so that the verdict
//! can be reproduced exactly from the file.
//!
//! `docs/concepts/deciding.md` explains these numbers and the simulations on which they are based.

use crate::unit::Unit;
use serde::{Deserialize, Serialize};

/// Level of an interval that holds at any moment, so that it may be evaluated after every block. It
/// is equivalent to 95 % for a whole run of up to 1,024 blocks. For other confidence levels, it is
/// scaled in proportion to the allowed error. The looks of a run that stops by itself have levels
/// of their own (`analysis::design::looks`).
pub const LOOK_LEVEL_AT_95: f64 = 0.002;

/// Number of blocks after which a run that stops by itself gives up: the look level was simulated
/// up to here.
pub const MAX_BLOCKS: u32 = 1024;

/// The smallest difference that matters to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// A fraction of the reference: 0.01 is 1 %.
    Relative(f64),
    /// An amount in a base unit, such as 6.667e-6 seconds.
    Absolute {
        /// The amount in `unit`. Positive.
        value: f64,
        /// The base unit of `value`.
        unit: Unit,
    },
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Relative(0.01)
    }
}

/// The condition under which a run stops measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase")]
pub enum StopRule {
    /// Evaluates at intervals. Stops when the answer is clear, at `max_blocks`, or when the time
    /// budget is spent.
    Sequential {
        /// Level of an interval that holds at any moment.
        look_level: f64,
        /// Number of blocks after which the run gives up.
        max_blocks: u32,
    },
    /// Takes exactly this many blocks and evaluates once.
    Fixed {
        /// Number of blocks.
        blocks: u32,
    },
}

/// Reasons why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// Every comparison has a clear answer.
    Clear,
    /// The median of a single subject is known precisely enough.
    Precise,
    /// Twice as many values hardly narrowed the interval of a single subject.
    Diminishing,
    /// The planned number of blocks was taken.
    Blocks,
    /// The time budget was spent.
    Budget,
    /// The user stopped the run.
    Interrupted,
    /// A measured command or a hook failed.
    Failed,
    /// The user's stopping condition became true.
    Until,
}

/// The decisions made before the first block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Confidence level of the verdict, such as 0.95.
    pub confidence: f64,
    /// The smallest difference that matters.
    pub threshold: Threshold,
    /// The rule by which the run stops.
    pub stop: StopRule,
    /// Time budget of the measurement, in seconds; `None` with a fixed number of blocks and no
    /// `--time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_seconds: Option<f64>,
    /// Number of warm-up blocks, which are taken first and not recorded.
    pub warmup: u32,
    /// Name of the metric that decides the verdict.
    pub primary: String,
    /// Names of the secondary metrics, which share one allowed error. Empty for all other metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secondary: Vec<String>,
    /// Condition that stops the run, checked after every block instead of whether the answer is
    /// clear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Seed of all random choices. Below 2^53, so that every JSON reader preserves it.
    pub seed: u64,
}

impl Plan {
    /// Returns the plan of a run that stops by itself, with the defaults of `assay run` and this
    /// seed.
    pub fn sequential(confidence: f64, threshold: Threshold, seed: u64) -> Self {
        Self {
            confidence,
            threshold,
            stop: StopRule::Sequential {
                look_level: look_level(confidence),
                max_blocks: MAX_BLOCKS,
            },
            budget_seconds: Some(60.0),
            warmup: 1,
            primary: "wall".to_owned(),
            secondary: Vec::new(),
            until: None,
            seed,
        }
    }

    /// Returns the level of an interval that holds at any moment if the run stops by itself;
    /// otherwise the allowed error.
    pub fn level(&self) -> f64 {
        match self.stop {
            StopRule::Sequential { look_level, .. } => look_level,
            StopRule::Fixed { .. } => 1.0 - self.confidence,
        }
    }

    /// Returns the number of blocks, if it is fixed.
    pub fn fixed_blocks(&self) -> Option<u32> {
        match self.stop {
            StopRule::Fixed { blocks } => Some(blocks),
            StopRule::Sequential { .. } => None,
        }
    }

    /// Returns true if the run may stop after any block, so that its interval must hold at any
    /// moment.
    pub fn is_sequential(&self) -> bool {
        matches!(self.stop, StopRule::Sequential { .. })
    }
}

/// Returns the level of one look for a whole-run confidence: 0.002 at 95 %, otherwise in proportion
/// to the allowed error.
pub fn look_level(confidence: f64) -> f64 {
    LOOK_LEVEL_AT_95 * (1.0 - confidence) / 0.05
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_look_level_is_that_of_the_simulations_at_95_percent() {
        assert!((look_level(0.95) - 0.002).abs() < 1e-12);
        assert!((look_level(0.99) - 0.0004).abs() < 1e-12);
    }
}
