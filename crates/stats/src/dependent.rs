//! Intervals that remain valid for correlated values: widened by the autocorrelation time, or by
//! the stationary bootstrap.
//!
//! Widening treats n values as n/τ independent ones, with the autocorrelation time τ of the ranks
//! (Geyer, 1992). The stationary bootstrap (Politis and Romano, "The stationary bootstrap", 1994)
//! resamples runs of consecutive values whose lengths are geometric, with the mean length of
//! Politis and White ("Automatic block-length selection for the dependent bootstrap", 2004, with
//! the correction of Patton, Politis and White, 2009), and uses the percentile interval. Both
//! depend on an estimate of dependence that few values can't provide: see
//! `docs/concepts/deciding.md`.

use crate::resampling::Stream;
use crate::{Interval, autocorrelation, descriptive, signed_rank, student_t};

/// Student's interval for the mean, with the effective number of values: x̄ ± t s √(τ/n) with n/τ −
/// 1 degrees of freedom.
///
/// `xs`: finite, in order of measurement; `confidence` in 0..1. The variance is corrected as well:
/// s² n⁻¹(n − 1)/(1 − τ/n), since a correlated series shows less of its spread. `None` for fewer
/// than two effective values. O(n log n).
#[must_use]
pub fn mean_interval(xs: &[f64], confidence: f64) -> Option<Interval> {
    let n = xs.len() as f64;
    let tau = autocorrelation::autocorrelation_time(xs);
    let effective = n / tau;
    if xs.len() < 2 || effective < 2.0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let spread = descriptive::variance(xs) * (n - 1.0) / n / (1.0 - 1.0 / effective);
    let reach = student_t::two_sided(confidence, effective - 1.0) * (spread / effective).sqrt();
    let centre = descriptive::mean(xs);
    Some(Interval { lower: centre - reach, upper: centre + reach })
}

/// The signed-rank interval for the pseudo-median with both ends moved outwards, in ranks, by the
/// factor √τ.
///
/// `xs`: finite, in order of measurement; `confidence` in 0..1. `None` if there are too few values,
/// or they are too strongly correlated, for an interval within the data. O(n log n) typically.
#[must_use]
pub fn pseudo_median_interval(xs: &[f64], confidence: f64) -> Option<Interval> {
    if !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let exact = signed_rank::SignedRankDistribution::new().critical(xs.len(), 1.0 - confidence)?;
    let middle = signed_rank::walsh_count(xs.len()) as f64 / 2.0;
    let tau = autocorrelation::autocorrelation_time(xs);
    let k = (middle - (middle - exact as f64) * tau.sqrt()).floor();
    (k >= 0.0).then(|| signed_rank::walsh_interval(&descriptive::sorted(xs), k as u64))
}

/// The mean block length suitable for the stationary bootstrap of a mean, from 1 to min(3 √n, n/3).
///
/// `xs`: finite, in order of measurement; 1 for fewer than 9 or constant values. O(n log n).
#[must_use]
pub fn block_length(xs: &[f64]) -> f64 {
    let n = xs.len() as f64;
    let most = (3.0 * n.sqrt()).min(n / 3.0);
    if most < 3.0 || xs.iter().all(|x| *x == xs[0]) {
        return 1.0;
    }
    // The flat-top window is twice as long as the lags with significant autocorrelation, which end
    // before several insignificant ones in a row.
    let in_a_row = n.log10().sqrt().ceil().max(5.0) as usize;
    let longest = n.sqrt().ceil() as usize + in_a_row;
    let acf = autocorrelation::autocorrelation(xs, longest);
    let bound = 2.0 * (n.log10() / n).sqrt();
    let stands_out = |lag: usize| acf.get(lag - 1).is_some_and(|r| r.abs() > bound);
    let quiet = (0..=longest.saturating_sub(in_a_row))
        .find(|lag| (1..=in_a_row).all(|next| !stands_out(lag + next)));
    let last = quiet.unwrap_or_else(|| (1..=longest).rev().find(|l| stands_out(*l)).unwrap_or(1));
    let window = (2 * last.max(1)).min(longest);
    let weight = |share: f64| if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
    let (mut spectrum, mut slope) = (1.0, 0.0);
    for (lag, r) in (1..=window).zip(&acf) {
        let weighted = 2.0 * weight(lag as f64 / window as f64) * r;
        spectrum += weighted;
        slope += weighted * lag as f64;
    }
    if spectrum <= 0.0 {
        return 1.0;
    }
    // b = (2 G² / D)^(1/3) n^(1/3) with D = 2 g(0)².
    (n * slope * slope / (spectrum * spectrum)).cbrt().clamp(1.0, most)
}

