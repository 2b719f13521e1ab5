//! Autocorrelation of a series, and its effective number of values.
//!
//! The autocorrelation is the biased one of R's `acf` (sums divided by the sum at lag 0).
//! Dependence is measured by ranks, so that a single stall does not hide it. The autocorrelation
//! time sums it by Geyer's initial positive sequence ("Practical Markov chain Monte Carlo", 1992):
//! pairs of lags are added while they are positive. A constant series has autocorrelation 0 and
//! time 1.

use crate::descriptive;
pub use crate::ranks::{ranks, ranks_within};
use std::ops::Range;

/// Number of lags first used for the autocorrelation time; most series need no more.
const FIRST_LAGS: usize = 40;

/// Maximum number of products for the autocorrelation time: about half a second, and only if the
/// dependence is long-range. For ten million values this allows a hundred lags.
const MOST_PRODUCTS: usize = 1_000_000_000;

/// The autocorrelation at lags 1..=min(`max_lag`, n − 1); element 0 is lag 1. O(n · lags).
///
/// `xs`: finite, in order of measurement. Results in −1..=1; all 0 for a constant series.
#[must_use]
pub fn autocorrelation(xs: &[f64], max_lag: usize) -> Vec<f64> {
    let lags = max_lag.min(xs.len().saturating_sub(1));
    if lags == 0 || xs.iter().all(|x| *x == xs[0]) {
        return vec![0.0; lags];
    }
    let sums = lagged_products(&deviations(xs), 0..lags + 1);
    sums[1..].iter().map(|sum| sum / sums[0]).collect()
}

/// The deviations from the mean, which is accurate to the last bit of the deviations.
fn deviations(xs: &[f64]) -> Vec<f64> {
    let centre = descriptive::mean(xs);
    let rest = xs.iter().map(|x| x - centre).sum::<f64>() / xs.len() as f64;
    xs.iter().map(|x| (x - centre) - rest).collect()
}

/// Σ d[i] d[i + lag] for these lags, computed block by block, so that a block is read from memory
/// once for all lags.
fn lagged_products(deviations: &[f64], lags: Range<usize>) -> Vec<f64> {
    /// Number of values that stay in the first-level cache while all lags pass over them.
    const BLOCK: usize = 1024;
    let mut sums = vec![0.0; lags.len()];
    for begin in (0..deviations.len()).step_by(BLOCK) {
        let end = (begin + BLOCK).min(deviations.len());
        for (lag, sum) in lags.clone().zip(&mut sums) {
            let partners = deviations.get(begin + lag..).unwrap_or(&[]);
            *sum += dot(&deviations[begin..end], partners);
        }
    }
    sums
}

/// Σ a b over the shorter of the two, in eight parallel sums that the processor adds
/// simultaneously.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let length = a.len().min(b.len());
    let (a, b) = (a[..length].chunks_exact(LANES), b[..length].chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    let mut lanes = [0.0; LANES];
    for (x, y) in a.zip(b) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The [`autocorrelation`] of the [`ranks`].
#[must_use]
pub fn rank_autocorrelation(xs: &[f64], max_lag: usize) -> Vec<f64> {
    autocorrelation(&ranks(xs), max_lag)
}

/// The autocorrelation time τ ≥ 1: the mean of n values has the variance of the mean of n/τ
/// independent ones. O(n log n + 40 n), more for long-range dependence, at most 10⁹ products.
///
/// `xs`: finite, in order of measurement. From the rank autocorrelation r: 2 Σ pairs − 1 over the
/// pairs r₀ + r₁, r₂ + r₃, ... before the first that is not positive. Uses 40 lags, and more, up to
/// lag n/3, while no pair has ended the sum: a machine whose frequency drifts for minutes needs
/// more than 40 runs.
#[must_use]
pub fn autocorrelation_time(xs: &[f64]) -> f64 {
    time_of_ranks(&ranks(xs))
}

/// Like [`autocorrelation_time`], from the values' [`ranks`].
#[must_use]
pub fn time_of_ranks(ranks: &[f64]) -> f64 {
    dependence_of_ranks(ranks).time
}

/// Dependence measures from the ranks of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// The [`autocorrelation_time`], at least 1.
    pub time: f64,
    /// The [`rank_autocorrelation`] at lag 1; 0 for a constant series and for fewer than two
    /// values.
    pub lag1: f64,
}

