//! Differences of quantiles of two samples: the median may stay the same while the far tail moves.
//!
//! Each quantile gets its own interval from order statistics (binomial distribution, any
//! distribution), and the two are combined by variance recovery (Zou and Donner, "Construction of
//! confidence limits about effect measures", 2008): the distance of the ends of the difference from
//! the estimate is the square root of the sum of the two squared distances. Ratios are treated
//! likewise on the log scale. Quantiles are type 7. There are two additions. Dependence beyond
//! chance widens each distance by √τ, with the autocorrelation time τ of the ranks. The p-value
//! treats the distance towards 0 as a number of standard errors of a normal distribution, so that
//! it is below the level exactly if the interval excludes 0, but is at least the smallest level at
//! which this many values have an interval. A sample too small for its quantile to have an interval
//! (below 368 values for the 99 % quantile at 95 %) gives none. Since several quantiles are several
//! tests, `adjusted` is Benjamini and Hochberg's adjustment over all of them.

use crate::{Interval, adjust, autocorrelation, binomial, descriptive, normal};
use std::borrow::Cow;

/// The quantiles that are compared by default.
pub const SHARES: [f64; 8] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// One quantile of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileDifference {
    /// The share of values below the quantile, in 0..1.
    pub share: f64,
    /// The quantile of the first sample, type 7.
    pub x: f64,
    /// The quantile of the second sample, type 7.
    pub y: f64,
    /// Second minus first.
    pub difference: f64,
    /// Interval of the difference; `None` if a sample is too small for it.
    pub interval: Option<Interval>,
    /// Second over first; `None` unless all values are positive.
    pub ratio: Option<f64>,
    /// Interval of the ratio; `None` unless all values are positive and the samples are large
    /// enough.
    pub ratio_interval: Option<Interval>,
    /// p-value against no difference, in 0..=1; `None` if there is no interval.
    pub p: Option<f64>,
    /// `p` adjusted for the number of quantiles that have a p-value.
    pub adjusted: Option<f64>,
    /// Minimum number of independent values per side for an interval.
    pub fewest: u64,
}

/// Compares the quantiles `shares` (each in 0..1) of two samples at `confidence` (in 0..1).
///
/// `x` and `y`: finite, each in order of measurement. Empty for an empty sample or any other
/// confidence. O((n + m) log(n + m)).
#[must_use]
pub fn quantile_differences(
    x: &[f64],
    y: &[f64],
    shares: &[f64],
    confidence: f64,
) -> Vec<QuantileDifference> {
    quantile_differences_of(&Side::new(x), &Side::new(y), shares, confidence)
}

/// Like [`quantile_differences`], for samples that are already sorted.
#[must_use]
pub fn quantile_differences_of(
    x: &Side<'_>,
    y: &Side<'_>,
    shares: &[f64],
    confidence: f64,
) -> Vec<QuantileDifference> {
    if x.sorted.is_empty() || y.sorted.is_empty() || !(0.0..1.0).contains(&confidence) {
        return Vec::new();
    }
    let wanted = shares.iter().filter(|share| **share > 0.0 && **share < 1.0);
    let mut found: Vec<_> = wanted.map(|&share| compare(x, y, share, confidence)).collect();
    let known: Vec<f64> = found.iter().filter_map(|q| q.p).collect();
    let mut adjusted = adjust::benjamini_hochberg(&known).into_iter();
    found.iter_mut().filter(|q| q.p.is_some()).for_each(|q| q.adjusted = adjusted.next());
    found
}

/// Minimum number of independent values for an interval of a quantile from order statistics: enough
/// for the largest value to be above the quantile, and the smallest below it, each with probability
/// 1 − (1 − `confidence`)/2.
#[must_use]
pub fn fewest_values(share: f64, confidence: f64) -> u64 {
    let tail = (1.0 - confidence) / 2.0;
    (tail.ln() / share.max(1.0 - share).ln()).ceil().max(1.0) as u64
}

