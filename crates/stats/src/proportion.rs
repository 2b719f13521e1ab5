//! Counts of successes: an interval for their share, and the test of a fair coin.
//!
//! The interval is Wilson's score interval (1927), as in R's `prop.test(correct = FALSE)`; the test
//! is the exact sign test, R's `binom.test(k, n)`.

use crate::{Interval, binomial, normal};

/// Wilson's interval for the probability of success, from `successes` of `trials`; within 0..=1.
///
/// `confidence` in 0..1. None for no trials, more successes than trials, or another confidence.
#[must_use]
pub fn wilson_interval(successes: u64, trials: u64, confidence: f64) -> Option<Interval> {
    if trials == 0 || successes > trials || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let z = normal::two_sided(confidence);
    let weight = z * z / n;
    let centre = share + weight / 2.0;
    let reach = (share * (1.0 - share) * weight + weight * weight / 4.0).sqrt();
    // At none and at all the exact end is the share itself; rounding must not move it off.
    let lower = if successes == 0 { 0.0 } else { (centre - reach) / (1.0 + weight) };
    let upper = if successes == trials { 1.0 } else { (centre + reach) / (1.0 + weight) };
    Some(Interval { lower: lower.max(0.0), upper: upper.min(1.0) })
}

/// The exact two-sided p-value of `heads` in `tosses` under a fair coin: how likely a result at
/// least as uneven is.
///
/// 1 for no tosses; NaN for more heads than tosses. O(√n).
#[must_use]
pub fn sign_test(heads: u64, tosses: u64) -> f64 {
    if heads > tosses {
        return f64::NAN;
    }
    (2.0 * binomial::at_most(heads.min(tosses - heads), tosses)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_equals_r() {
        // R: prop.test(15, 50, correct = FALSE)$conf.int
        let interval = wilson_interval(15, 50, 0.95).unwrap();
        assert!((interval.lower - 0.191_035_535_008_8).abs() < 1e-9, "{interval:?}");
        assert!((interval.upper - 0.437_503_504_644_5).abs() < 1e-9, "{interval:?}");
    }

    #[test]
    fn none_and_all_reach_the_ends_exactly() {
        assert_eq!(wilson_interval(0, 20, 0.95).unwrap().lower, 0.0);
        assert_eq!(wilson_interval(20, 20, 0.95).unwrap().upper, 1.0);
        assert_eq!(wilson_interval(0, 0, 0.95), None);
        assert_eq!(wilson_interval(3, 2, 0.95), None);
    }

    #[test]
    fn the_sign_test_is_exact() {
        assert_eq!(sign_test(0, 6), 2.0 / 64.0);
        assert_eq!(sign_test(6, 6), 2.0 / 64.0);
        assert_eq!(sign_test(5, 10), 1.0);
        assert_eq!(sign_test(0, 0), 1.0);
        // R: binom.test(8, 30)$p.value
        assert!((sign_test(8, 30) - 0.016_124_801_710_247_99).abs() < 1e-15);
        assert!(sign_test(2, 1).is_nan());
    }
}
