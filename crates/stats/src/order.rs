//! Intervals for the median from order statistics, for any distribution of independent
//! observations.
//!
//! The pair of order statistics follows R's `qbinom(alpha/2, n, 1/2)`, so that the confidence is
//! exact and at least the requested one. For dependent observations the effective number is used,
//! as determined from the signs about the median (Heidelberger and Lewis, "Quantile estimation in
//! dependent sequences", 1984). The interval is always within the data.

use crate::{Interval, binomial};

/// Returns the interval for the median with at least `confidence` (in 0..1), and its actual
/// confidence.
///
/// `sorted` must be ascending. `None` if there are too few values for any pair of order statistics,
/// which at 95 % means fewer than 6. O(√n).
#[must_use]
pub fn median_interval(sorted: &[f64], confidence: f64) -> Option<(Interval, f64)> {
    let (k, coverage) = binomial::median_interval(sorted.len() as u64, confidence)?;
    Some((symmetric(sorted, k as usize), coverage))
}

/// Returns the interval like [`median_interval`], but for a dependent series that has only n/`time`
/// effective values. `time` is, for example, the autocorrelation time of the signs
/// ([`crate::signs::time`]).
///
/// The pair of order statistics is that of n/`time` independent values, taken at the same relative
/// depth among all n values. The ends are therefore values of the series. For `time` ≤ 1 (or NaN)
/// the result is the exact interval. `None` if n/`time` values have no interval, or if `time` is
/// above 1 and n/`time` is less than [`FEWEST_EFFECTIVE`]. The returned confidence is that of
/// n/`time` independent values.
#[must_use]
pub fn median_interval_of_effective(
    sorted: &[f64],
    confidence: f64,
    time: f64,
) -> Option<(Interval, f64)> {
    let n = sorted.len() as u64;
    let (exact, coverage) = binomial::median_interval(n, confidence)?;
    let effective = effective(n, time);
    if effective >= n {
        return Some((symmetric(sorted, exact as usize), coverage));
    }
    if effective < FEWEST_EFFECTIVE {
        return None;
    }
    let (k, coverage) = binomial::median_interval(effective, confidence)?;
    let k = (n * (k - 1) / effective + 1).min(exact);
    Some((symmetric(sorted, k as usize), coverage))
}

/// Minimum number of effective values for a median interval of dependent values. Independent values
/// need as many at 95 %.
pub const FEWEST_EFFECTIVE: u64 = 6;

/// Returns the minimum number of independent values that have a median interval at this confidence,
/// for example 6 at 95 %.
#[must_use]
pub fn fewest_values(confidence: f64) -> u64 {
    // The extremes of n values cover the median with probability 1 − 2^(1 − n).
    (1..=1024).find(|n| binomial::median_interval(*n, confidence).is_some()).unwrap_or(u64::MAX)
}

/// Returns the effective number of `n` values, rounded down and at most `n`.
fn effective(n: u64, time: f64) -> u64 {
    if time.is_nan() || time <= 1.0 {
        return n;
    }
    // Rounding error may put a quotient just below a whole number, so a small tolerance is added.
    (n as f64 / time + 1e-9) as u64
}

/// Returns the interval from order statistic `k` (1-based, at most n/2) to order statistic n + 1 −
/// `k`.
fn symmetric(sorted: &[f64], k: usize) -> Interval {
    Interval { lower: sorted[k - 1], upper: sorted[sorted.len() - k] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_values_are_the_fewest_for_95_percent() {
        let xs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(median_interval(&xs[..5], 0.95), None);
        let (interval, coverage) = median_interval(&xs, 0.95).unwrap();
        assert_eq!(interval, Interval { lower: 1.0, upper: 6.0 });
        assert_eq!(coverage, 0.96875);
        assert_eq!([0.5, 0.9, 0.95, 0.99].map(fewest_values), [3, 5, 6, 8]);
        assert_eq!(fewest_values(1.0), u64::MAX);
    }

    #[test]
    fn dependence_widens_the_interval_and_independence_does_not() {
        let xs: Vec<f64> = (0..200).map(f64::from).collect();
        let exact = median_interval(&xs, 0.95).unwrap();
        assert_eq!(median_interval_of_effective(&xs, 0.95, 1.0), Some(exact));
        let mut last = exact.0;
        for time in [1.01, 1.5, 3.0, 10.0, 33.0] {
            let (wider, coverage) = median_interval_of_effective(&xs, 0.95, time).unwrap();
            assert!(wider.lower <= last.lower && wider.upper >= last.upper, "{time}");
            assert!((0.95..1.0).contains(&coverage), "{time}: {coverage}");
            last = wider;
        }
        assert_eq!(median_interval_of_effective(&xs, 0.95, 34.0), None);
        assert_eq!(median_interval_of_effective(&xs, 0.95, f64::NAN), Some(exact));
    }

    #[test]
    fn the_ends_lie_as_deep_as_those_of_the_values_that_count() {
        let xs: Vec<f64> = (1..=100).map(f64::from).collect();
        // 25 effective values would give the 8th and the 18th (R: qbinom(0.025, 25, 0.5)): seven of
        // 25 are excluded at each end, and so 28 of 100.
        let (found, coverage) = median_interval_of_effective(&xs, 0.95, 4.0).unwrap();
        assert_eq!(found, Interval { lower: 29.0, upper: 72.0 });
        // R: 1 - 2 * pbinom(7, 25, 0.5).
        assert!((coverage - 0.956_714_749_336_242_7).abs() < 1e-12, "{coverage}");
        // For six effective values, the interval is bounded by the extremes. Fewer have no
        // interval.
        let few = |n: usize, time| median_interval_of_effective(&xs[..n], 0.95, time);
        assert_eq!(few(24, 4.0).unwrap().0, Interval { lower: 1.0, upper: 24.0 });
        assert_eq!(few(23, 4.0), None);
        // Even at a lower confidence, five values of a dependent series are not enough.
        assert_eq!(median_interval_of_effective(&xs[..20], 0.5, 4.0), None);
    }

    #[test]
    fn no_end_lies_outside_of_the_data() {
        for n in 1..40 {
            let mut xs: Vec<f64> = (1..=n).map(f64::from).collect();
            xs[n as usize - 1] *= 1e6;
            for time in [1.0, 1.2, 2.0, 5.0] {
                for confidence in [0.5, 0.9, 0.95, 0.99] {
                    let Some((i, _)) = median_interval_of_effective(&xs, confidence, time) else {
                        continue;
                    };
                    assert!(i.lower >= xs[0] && i.upper <= xs[n as usize - 1], "{n} {time}: {i:?}");
                    assert!(i.contains(crate::descriptive::median_sorted(&xs)), "{n} {time}");
                }
            }
        }
    }
}
