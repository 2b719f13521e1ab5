//! The Mann-Whitney test (Wilcoxon's rank sum), with R's interval.
//!
//! U counts the pairs with y > x and half of those with y = x, which is R's W of `wilcox.test(y,
//! x)`. For up to 49 values per side without ties its distribution is exact; otherwise it is normal
//! with the variance corrected for ties, with or without half a unit of continuity correction. Both
//! samples are traversed once in parallel, so no ranks are needed. All values are assumed to be
//! independent.

use super::{difference_interval, mann_whitney};
use crate::p_values::{PValues, corrected_z, doubled};
use crate::{Interval, normal};
use std::cmp::Ordering;

/// One step up through both samples: the number of values of each sample below the step, and on it.
#[derive(Clone, Copy)]
pub(super) struct Stair {
    pub below_x: usize,
    pub below_y: usize,
    pub of_x: usize,
    pub of_y: usize,
}

/// Walks through the distinct values of two ascending samples, from the lowest.
pub(super) fn stairs<'a>(x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = Stair> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (below_x, below_y) = (i, j);
        let value = match (x.get(i), y.get(j)) {
            (None, None) => return None,
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&one), None) | (None, Some(&one)) => one,
        };
        // At least one step is taken, even over a NaN, so that the walk always ends.
        let at_most = |v: f64| v.partial_cmp(&value).is_none_or(Ordering::is_le);
        while i < x.len() && at_most(x[i]) {
            i += 1;
        }
        while j < y.len() && at_most(y[j]) {
            j += 1;
        }
        Some(Stair { below_x, below_y, of_x: i - below_x, of_y: j - below_y })
    })
}

/// The Mann-Whitney statistic of two samples, with the parameters of its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// Number of values of the first sample.
    pub n_x: usize,
    /// Number of values of the second sample.
    pub n_y: usize,
    /// Number of pairs with y > x, plus half of those with y = x, in 0..=n·m.
    pub u: f64,
    /// True if any values are tied.
    pub ties: bool,
    /// Standard deviation of U if both samples come from one population, accounting for ties; 0 if
    /// all values are equal.
    pub sd: f64,
}

impl RankSum {
    /// Computes the statistic. Returns `None` unless both samples are ascending and finite, n ≥ 1
    /// each. O(n + m).
    #[must_use]
    pub fn of(x_sorted: &[f64], y_sorted: &[f64]) -> Option<RankSum> {
        let (n_x, n_y) = (x_sorted.len(), y_sorted.len());
        if n_x == 0 || n_y == 0 {
            return None;
        }
        let (mut twice, mut ties) = (0_u128, 0.0_f64);
        for step in stairs(x_sorted, y_sorted) {
            twice += step.of_y as u128 * (2 * step.below_x + step.of_x) as u128;
            let count = step.of_x + step.of_y;
            if count > 1 {
                let count = count as f64;
                ties += count * count * count - count;
            }
        }
        let (_, sd) = mann_whitney::half_and_sd(n_x, n_y, ties);
        Some(RankSum { n_x, n_y, u: twice as f64 / 2.0, ties: ties > 0.0, sd })
    }

    /// Returns the number of pairs, n·m.
    #[must_use]
    pub fn pairs(&self) -> f64 {
        self.n_x as f64 * self.n_y as f64
    }

    /// Returns the estimate of P(Y > X) + ½ P(Y = X), Vargha and Delaney's A₁₂ (2000), in 0..=1.
    #[must_use]
    pub fn a12(&self) -> f64 {
        self.u / self.pairs()
    }

    /// Returns true if the exact distribution applies, as in R: both samples have fewer than 50
    /// values, and there are no ties.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.ties && self.n_x < mann_whitney::EXACT_BELOW && self.n_y < mann_whitney::EXACT_BELOW
    }

    /// Returns the exact p-values, if the exact distribution applies. O(nm·min(n, m)).
    #[must_use]
    pub fn exact(&self) -> Option<PValues> {
        if !self.is_exact() {
            return None;
        }
        let pairs = (self.n_x * self.n_y) as u64;
        let u = self.u as u64;
        let distribution = mann_whitney::lower_half(self.n_x.min(self.n_y), self.n_x.max(self.n_y));
        let at_most = |k: u64| -> f64 {
            if 2 * k <= pairs {
                distribution.iter().take(k as usize + 1).sum()
            } else {
                // The distribution above k mirrors that below n·m − k.
                1.0 - distribution.iter().take((pairs - k) as usize).sum::<f64>()
            }
        };
        let (less, greater) = (at_most(u), at_most(pairs - u));
        Some(PValues { two: doubled(less.min(greater)), less, greater })
    }

    /// Returns the statistic in standard deviations, half a pair closer to the middle if
    /// `corrected`, or NaN if all values are equal.
    #[must_use]
    pub fn z(&self, corrected: bool) -> f64 {
        corrected_z(self.u - self.pairs() / 2.0, self.sd, corrected)
    }

    /// Returns the asymptotic p-values, with continuity correction if `corrected`.
    ///
    /// If all values are equal, `two` is NaN, and, as in R, the corrected one-sided p-values are 1.
    #[must_use]
    pub fn asymptotic(&self, corrected: bool) -> PValues {
        PValues::of_normal(self.u - self.pairs() / 2.0, self.sd, corrected)
    }

    /// Returns log₁₀ of the two-sided p-value with continuity correction, even if the p-value
    /// itself underflows. The result is at most 0, or NaN if all values are equal.
    #[must_use]
    pub fn log10_p_two(&self) -> f64 {
        let log10 = std::f64::consts::LOG10_2 + normal::log10_upper(self.z(true).abs());
        if log10 > 0.0 { 0.0 } else { log10 }
    }
}

