//! Anytime-valid inference: statements that remain valid however often the data are inspected, so
//! that sampling may stop at any time.
//!
//! There are two methods. The asymptotic confidence sequence for a mean (Waudby-Smith, Arbour,
//! Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence
//! sequences", 2024) is the normal mixture of Robbins, which contains the mean at all times
//! simultaneously once there are enough values for the central limit theorem. The sign e-process is
//! the bet of a uniform prior on the probability of heads against a fair coin, exact for any number
//! of values and any distribution (Ville, 1939; Howard and Ramdas, "Sequential estimation of
//! quantiles", 2022, for its use on medians). Values must be independent: neither accounts for
//! dependence.

use crate::{Interval, descriptive, special};

/// Minimum number of values for the confidence sequence for a mean.
pub const FEWEST: usize = 20;

/// The interval for the mean after `n` values, from a sequence that contains the mean at all n
/// simultaneously with probability 1 − `level`.
///
/// x̄ ± s √(2 (nr + 1)/(n² r) · ln(√(nr + 1)/level)), where r makes it tightest at `tuned_for`
/// values (at least 1; fixed before looking). `xs`: finite, n ≥ [`FEWEST`]; `level` in 0..1;
/// otherwise `None`. O(n).
#[must_use]
pub fn mean_sequence(xs: &[f64], level: f64, tuned_for: f64) -> Option<Interval> {
    if xs.len() < FEWEST {
        return None;
    }
    let reach = sequence_reach(xs.len(), level, tuned_for)?;
    let (centre, spread) = (descriptive::mean(xs), descriptive::standard_deviation(xs));
    Some(Interval { lower: centre - reach * spread, upper: centre + reach * spread })
}

/// Half width of the [`mean_sequence`] interval after `n` values, in standard deviations; `None`
/// for a level outside 0..1 or for no values. O(1).
#[must_use]
pub fn sequence_reach(n: usize, level: f64, tuned_for: f64) -> Option<f64> {
    if n == 0 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let strict = -2.0 * level.ln();
    let r = (strict + strict.ln_1p()) / tuned_for.max(1.0);
    let n = n as f64;
    let mixed = n * r + 1.0;
    Some((2.0 * mixed / (n * n * r) * (mixed.sqrt() / level).ln()).sqrt())
}

/// The evidence against a fair coin after `heads` of `tosses`, as the natural logarithm of an
/// e-value: 2ⁿ B(1 + k, 1 + n − k).
///
/// If the coin is fair, the e-value ever reaches 1/`level` with probability at most `level`, under
/// any stopping rule. NaN for more heads than tosses; O(1).
#[must_use]
pub fn sign_log_e(heads: u64, tosses: u64) -> f64 {
    if heads > tosses {
        return f64::NAN;
    }
    let (n, k) = (tosses as f64, heads as f64);
    n * std::f64::consts::LN_2 + special::ln_beta(1.0 + k, 1.0 + n - k)
}

