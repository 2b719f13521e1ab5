//! The spread of runs, and the effect of a setting on it.
//!
//! The spread is the interquartile range divided by the median. One stall in a hundred does not
//! affect it, and doubling both time and noise does not change it. Two settings that are measured
//! alternately are compared by the ratio of their spreads. The interval of the ratio is a
//! percentile bootstrap (Efron & Tibshirani, *An Introduction to the Bootstrap*, ch. 13). It draws
//! whole blocks, to keep common effects together, in stretches of adjacent blocks from the run
//! joined end to end into a ring, to preserve the correlation of runs (the circular block bootstrap
//! of Politis & Romano, 1992). All randomness comes from the seed.
//!
//! The ratio does not show which setting is *faster*; comparisons do.

use crate::policy::FEWEST_SPREAD_BLOCKS;
use assay_stats::{Interval, autocorrelation, descriptive};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Number of resamples for an interval.
const RESAMPLES: usize = 2000;

/// The spread of one series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median, in the unit of the values.
    pub median: f64,
    /// Interquartile range divided by the median.
    pub iqr_over_median: f64,
    /// The 99 % quantile divided by the median, which shows rare slow runs.
    pub p99_over_median: f64,
}

/// The effect of a setting on the spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadVerdict {
    /// The setting reduces the spread.
    Narrower,
    /// The setting increases the spread.
    Wider,
    /// The interval contains 1, so no difference is known.
    Unknown,
}

/// A comparison of the spread with and without a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadComparison {
    /// Number of blocks.
    pub blocks: usize,
    /// The spread without the setting.
    pub before: Spread,
    /// The spread with the setting.
    pub after: Spread,
    /// Spread with the setting divided by that without it: 0.2 is five times as narrow. Infinite if
    /// only the spread without it is zero.
    pub ratio: f64,
    /// Interval of the ratio. If the values come in few steps, its ends may be 0 or infinite.
    pub interval: Interval,
    /// The verdict derived from the interval.
    pub verdict: SpreadVerdict,
}

impl SpreadComparison {
    /// Returns the relative change of the median: −0.02 is a decrease of 2 %.
    pub fn median_change(&self) -> f64 {
        self.after.median / self.before.median - 1.0
    }
}

/// Number of successive runs in a stretch. The spread of a stretch shows how noisy the machine was
/// at the time.
pub const STRETCH: usize = 16;
/// Minimum number of stretches.
const FEWEST_STRETCHES: usize = 10;

/// The noise of one program over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadOverTime {
    /// Mean time between successive runs, in seconds.
    pub apart_seconds: f64,
    /// Rank autocorrelation of successive runs, at least 0. It is the share of the spread that
    /// successive runs have in common, which comparisons within blocks cancel.
    pub shared: f64,
    /// The spread that a tenth of all stretches of [`STRETCH`] successive runs do not exceed.
    pub quiet: f64,
    /// The spread that a tenth of these stretches exceed.
    pub noisy: f64,
}

/// Reasons why spreads can't be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpreadError {
    /// The settings have different numbers of values, although each must have one in every block.
    #[error(
        "the settings were measured {before} and {after} times; each must occur once in every block"
    )]
    DifferentLengths {
        /// Number of values without the setting.
        before: usize,
        /// Number of values with the setting.
        after: usize,
    },
    /// There are too few blocks; contains their number.
    #[error(
        "spreads need at least {FEWEST_SPREAD_BLOCKS} blocks, but there are {0}; measure longer"
    )]
    TooFewBlocks(usize),
    /// A value is not positive and finite, so spreads relative to the median are undefined.
    #[error("block {block} holds {value}, but spreads are compared for positive values only")]
    NotPositive {
        /// Number of the block, counted from 1.
        block: usize,
        /// The value.
        value: f64,
    },
}

/// Returns the spread of a series; `None` if it is empty or its median is not positive. O(n log n).
pub fn of(values: &[f64]) -> Option<Spread> {
    let spread = measured(&mut values.to_vec());
    (spread.median > 0.0).then_some(spread)
}

/// Describes the noise of positive values in order of measurement, which took `seconds` seconds in
/// total; `None` if there are too few. O(n log n).
pub fn over_time(values: &[f64], seconds: f64) -> Option<SpreadOverTime> {
    let stretches: Vec<f64> =
        values.chunks_exact(STRETCH).filter_map(|s| Some(of(s)?.iqr_over_median)).collect();
    let sorted = descriptive::sorted(&stretches);
    let at = |p| descriptive::quantile_sorted(&sorted, p);
    let ranks = autocorrelation::ranks(values);
    (stretches.len() >= FEWEST_STRETCHES).then(|| SpreadOverTime {
        apart_seconds: seconds / values.len() as f64,
        shared: autocorrelation::dependence_of_ranks(&ranks).lag1.max(0.0),
        quiet: at(0.1),
        noisy: at(0.9),
    })
}

