//! Wilcoxon's signed-rank test of one sample about 0, with R's intervals.
//!
//! As in R's `wilcox.test(d)`, zeros are dropped and tied distances share their ranks. For up to 49
//! values without zeros or ties the distribution is exact, otherwise normal with the variance
//! corrected for ties, with or without half a unit of continuity correction. The large-sample
//! interval, which R finds by search, is computed in closed form: its ends are the Walsh averages
//! at which the corrected statistic crosses the quantile. Verdicts use the parent module's interval
//! instead, which keeps zeros.

use super::{SignedRankDistribution, pseudo_median, walsh_count, walsh_interval};
use crate::p_values::{PValues, corrected_z, doubled};
use crate::{Interval, autocorrelation, descriptive, normal};

/// Below this number of values the distribution is exact.
const EXACT_BELOW: usize = 50;

/// The signed-rank statistic of one sample, with the parameters of its distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedRankTest {
    /// The values that are not 0, ascending.
    sorted: Vec<f64>,
    /// V: the sum of the ranks of the positive values.
    pub v: f64,
    /// True if any distances from 0 are tied.
    pub ties: bool,
    /// True if any value was 0 and dropped.
    pub zeros: bool,
    /// The standard deviation of V under random signs; 0 if there are no values.
    pub sd: f64,
}

impl SignedRankTest {
    /// Ranks the distances from 0. `xs`: finite, any order; O(n log n).
    #[must_use]
    pub fn of(xs: &[f64]) -> SignedRankTest {
        let mut used = xs.to_vec();
        used.retain(|x| *x != 0.0);
        let distances: Vec<f64> = used.iter().map(|x| x.abs()).collect();
        let ranks = autocorrelation::ranks(&distances);
        let positive = used.iter().zip(&ranks).filter(|(x, _)| **x > 0.0);
        let v = positive.fold(0.0, |sum, (_, rank)| sum + rank);
        let ties = tie_sum(&descriptive::sorted(&distances));
        SignedRankTest {
            sd: sd(used.len(), ties),
            v,
            ties: ties > 0.0,
            zeros: used.len() < xs.len(),
            sorted: descriptive::sorted(&used),
        }
    }

    /// Number of nonzero values.
    #[must_use]
    pub fn used(&self) -> usize {
        self.sorted.len()
    }

    fn centred(&self) -> f64 {
        self.v - walsh_count(self.used()) as f64 / 2.0
    }

    /// The share of positive ranks in the rank sum minus that of negative ranks, in −1..=1; NaN if
    /// there are no values (Kerby 2014).
    #[must_use]
    pub fn rank_biserial(&self) -> f64 {
        2.0 * self.centred() / walsh_count(self.used()) as f64
    }