/// The values of a statistic in `resamples` resamples of the stationary bootstrap with blocks of
/// mean length `length`, in the order drawn.
///
/// `xs`: in order of measurement; the statistic gets the resampled values, which it may reorder.
/// The same seed gives the same digits. Empty for no values.
pub fn stationary_bootstrap(
    xs: &[f64],
    length: f64,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&mut [f64]) -> f64,
) -> Vec<f64> {
    if xs.is_empty() {
        return Vec::new();
    }
    let restart = 1.0 / length.max(1.0);
    let mut drawn = vec![0.0; xs.len()];
    (0..resamples)
        .map(|number| {
            let mut stream = Stream::new(seed, number as u64);
            let mut place = stream.next_index(xs.len());
            for value in &mut drawn {
                *value = xs[place];
                // Blocks wrap around from the end to the beginning.
                place = if stream.uniform() < restart {
                    stream.next_index(xs.len())
                } else if place + 1 == xs.len() {
                    0
                } else {
                    place + 1
                };
            }
            statistic(&mut drawn)
        })
        .collect()
}

/// The percentile interval of the stationary bootstrap, with [`block_length`].
///
/// `xs`: finite, n ≥ 2, in order of measurement, otherwise `None`; `confidence` in 0..1.
pub fn block_bootstrap_interval(
    xs: &[f64],
    confidence: f64,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&mut [f64]) -> f64,
) -> Option<Interval> {
    if xs.len() < 2 || resamples == 0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let mut found = stationary_bootstrap(xs, block_length(xs), resamples, seed, statistic);
    found.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let at = |p: f64| descriptive::quantile_sorted(&found, p);
    Some(Interval { lower: at(tail), upper: at(1.0 - tail) })
}

/// The mean of resampled values, for [`block_bootstrap_interval`].
#[must_use]
pub fn mean_of(drawn: &mut [f64]) -> f64 {
    descriptive::mean(drawn)
}