/// The interval of a quantile from order statistics, with at least `confidence`, for any
/// distribution; its half widths are widened by √`tau`.
///
/// `sorted`: ascending; `share` and `confidence` in 0..1; `tau` is taken as at least 1. `None` if
/// no order statistic is far enough out. O(log n) evaluations of the binomial distribution.
#[must_use]
pub fn quantile_interval(
    sorted: &[f64],
    share: f64,
    confidence: f64,
    tau: f64,
) -> Option<Interval> {
    let n = sorted.len() as u64;
    let tail = (1.0 - confidence) / 2.0;
    if n == 0 || !(tail > 0.0 && tail <= 0.5) || !(share > 0.0 && share < 1.0) {
        return None;
    }
    // The k-th value is above the quantile if fewer than k values are below it.
    let lower = binomial::quantile_of(tail, n, share);
    let upper = n - binomial::quantile_of(tail, n, 1.0 - share) + 1;
    let (lower, upper) = if tau > 1.0 {
        let middle = n as f64 * share + 0.5;
        let widened = |k: u64| middle + (k as f64 - middle) * tau.sqrt();
        (widened(lower).floor(), widened(upper).ceil())
    } else {
        (lower as f64, upper as f64)
    };
    if lower < 1.0 || upper > n as f64 {
        return None;
    }
    Some(Interval { lower: sorted[lower as usize - 1], upper: sorted[upper as usize - 1] })
}

/// A sample prepared for several quantiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Side<'a> {
    /// The values, ascending.
    pub sorted: Cow<'a, [f64]>,
    /// Factor for the square of every half width; 1 for independent values.
    pub tau: f64,
}

impl<'a> Side<'a> {
    /// Sorts the values and determines their autocorrelation. `values`: finite, in order of
    /// measurement. O(n log n).
    #[must_use]
    pub fn new(values: &[f64]) -> Self {
        let sorted = descriptive::sorted(values);
        let ranks = autocorrelation::ranks_within(&sorted, values);
        let found = autocorrelation::dependence_of_ranks(&ranks);
        let tau = widening(values.len(), found.lag1, found.time);
        Side { sorted: sorted.into(), tau }
    }

    /// Takes ascending values, and their known rank autocorrelation at lag 1 and autocorrelation
    /// time.
    #[must_use]
    pub fn known(sorted: &'a [f64], lag1: f64, autocorrelation_time: f64) -> Self {
        let tau = widening(sorted.len(), lag1, autocorrelation_time);
        Side { sorted: sorted.into(), tau }
    }

    fn is_positive(&self) -> bool {
        self.sorted[0] > 0.0
    }
}

/// Factor for the square of a half width. Far tails have few values, so chance correlation of
/// independent values must not widen their intervals.
fn widening(n: usize, lag1: f64, autocorrelation_time: f64) -> f64 {
    let chance = 1.645 / (n as f64).sqrt();
    if lag1 > chance { autocorrelation_time } else { 1.0 }
}

fn compare(x: &Side<'_>, y: &Side<'_>, share: f64, confidence: f64) -> QuantileDifference {
    let (of_x, of_y) = (
        descriptive::quantile_sorted(&x.sorted, share),
        descriptive::quantile_sorted(&y.sorted, share),
    );
    let intervals = quantile_interval(&x.sorted, share, confidence, x.tau)
        .zip(quantile_interval(&y.sorted, share, confidence, y.tau));
    let interval = intervals.map(|(i, j)| recovered((of_x, i), (of_y, j)));
    let positive = x.is_positive() && y.is_positive();
    let ln = |i: Interval| Interval { lower: i.lower.ln(), upper: i.upper.ln() };
    let ratio_interval = intervals.filter(|_| positive).map(|(i, j)| {
        let of_logs = recovered((of_x.ln(), ln(i)), (of_y.ln(), ln(j)));
        Interval { lower: of_logs.lower.exp(), upper: of_logs.upper.exp() }
    });
    let difference = of_y - of_x;
    let p = interval.map(|i| {
        let towards_0 = if difference > 0.0 { difference - i.lower } else { i.upper - difference };
        if difference == 0.0 {
            return 1.0;
        }
        let errors = difference.abs() / towards_0 * normal::two_sided(confidence);
        (2.0 * normal::cdf(-errors)).max(least_level(x, share)).max(least_level(y, share))
    });
    QuantileDifference {
        share,
        x: of_x,
        y: of_y,
        difference,
        interval,
        ratio: positive.then(|| of_y / of_x),
        ratio_interval,
        p,
        adjusted: None,
        fewest: fewest_values(share, confidence),
    }
}

