//! The binomial distribution of fair coins: the distribution of signs, and of the number of
//! observations below their median.
//!
//! Probabilities follow Loader ("Fast and accurate computation of binomial probabilities", 2000):
//! the error of Stirling's formula plus a deviance, so that they keep full accuracy for a million
//! coins. Tails are then summed term by term from their largest one. Equal to R's `dbinom`,
//! `pbinom` and `qbinom` with probability ½.

use crate::{normal, special};
use std::f64::consts::PI;

/// P(B = k) for `n` fair coins.
#[must_use]
pub fn probability(k: u64, n: u64) -> f64 {
    if k > n {
        return 0.0;
    }
    let (heads, tails, all) = (k as f64, (n - k) as f64, n as f64);
    if k == 0 || k == n {
        return (-all).exp2();
    }
    let stirling = special::stirling_error(all)
        - special::stirling_error(heads)
        - special::stirling_error(tails);
    // Deviance of the two counts from n/2: the sum of c ln(c/(n/2)), whose linear parts cancel.
    // With e = (2k − n)/n it is n/2 ((1+e) ln(1+e) + (1−e) ln(1−e)), which is small if k is near
    // n/2.
    let e = (heads - tails) / all;
    let deviance = heads * e.ln_1p() + tails * (-e).ln_1p();
    // Stirling's √(x) factors for Γ(x+1) rather than Γ(x): n/(k(n−k)) under the root.
    (all / (2.0 * PI * heads * tails)).sqrt() * (stirling - deviance).exp()
}

/// P(B ≤ k) for `n` fair coins, to about 1e-13 relative; O(√n) steps.
#[must_use]
pub fn at_most(k: u64, n: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    if k > n / 2 {
        return 1.0 - at_most(n - k - 1, n);
    }
    let mut term = probability(k, n);
    let mut sum = term;
    let mut j = k;
    while j > 0 && term > sum * 1e-18 {
        term *= j as f64 / (n - j + 1) as f64;
        sum += term;
        j -= 1;
    }
    sum
}

/// The smallest k with P(B ≤ k) ≥ `p` for `n` fair coins: R's `qbinom(p, n, 1/2)`; `p` in 0..=1.
///
/// O(√n): starts at the normal approximation and steps to the exact answer.
#[must_use]
pub fn quantile(p: f64, n: u64) -> u64 {
    // As in R, a probability that differs from p only by rounding counts as reached.
    let p = p * (1.0 - 64.0 * f64::EPSILON);
    if p.is_nan() || p <= 0.0 {
        return 0;
    }
    if p >= 1.0 {
        return n;
    }
    let middle = n as f64 / 2.0;
    let guess = middle + normal::quantile(p) * (n as f64).sqrt() / 2.0;
    let mut k = guess.floor().clamp(0.0, n as f64) as u64;
    while k < n && at_most(k, n) < p {
        k += 1;
    }
    while k > 0 && at_most(k - 1, n) >= p {
        k -= 1;
    }
    k
}

/// P(B ≤ k) for `n` coins with probability of heads `p` in 0..1: R's `pbinom(k, n, p)`, to about
/// 1e-13 relative in the lower tail.
#[must_use]
pub fn at_most_of(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    special::incomplete_beta((n - k) as f64, k as f64 + 1.0, 1.0 - p, p)
}

/// The smallest k with P(B ≤ k) ≥ `q` for `n` coins of probability `p` in 0..1: R's `qbinom(q, n,
/// p)`; `q` in 0..=1. O(log n) evaluations of [`at_most_of`].
#[must_use]
pub fn quantile_of(q: f64, n: u64, p: f64) -> u64 {
    let q = q * (1.0 - 64.0 * f64::EPSILON);
    if q.is_nan() || q <= 0.0 {
        return 0;
    }
    if q >= 1.0 {
        return n;
    }
    // Bisects between `below`, which does not reach q, and `reaches`, which does, starting a few
    // standard deviations from the mean, so that a large n costs no more than a small one.
    let mean = n as f64 * p;
    let reach = 1.0 + 9.0 * (mean * (1.0 - p)).sqrt().max(1.0);
    let low = (mean - reach).max(0.0) as u64;
    let high = ((mean + reach) as u64).min(n);
    let (mut from, mut reaches) = (0, n);
    if low > 0 && at_most_of(low - 1, n, p) < q {
        from = low;
    }
    if at_most_of(high, n, p) >= q {
        reaches = high;
    }
    while from < reaches {
        let middle = from + (reaches - from) / 2;
        if at_most_of(middle, n, p) >= q {
            reaches = middle;
        } else {
            from = middle + 1;
        }
    }
    reaches
}

