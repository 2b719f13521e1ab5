//! Changes of level in a series, and its steady part after a warm-up.
//!
//! The changes are found by E-divisive. PELT, which also detects changes of spread, reports
//! clusters of stalls as separate parts (in 86 of 100 series with clusters of eight stalls,
//! compared with 5 for E-divisive). The steady part is found by PELT, as in the original method.
//! There, parts with equal medians are merged, so clusters do no harm.

use super::numbers::SerialCorrelation;
use crate::describe::Description;
use crate::policy;
use crate::recording::Recording;
use assay_stats::change_points::{ChangePoints, Settings, change_points};
use assay_stats::steady_state::{SteadyState, least_tolerance, steady_state};

/// The changes of a series, and its steady part.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// All changes, however small.
    pub changes: ChangePoints,
    /// Medians of parts that differ by no more than this share count as equal.
    pub tolerance: f64,
    /// The steady part; `None` for fewer than 40 values.
    pub steady: Option<SteadyState>,
    /// Results for the steady part alone, if other parts precede it.
    pub rest: Option<Rest>,
}

/// Drift and dependence that remain after a warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Drift within the steady part; `None` if there is none beyond chance.
    pub drift: Option<f64>,
    /// True if the values of the steady part are still correlated beyond chance, with an effective
    /// number below nine tenths of the actual one.
    pub dependent: bool,
}

impl Rest {
    fn of(values: &[f64]) -> Option<Self> {
        let recording = Recording::of(values);
        let found = Description::of_recording(&recording, 0.95)?;
        let worth = found.effective() / found.n as f64;
        let dependent = worth < policy::DEPENDENT_BELOW
            && SerialCorrelation::of(values, &recording.sorted).is_correlated();
        Some(Self { drift: found.drift, dependent })
    }
}

impl Stability {
    /// Detects the changes and the steady part; `sorted` contains the values in ascending order.
    pub(super) fn of(values: &[f64], sorted: &[f64], lower_is_better: bool, seed: u64) -> Self {
        let tolerance = policy::CHANGE_TOLERANCE.max(least_tolerance(sorted));
        let steady = steady_state(values, tolerance, lower_is_better, policy::CHANGE_LEVEL, seed);
        let begins = steady.as_ref().and_then(|found| found.begins).filter(|begins| *begins > 0);
        Self {
            changes: change_points(values, &Settings::e_divisive(policy::CHANGE_LEVEL, seed)),
            tolerance,
            rest: begins.and_then(|begins| Rest::of(&values[begins..])),
            steady,
        }
    }
}
