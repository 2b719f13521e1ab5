//! One series as it is compared with others that were recorded apart: in its order, sorted, and
//! with what its order shows.
//!
//! Sorting and ranking a million values take longer than all that is then read off them. So they
//! are done once, here, and what describes, compares and pictures a series takes them from here.
//! Decides nothing.

use assay_stats::{autocorrelation, descriptive, signs, trend};
use std::borrow::Cow;

/// A series with what is known of it.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// The values, finite, in the order in which they were taken.
    pub in_order: Cow<'a, [f64]>,
    /// The values, ascending.
    pub sorted: Vec<f64>,
    /// Autocorrelation time of the ranks, at least 1.
    pub autocorrelation_time: f64,
    /// Autocorrelation time of the signs about the median, at least 1: what the interval of the
    /// median rests on.
    pub time_of_signs: f64,
    /// Rank autocorrelation at lag 1; 0 for fewer than two values.
    pub lag1: f64,
    /// Rank correlation of the values with their place.
    pub with_time: f64,
    /// True for counts and sizes: steps between them hide nothing.
    pub is_exact: bool,
}

impl<'a> Recording<'a> {
    /// Looks at values, finite and in their order. O(n log n).
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

    /// The same, of a metric whose values are whole or may be rounded.
    pub fn of_exact(self, is_exact: bool) -> Self {
        Self { is_exact, ..self }
    }

    /// True when no value is zero or negative.
    pub fn is_positive(&self) -> bool {
        self.sorted.first().is_none_or(|&least| least > 0.0)
    }
}