/// The median of resampled values, which are reordered.
#[must_use]
pub fn median_of(drawn: &mut [f64]) -> f64 {
    descriptive::median(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn autoregressive(stream: &mut Stream, n: usize, phi: f64) -> Vec<f64> {
        let mut state = stream.normal();
        let keep = (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                state = phi * state + keep * stream.normal();
                state
            })
            .collect()
    }

    fn coverage(
        n: usize,
        phi: f64,
        series: u64,
        interval: impl Fn(&[f64]) -> Option<Interval>,
    ) -> f64 {
        let holds = (0..series).filter(|&number| {
            let xs = autoregressive(&mut Stream::new(606, number), n, phi);
            interval(&xs).is_some_and(|i| i.contains(0.0))
        });
        holds.count() as f64 / series as f64
    }

    #[test]
    fn widened_intervals_hold_the_centre_of_a_correlated_series() {
        for phi in [0.0, 0.5, 0.8] {
            let of_mean = coverage(400, phi, 600, |xs| mean_interval(xs, 0.95));
            let of_pseudo = coverage(400, phi, 600, |xs| pseudo_median_interval(xs, 0.95));
            // At 0.8, 400 values have an effective number of 44, and the time itself is poorly
            // known.
            let least = if phi < 0.8 { 0.92 } else { 0.9 };
            assert!((least..=0.98).contains(&of_mean), "{phi}: {of_mean}");
            assert!((least..=0.98).contains(&of_pseudo), "{phi}: {of_pseudo}");
        }
    }

    #[test]
    fn without_dependence_the_intervals_are_the_plain_ones() {
        // Neighbors alternate around the middle, so nothing needs widening.
        let xs = [1.0, 5.0, 2.0, 6.0, 3.0, 7.5, 4.0];
        assert_eq!(autocorrelation::autocorrelation_time(&xs), 1.0);
        let (found, plain) =
            (mean_interval(&xs, 0.95).unwrap(), crate::groups::t_interval(&xs, 0.95).unwrap());
        assert!((found.lower - plain.lower).abs() < 1e-12, "{found:?} {plain:?}");
        assert!((found.upper - plain.upper).abs() < 1e-12, "{found:?} {plain:?}");
        let sorted = descriptive::sorted(&xs);
        let k = signed_rank::SignedRankDistribution::new().critical(7, 0.1).unwrap();
        let plain = signed_rank::walsh_interval(&sorted, k);
        assert_eq!(pseudo_median_interval(&xs, 0.9), Some(plain));
        for confidence in [1.0, -0.1, f64::NAN] {
            assert_eq!(mean_interval(&xs, confidence), None);
            assert_eq!(pseudo_median_interval(&xs, confidence), None);
        }
        // One value has no spread, and three values give no interval for the median at 99 %.
        assert_eq!(mean_interval(&xs[..1], 0.95), None);
        assert_eq!(pseudo_median_interval(&xs[..3], 0.99), None);
    }

    #[test]
    fn what_is_correlated_is_widened_and_drawn_in_longer_blocks() {
        let of = |phi: f64| autoregressive(&mut Stream::new(5, 0), 300, phi);
        let (free, bound) = (of(0.0), of(0.9));
        let wide = |xs: &[f64]| {
            let found = mean_interval(xs, 0.95).unwrap();
            (found.upper - found.lower) / descriptive::standard_deviation(xs)
        };
        assert!(wide(&bound) > 2.0 * wide(&free), "{} {}", wide(&bound), wide(&free));
        let (short, long) = (block_length(&free), block_length(&bound));
        assert!(short >= 1.0 && long > 2.0 * short, "{short} {long}");
        // The length does not depend on unit and origin.
        let other: Vec<f64> = bound.iter().map(|x| 8.0 * x).collect();
        assert!((block_length(&other) - long).abs() < 1e-9);
        // At most 3 √n and at most n/3.
        for n in [9, 12, 30, 300] {
            let rising: Vec<f64> = (0..n).map(f64::from).collect();
            let most = (3.0 * f64::from(n).sqrt()).min(f64::from(n) / 3.0);
            assert!((1.0..=most).contains(&block_length(&rising)), "{n}");
        }
        assert_eq!(block_length(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]), 1.0);
        assert_eq!(block_length(&[4.0; 100]), 1.0);
    }

    #[test]
    fn statistics_of_resamples_are_those_of_samples() {
        assert_eq!((mean_of(&mut [3.0, 1.0, 5.0]), median_of(&mut [3.0, 1.0, 9.0])), (3.0, 3.0));
        assert_eq!(median_of(&mut [9.0, 1.0, 2.0, 4.0]), 3.0);
    }

    #[test]
    fn the_block_bootstrap_holds_what_the_plain_one_does_not() {
        let of = |length: Option<f64>| {
            coverage(400, 0.7, 250, |xs| {
                let length = length.unwrap_or_else(|| block_length(xs));
                let mut means = stationary_bootstrap(xs, length, 300, 9, mean_of);
                means.sort_unstable_by(f64::total_cmp);
                let at = |p| descriptive::quantile_sorted(&means, p);
                Some(Interval { lower: at(0.025), upper: at(0.975) })
            })
        };
        let (blocks, plain) = (of(None), of(Some(1.0)));
        assert!(plain < 0.7 && (0.85..=0.98).contains(&blocks), "{plain} {blocks}");
    }

    #[test]
    fn blocks_are_as_long_as_values_hang_together() {
        let mean_length = |phi| {
            let lengths: Vec<f64> = (0..60)
                .map(|i| block_length(&autoregressive(&mut Stream::new(3, i), 1000, phi)))
                .collect();
            descriptive::mean(&lengths)
        };
        // With G/g = 2φ/(1 − φ²), 1,000 values need length 12 at φ = 0.5 and 45 at 0.9.
        let (none, half, most) = (mean_length(0.0), mean_length(0.5), mean_length(0.9));
        assert!(none < 5.0 && (8.0..18.0).contains(&half), "{none} {half}");
        assert!((25.0..60.0).contains(&most), "{most}");
        assert_eq!(block_length(&[1.0; 100]), 1.0);
        assert_eq!(block_length(&[1.0, 2.0]), 1.0);
    }

    #[test]
    fn too_little_gives_no_interval() {
        assert_eq!(mean_interval(&[1.0], 0.95), None);
        assert_eq!(pseudo_median_interval(&[1.0, 2.0, 3.0], 0.95), None);
        assert_eq!(pseudo_median_interval(&[], 0.95), None);
        assert_eq!(block_bootstrap_interval(&[1.0], 0.95, 100, 1, mean_of), None);
        let rising: Vec<f64> = (0..30).map(f64::from).collect();
        assert_eq!(pseudo_median_interval(&rising, 0.95), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let xs = autoregressive(&mut Stream::new(1, 1), 50, 0.5);
        for statistic in [mean_of, median_of] {
            let first = block_bootstrap_interval(&xs, 0.9, 100, 4, statistic);
            assert_eq!(first, block_bootstrap_interval(&xs, 0.9, 100, 4, statistic));
            assert!(first.unwrap().contains(statistic(&mut xs.clone())));
        }
    }

    #[test]
    fn blocks_without_an_end_are_rotations_and_blocks_of_one_are_draws() {
        let xs = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let is_rotation = |drawn: &mut [f64]| {
            let follows = drawn.windows(2).all(|pair| pair[1] == (pair[0] + 1.0) % 7.0);
            f64::from(follows)
        };
        let rotations = stationary_bootstrap(&xs, 1e12, 50, 3, is_rotation);
        assert_eq!(rotations, [1.0; 50]);
        let draws = stationary_bootstrap(&xs, 1.0, 50, 3, is_rotation);
        assert!(draws.iter().sum::<f64>() < 3.0, "{draws:?}");
    }

    #[test]
    fn the_block_bootstraps_ends_are_quantiles_of_its_replicates() {
        let xs: Vec<f64> = (0..30).map(|i| f64::from(i * 17 % 30)).collect();
        let interval = block_bootstrap_interval(&xs, 0.8, 200, 5, mean_of).unwrap();
        let found = stationary_bootstrap(&xs, block_length(&xs), 200, 5, mean_of);
        let sorted = descriptive::sorted(&found);
        let at = |p: f64| descriptive::quantile_sorted(&sorted, p);
        assert!(
            (interval.lower - at(0.1)).abs() < 1e-12 && (interval.upper - at(0.9)).abs() < 1e-12
        );
        assert!(block_bootstrap_interval(&[1.0, 2.0], 0.8, 9, 5, mean_of).is_some());
        assert_eq!(block_bootstrap_interval(&[1.0], 0.8, 9, 5, mean_of), None);
        assert_eq!(block_bootstrap_interval(&xs, 0.8, 0, 5, mean_of), None);
        for confidence in [1.0, 1.5, -0.1, f64::NAN] {
            assert_eq!(block_bootstrap_interval(&xs, confidence, 9, 5, mean_of), None);
        }
    }

    #[test]
    fn six_values_have_the_widest_interval_there_is() {
        let xs = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0];
        assert_eq!(pseudo_median_interval(&xs, 0.95), Some(Interval { lower: -6.0, upper: 5.0 }));
        assert_eq!(pseudo_median_interval(&xs[..5], 0.95), None);
    }
}