/// Returns the interval for the shift from `x` to `y` by the exact distribution with R's numbering
/// of the differences, and its actual confidence.
///
/// Both samples must be ascending and finite, and `confidence` in 0..1. The interval extends from
/// difference number q to number nm + 1 − q, with q = max(1, `qwilcox`((1 − confidence)/2)). For
/// samples that are too small, it is the widest possible interval, as its actual confidence shows.
/// Returns `None` for an empty sample or at least 50 values on a side.
#[must_use]
pub fn exact_shift_interval(
    x_sorted: &[f64],
    y_sorted: &[f64],
    confidence: f64,
) -> Option<(Interval, f64)> {
    let (n, m) = (x_sorted.len(), y_sorted.len());
    let small = n.min(m) > 0 && n.max(m) < mann_whitney::EXACT_BELOW;
    if !small || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    // As in R, a probability that differs from the level only by rounding counts as reached.
    let level = (1.0 - confidence) / 2.0 - 10.0 * f64::EPSILON;
    let distribution = mann_whitney::lower_half(n.min(m), n.max(m));
    let (mut sum, mut quantile) = (0.0, 0);
    for p in &distribution {
        sum += p;
        if sum >= level {
            break;
        }
        quantile += 1;
    }
    let number = quantile.max(1);
    let outside: f64 = distribution.iter().take(number).sum();
    let number = number as u64;
    let pairs = (n * m) as u64;
    let interval = difference_interval(x_sorted, y_sorted, number, pairs + 1 - number)?;
    Some((interval, 1.0 - 2.0 * outside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_defined() {
        let (x, y) = ([1.0, 2.0, 2.0, 5.0], [0.0, 2.0, 6.0, 6.0, 6.5]);
        let mut expected = 0.0;
        for a in x {
            for b in y {
                expected += if b > a {
                    1.0
                } else if b == a {
                    0.5
                } else {
                    0.0
                };
            }
        }
        let test = RankSum::of(&x, &y).unwrap();
        assert_eq!(test.u, expected);
        assert!(test.ties && test.exact().is_none());
        let turned = RankSum::of(&y, &x).unwrap();
        assert_eq!(turned.u, test.pairs() - test.u);
        assert_eq!(turned.asymptotic(true).less, test.asymptotic(true).greater);
    }

    #[test]
    fn hollander_and_wolfes_example_agrees_with_r() {
        // R: wilcox.test(x, y, alternative = "greater"), help page: W = 35, p = 0.1272.
        let mut x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let mut y = [1.15, 0.88, 0.90, 0.74, 1.21];
        x.sort_by(f64::total_cmp);
        y.sort_by(f64::total_cmp);
        let test = RankSum::of(&y, &x).unwrap();
        assert_eq!(test.u, 35.0);
        let p = test.exact().unwrap().greater;
        assert!((p - 0.127_206_127_206_127_2).abs() < 1e-14, "{p}");
    }

    #[test]
    fn equal_values_everywhere_give_no_p() {
        let test = RankSum::of(&[5.0; 10], &[5.0; 12]).unwrap();
        assert_eq!((test.u, test.sd), (60.0, 0.0));
        assert!(test.asymptotic(true).two.is_nan() && test.log10_p_two().is_nan());
        assert_eq!(test.asymptotic(true).less, 1.0);
        assert_eq!(RankSum::of(&[], &[1.0]), None);
    }

    #[test]
    fn values_that_are_no_numbers_end_the_walk_all_the_same() {
        let steps = stairs(&[1.0, f64::NAN, f64::NAN], &[f64::NAN, 2.0]).count();
        assert!(steps <= 5);
    }

    #[test]
    fn a_p_below_every_number_has_a_logarithm() {
        let x: Vec<f64> = (0..3000).map(f64::from).collect();
        let y: Vec<f64> = (0..3000).map(|i| f64::from(i) + 5000.5).collect();
        let test = RankSum::of(&x, &y).unwrap();
        assert_eq!(test.asymptotic(true).two, 0.0);
        assert!((-990.0..-970.0).contains(&test.log10_p_two()), "{}", test.log10_p_two());
    }

    #[test]
    fn the_widest_interval_says_how_sure_it_is() {
        let (x, y) = ([1.0, 2.0, 3.5], [4.0, 5.25, 7.0]);
        let (interval, achieved) = exact_shift_interval(&x, &y, 0.99).unwrap();
        assert_eq!(interval, Interval { lower: 0.5, upper: 6.0 });
        assert!((achieved - 0.9).abs() < 1e-14);
        assert_eq!(exact_shift_interval(&[], &y, 0.9), None);
        assert_eq!(exact_shift_interval(&[0.0; 50], &y, 0.9), None);
    }

    #[test]
    fn the_exact_interval_is_that_of_r_and_the_middle_has_no_evidence() {
        // R: wilcox.test(y, x, conf.int = TRUE).
        let x = [3.9, 4.1, 4.7, 5.3, 5.8, 6.2];
        let y = [5.1, 5.9, 6.1, 6.4, 7.2, 7.7, 8.0];
        let (found, confidence) = exact_shift_interval(&x, &y, 0.95).unwrap();
        assert!(
            (found.lower - 0.2).abs() < 1e-12 && (found.upper - 3.1).abs() < 1e-12,
            "{found:?}"
        );
        assert!((0.95..0.97).contains(&confidence), "{confidence}");
        let ranks = RankSum::of(&x, &y).unwrap();
        assert_eq!(ranks.u, 37.0);
        assert!((ranks.exact().unwrap().two - 0.022_144_522_144_522_144).abs() < 1e-12);
        let middle = RankSum::of(&[1.0, 4.0], &[2.0, 3.0]).unwrap();
        assert!(middle.log10_p_two() <= 0.0 && middle.log10_p_two() > -1e-12);
    }
}
