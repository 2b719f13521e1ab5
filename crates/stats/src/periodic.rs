//! Detects if every k-th value of a series differs from the others, as caused by a timer, garbage
//! collection, or a buffer flush.
//!
//! The series is folded at every whole period, and the phase whose mean rank is farthest from the
//! others is tested. A mean of a dozen ranks is practically normal for any distribution. The level
//! is divided among all periods and phases (Bonferroni), so that noise is rarely mistaken for a
//! tick. First-order dependence is removed first, by prewhitening the ranks. In addition, a phase
//! must differ from its neighbors, and in both halves of the series, so that slow waves, steps and
//! clusters of stalls are not reported as ticks. Periods that are not a whole number of values are
//! not found, since they drift through all phases. This module does not judge if a tick matters.

use crate::{autocorrelation, descriptive, normal};

/// Maximum number of values examined; of longer series, only the last values are used.
const MOST_VALUES: usize = 10_000;
/// Maximum period, in values.
const MOST_PERIOD: usize = 500;
/// Minimum number of periods that the series must contain.
const FEWEST_PERIODS: usize = 12;
/// Minimum number of values: [`FEWEST_PERIODS`] periods of two values.
const FEWEST: usize = 2 * FEWEST_PERIODS;
/// Minimum difference of a phase from its two neighbors, in standard errors.
const FROM_NEIGHBOURS: f64 = 3.0;
/// Minimum difference of a phase from all others in each half of the series, in standard errors.
const IN_EACH_HALF: f64 = 2.0;
/// Minimum share of a phase's values that must deviate from the overall median in the direction of
/// the tick. Two stalls among a dozen values are not a periodic effect.
const MOST_OF_THEM: f64 = 0.6;
/// Threshold, in standard errors, for replacing a period by a multiple of it. If the tick in one of
/// the multiple's phases exceeds that in the others by more than this, it occurs only there, and
/// the true period is longer.
const FROM_OTHER_TURNS: f64 = 3.5;
/// Maximum first-order autocorrelation that prewhitening removes.
const MOST_KEPT: f64 = 0.95;

/// A tick: a periodic effect in which every `period`-th value differs from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Periodic {
    /// The period in values, at least 2.
    pub period: usize,
    /// Index of the first differing value in the whole series, less than `period`.
    pub first: usize,
    /// The median of the differing values minus that of the others, in the unit of the values.
    pub excess: f64,
    /// Difference of the mean rank of the differing values from that of all values, in standard
    /// errors.
    pub z: f64,
    /// Number of values used, at the end of the series.
    pub values: usize,
}

/// Finds the clearest tick. Returns `None` if there is none, or for fewer than 24 values. `level`
/// is the false-positive rate for independent values, in 0..1.
///
/// `xs` must be finite and in order of measurement; at most the last 10,000 values are used. O(n)
/// for each of up to 500 periods.
#[must_use]
pub fn periodic(xs: &[f64], level: f64) -> Option<Periodic> {
    let before = xs.len().saturating_sub(MOST_VALUES);
    let seen = &xs[before..];
    if seen.len() < FEWEST {
        return None;
    }
    let ranks = whitened(autocorrelation::ranks(seen));
    let ranks = centred(ranks)?;
    let longest = (seen.len() / FEWEST_PERIODS).min(MOST_PERIOD);
    let places = (longest * (longest + 1) / 2) as f64 - 1.0;
    let (period, place, z) = (2..=longest)
        .map(|period| {
            let found = places_of(&ranks, period);
            let farthest = (0..period).max_by(|&a, &b| found[a].abs().total_cmp(&found[b].abs()));
            let place = farthest.unwrap_or(0);
            (period, place, found[place])
        })
        .max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))?;
    let (period, place) = whole(&ranks, period, place, z.signum(), longest);
    let z = places_of(&ranks, period)[place];
    let clear = z.abs() > -normal::quantile(level / places / 2.0)
        && from_neighbours(&ranks, period, place) * z.signum() > FROM_NEIGHBOURS
        && halves(&ranks).iter().all(|(half, begin)| {
            let here = (place + period - begin % period) % period;
            places_of(half, period)[here] * z.signum() > IN_EACH_HALF
        });
    if !clear {
        return None;
    }
    let is_tick = |index: usize| index % period == place;
    let of = |tick: bool| -> Vec<f64> {
        let indexed = seen.iter().enumerate();
        indexed.filter(|(index, _)| is_tick(*index) == tick).map(|(_, x)| *x).collect()
    };
    let (ticks, others) = (of(true), of(false));
    let middle = descriptive::median(seen);
    let beyond = ticks.iter().filter(|x| (**x - middle) * z > 0.0).count() as f64;
    (beyond >= MOST_OF_THEM * ticks.len() as f64).then(|| Periodic {
        period,
        first: (before + place) % period,
        excess: descriptive::median(&ticks) - descriptive::median(&others),
        z,
        values: seen.len(),
    })
}