/// Computes both measures from the same deviations. `ranks`: the [`ranks`] of the values; same cost
/// as [`autocorrelation_time`].
#[must_use]
pub fn dependence_of_ranks(ranks: &[f64]) -> Dependence {
    if ranks.iter().all(|rank| *rank == ranks[0]) {
        return Dependence { time: 1.0, lag1: 0.0 };
    }
    let deviations = deviations(ranks);
    let farthest = (MOST_PRODUCTS / ranks.len()).max(FIRST_LAGS).min(ranks.len() / 3);
    // Products at lags from 0.
    let mut sums: Vec<f64> = Vec::new();
    let mut lags = FIRST_LAGS.min(farthest);
    loop {
        sums.extend(lagged_products(&deviations, sums.len()..lags + 1));
        let pairs = sums.chunks_exact(2).map(|pair| pair[0] / sums[0] + pair[1] / sums[0]);
        let positive: Vec<f64> = pairs.take_while(|pair| *pair > 0.0).collect();
        let ended = positive.len() < sums.len() / 2;
        if ended || lags == farthest {
            let time = (2.0 * positive.iter().sum::<f64>() - 1.0).max(1.0);
            // Two values are too few for an autocorrelation time, but not for a lag-1 correlation.
            let of_neighbours = |sums: &[f64]| lagged_products(&deviations, 1..2)[0] / sums[0];
            let lag1 = sums.get(1).map_or_else(|| of_neighbours(&sums), |sum| sum / sums[0]);
            return Dependence { time, lag1 };
        }
        lags = (lags * 4).min(farthest);
    }
}

/// The autocorrelation time of a first-order autoregression, (1 + φ)/(1 − φ), whose lag-1
/// correlation was estimated as `lag1` from `n` > 4 values; at least 1, at most 99.
///
/// Corrects the bias of `lag1`, which is too low by (1 + 4 φ)/n on average, since the mean is taken
/// from the same values (Kendall, "Note on bias in the estimation of autocorrelation", 1954;
/// Marriott and Pope, 1954). Unlike [`autocorrelation_time`], which sums observed lags, this
/// extrapolates beyond the lags that few values have.
#[must_use]
pub fn time_of_lag1(n: usize, lag1: f64) -> f64 {
    let phi = coefficient_of_lag1(n, lag1);
    (1.0 + phi) / (1.0 - phi)
}

/// The coefficient of a first-order autoregression, in 0..=0.98, whose lag-1 correlation was
/// estimated as `lag1` from `n` > 4 values; corrected as in [`time_of_lag1`].
#[must_use]
pub fn coefficient_of_lag1(n: usize, lag1: f64) -> f64 {
    let n = n as f64;
    ((n * lag1 + 1.0) / (n - 4.0)).clamp(0.0, 0.98)
}

