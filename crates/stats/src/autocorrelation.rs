//! How much successive values of a series depend on each other, and how many independent ones they
//! are worth.
//!
//! The autocorrelation is the biased one of R's `acf` (sums divided by the sum at lag 0).
//! Dependence is judged by ranks, so that a single stall does not hide it. The autocorrelation time
//! sums it by Geyer's initial positive sequence ("Practical Markov chain Monte Carlo", 1992): pairs
//! of lags are added while they are positive. A constant series has no autocorrelation, and time 1.

use crate::descriptive;

/// The lags that the autocorrelation time looks at first; most series need no more.
const FIRST_LAGS: usize = 40;

/// Products that the autocorrelation time may cost: less than a tenth of a second. A million values
/// that hang together over more than forty lags get no more than the first lags.
const MOST_PRODUCTS: usize = 40_000_000;

/// The ranks of the values, from 1; equal values share the mean of their ranks. `xs`: finite, any
/// order; O(n log n).
#[must_use]
pub fn ranks(xs: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..xs.len()).collect();
    order.sort_unstable_by(|&a, &b| xs[a].total_cmp(&xs[b]));
    let mut ranks = vec![0.0; xs.len()];
    let mut before = 0;
    for group in order.chunk_by(|&a, &b| xs[a] == xs[b]) {
        // Ranks before + 1 ..= before + length.
        let shared = before as f64 + (group.len() + 1) as f64 / 2.0;
        for &index in group {
            ranks[index] = shared;
        }
        before += group.len();
    }
    ranks
}

/// The autocorrelation at lags 1..=min(`max_lag`, n − 1): the element 0 is lag 1. O(n · lags).
///
/// `xs`: finite, in the order in which they were taken. In −1..=1; all 0 for a constant series.
#[must_use]
pub fn autocorrelation(xs: &[f64], max_lag: usize) -> Vec<f64> {
    let lags = max_lag.min(xs.len().saturating_sub(1));
    let centre = descriptive::mean(xs);
    let rest = xs.iter().map(|x| x - centre).sum::<f64>() / xs.len() as f64;
    let deviations: Vec<f64> = xs.iter().map(|x| (x - centre) - rest).collect();
    if lags == 0 || xs.iter().all(|x| *x == xs[0]) {
        return vec![0.0; lags];
    }
    let sums = lagged_products(&deviations, lags);
    sums[1..].iter().map(|sum| sum / sums[0]).collect()
}

/// Σ d[i] d[i + lag] for the lags 0..=`lags`: block by block, so that a block is read from memory
/// once for all lags.
fn lagged_products(deviations: &[f64], lags: usize) -> Vec<f64> {
    /// Values that stay in the processor's first cache while all lags pass over them.
    const BLOCK: usize = 1024;
    let mut sums = vec![0.0; lags + 1];
    for begin in (0..deviations.len()).step_by(BLOCK) {
        let end = (begin + BLOCK).min(deviations.len());
        for (lag, sum) in sums.iter_mut().enumerate() {
            let partners = deviations.get(begin + lag..).unwrap_or(&[]);
            *sum += dot(&deviations[begin..end], partners);
        }
    }
    sums
}

/// Σ a b over the shorter of the two, in eight sums side by side that the processor adds at once.
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

/// The autocorrelation time τ ≥ 1: the mean of n values wavers as that of n/τ independent ones. O(n
/// log n + 40 n), more where the dependence reaches farther, at most 4 · 10⁷ products.
///
/// `xs`: finite, in the order in which they were taken. From the rank autocorrelation r: 2 Σ pairs −
/// 1 over the pairs r₀ + r₁, r₂ + r₃, ... before the first that is not positive. It looks 40 lags
/// far, and ten times as far as long as no pair has ended the sum, up to lag n/3: a machine whose
/// frequency wanders for minutes is not done after 40 runs.
#[must_use]
pub fn autocorrelation_time(xs: &[f64]) -> f64 {
    let ranks = ranks(xs);
    let farthest = (MOST_PRODUCTS / xs.len().max(1)).max(FIRST_LAGS).min(xs.len() / 3);
    let mut lags = FIRST_LAGS.min(farthest);
    loop {
        let mut series = vec![1.0];
        series.extend(autocorrelation(&ranks, lags));
        let positive = || {
            let sums = series.chunks_exact(2).map(|pair| pair[0] + pair[1]);
            sums.take_while(|sum| *sum > 0.0)
        };
        let ended = positive().count() < series.len() / 2;
        if ended || lags == farthest {
            return (2.0 * positive().sum::<f64>() - 1.0).max(1.0);
        }
        lags = (lags * 10).min(farthest);
    }
}

/// How many independent values the series is worth: n/τ, with [`autocorrelation_time`] τ. In 0..=n.
#[must_use]
pub fn effective_sample_size(xs: &[f64]) -> f64 {
    xs.len() as f64 / autocorrelation_time(xs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(ranks(&[]), Vec::<f64>::new());
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
        // Waves of 2,000 values: the sum over 40 lags would say 80, whatever their length.
        let slow: Vec<f64> = (0..20_000).map(|i| (f64::from(i) / 318.0).sin()).collect();
        let tau = autocorrelation_time(&slow);
        assert!((500.0..800.0).contains(&tau), "{tau}");
        assert!(effective_sample_size(&slow) < 50.0);
    }

    #[test]
    fn long_steps_count_as_few_values_and_alternation_as_all() {
        let steps: Vec<f64> = (0..400).map(|i| f64::from(i / 20 * 7 % 11)).collect();
        let tau = autocorrelation_time(&steps);
        assert!((8.0..40.0).contains(&tau), "{tau}");
        let alternating: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        assert_eq!(autocorrelation_time(&alternating), 1.0);
    }
}