/// Returns the true period and phase, given that `period` may be only a fraction of the true
/// period. A rare tick is also detected at half its period, where only every other occurrence
/// differs.
fn whole(ranks: &[f64], period: usize, place: usize, sign: f64, longest: usize) -> (usize, usize) {
    for times in 2..=longest / period {
        let found = means(ranks, times * period);
        let here = || (0..times).map(|turn| found[place + turn * period] * sign);
        let Some((turn, most)) = here().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        let others = (here().sum::<f64>() - most) / (times - 1) as f64;
        let rounds = (ranks.len() / (times * period)) as f64;
        let error = (times as f64 / (times - 1) as f64 / rounds).sqrt();
        if most - others > FROM_OTHER_TURNS * error {
            return whole(ranks, times * period, place + turn * period, sign, longest);
        }
    }
    (period, place)
}

/// Returns the ranks of the series after removing positive first-order dependence. Negative
/// dependence is kept, since an alternating series is itself a tick.
fn whitened(ranks: Vec<f64>) -> Vec<f64> {
    let kept = autocorrelation::autocorrelation(&ranks, 1).first().copied().unwrap_or(0.0);
    // A correlation this small is within chance for independent values.
    if kept * (ranks.len() as f64).sqrt() < 2.0 {
        return ranks;
    }
    let kept = kept.min(MOST_KEPT);
    let middle = (ranks.len() as f64 + 1.0) / 2.0;
    let rest = |i: usize| {
        let before = if i == 0 { 0.0 } else { ranks[i - 1] - middle };
        ranks[i] - middle - kept * before
    };
    autocorrelation::ranks(&(0..ranks.len()).map(rest).collect::<Vec<_>>())
}

/// The ranks centered at 0 with variance 1; `None` if all are equal.
fn centred(mut ranks: Vec<f64>) -> Option<Vec<f64>> {
    let middle = (ranks.len() as f64 + 1.0) / 2.0;
    ranks.iter_mut().for_each(|rank| *rank -= middle);
    let variance = ranks.iter().map(|r| r * r).sum::<f64>() / ranks.len() as f64;
    if variance <= 0.0 {
        return None;
    }
    let sd = variance.sqrt();
    ranks.iter_mut().for_each(|rank| *rank /= sd);
    Some(ranks)
}

/// Returns the mean at every phase, over the whole periods from the beginning.
fn means(ranks: &[f64], period: usize) -> Vec<f64> {
    let mut sums = vec![0.0; period];
    for round in ranks.chunks_exact(period) {
        sums.iter_mut().zip(round).for_each(|(sum, rank)| *sum += rank);
    }
    let rounds = (ranks.len() / period) as f64;
    sums.iter_mut().for_each(|sum| *sum /= rounds);
    sums
}

