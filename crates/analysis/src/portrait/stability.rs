//! Where a series changed for good, and whether it came to rest: change points by their place, and the steady part with the
//! warm-up before it.

use assay_stats::change_points::{ChangePoints, Settings, change_points};
use assay_stats::steady_state::{SteadyState, least_tolerance, steady_state};

/// The chance of telling a change where there is none.
const LEVEL: f64 = 0.01;
/// Smaller differences between parts do not matter.
const TOLERANCE: f64 = 0.01;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// The changes, however small.
    pub changes: ChangePoints,
    /// Medians of parts that differ by no more than this share count as equal.
    pub tolerance: f64,
    /// The steady part; `None` for fewer than 40 values.
    pub steady: Option<SteadyState>,
}

impl Stability {
    pub(super) fn of(values: &[f64], lower_is_better: bool, seed: u64) -> Self {
        let tolerance = TOLERANCE.max(least_tolerance(values));
        Self {
            changes: change_points(values, &Settings::pelt(LEVEL, seed)),
            tolerance,
            steady: steady_state(values, tolerance, lower_is_better, LEVEL, seed),
        }
    }
}