/// The interval for the median after n values, from a sequence that contains the median at all n
/// simultaneously with probability at least 1 − `level`: the values that the sign e-process does
/// not exclude.
///
/// `sorted`: ascending; `level` in 0..1. `None` while no value can be excluded yet (fewer than 8
/// values at level 0.05). O(log n).
#[must_use]
pub fn median_sequence(sorted: &[f64], level: f64) -> Option<Interval> {
    let n = sorted.len() as u64;
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let excluded = |below: u64| sign_log_e(below, n) >= -level.ln();
    if n == 0 || !excluded(0) {
        return None;
    }
    // The largest number of values below a candidate that still excludes it.
    let (mut outside, mut inside) = (0, n / 2);
    while inside - outside > 1 {
        let middle = outside + (inside - outside) / 2;
        if excluded(middle) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    let k = outside as usize;
    Some(Interval { lower: sorted[k], upper: sorted[sorted.len() - 1 - k] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    const SERIES: u64 = 400;
    const LONGEST: usize = 1000;

    /// The share of series for which `excludes` is true at some look.
    fn ever(draw: impl Fn(&mut Stream) -> f64, mut excludes: impl FnMut(&[f64]) -> bool) -> f64 {
        let lied = (0..SERIES).filter(|&number| {
            let mut stream = Stream::new(53, number);
            let xs: Vec<f64> = (0..LONGEST).map(|_| draw(&mut stream)).collect();
            // Looks at every value up to 100, then at every tenth.
            let looks = (1..100).chain((100..=LONGEST).step_by(10));
            looks.into_iter().any(|n| excludes(&xs[..n]))
        });
        lied.count() as f64 / SERIES as f64
    }

    #[test]
    fn looking_again_and_again_does_not_make_the_sequence_lie() {
        let sequence = ever(Stream::normal, |xs| {
            mean_sequence(xs, 0.05, 200.0).is_some_and(|i| !i.contains(0.0))
        });
        assert!(sequence <= 0.07, "{sequence}");
        let peeking = ever(Stream::normal, |xs| {
            let interval = crate::groups::t_interval(xs, 0.95);
            xs.len() >= FEWEST && interval.is_some_and(|i| !i.contains(0.0))
        });
        assert!(peeking > 0.25, "{peeking}");
    }

    #[test]
    fn the_sequence_is_the_mean_with_the_published_reach() {
        // At this level −2 ln α is 1, and tuning for 1 + ln 2 values makes r 1.
        let (level, tuned_for) = ((-0.5_f64).exp(), 1.0 + std::f64::consts::LN_2);
        let by_hand = (8.0 / 9.0 * (std::f64::consts::LN_2 + 0.5)).sqrt();
        assert!((sequence_reach(3, level, tuned_for).unwrap() - by_hand).abs() < 1e-14);
        // Tuning for less than one value is the same as for one.
        assert_eq!(sequence_reach(3, level, 0.0), sequence_reach(3, level, 1.0));
        for level in [0.0, 1.0, f64::NAN] {
            assert_eq!(sequence_reach(30, level, 50.0), None);
        }
        assert_eq!(sequence_reach(0, 0.05, 50.0), None);
        // Half of them −1 and half 1: the mean is 0, the variance 20/19.
        let xs: Vec<f64> = (0..20).map(|i| f64::from(i % 2 * 2 - 1)).collect();
        let found = mean_sequence(&xs, 0.05, 50.0).unwrap();
        let reach = sequence_reach(20, 0.05, 50.0).unwrap() * (20.0_f64 / 19.0).sqrt();
        assert!((found.upper - reach).abs() < 1e-12 && (found.lower + reach).abs() < 1e-12);
        let moved: Vec<f64> = xs.iter().map(|x| x + 7.0).collect();
        let there = mean_sequence(&moved, 0.05, 50.0).unwrap();
        assert!((there.lower - found.lower - 7.0).abs() < 1e-12);
        assert_eq!(mean_sequence(&xs[..FEWEST - 1], 0.05, 50.0), None);
    }

    #[test]
    fn the_signs_do_not_lie_whatever_the_distribution() {
        let skewed = |stream: &mut Stream| stream.exponential() - std::f64::consts::LN_2;
        let lied = ever(skewed, |xs| {
            let heads = xs.iter().filter(|x| **x > 0.0).count() as u64;
            sign_log_e(heads, xs.len() as u64) >= 20_f64.ln()
        });
        assert!(lied <= 0.06, "{lied}");
        let missed = ever(skewed, |xs| {
            median_sequence(&descriptive::sorted(xs), 0.05).is_some_and(|i| !i.contains(0.0))
        });
        assert!(missed <= 0.06, "{missed}");
    }

    #[test]
    fn what_is_there_is_found() {
        let shifted = |stream: &mut Stream| 0.3 + stream.normal();
        let found =
            ever(shifted, |xs| mean_sequence(xs, 0.05, 200.0).is_some_and(|i| !i.contains(0.0)));
        assert!(found > 0.97, "{found}");
    }

    #[test]
    fn the_e_value_of_few_tosses_is_what_counting_gives() {
        // 2³ · 0! 3! / 4! = 2; 2² · 1! 1! / 3! = 2/3.
        assert!((sign_log_e(0, 3) - 2_f64.ln()).abs() < 1e-14);
        assert!((sign_log_e(1, 2) - (2.0_f64 / 3.0).ln()).abs() < 1e-14);
        assert!(sign_log_e(0, 0).abs() < 1e-14 && sign_log_e(3, 2).is_nan());
        // The bet is fair: the expected e-value after the next toss is the current one.
        for (k, n) in [(0, 4), (3, 9), (50, 99)] {
            let after = (sign_log_e(k, n + 1).exp() + sign_log_e(k + 1, n + 1).exp()) / 2.0;
            assert!((after / sign_log_e(k, n).exp() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_interval_of_the_median_is_those_not_excluded() {
        let xs: Vec<f64> = (0..60).map(f64::from).collect();
        let found = median_sequence(&xs, 0.05).unwrap();
        for (index, x) in xs.iter().enumerate() {
            // A candidate just above x has index + 1 values below it.
            let excluded = sign_log_e(index as u64 + 1, 60) >= 20_f64.ln() && index < 30;
            assert_eq!(excluded, *x < found.lower, "{x}");
        }
        assert_eq!(found.lower, 59.0 - found.upper);
        assert_eq!(median_sequence(&xs[..7], 0.05), None);
        assert!(median_sequence(&xs[..8], 0.05).is_some());
    }

    #[test]
    fn the_sequence_is_tightest_where_it_was_tuned_for() {
        let reach = |n, tuned| sequence_reach(n, 0.05, tuned).unwrap();
        assert!(reach(200, 200.0) < reach(200, 20.0) && reach(200, 200.0) < reach(200, 2000.0));
        assert_eq!(sequence_reach(10, 0.0, 10.0), None);
        assert_eq!(mean_sequence(&[1.0; 19], 0.05, 10.0), None);
    }

    #[test]
    fn the_interval_of_the_median_begins_behind_the_last_that_is_excluded() {
        for n in 8..200_u64 {
            let xs: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let found = median_sequence(&xs, 0.05).unwrap();
            let excluded = (0..n / 2).take_while(|k| sign_log_e(*k, n) >= 20_f64.ln()).count();
            assert_eq!(found.lower, (excluded - 1) as f64, "{n}");
            assert_eq!(found.upper, (n - excluded as u64) as f64, "{n}");
        }
    }
}