/// Returns the difference of every phase from the overall mean, in standard errors.
fn places_of(ranks: &[f64], period: usize) -> Vec<f64> {
    let mut found = means(ranks, period);
    let middle = found.iter().sum::<f64>() / period as f64;
    // The overall mean includes the phase itself, which makes the error of the difference smaller.
    let error = ((1.0 - 1.0 / period as f64) / (ranks.len() / period) as f64).sqrt();
    found.iter_mut().for_each(|mean| *mean = (*mean - middle) / error);
    found
}

/// Returns the difference of a phase from the mean of its two neighbors, in standard errors.
fn from_neighbours(ranks: &[f64], period: usize, place: usize) -> f64 {
    let found = means(ranks, period);
    let (before, after) = (found[(place + period - 1) % period], found[(place + 1) % period]);
    // With a period of two, both neighbors are the same phase, so their mean has a larger variance.
    let share = if period == 2 { 2.0 } else { 1.5 };
    let error = (share / (ranks.len() / period) as f64).sqrt();
    (found[place] - (before + after) / 2.0) / error
}

/// Returns the two halves of the series, each with the index at which it starts.
fn halves(ranks: &[f64]) -> [(&[f64], usize); 2] {
    let (first, second) = ranks.split_at(ranks.len() / 2);
    [(first, 0), (second, first.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    const LEVEL: f64 = 0.001;

    /// Returns the number of series, out of 300, in which a tick is detected. `distribution`
    /// computes each of the `n` values from its index and two random numbers.
    fn told(n: usize, mut distribution: impl FnMut(usize, f64, f64) -> f64) -> usize {
        (0..300)
            .filter(|&series| {
                let mut stream = Stream::new(71 + n as u64, series);
                let values: Vec<f64> =
                    (0..n).map(|i| distribution(i, stream.normal(), stream.uniform())).collect();
                periodic(&values, LEVEL).is_some()
            })
            .count()
    }

    #[test]
    fn noise_of_any_distribution_does_not_tick() {
        let mut before = 0.0;
        let mut left = 0;
        for n in [24, 60, 300, 1500] {
            for (name, found) in [
                ("normal", told(n, |_, z, _| z)),
                ("exponential", told(n, |_, _, u| -(1.0 - u).ln())),
                ("rare stalls", told(n, |_, z, u| z + if u < 0.01 { 50.0 } else { 0.0 })),
                ("nearly constant", told(n, |_, _, u| f64::from(u8::from(u < 0.02)))),
                ("two values", told(n, |_, _, u| f64::from(u8::from(u < 0.3)))),
                ("three steps", told(n, |_, z, _| z.round().clamp(-1.0, 1.0))),
                ("trend", told(n, |i, z, _| z + 4.0 * i as f64 / n as f64)),
                ("step", told(n, |i, z, _| z + if 2 * i < n { 0.0 } else { 5.0 })),
                ("slow wave", told(n, |i, z, _| z + (i as f64 * 0.07).sin())),
                (
                    "each keeps eight tenths",
                    told(n, |_, z, _| {
                        before = 0.8 * before + z;
                        before
                    }),
                ),
                (
                    "clusters",
                    told(n, |_, z, u| {
                        left = if u < 0.01 { 8 } else { 0.max(left - 1) };
                        z + if left > 0 { 9.0 } else { 0.0 }
                    }),
                ),
            ] {
                assert!(found <= 3, "{name}, {n} values: {found} of 300");
            }
        }
    }

    #[test]
    fn a_tick_is_found_with_its_period_its_place_and_its_size() {
        for (period, first, size) in [(2, 1, 2.0), (10, 3, 2.0), (10, 9, -2.0), (32, 0, 6.0)] {
            for seed in 0..20 {
                let mut stream = Stream::new(72, seed);
                let tick = |i: usize| if i % period == first { size } else { 0.0 };
                let values: Vec<f64> = (0..1000).map(|i| stream.normal() + tick(i)).collect();
                let found = periodic(&values, LEVEL).expect("a large tick is found");
                assert_eq!((found.period, found.first), (period, first), "{found:?}");
                assert!((found.excess - size).abs() < 1.0 && found.z * size > 0.0, "{found:?}");
            }
        }
    }

    #[test]
    fn a_tick_is_found_under_dependence_and_drift_too() {
        let mut before = 0.0;
        let found = told(1000, |i, z, _| {
            before = 0.5 * before + 0.75f64.sqrt() * z;
            before + i as f64 / 500.0 + if i % 10 == 9 { 1.5 } else { 0.0 }
        });
        assert!(found >= 290, "{found} of 300");
    }

    #[test]
    fn the_place_is_that_in_the_whole_series_however_long_it_is() {
        let values: Vec<f64> = (0..25_003)
            .map(|i| (i * 31 % 97) as f64 + if i % 7 == 5 { 200.0 } else { 0.0 })
            .collect();
        let found = periodic(&values, LEVEL).expect("a large tick is found");
        assert_eq!((found.period, found.first, found.values), (7, 5, MOST_VALUES));
    }

    #[test]
    fn few_or_equal_values_do_not_tick() {
        assert_eq!(periodic(&[1.0; 500], LEVEL), None);
        assert_eq!(periodic(&[1.0, 2.0].repeat(11), LEVEL), None);
        assert!(periodic(&[1.0, 2.0].repeat(40), LEVEL).is_some_and(|found| found.period == 2));
    }

    #[test]
    fn a_place_is_compared_with_both_neighbours() {
        let turn = |pattern: &[f64]| {
            from_neighbours(&pattern.repeat(40 / pattern.len()), pattern.len(), 1)
        };
        // With two phases, both neighbors are the other phase: a difference of 2 over 20 rounds.
        assert!((turn(&[-1.0, 1.0]) - 2.0 / (2.0_f64 / 20.0).sqrt()).abs() < 1e-12);
        // With four phases, the neighbors are 0 and 4: 5 − 2 over 10 rounds.
        assert!((turn(&[0.0, 5.0, 4.0, 9.0]) - 3.0 / (1.5_f64 / 10.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn whitening_takes_the_dependence_away_and_nothing_from_independent_values() {
        let wave: Vec<f64> =
            (0..60).map(|i| (f64::from(i) * 0.2).sin() + f64::from(i * 37 % 60) / 50.0).collect();
        let ranks = autocorrelation::ranks(&wave);
        let lag1 = |ranks: &[f64]| autocorrelation::autocorrelation(ranks, 1)[0];
        let white = whitened(ranks.clone());
        assert!(
            lag1(&ranks) > 0.4 && lag1(&white).abs() < 0.3,
            "{} {}",
            lag1(&ranks),
            lag1(&white)
        );
        // Negating a series mirrors its whitened ranks, at any starting point.
        for begin in 0..30 {
            let part = autocorrelation::ranks(&wave[begin..begin + 30]);
            let turned: Vec<f64> = part.iter().map(|rank| 31.0 - rank).collect();
            let back: Vec<f64> = whitened(turned).iter().map(|rank| 31.0 - rank).collect();
            assert_eq!(whitened(part), back, "{begin}");
        }
        let independent: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 61)).collect();
        let ranks = autocorrelation::ranks(&independent);
        assert_eq!(whitened(ranks.clone()), ranks);
    }

    #[test]
    fn the_excess_is_the_distance_of_the_medians() {
        let values: Vec<f64> = (0..700)
            .map(|i| f64::from(i * 31 % 97) + if i % 7 == 5 { 200.0 } else { 9.0 })
            .collect();
        let found = periodic(&values, LEVEL).unwrap();
        let of = |tick: bool| -> Vec<f64> {
            let own = values.iter().enumerate().filter(|(i, _)| (i % 7 == 5) == tick);
            own.map(|(_, x)| *x).collect()
        };
        let expected = descriptive::median(&of(true)) - descriptive::median(&of(false));
        assert_eq!((found.period, found.first, found.excess), (7, 5, expected));
    }
}
