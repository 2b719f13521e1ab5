//! Where a series changed for good, and whether it came to rest: change points by their place, and
//! the steady part with the warm-up before it.
//!
//! The changes are E-divisive's: PELT, which sees changes of the spread too, takes every cluster of
//! stalls for a part of its own (in 86 of 100 series with clusters of eight stalls, where
//! E-divisive does in 5). The steady part is PELT's, as its source has it: parts with equal medians
//! are one there, so that clusters do no harm.

use super::numbers::SerialCorrelation;
use crate::describe::Description;
use crate::policy;
use crate::recording::Recording;
use assay_stats::change_points::{ChangePoints, Settings, change_points};
use assay_stats::steady_state::{SteadyState, least_tolerance, steady_state};

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// The changes, however small.
    pub changes: ChangePoints,
    /// Medians of parts that differ by no more than this share count as equal.
    pub tolerance: f64,
    /// The steady part; `None` for fewer than 40 values.
    pub steady: Option<SteadyState>,
    /// The steady part by itself, where something came before it.
    pub rest: Option<Rest>,
}

/// What is left of drift and dependence once a warm-up is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Drift within the steady part, where it is larger than chance allows.
    pub drift: Option<f64>,
    /// Whether its values still are correlated: worth less than nine tenths of their number, and by
    /// more than chance.
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
    /// `sorted`: the values in ascending order.
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
