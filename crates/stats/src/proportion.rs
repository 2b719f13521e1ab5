//! Intervals for proportions.
//!
//! Wilson's score interval (1927), as in R's `prop.test(correct = FALSE)`, and the exact interval
//! of Clopper and Pearson (1934), as in R's `binom.test`.

use crate::{Interval, binomial, normal};

/// Wilson's interval for the probability of success, from `successes` of `trials`; within 0..=1.
///
/// `confidence` in 0..1. `None` for no trials, more successes than trials, or any other confidence.
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
    // Without successes, or without failures, the exact end is the share itself; rounding must not
    // move it.
    let lower = if successes == 0 { 0.0 } else { (centre - reach) / (1.0 + weight) };
    let upper = if successes == trials { 1.0 } else { (centre + reach) / (1.0 + weight) };
    Some(Interval { lower: lower.max(0.0), upper: upper.min(1.0) })
}

/// The interval of Clopper and Pearson for the probability of success, from `successes` of
/// `trials`; within 0..=1. Its coverage is at least the confidence, and higher for a sample without
/// replacement.
///
/// `confidence` in 0..1. `None` for no trials, more successes than trials, or any other confidence.
/// Uses 60 bisection steps per end.
#[must_use]
pub fn exact_interval(successes: u64, trials: u64, confidence: f64) -> Option<Interval> {
    if trials == 0 || successes > trials || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    // The probability at which a decreasing function crosses `tail`.
    let place = |falls: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if falls(middle) > tail { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    };
    let lower = match successes {
        0 => 0.0,
        // The upper end is the mirrored lower end for failures.
        _ => 1.0 - place(&|p| binomial::at_most_of(trials - successes, trials, p)),
    };
    let upper = match trials - successes {
        0 => 1.0,
        _ => place(&|p| binomial::at_most_of(successes, trials, p)),
    };
    Some(Interval { lower, upper })
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
    fn the_exact_interval_equals_r() {
        // R: binom.test(15, 50)$conf.int, binom.test(1, 10)$conf.int, binom.test(0, 20)$conf.int
        for (successes, trials, lower, upper) in [
            (15, 50, 0.178_617, 0.446_082),
            (1, 10, 0.002_529, 0.445_016),
            (0, 20, 0.0, 0.168_433),
            (20, 20, 0.831_567, 1.0),
        ] {
            let own = exact_interval(successes, trials, 0.95).unwrap();
            let is_near = |a: f64, b: f64| (a - b).abs() < 1e-5;
            assert!(is_near(own.lower, lower) && is_near(own.upper, upper), "{own:?}");
        }
        assert_eq!(exact_interval(1, 0, 0.95), None);
    }

    #[test]
    fn none_and_all_reach_the_ends_exactly() {
        assert_eq!(wilson_interval(0, 20, 0.95).unwrap().lower, 0.0);
        assert_eq!(wilson_interval(20, 20, 0.95).unwrap().upper, 1.0);
        assert_eq!(wilson_interval(0, 0, 0.95), None);
        assert_eq!(wilson_interval(3, 2, 0.95), None);
    }
}