/// The order statistic `k` (1-based) that, with its partner n + 1 − k, covers the median of the
/// population with at least `confidence`, for any distribution; `None` if there is no such pair.
///
/// k = `qbinom((1 − confidence)/2, n, 1/2)`: fewer than k of n observations are below the median
/// with probability at most (1 − confidence)/2. The second number is the actual confidence, 1 − 2
/// P(B < k).
#[must_use]
pub fn median_interval(n: u64, confidence: f64) -> Option<(u64, f64)> {
    if !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let k = quantile((1.0 - confidence) / 2.0, n);
    if k == 0 { None } else { Some((k, 1.0 - 2.0 * at_most(k - 1, n))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pascal's triangle over 2^n.
    fn row(n: usize) -> Vec<f64> {
        let mut row = vec![1.0];
        for _ in 0..n {
            let mut next = vec![0.0; row.len() + 1];
            for (k, p) in row.iter().enumerate() {
                next[k] += p / 2.0;
                next[k + 1] += p / 2.0;
            }
            row = next;
        }
        row
    }

    #[test]
    fn probabilities_equal_pascals_triangle() {
        for n in [0, 1, 2, 7, 20, 101, 400] {
            let mut sum = 0.0;
            for (k, expected) in row(n).into_iter().enumerate() {
                sum += expected;
                let (p, q) = (probability(k as u64, n as u64), at_most(k as u64, n as u64));
                assert!((p - expected).abs() <= 1e-12 * expected, "{k} of {n}: {p} {expected}");
                assert!((q - sum).abs() <= 1e-12 * sum, "at most {k} of {n}: {q} {sum}");
            }
        }
        assert_eq!(probability(3, 2), 0.0);
    }

    #[test]
    fn quantiles_are_the_smallest_count_that_reaches_the_probability() {
        for n in 0..=60 {
            let row = row(n);
            for p in [0.0005, 0.001, 0.025, 0.05, 0.3, 0.5, 0.77, 0.999] {
                let mut sum = 0.0;
                let expected = row.iter().position(|q| {
                    sum += q;
                    sum >= p * (1.0 - 1e-13)
                });
                assert_eq!(quantile(p, n as u64), expected.unwrap() as u64, "{p} {n}");
            }
        }
    }

    #[test]
    fn unfair_coins_with_equal_odds_are_fair_ones() {
        for n in [1, 6, 40, 999] {
            for q in [1e-9, 0.025, 0.3, 0.5, 0.975] {
                assert_eq!(quantile_of(q, n, 0.5), quantile(q, n), "{n} {q}");
            }
            let (fair, unfair) = (at_most(n / 3, n), at_most_of(n / 3, n, 0.5));
            assert!((fair - unfair).abs() <= 1e-12 * fair, "{fair} {unfair}");
        }
        // R: pbinom(2, 30, 0.1), qbinom(c(.025, .975), 400, 0.99)
        assert!((at_most_of(2, 30, 0.1) - 0.411_351_239_559_505_1).abs() < 1e-14);
        assert_eq!((quantile_of(0.025, 400, 0.99), quantile_of(0.975, 400, 0.99)), (392, 399));
        assert_eq!((quantile_of(0.0, 9, 0.3), quantile_of(1.0, 9, 0.3)), (0, 9));
    }

    #[test]
    fn a_million_observations_are_no_trouble() {
        let (k, coverage) = median_interval(1_000_000, 0.95).unwrap();
        assert!((499_019..=499_021).contains(&k), "{k}");
        assert!((0.95..0.9502).contains(&coverage), "{coverage}");
        assert!(
            (at_most(499_999, 1_000_000) * 2.0 + probability(500_000, 1_000_000) - 1.0).abs()
                < 1e-12
        );
    }

    #[test]
    fn five_observations_are_too_few_for_95_percent() {
        assert_eq!(median_interval(5, 0.95), None);
        assert_eq!(median_interval(6, 0.95), Some((1, 1.0 - 2.0 / 64.0)));
        assert_eq!(median_interval(0, 0.95), None);
        assert_eq!(median_interval(100, 1.0), None);
        assert_eq!(median_interval(100, f64::NAN), None);
    }

    #[test]
    fn quantiles_of_unfair_coins_are_the_smallest_count_that_reaches_the_probability() {
        for (n, p) in [(1, 0.3), (12, 0.05), (60, 0.9), (300, 0.01), (300, 0.65)] {
            for q in [1e-6, 0.025, 0.2, 0.5, 0.77, 0.999, 1.0 - 1e-9] {
                let expected = (0..=n).find(|k| at_most_of(*k, n, p) >= q * (1.0 - 1e-13));
                assert_eq!(quantile_of(q, n, p), expected.unwrap(), "{q} {n} {p}");
            }
        }
    }
}
