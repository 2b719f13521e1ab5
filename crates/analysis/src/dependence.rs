//! The dependence of the values behind an interval: whether it can be tested, whether it is
//! noticed, and whether too few effective values remain.
//!
//! A strict test and an effect size are required together, because in short series both a
//! correlation and a small effective number may be due to chance. Noticed dependence widens an
//! interval; only dependence that is certain *and* leaves hardly any information prevents one. The
//! thresholds are in [`policy`], based on the simulations in `docs/concepts/deciding.md`.

use crate::policy;
use crate::recording::Recording;
use assay_stats::autocorrelation;

/// Returns true if the effective number (`effective`) of n values is smaller than chance explains.
/// `lag1` is the rank autocorrelation of neighbors. True for about 5 in 100 independent series.
/// O(1).
///
/// This is for the description of a single series. Its interval is always widened by the summed
/// autocorrelation time, however few the values, and this function only chooses between a warning
/// and a note. [`Order::dependence`] decides about an interval between two sides, which must not be
/// widened or withheld without a test. It reports nothing below [`policy::TESTED_FROM`] values,
/// uses only the correlation of neighbors, corrected for the bias of short series, and requires
/// more to withhold. A single rule for both would either leave a widened interval unexplained or
/// widen untested ones.
pub fn is_beyond_chance(n: usize, effective: f64, lag1: f64) -> bool {
    let n = n as f64;
    let share = effective / n;
    share < policy::DEPENDENT_BELOW
        && (lag1 > policy::DEPENDENCE_Z / n.sqrt() || share < policy::SURELY_DEPENDENT_BELOW)
}

/// The dependence of the values (or differences) behind an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// The test shows no dependence beyond chance.
    #[default]
    Unseen,
    /// There are fewer than [`policy::TESTED_FROM`] values, too few to show dependence.
    Untested,
    /// There is dependence, and the interval is widened for it.
    Noticed,
    /// Too few effective values remain for an interval or a verdict.
    TooStrong,
}

/// Serial dependence of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Number of values.
    n: usize,
    /// Autocorrelation time by Geyer's sum, at least 1.
    summed: f64,
    /// Rank autocorrelation of neighbors.
    pub lag1: f64,
}

impl Order {
    /// Computes the dependence of values in their order of measurement. O(n log n).
    pub fn of(in_order: &[f64]) -> Self {
        let ranks = autocorrelation::ranks(in_order);
        let found = autocorrelation::dependence_of_ranks(&ranks);
        Self { n: in_order.len(), summed: found.time, lag1: found.lag1 }
    }

    /// Returns the dependence of a series that was already analyzed. O(1).
    pub fn of_recording(recording: &Recording<'_>) -> Self {
        let n = recording.in_order.len();
        Self { n, summed: recording.autocorrelation_time, lag1: recording.lag1 }
    }

    /// Returns true if there are enough values to test their dependence.
    pub fn is_tested(self) -> bool {
        self.n >= policy::TESTED_FROM
    }

    /// Returns the deviation of the correlation of neighbors from −1/n, its average under
    /// independence, in standard errors.
    fn z(self) -> f64 {
        let n = self.n as f64;
        (self.lag1 + 1.0 / n) * n.sqrt()
    }

    /// Returns the autocorrelation time by which an interval is widened. This is Geyer's sum and,
    /// for tested values, at least the time implied by the correlation of neighbors. For untested
    /// values, the latter counts only if the dependence is certain. Below
    /// [`policy::DEPENDENCE_FROM`] values, the time is 1.
    pub fn time(self) -> f64 {
        if self.n < policy::DEPENDENCE_FROM {
            return 1.0;
        }
        if self.is_tested() || self.z() > policy::REFUSED_Z {
            return self.summed.max(autocorrelation::time_of_lag1(self.n, self.lag1));
        }
        self.summed
    }

    /// Returns the effective number of values, from [`Order::time`].
    pub fn effective(self) -> f64 {
        self.n as f64 / self.time()
    }

    /// Returns the effective number of values, from Geyer's sum alone.
    pub fn effective_as_summed(self) -> f64 {
        self.n as f64 / self.summed
    }

    /// Classifies the dependence.
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
        // The dependence is certain, but the effective number of values is still large.
        assert_eq!(of(200, 3.0, 0.5), Dependence::Noticed);
        assert_eq!(of(200, 3.0, 0.1), Dependence::Unseen);
        assert!(Dependence::TooStrong > Dependence::Noticed);
    }

    #[test]
    fn few_values_are_worth_themselves() {
        let of = |n: usize, lag1: f64| Order { n, summed: 2.0, lag1 }.time();
        assert_eq!((of(9, 0.9), of(12, 0.2)), (1.0, 2.0));
        // The effective number is below twelve for nearly equal neighbors.
        assert!(of(12, 0.9) > 10.0 && of(24, 0.5) > 4.0);
    }
}