    /// Returns true if the exact distribution applies, as in R: fewer than 50 values, no ties, no
    /// zeros.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.ties && !self.zeros && (1..EXACT_BELOW).contains(&self.used())
    }

    fn distribution(&self) -> Option<SignedRankDistribution> {
        if !self.is_exact() {
            return None;
        }
        let mut distribution = SignedRankDistribution::new();
        distribution.extend_to(self.used());
        Some(distribution)
    }

    /// Exact p-values, if applicable. O(n³).
    #[must_use]
    pub fn exact(&self) -> Option<PValues> {
        let distribution = self.distribution()?;
        let (v, most) = (self.v as u64, walsh_count(self.used()));
        let (less, greater) = (distribution.at_most(v), distribution.at_most(most - v));
        Some(PValues { two: doubled(less.min(greater)), less, greater })
    }

    /// The statistic in standard deviations; NaN if every value was 0.
    #[must_use]
    pub fn z(&self, corrected: bool) -> f64 {
        corrected_z(self.centred(), self.sd, corrected)
    }

    /// Asymptotic p-values, with continuity correction if `corrected`; `two` is NaN if every value
    /// was 0.
    #[must_use]
    pub fn asymptotic(&self, corrected: bool) -> PValues {
        PValues::of_normal(self.centred(), self.sd, corrected)
    }

    /// The pseudo-median of the nonzero values; NaN if there are none.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        pseudo_median(&self.sorted)
    }

    /// The exact interval for the pseudo-median with R's numbering of the Walsh averages, and its
    /// actual confidence, if the exact distribution applies; `confidence` in 0..1, otherwise
    /// `None`.
    ///
    /// For a sample that is too small, the interval is the widest possible one, as its actual
    /// confidence shows.
    #[must_use]
    pub fn exact_interval(&self, confidence: f64) -> Option<(Interval, f64)> {
        let distribution = self.distribution()?;
        if !(0.0..1.0).contains(&confidence) {
            return None;
        }
        let level = (1.0 - confidence) / 2.0 - 10.0 * f64::EPSILON;
        let quantile = (0..walsh_count(self.used())).find(|q| distribution.at_most(*q) >= level)?;
        let k = quantile.max(1) - 1;
        Some((walsh_interval(&self.sorted, k), 1.0 - 2.0 * distribution.at_most(k)))
    }

    /// The large-sample interval for the pseudo-median with continuity correction, at `confidence`
    /// in 0..1; `None` if there are too few values, or all are equal.
    #[must_use]
    pub fn asymptotic_interval(&self, confidence: f64) -> Option<Interval> {
        let (&low, &high) = (self.sorted.first()?, self.sorted.last()?);
        if !(0.0..1.0).contains(&confidence) {
            return None;
        }
        let z = normal::two_sided(confidence);
        // About the outermost value, all others are on one side; the statistic must reach the
        // quantile.
        let above = &self.sorted[self.sorted.partition_point(|x| *x <= low)..];
        let below = &self.sorted[..self.sorted.partition_point(|x| *x < high)];
        let reaches = |rest: &[f64]| {
            let half = walsh_count(rest.len()) as f64 / 2.0;
            (half - 0.5) / sd(rest.len(), tie_sum(rest)) >= z
        };
        if !reaches(above) || !reaches(below) {
            return None;
        }
        let count = walsh_count(self.used());
        let reach = z * sd(self.used(), tie_sum(&self.sorted));
        let half = count as f64 / 2.0;
        let number = |place: f64| (place.ceil().max(1.0) as u64).min(count);
        let (lower, upper) = (number(half - 0.5 - reach), number(half + 0.5 + reach));
        // The ends need not be symmetric.
        let from_below = walsh_interval(&self.sorted, lower - 1);
        let from_above = walsh_interval(&self.sorted, count - upper);
        Some(Interval { lower: from_below.lower, upper: from_above.upper })
    }
}

/// The sum of c³ − c over the groups of c equal values.
fn tie_sum(sorted: &[f64]) -> f64 {
    sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64).map(|c| c * c * c - c).sum()
}