/// Compares the spread of runs with a setting to that of runs without it, given one value per block
/// in order of measurement. With k settings, each should get its share of the error: a `confidence`
/// of 1 − 0.05/k. O(2000 · n log n).
///
/// # Errors
///
/// Returns an error if there are too few blocks, if the numbers of values differ, or if a value is
/// not positive and finite.
pub fn compare(
    before: &[f64],
    after: &[f64],
    confidence: f64,
    seed: u64,
) -> Result<SpreadComparison, SpreadError> {
    check(before, after)?;
    let n = before.len();
    let (first, second) = (measured(&mut before.to_vec()), measured(&mut after.to_vec()));
    let stretch = (n as f64).cbrt().ceil() as usize;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut drawn_before, mut drawn_after) = (vec![0.0; n], vec![0.0; n]);
    let ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut begin = 0;
            for place in 0..n {
                if place % stretch == 0 {
                    begin = (random.next_u64() % n as u64) as usize;
                }
                let block = (begin + place % stretch) % n;
                (drawn_before[place], drawn_after[place]) = (before[block], after[block]);
            }
            ratio(&measured(&mut drawn_before), &measured(&mut drawn_after))
        })
        .collect();
    let sorted = descriptive::sorted(&ratios);
    let tail = (1.0 - confidence) / 2.0;
    // Uses order statistics without interpolation, since there is no midpoint between a finite and
    // an infinite one.
    let at = |p: f64| sorted[((RESAMPLES - 1) as f64 * p.clamp(0.0, 1.0)).round() as usize];
    let interval = Interval { lower: at(tail), upper: at(1.0 - tail) };
    let verdict = if interval.upper < 1.0 {
        SpreadVerdict::Narrower
    } else if interval.lower > 1.0 {
        SpreadVerdict::Wider
    } else {
        SpreadVerdict::Unknown
    };
    Ok(SpreadComparison {
        blocks: n,
        before: first,
        after: second,
        ratio: ratio(&first, &second),
        interval,
        verdict,
    })
}

fn check(before: &[f64], after: &[f64]) -> Result<(), SpreadError> {
    if before.len() != after.len() {
        let (before, after) = (before.len(), after.len());
        return Err(SpreadError::DifferentLengths { before, after });
    }
    if before.len() < FEWEST_SPREAD_BLOCKS {
        return Err(SpreadError::TooFewBlocks(before.len()));
    }
    for (index, (&a, &b)) in before.iter().zip(after).enumerate() {
        if let Some(value) = [a, b].into_iter().find(|v| !(v.is_finite() && *v > 0.0)) {
            return Err(SpreadError::NotPositive { block: index + 1, value });
        }
    }
    Ok(())
}

/// Returns the ratio of two spreads; 1 if they are equal, even if both are zero.
fn ratio(before: &Spread, after: &Spread) -> f64 {
    if before.iqr_over_median == after.iqr_over_median {
        1.0
    } else {
        after.iqr_over_median / before.iqr_over_median
    }
}

