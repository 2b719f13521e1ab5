//! One series prepared for comparison with others that were recorded separately: in order, sorted,
//! and with its serial dependence.
//!
//! Sorting and ranking a million values takes longer than everything derived from them. Both are
//! therefore done only once, and descriptions, comparisons and plots of a series use the result.

use assay_stats::{autocorrelation, descriptive, signs, trend};
use std::borrow::Cow;

/// A series, with what is derived from it.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// The values, finite, in order of measurement.
    pub in_order: Cow<'a, [f64]>,
    /// The values, ascending.
    pub sorted: Vec<f64>,
    /// Autocorrelation time of the ranks, at least 1.
    pub autocorrelation_time: f64,
    /// Autocorrelation time of the signs about the median, at least 1; used for the interval of the
    /// median.
    pub time_of_signs: f64,
    /// Rank autocorrelation at lag 1; 0 for fewer than two values.
    pub lag1: f64,
    /// Rank correlation of the values with time.
    pub with_time: f64,
    /// True for counts and sizes, whose steps are not rounding.
    pub is_exact: bool,
}

impl<'a> Recording<'a> {
    /// Prepares finite values in order of measurement. O(n log n).
    pub fn of(values: impl Into<Cow<'a, [f64]>>) -> Self {
        let in_order = values.into();
        let sorted = descriptive::sorted(&in_order);
        let ranks = autocorrelation::ranks_within(&sorted, &in_order);
        let dependence = autocorrelation::dependence_of_ranks(&ranks);
        Self {
            autocorrelation_time: dependence.time,
            lag1: dependence.lag1,
            time_of_signs: signs::time(
                &in_order,
                descriptive::median_sorted(&sorted),
                dependence.lag1,
            ),
            with_time: trend::correlation_of_ranks(&ranks),
            is_exact: false,
            in_order,
            sorted,
        }
    }

    /// Sets whether the values are exact rather than rounded.
    pub fn of_exact(self, is_exact: bool) -> Self {
        Self { is_exact, ..self }
    }

    /// Returns true if all values are positive.
    pub fn is_positive(&self) -> bool {
        self.sorted.first().is_none_or(|&least| least > 0.0)
    }
}
