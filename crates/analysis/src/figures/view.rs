//! The part of an axis that a plot shows, and whether it is logarithmic.
//!
//! A value a thousand times as large as the others would squeeze them into a line. Plots of
//! distributions therefore end where values become few, and state the number of values outside.
//! Computations use all values.

use super::Point;
use assay_stats::descriptive::quantile_sorted;

/// Number of interquartile ranges beyond the quartiles that are shown, but not beyond the extremes.
const REACH: f64 = 6.0;
/// Ratio of the largest to the smallest median above which the axis is logarithmic.
const MEDIANS_APART: f64 = 5.0;
const SPREAD: f64 = 30.0;

/// The visible part of the value axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Smallest visible value.
    pub low: f64,
    /// Largest visible value.
    pub high: f64,
    /// True if the axis is logarithmic.
    pub logarithmic: bool,
}

impl View {
    /// Computes the view of the values of all subjects, each in ascending order. Both ends are NaN
    /// if there are no values.
    pub(super) fn of(sorted: &[Vec<f64>]) -> Self {
        let logarithmic = wants_logarithms(sorted);
        let scale = |v: f64| if logarithmic { v.ln() } else { v };
        let mut view = View { low: f64::NAN, high: f64::NAN, logarithmic };
        for values in sorted.iter().filter(|values| !values.is_empty()) {
            let at = |p| scale(quantile_sorted(values, p));
            let (first, last) = (scale(values[0]), scale(values[values.len() - 1]));
            // If many values are equal, the interquartile range may be zero, but a wider range may
            // not.
            let spread = (at(0.75) - at(0.25)).max((at(0.975) - at(0.025)) / 4.0);
            let reach = if spread > 0.0 { REACH * spread } else { f64::INFINITY };
            view.low = view.low.min(first.max(at(0.25) - reach));
            view.high = view.high.max(last.min(at(0.75) + reach));
        }
        let back = |v: f64| if logarithmic { v.exp() } else { v };
        View { low: back(view.low), high: back(view.high), logarithmic }
    }

    /// Returns true if a value is visible. Allows for rounding, so that an end that was converted
    /// to a logarithm and back still contains its original value.
    pub fn contains(&self, value: f64) -> bool {
        let slack = if self.logarithmic { 1e-9 * value.abs() } else { 0.0 };
        self.low - slack <= value && value <= self.high + slack
    }

    /// Converts a value to the drawn scale.
    pub(super) fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }

    /// Converts a point from the drawn scale back to values.
    pub(super) fn unscaled(&self, (x, y): Point) -> Point {
        (if self.logarithmic { x.exp() } else { x }, y)
    }
}

fn wants_logarithms(sorted: &[Vec<f64>]) -> bool {
    let mut medians = (f64::INFINITY, 0.0f64);
    let mut widest = 1.0f64;
    for values in sorted.iter().filter(|values| !values.is_empty()) {
        if values[0] <= 0.0 {
            return false;
        }
        let at = |p| quantile_sorted(values, p);
        medians = (medians.0.min(at(0.5)), medians.1.max(at(0.5)));
        widest = widest.max(at(0.95) / at(0.05));
    }
    medians.1 / medians.0 > MEDIANS_APART || widest > SPREAD
}