/// Computes the spread of values, which are sorted in place; NaN for an empty slice.
fn measured(values: &mut [f64]) -> Spread {
    values.sort_unstable_by(f64::total_cmp);
    let at = |p| descriptive::quantile_sorted(values, p);
    let median = at(0.5);
    Spread {
        median,
        iqr_over_median: (at(0.75) - at(0.25)) / median,
        p99_over_median: at(0.99) / median,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::resampling::Stream;

    fn normals(seed: u64) -> impl FnMut() -> f64 {
        let mut random = Stream::new(seed, 0);
        move || random.normal()
    }

    /// Two settings, the second with `factor` times the spread and 2 % faster; runs have
    /// autocorrelation `lag1`.
    fn measured_in_turns(seed: u64, blocks: usize, factor: f64, lag1: f64) -> (Vec<f64>, Vec<f64>) {
        let mut normal = normals(seed);
        let (mut a, mut b) = (normal(), normal());
        let mut step = |last: &mut f64| {
            *last = lag1 * *last + (1.0 - lag1 * lag1).sqrt() * normal();
            *last
        };
        (0..blocks)
            .map(|_| (1.0 + 0.02 * step(&mut a), 0.98 * (1.0 + 0.02 * factor * step(&mut b))))
            .unzip()
    }

    #[test]
    fn the_interval_covers_the_truth_in_about_95_of_100_experiments() {
        for (factor, lag1) in [(1.0, 0.0), (0.5, 0.0), (1.0, 0.4)] {
            let covered = (0..150)
                .filter(|&seed| {
                    let (before, after) = measured_in_turns(seed, 60, factor, lag1);
                    let found = compare(&before, &after, 0.95, seed).expect("60 blocks");
                    found.interval.contains(factor)
                })
                .count();
            assert!((134..=150).contains(&covered), "{factor}, {lag1}: {covered} of 150");
        }
    }

    #[test]
    fn half_the_spread_is_called_narrower_and_the_way_back_wider() {
        let (before, after) = measured_in_turns(3, 100, 0.4, 0.0);
        let found = compare(&before, &after, 0.95, 1).expect("100 blocks");
        assert_eq!(found.verdict, SpreadVerdict::Narrower);
        assert!((0.25..0.6).contains(&found.ratio), "{found:?}");
        assert!((found.median_change() + 0.02).abs() < 0.01, "{found:?}");
        let back = compare(&after, &before, 0.95, 1).expect("100 blocks");
        assert_eq!(back.verdict, SpreadVerdict::Wider);
        assert!((back.ratio * found.ratio - 1.0).abs() < 1e-12);
        assert_eq!(compare(&before, &after, 0.95, 1).expect("100 blocks"), found);
    }

    #[test]
    fn the_scale_of_the_values_changes_nothing_but_the_medians() {
        let (before, after) = measured_in_turns(4, 50, 0.7, 0.0);
        let longer = |xs: &[f64]| xs.iter().map(|x| x * 1024.0).collect::<Vec<_>>();
        let found = compare(&before, &after, 0.95, 1).expect("50 blocks");
        let scaled = compare(&longer(&before), &longer(&after), 0.95, 1).expect("50 blocks");
        assert_eq!((found.ratio, found.interval), (scaled.ratio, scaled.interval));
    }

    #[test]
    fn a_clock_that_shows_no_spread_gives_no_verdict() {
        let flat = vec![1.0; 30];
        let found = compare(&flat, &flat, 0.95, 1).expect("30 blocks");
        assert_eq!((found.ratio, found.verdict), (1.0, SpreadVerdict::Unknown));
        let stepped: Vec<f64> = (0..30).map(|i| if i % 3 == 0 { 1.1 } else { 1.0 }).collect();
        let wider = compare(&flat, &stepped, 0.95, 1).expect("30 blocks");
        assert!(wider.ratio.is_infinite() && wider.interval.upper.is_infinite(), "{wider:?}");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn bursts_and_slow_noise_show_over_time() {
        let mut normal = normals(8);
        let mut last = 0.0;
        let mut value = |i: usize| {
            last = 0.8 * last + 0.6 * normal();
            let burst = if (i / 64).is_multiple_of(2) { 0.002 } else { 0.02 };
            1.0 + burst * normal() + 0.01 * last
        };
        let values: Vec<f64> = (0..1024).map(&mut value).collect();
        let found = over_time(&values, 10.24).expect("64 stretches");
        assert!((found.apart_seconds - 0.01).abs() < 1e-12);
        assert!((0.2..0.5).contains(&found.shared), "{found:?}");
        assert!(found.noisy > 2.0 * found.quiet, "{found:?}");
        let steady: Vec<f64> = (0..1024).map(|_| 1.0 + 0.01 * normal()).collect();
        let found = over_time(&steady, 1.0).expect("64 stretches");
        assert!(found.shared < 0.1 && found.noisy < 2.2 * found.quiet, "{found:?}");
        assert_eq!(over_time(&steady[..159], 1.0), None);
    }

    #[test]
    fn what_can_not_be_compared_is_refused_with_the_reason() {
        let error = |a: &[f64], b: &[f64]| {
            compare(a, b, 0.95, 1).map_or_else(|e| e.to_string(), |_| String::new())
        };
        let (good, mut bad) = (vec![1.0; 20], vec![1.0; 20]);
        assert!(error(&good[1..], &good[1..]).contains("at least 20 blocks, but there are 19"));
        assert!(error(&good, &good[1..]).contains("20 and 19 times"));
        bad[6] = f64::NAN;
        assert!(error(&good, &bad).contains("block 7 holds NaN"));
        bad[6] = 0.0;
        assert!(error(&bad, &good).contains("block 7 holds 0"));
    }
}
