//! How far the values behind an interval depend on each other: what can be tested, what is noticed,
//! and when it leaves too little.
//!
//! A strict test and the size of what is found go together: correlation alone is chance in short
//! series, and so is a small effective size. What is noticed widens an interval; only what is
//! certain *and* leaves hardly any information refuses one. The thresholds stand in [`policy`] and
//! rest on the simulations of `docs/concepts/deciding.md`. Verdicts are not read here.

use crate::policy;
use crate::recording::Recording;
use assay_stats::autocorrelation;

/// True when so few of n values count (`effective`) that chance alone hardly gives it; `lag1` is
/// the rank autocorrelation of neighbours. Of independent series some 5 in 100 are called so. O(1).
///
/// Said of a series that is described by itself. Its interval is widened by the summed time in any
/// case, of however few values, and this only chooses between a warning and a note.
/// [`Order::dependence`] decides about an interval between two sides: it must not widen or refuse
/// without a test, so it says nothing below [`policy::TESTED_FROM`] values, judges neighbours
/// alone, put right for the bias of short series, and asks for more where it refuses. One rule for
/// both would either leave a widened interval without a word or widen untested ones.
pub fn is_beyond_chance(n: usize, effective: f64, lag1: f64) -> bool {
    let n = n as f64;
    let share = effective / n;
    share < policy::DEPENDENT_BELOW
        && (lag1 > policy::DEPENDENCE_Z / n.sqrt() || share < policy::SURELY_DEPENDENT_BELOW)
}

/// What is known of the dependence of the values (or differences) that an interval rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// It was tested, and there is none beyond chance.
    #[default]
    Unseen,
    /// There are fewer than [`policy::TESTED_FROM`] values: whatever is true, they could not show
    /// it.
    Untested,
    /// There is some, and the interval is widened for it.
    Noticed,
    /// There is so much that hardly any independent values are left: no interval, no verdict.
    TooStrong,
}

/// What the order of a series shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Number of values.
    n: usize,
    /// Autocorrelation time by Geyer's sum, at least 1.
    summed: f64,
    /// Rank autocorrelation of neighbours.
    pub lag1: f64,
}

impl Order {
    /// Of values in the order in which they were taken. O(n log n).
    pub fn of(in_order: &[f64]) -> Self {
        let ranks = autocorrelation::ranks(in_order);
        let found = autocorrelation::dependence_of_ranks(&ranks);
        Self { n: in_order.len(), summed: found.time, lag1: found.lag1 }
    }

    /// Of a series that was looked at before. O(1).
    pub fn of_recording(recording: &Recording<'_>) -> Self {
        let n = recording.in_order.len();
        Self { n, summed: recording.autocorrelation_time, lag1: recording.lag1 }
    }

    /// Whether so many values can show that they depend on each other.
    pub fn is_tested(self) -> bool {
        self.n >= policy::TESTED_FROM
    }

    /// How far the correlation of neighbours is from what chance gives on average, −1/n, in its
    /// standard errors.
    fn z(self) -> f64 {
        let n = self.n as f64;
        (self.lag1 + 1.0 / n) * n.sqrt()
    }

    /// The autocorrelation time by which an interval is widened: what was summed, and of tested
    /// values at least what their neighbours make of it. Of untested ones only what is certain
    /// counts, and below [`policy::DEPENDENCE_FROM`] nothing does.
    pub fn time(self) -> f64 {
        if self.n < policy::DEPENDENCE_FROM {
            return 1.0;
        }
        if self.is_tested() || self.z() > policy::REFUSED_Z {
            return self.summed.max(autocorrelation::time_of_lag1(self.n, self.lag1));
        }
        self.summed
    }

    /// How many independent values these are worth, by [`Order::time`].
    pub fn effective(self) -> f64 {
        self.n as f64 / self.time()
    }

    /// The same by the sum alone.
    pub fn effective_as_summed(self) -> f64 {
        self.n as f64 / self.summed
    }

    /// What that comes to.
    pub fn dependence(self) -> Dependence {
        if !self.is_tested() {
            Dependence::Untested
        } else if self.z() > policy::REFUSED_Z && self.effective() < policy::FEWEST_EFFECTIVE {
            Dependence::TooStrong
        } else if self.z() > policy::NOTICED_Z {
            Dependence::Noticed
        } else {
            Dependence::Unseen
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lost_values_are_chance_unless_neighbours_resemble_each_other() {
        assert!(!is_beyond_chance(20, 15.0, 0.30));
        assert!(is_beyond_chance(20, 15.0, 0.40));
        assert!(is_beyond_chance(20, 9.0, 0.0));
        assert!(!is_beyond_chance(20, 19.0, 0.9));
        assert!(is_beyond_chance(300, 250.0, 0.1));
    }

    #[test]
    fn below_24_values_nothing_is_tested_and_above_it_the_size_decides() {
        let of = |n: usize, summed: f64, lag1: f64| Order { n, summed, lag1 }.dependence();
        assert_eq!(of(23, 9.0, 0.9), Dependence::Untested);
        assert_eq!(of(24, 9.0, 0.9), Dependence::TooStrong);
        assert_eq!(of(24, 1.0, 0.0), Dependence::Unseen);
        // Certain, but 200 values are worth many all the same.
        assert_eq!(of(200, 3.0, 0.5), Dependence::Noticed);
        assert_eq!(of(200, 3.0, 0.1), Dependence::Unseen);
        assert!(Dependence::TooStrong > Dependence::Noticed);
    }

    #[test]
    fn few_values_are_worth_themselves() {
        let of = |n: usize, lag1: f64| Order { n, summed: 2.0, lag1 }.time();
        assert_eq!((of(9, 0.9), of(12, 0.2)), (1.0, 2.0));
        // Twelve values whose neighbours are nearly equal are not twelve.
        assert!(of(12, 0.9) > 10.0 && of(24, 0.5) > 4.0);
    }
}
