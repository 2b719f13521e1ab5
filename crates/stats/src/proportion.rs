//! Counts of successes: an interval for their share.
//!
//! Wilson's score interval (1927), as in R's `prop.test(correct = FALSE)`.

use crate::{Interval, normal};

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
}