/// Effective number of values: n/τ, with [`autocorrelation_time`] τ. In 0..=n.
#[must_use]
pub fn effective_sample_size(xs: &[f64]) -> f64 {
    xs.len() as f64 / autocorrelation_time(xs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    #[test]
    fn the_time_of_an_autoregression_is_its_formula_put_right_for_few_values() {
        // φ = (n r + 1)/(n − 4) is 1/2 here, and (1 + φ)/(1 − φ) is 3.
        assert!((time_of_lag1(104, 49.0 / 104.0) - 3.0).abs() < 1e-12);
        assert_eq!((time_of_lag1(104, -0.9), time_of_lag1(104, 0.0)), (1.0, 1.01 / 0.99));
        assert!((time_of_lag1(104, 1.0) - 99.0).abs() < 1e-9);
    }

    #[test]
    fn ranks_know_no_scale() {
        let xs = [1.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.5, 9.0];
        let stretched: Vec<f64> = xs.iter().map(|x: &f64| x.exp()).collect();
        let found = rank_autocorrelation(&xs, 3);
        assert_eq!(found, rank_autocorrelation(&stretched, 3));
        assert_eq!(found, autocorrelation(&ranks(&xs), 3));
        // The ranks 1, 3, 2, 5, 4, 7, 6, 8: the products of neighbors sum to 15.25, the squares to
        // 42.
        assert!(found.len() == 3 && (found[0] - 15.25 / 42.0).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn a_constant_series_does_not_depend_on_itself() {
        assert_eq!(autocorrelation(&[2.0; 9], 3), [0.0; 3]);
        assert_eq!(autocorrelation_time(&[2.0; 90]), 1.0);
        assert_eq!(effective_sample_size(&[2.0; 90]), 90.0);
        assert_eq!(autocorrelation(&[0.1; 3], 9), [0.0; 2]);
    }

    #[test]
    fn short_series_have_no_lags_to_speak_of() {
        assert_eq!(autocorrelation(&[], 5), Vec::<f64>::new());
        assert_eq!(autocorrelation(&[1.0], 5), Vec::<f64>::new());
        assert_eq!(autocorrelation(&[1.0, 2.0], 5), [-0.5]);
        assert_eq!(autocorrelation_time(&[]), 1.0);
        assert_eq!(autocorrelation_time(&[1.0, 2.0]), 1.0);
    }

    #[test]
    fn dependence_that_reaches_far_is_followed_to_its_end() {
        // Waves of 2,000 values: the sum over 40 lags would give 80 for any length.
        let slow: Vec<f64> = (0..20_000).map(|i| (f64::from(i) / 318.0).sin()).collect();
        let tau = autocorrelation_time(&slow);
        assert!((500.0..800.0).contains(&tau), "{tau}");
        assert!(effective_sample_size(&slow) < 50.0);
    }

    #[test]
    fn both_numbers_at_once_are_those_found_one_by_one() {
        let mut stream = Stream::new(6, 0);
        for n in [0, 1, 2, 3, 7, 500] {
            let ranks = ranks(&(0..n).map(|_| stream.normal()).collect::<Vec<_>>());
            let lag1 = autocorrelation(&ranks, 1).first().copied().unwrap_or(0.0);
            let found = dependence_of_ranks(&ranks);
            assert_eq!((found.time, found.lag1), (time_of_ranks(&ranks), lag1), "{n}");
        }
    }

    #[test]
    fn a_long_series_is_worth_what_its_dependence_leaves_of_it() {
        // Autoregressive with coefficient 0.99: τ = 1.99 / 0.01, slightly less for ranks.
        let mut stream = Stream::new(5, 0);
        let mut last = 0.0;
        let mut next = || {
            last = 0.99 * last + stream.normal();
            last
        };
        let xs: Vec<f64> = std::iter::repeat_with(&mut next).take(300_000).collect();
        let tau = autocorrelation_time(&xs);
        assert!((150.0..240.0).contains(&tau), "{tau}");
    }

    #[test]
    fn long_steps_count_as_few_values_and_alternation_as_all() {
        let steps: Vec<f64> = (0..400).map(|i| f64::from(i / 20 * 7 % 11)).collect();
        let tau = autocorrelation_time(&steps);
        assert!((8.0..40.0).contains(&tau), "{tau}");
        let alternating: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        assert_eq!(autocorrelation_time(&alternating), 1.0);
    }

    #[test]
    fn an_offset_of_a_million_of_a_thousand_millions_costs_no_digits() {
        let near: Vec<f64> = (0..50).map(|i| f64::from(i * 31 % 97)).collect();
        let far: Vec<f64> = near.iter().map(|x| x + 1e15).collect();
        for (a, b) in autocorrelation(&near, 5).iter().zip(autocorrelation(&far, 5)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn six_rising_ranks_are_worth_three() {
        // The correlation at lag 1 is 8.75/17.5, the last that is used: τ = 2 (1 + 1/2) − 1.
        let found = dependence_of_ranks(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((found.time - 2.0).abs() < 1e-12 && (found.lag1 - 0.5).abs() < 1e-12, "{found:?}");
    }
}