/// The smallest level at which this many values have an interval: the lower bound of p-values.
fn least_level(side: &Side<'_>, share: f64) -> f64 {
    let effective = side.sorted.len() as f64 / side.tau.max(1.0);
    2.0 * share.max(1.0 - share).powf(effective)
}

/// The interval of y − x from those of x and y, each containing its estimate.
fn recovered((x, of_x): (f64, Interval), (y, of_y): (f64, Interval)) -> Interval {
    let reach = |a: f64, b: f64| a.max(0.0).hypot(b.max(0.0));
    Interval {
        lower: y - x - reach(y - of_y.lower, of_x.upper - x),
        upper: y - x + reach(of_y.upper - y, x - of_x.lower),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    #[test]
    fn ratios_are_those_of_positive_values_alone() {
        let of = |x: &[f64], y: &[f64]| {
            let (x, y) = (Side::known(x, 0.0, 1.0), Side::known(y, 0.0, 1.0));
            quantile_differences_of(&x, &y, &[0.5], 0.9)[0].ratio
        };
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(of(&low, &high), Some(2.0));
        let with_zero = [0.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!((of(&with_zero, &high), of(&low, &with_zero)), (None, None));
    }

    #[test]
    fn only_dependence_beyond_chance_widens() {
        // One in twenty series of 100 independent values has a correlation above 0.1645.
        assert_eq!((widening(100, 0.17, 5.0), widening(100, 0.16, 5.0)), (5.0, 1.0));
        assert_eq!(widening(10_000, 0.02, 5.0), 5.0);
    }

    #[test]
    fn no_p_value_is_smaller_than_a_sign_test_can_give() {
        // All of 8 values are on one side of the median: 2 · 2⁻⁸.
        let x: Vec<f64> = (0..8).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| x + 1e6).collect();
        let p = |tau: f64| {
            let (x, y) = (Side::known(&x, 1.0, tau), Side::known(&y, 1.0, tau));
            (least_level(&x, 0.5), quantile_differences_of(&x, &y, &[0.5], 0.9)[0].p)
        };
        assert_eq!(p(1.0), (2.0 / 256.0, Some(2.0 / 256.0)));
        // With τ = 2, the effective number is half.
        assert_eq!(p(2.0).0, 2.0 / 16.0);
        let side = Side::known(&x, 0.0, 1.0);
        assert!((least_level(&side, 0.9) - 2.0 * 0.9_f64.powi(8)).abs() < 1e-15);
        assert_eq!(least_level(&side, 0.9), least_level(&side, 1.0 - 0.9_f64));
    }

    #[test]
    fn quantiles_are_known_from_as_many_values_as_their_tail_needs() {
        assert_eq!(fewest_values(0.5, 0.95), 6);
        assert_eq!(fewest_values(0.99, 0.95), 368);
        assert_eq!(fewest_values(0.01, 0.95), 368);
        for (share, confidence) in [(0.5, 0.95), (0.9, 0.95), (0.99, 0.95), (0.1, 0.9)] {
            let n = fewest_values(share, confidence) as usize;
            let xs: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert!(quantile_interval(&xs, share, confidence, 1.0).is_some());
            assert!(quantile_interval(&xs[1..], share, confidence, 1.0).is_none());
        }
    }

    #[test]
    fn the_median_has_the_interval_of_the_median() {
        for n in [6, 7, 20, 101, 1000] {
            let xs: Vec<f64> = (0..n).map(|i| f64::from(i).powi(2)).collect();
            let (expected, _) = crate::order::median_interval(&xs, 0.95).unwrap();
            assert_eq!(quantile_interval(&xs, 0.5, 0.95, 1.0), Some(expected));
        }
    }

    #[test]
    fn intervals_hold_the_difference_of_every_quantile() {
        // Exponential, the second with twice the scale: quantiles −ln(1 − p) and twice that.
        for (n, m) in [(60, 60), (500, 400)] {
            let (mut held, mut asked) = (vec![0.0; SHARES.len()], vec![0.0; SHARES.len()]);
            for number in 0..500 {
                let mut stream = Stream::new(44, number);
                let x: Vec<f64> = (0..n).map(|_| stream.exponential()).collect();
                let y: Vec<f64> = (0..m).map(|_| 2.0 * stream.exponential()).collect();
                for (index, q) in quantile_differences(&x, &y, &SHARES, 0.95).iter().enumerate() {
                    let Some(interval) = q.interval else { continue };
                    asked[index] += 1.0;
                    let truth = -(1.0 - q.share).ln();
                    held[index] += f64::from(u8::from(interval.contains(truth)));
                    assert!(q.ratio_interval.unwrap().contains(q.ratio.unwrap()));
                }
            }
            for (index, share) in SHARES.iter().enumerate() {
                let enough = fewest_values(*share, 0.95) <= n.min(m);
                // Near the minimum, chance dependence leaves some samples without an interval.
                assert_eq!(asked[index] > 300.0, enough, "{share}");
                let coverage = held[index] / asked[index];
                assert!(!enough || (0.93..=1.0).contains(&coverage), "{n} {share}: {coverage}");
            }
        }
    }

    #[test]
    fn a_false_alarm_on_any_quantile_is_rare() {
        let mut alarms = 0;
        for number in 0..400 {
            let mut stream = Stream::new(45, number);
            let mut sample = || (0..150).map(|_| stream.normal().exp()).collect::<Vec<f64>>();
            let (x, y) = (sample(), sample());
            let found = quantile_differences(&x, &y, &SHARES, 0.95);
            alarms += u32::from(found.iter().any(|q| q.adjusted.is_some_and(|p| p <= 0.05)));
        }
        assert!(alarms <= 32, "{alarms} of 400");
    }

    #[test]
    fn a_tail_that_moves_alone_is_seen_in_the_tail_alone() {
        let mut stream = Stream::new(46, 0);
        let x: Vec<f64> = (0..2000).map(|_| 100.0 + stream.normal()).collect();
        let y: Vec<f64> = (0..2000)
            .map(|_| 100.0 + stream.normal() + if stream.uniform() < 0.03 { 10.0 } else { 0.0 })
            .collect();
        let found = quantile_differences(&x, &y, &SHARES, 0.95);
        let at = |share: f64| *found.iter().find(|q| q.share == share).unwrap();
        assert!(at(0.5).adjusted.unwrap() > 0.05 && at(0.99).adjusted.unwrap() < 0.001);
        assert!(at(0.99).interval.unwrap().lower > 5.0);
        assert_eq!(at(0.999).interval, None);
        assert_eq!(at(0.999).fewest, 3688);
    }

    #[test]
    fn swapping_the_samples_turns_the_difference_round() {
        let mut stream = Stream::new(47, 0);
        let x: Vec<f64> = (0..80).map(|_| stream.exponential()).collect();
        let y: Vec<f64> = (0..50).map(|_| stream.exponential()).collect();
        let one = quantile_differences(&x, &y, &[0.25, 0.5], 0.9);
        let other = quantile_differences(&y, &x, &[0.25, 0.5], 0.9);
        for (a, b) in one.iter().zip(&other) {
            let (i, j) = (a.interval.unwrap(), b.interval.unwrap());
            assert_eq!((i.lower, i.upper, a.p), (-j.upper, -j.lower, b.p));
        }
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert!(quantile_differences(&[], &[1.0], &SHARES, 0.95).is_empty());
        assert!(quantile_differences(&[1.0], &[1.0], &SHARES, f64::NAN).is_empty());
        let one = quantile_differences(&[1.0], &[2.0], &[0.5, 1.5], 0.95);
        assert_eq!((one.len(), one[0].interval, one[0].difference), (1, None, 1.0));
        let equal = quantile_differences(&[3.0; 30], &[3.0; 30], &[0.5], 0.95);
        assert_eq!((equal[0].p, equal[0].interval.unwrap().half_width()), (Some(1.0), 0.0));
        let negative = quantile_differences(&[-1.0; 30], &[3.0; 30], &[0.5], 0.95);
        assert_eq!((negative[0].ratio, negative[0].ratio_interval), (None, None));
    }

    #[test]
    fn the_extremes_are_no_quantiles_with_an_interval() {
        let xs: Vec<f64> = (0..100).map(f64::from).collect();
        for share in [0.0, 1.0, f64::NAN] {
            assert_eq!(quantile_interval(&xs, share, 0.95, 1.0), None);
        }
        assert!(quantile_interval(&xs, 0.5, 0.95, 1.0).is_some());
    }
}
