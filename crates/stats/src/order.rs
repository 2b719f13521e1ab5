//! Intervals for the median from order statistics: no assumption about the distribution, but
//! independent observations.
//!
//! The pair of order statistics follows R's `qbinom(alpha/2, n, 1/2)`, so that the confidence is
//! exact and at least what was asked. Dependent observations are fewer than they look; for them the
//! same interval is widened as if there were n/τ.

use crate::{Interval, binomial, normal};

/// The interval for the median with at least `confidence` (in 0..1), and the confidence that it
/// really has.
///
/// `sorted`: ascending. None when there are too few values for any pair of order statistics: below
/// 6 at 95 %. O(√n).
#[must_use]
pub fn median_interval(sorted: &[f64], confidence: f64) -> Option<(Interval, f64)> {
    let (k, coverage) = binomial::median_interval(sorted.len() as u64, confidence)?;
    Some((symmetric(sorted, k as usize), coverage))
}

/// [`median_interval`] widened for observations that depend on each other with autocorrelation time
/// `tau`.
///
/// `tau` ≤ 1 (or NaN) gives the exact interval. Above, the number of values below the median is
/// taken as normal with the variance n τ / 4, and the confidence returned is that of this
/// approximation. Never narrower than the exact interval.
#[must_use]
pub fn median_interval_with_tau(
    sorted: &[f64],
    confidence: f64,
    tau: f64,
) -> Option<(Interval, f64)> {
    let n = sorted.len() as u64;
    let (exact, coverage) = binomial::median_interval(n, confidence)?;
    if tau.is_nan() || tau <= 1.0 {
        return Some((symmetric(sorted, exact as usize), coverage));
    }
    let sd = (n as f64 * tau).sqrt() / 2.0;
    let middle = n as f64 / 2.0;
    let k = (middle - normal::two_sided(confidence) * sd).floor();
    if k < 1.0 {
        return None;
    }
    let k = (k as u64).min(exact);
    let coverage = 1.0 - 2.0 * normal::cdf((k as f64 - middle) / sd);
    Some((symmetric(sorted, k as usize), coverage))
}

/// From the order statistic `k` (1-based, at most half of n) to its partner from above.
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
    }

    #[test]
    fn dependence_widens_the_interval_and_independence_does_not() {
        let xs: Vec<f64> = (0..200).map(f64::from).collect();
        let exact = median_interval(&xs, 0.95).unwrap();
        assert_eq!(median_interval_with_tau(&xs, 0.95, 1.0), Some(exact));
        let mut last = exact.0;
        for tau in [1.01, 1.5, 3.0, 10.0] {
            let (wider, coverage) = median_interval_with_tau(&xs, 0.95, tau).unwrap();
            assert!(wider.lower <= last.lower && wider.upper >= last.upper, "{tau}");
            assert!((0.95..1.0).contains(&coverage), "{tau}: {coverage}");
            last = wider;
        }
        assert_eq!(median_interval_with_tau(&xs, 0.95, 60.0), None);
        assert_eq!(median_interval_with_tau(&xs, 0.95, f64::NAN), Some(exact));
    }

    #[test]
    fn dependence_moves_the_ends_out_by_its_root() {
        let xs: Vec<f64> = (1..=100).map(f64::from).collect();
        // 50 − 1.96 · √(100 · 4)/2 = 30.4: the 30th value and the 71st.
        let (found, coverage) = median_interval_with_tau(&xs, 0.95, 4.0).unwrap();
        assert_eq!(found, Interval { lower: 30.0, upper: 71.0 });
        // R: 1 − 2 pnorm(−2).
        assert!((coverage - 0.954_499_736_103_642).abs() < 1e-12, "{coverage}");
        // 10 − 1.96 · √(20 · 4)/2 = 1.2, and with a little more of it below 1.
        assert_eq!(
            median_interval_with_tau(&xs[..20], 0.95, 4.0).unwrap().0,
            Interval { lower: 1.0, upper: 20.0 }
        );
        assert_eq!(median_interval_with_tau(&xs[..20], 0.95, 4.3), None);
    }
}