fn sd(n: usize, ties: f64) -> f64 {
    let n = n as f64;
    (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hollander_and_wolfes_depression_scores_agree_with_r() {
        // R: wilcox.test(x, y, paired = TRUE, alternative = "greater"): V = 40, p = 0.01953.
        let x = [1830., 500., 1620., 2480., 1680., 1880., 1550., 3060., 1300.];
        let y = [878., 647., 598., 2050., 1060., 1290., 1060., 3140., 1290.];
        let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        let test = SignedRankTest::of(&differences);
        assert_eq!((test.v, test.used()), (40.0, 9));
        assert_eq!(test.exact().unwrap().greater, 0.019_531_25);
    }

    #[test]
    fn the_statistic_is_counted_by_hand() {
        // The ranks of 1, 2, 3 are 1, 2, 3: the positive ones sum to 5 of 6.
        let test = SignedRankTest::of(&[3.0, -1.0, 2.0]);
        assert_eq!((test.v, test.rank_biserial()), (5.0, 2.0 / 3.0));
        assert!((test.sd - 3.5_f64.sqrt()).abs() < 1e-15 && !test.ties);
        assert_eq!(SignedRankTest::of(&[1.0, 2.0, 3.0]).rank_biserial(), 1.0);
        assert_eq!(SignedRankTest::of(&[-1.0, -2.0]).rank_biserial(), -1.0);
        // Two equal distances reduce the variance by (2³ − 2)/48.
        let tied = SignedRankTest::of(&[1.0, -1.0, 2.0]);
        assert!(tied.ties && (tied.sd - 3.375_f64.sqrt()).abs() < 1e-15);
        let five: Vec<f64> = (1..=5).map(f64::from).collect();
        let test = SignedRankTest::of(&five);
        let sd = 13.75_f64.sqrt();
        assert!(
            (test.z(false) - 7.5 / sd).abs() < 1e-14 && (test.z(true) - 7.0 / sd).abs() < 1e-14
        );
    }

    #[test]
    fn below_fifty_values_without_ties_and_zeros_it_is_exact() {
        let of = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
        assert!(SignedRankTest::of(&of(49)).is_exact() && !SignedRankTest::of(&of(50)).is_exact());
        assert!(SignedRankTest::of(&[1.0]).is_exact() && !SignedRankTest::of(&[]).is_exact());
        assert!(!SignedRankTest::of(&[1.0, -1.0]).is_exact());
        assert!(!SignedRankTest::of(&[0.0, 1.0, 2.0]).is_exact());
    }

    #[test]
    fn the_large_sample_interval_lies_about_the_middle() {
        let xs: Vec<f64> = (1..=20).map(f64::from).collect();
        let test = SignedRankTest::of(&xs);
        let (narrow, wide) =
            (test.asymptotic_interval(0.8).unwrap(), test.asymptotic_interval(0.95).unwrap());
        // Data symmetric about 10.5 have a symmetric interval.
        assert_eq!((narrow.lower + narrow.upper, wide.lower + wide.upper), (21.0, 21.0));
        assert!(wide.lower < narrow.lower && narrow.lower < 10.5);
        assert_eq!((test.asymptotic_interval(1.0), test.exact_interval(1.0)), (None, None));
        assert_eq!(SignedRankTest::of(&[2.0; 9]).asymptotic_interval(0.9), None);
    }

    #[test]
    fn values_of_nothing_have_no_p() {
        let test = SignedRankTest::of(&[0.0; 4]);
        assert!(test.zeros && test.used() == 0 && test.exact().is_none());
        assert!(test.asymptotic(true).two.is_nan() && test.rank_biserial().is_nan());
        assert!(test.estimate().is_nan() && test.asymptotic_interval(0.9).is_none());
    }

    #[test]
    fn the_widest_interval_says_how_sure_it_is() {
        let test = SignedRankTest::of(&[1.0, 2.0, 4.5]);
        let (interval, achieved) = test.exact_interval(0.95).unwrap();
        assert_eq!(interval, Interval { lower: 1.0, upper: 4.5 });
        assert_eq!(achieved, 0.75);
        assert_eq!(test.asymptotic_interval(0.95), None);
    }

    #[test]
    fn turning_the_sample_over_turns_everything_over() {
        let xs = [0.5, -1.0, 2.25, 3.0, -0.25, 4.0, 0.0, 1.5, 1.5, 6.0, 2.0];
        let turned: Vec<f64> = xs.iter().map(|x| -x).collect();
        let (a, b) = (SignedRankTest::of(&xs), SignedRankTest::of(&turned));
        assert_eq!(a.rank_biserial(), -b.rank_biserial());
        assert_eq!(a.asymptotic(true).less, b.asymptotic(true).greater);
        assert_eq!(a.estimate(), -b.estimate());
    }

    #[test]
    fn the_large_sample_interval_of_tied_values_is_that_of_r() {
        // R: wilcox.test(x, conf.int = TRUE, exact = FALSE), which finds its ends to four digits.
        let xs = [1.3, -2.1, 4.7, 8.9, -0.4, 12.2, 7.1, 3.3, 20.5, 5.6, -0.4, 3.3];
        let found = SignedRankTest::of(&xs).asymptotic_interval(0.95).unwrap();
        assert!(
            (found.lower - 1.45).abs() < 1e-3 && (found.upper - 9.65).abs() < 1e-3,
            "{found:?}"
        );
    }
}
