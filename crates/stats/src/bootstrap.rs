//! The bootstrap: the sampling variation of a statistic, estimated by resampling, and four
//! intervals based on it.
//!
//! Follows Davison and Hinkley, *Bootstrap Methods and their Application* (1997), chapter 5, and
//! R's package `boot`: normal, basic and percentile intervals, and BCa (Efron, "Better bootstrap
//! confidence intervals", 1987) with the acceleration from the jackknife; ends between two
//! replicates are interpolated on the scale of normal quantiles. There are two deviations from
//! `boot`: the median of a resample is drawn directly as an order statistic of uniform ranks, which
//! has the same distribution and costs next to nothing; and a replicate that equals the estimate up
//! to rounding does not count as below it.
//!
//! The resamples are divided into chunks of fixed size with a stream of random numbers each, so
//! that any number of threads gives the same digits. Values are assumed independent: for correlated
//! series the intervals are too narrow.

use crate::resampling::Stream;
use crate::threads::with_threads;
use crate::{Interval, descriptive, normal};
use rayon::prelude::*;

/// Default number of resamples, for samples of a few thousand values.
pub const RESAMPLES: usize = 10_000;

/// Number of resamples that share a stream.
const CHUNK: usize = 50;
/// Up to this total number of draws, more than 10,000 resamples are taken: about ten milliseconds
/// for all samples resampled together.
const CHEAP_DRAWS: usize = 20_000_000;
const MOST_RESAMPLES: usize = 200_000;
/// Maximum number of draws allowed by [`resamples_for`]: about a second on one core.
const MOST_DRAWS: usize = 400_000_000;
const FEWEST_RESAMPLES: usize = 100;
/// Minimum number of draws for which starting threads pays off.
const THREADS_FROM: usize = 1 << 20;
/// A replicate within this share of the standard error counts as equal to the estimate.
const EQUAL: f64 = 1e-9;

/// The statistics that can be resampled without building the resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The standard deviation with divisor n − 1.
    StandardDeviation,
    /// The median, the mean of the two middle values for an even number.
    Median,
}

/// Results of resampling a statistic.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the sample itself.
    pub t0: f64,
    /// The mean of the replicates minus `t0`.
    pub bias: f64,
    /// The standard deviation of the replicates.
    pub se: f64,
    sorted: Vec<f64>,
    acceleration: Option<f64>,
}

/// Number of resamples for a sample of `n` values, one of `samples` that are resampled together:
/// 10,000 by default.
///
/// Below 2,000 values in total, up to 200,000 resamples are drawn at about the same cost: a
/// statistic of few values takes few distinct values, so the ends of its interval depend noticeably
/// on the seed. Above 40,000 values there are fewer, since at most 4·10⁸ values are drawn per
/// sample: 400 resamples of a million values, and never fewer than 100.
#[must_use]
pub fn resamples_for(n: usize, samples: usize) -> usize {
    let cheap = CHEAP_DRAWS / n.saturating_mul(samples).max(1);
    let most = MOST_DRAWS / n.max(1);
    cheap.clamp(RESAMPLES, MOST_RESAMPLES).min(most).max(FEWEST_RESAMPLES)
}

/// Resamples a statistic.
///
/// `xs`: n ≥ 1, finite, any order; at least 2 resamples are taken. `None` for no values. For the
/// standard deviation of one value, all results are NaN. O(n · resamples), for the median O(n log
/// n + resamples); uses several threads, with the same digits for any number of them.
#[must_use]
pub fn bootstrap(
    xs: &[f64],
    statistic: Statistic,
    resamples: usize,
    seed: u64,
) -> Option<Bootstrap> {
    if xs.is_empty() {
        return None;
    }
    let n = xs.len();
    let resamples = resamples.max(2);
    Some(match statistic {
        Statistic::Median => {
            let sorted = descriptive::sorted(xs);
            let replicates = in_chunks(
                resamples,
                resamples,
                seed,
                || (),
                |stream, ()| median_replicate(&sorted, stream),
            );
            let t0 = descriptive::quantile_sorted(&sorted, 0.5);
            Bootstrap::new(
                descriptive::median(xs),
                replicates,
                acceleration(&influence_on_median(&sorted, t0)),
            )
        }
        Statistic::Mean | Statistic::StandardDeviation => {
            let centred = Centred::new(xs);
            let of_mean = statistic == Statistic::Mean;
            let replicates = in_chunks(
                resamples,
                n,
                seed,
                || (),
                |stream, ()| {
                    let (mean, sd) = centred.replicate(stream);
                    if of_mean { mean } else { sd }
                },
            );
            let (t0, influence) = if of_mean {
                (descriptive::mean(xs), centred.values.clone())
            } else {
                (descriptive::standard_deviation(xs), centred.influence_on_sd())
            };
            Bootstrap::new(t0, replicates, acceleration(&influence))
        }
    })
}

/// The replicates, chunk by chunk, each with its own stream and scratch memory.
fn in_chunks<Scratch>(
    resamples: usize,
    draws_each: usize,
    seed: u64,
    scratch: impl Fn() -> Scratch + Sync,
    replicate: impl Fn(&mut Stream, &mut Scratch) -> f64 + Sync,
) -> Vec<f64> {
    let mut replicates = vec![0.0; resamples];
    let fill = |(chunk, places): (usize, &mut [f64])| {
        let (mut stream, mut scratch) = (Stream::new(seed, chunk as u64), scratch());
        places.iter_mut().for_each(|place| *place = replicate(&mut stream, &mut scratch));
    };
    if resamples.saturating_mul(draws_each) < THREADS_FROM {
        replicates.chunks_mut(CHUNK).enumerate().for_each(fill);
    } else {
        with_threads(|| replicates.par_chunks_mut(CHUNK).enumerate().for_each(fill));
    }
    replicates
}

/// The values relative to their mean in units of the largest deviation, so that neither an offset
/// nor an extreme scale costs digits.
struct Centred {
    values: Vec<f64>,
    mean: f64,
    scale: f64,
}

impl Centred {
    fn new(xs: &[f64]) -> Self {
        let mean = descriptive::mean(xs);
        let largest = xs.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        Self { values: xs.iter().map(|x| (x - mean) / scale).collect(), mean, scale }
    }

    /// Mean and standard deviation of one resample.
    fn replicate(&self, stream: &mut Stream) -> (f64, f64) {
        let values = &self.values[..];
        let n = values.len();
        // Four parallel sums: a single one would wait for every addition.
        let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
        let mut take = |place: usize, x: f64| {
            sums[place] += x;
            squares[place] += x * x;
        };
        for _ in 0..n / 4 {
            let (a, b) = stream.next_two_indices(n);
            let (c, d) = stream.next_two_indices(n);
            take(0, values[a]);
            take(1, values[b]);
            take(2, values[c]);
            take(3, values[d]);
        }
        for place in 0..n % 4 {
            take(place, values[stream.next_index(n)]);
        }
        let (sum, squares) = (sums.iter().sum::<f64>(), squares.iter().sum::<f64>());
        let n = n as f64;
        let variance = ((squares - sum * sum / n) / (n - 1.0)).max(0.0);
        // One value has no variance; `max` would turn the NaN into a number.
        let sd = if n > 1.0 { variance.sqrt() * self.scale } else { f64::NAN };
        (self.mean + sum / n * self.scale, sd)
    }

    /// Change of the standard deviation when each value is omitted in turn.
    fn influence_on_sd(&self) -> Vec<f64> {
        let n = self.values.len() as f64;
        let squares: f64 = self.values.iter().map(|x| x * x).sum();
        let all = (squares / (n - 1.0)).sqrt();
        let without = |x: &f64| ((squares - n / (n - 1.0) * x * x).max(0.0) / (n - 2.0)).sqrt();
        self.values.iter().map(|x| all - without(x)).collect()
    }
}

/// The median of a resample: its middle ranks are order statistics of n uniform numbers, which can
/// be generated from sums of exponential ones.
fn median_replicate(sorted: &[f64], stream: &mut Stream) -> f64 {
    let n = sorted.len();
    let at = |share: f64| sorted[((share * n as f64) as usize).min(n - 1)];
    if n % 2 == 1 {
        let shape = n.div_ceil(2) as f64;
        let (below, above) = (stream.gamma(shape), stream.gamma(shape));
        return at(below / (below + above));
    }
    let shape = (n / 2) as f64;
    let (below, between, above) = (stream.gamma(shape), stream.exponential(), stream.gamma(shape));
    let whole = below + between + above;
    descriptive::midpoint(at(below / whole), at((below + between) / whole))
}

/// Change of the median when each value is omitted in turn, in ascending order.
fn influence_on_median(sorted: &[f64], t0: f64) -> Vec<f64> {
    let n = sorted.len();
    let without = |left_out: usize| {
        // The value at this place among the remaining ones.
        let at = |place: usize| sorted[if place < left_out { place } else { place + 1 }];
        match n - 1 {
            0 => f64::NAN,
            rest if rest % 2 == 1 => at(rest / 2),
            rest => descriptive::midpoint(at(rest / 2 - 1), at(rest / 2)),
        }
    };
    (0..n).map(|left_out| t0 - without(left_out)).collect()
}

/// Σ L³ / (6 (Σ L²)^(3/2)); `None` if the statistic does not depend on any single value.
fn acceleration(influence: &[f64]) -> Option<f64> {
    let largest = influence.iter().fold(0.0, |most: f64, l| most.max(l.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let power = |exponent| influence.iter().map(|l| (l / largest).powi(exponent)).sum::<f64>();
    let acceleration = power(3) / (6.0 * power(2).powf(1.5));
    acceleration.is_finite().then_some(acceleration)
}

impl Bootstrap {
    fn new(t0: f64, replicates: Vec<f64>, acceleration: Option<f64>) -> Self {
        let bias = descriptive::mean(&replicates) - t0;
        let se = descriptive::standard_deviation(&replicates);
        let mut sorted = replicates;
        sorted.sort_unstable_by(f64::total_cmp);
        Self { t0, bias, se, sorted, acceleration }
    }

    /// The replicates, ascending.
    #[must_use]
    pub fn replicates(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns true if the statistic varies; there is no interval otherwise.
    fn varies(&self) -> bool {
        self.sorted.first() < self.sorted.last() && self.se.is_finite() && self.se > 0.0
    }

    /// `t0` minus the bias, ± the normal quantile times the standard error. `None` if all
    /// replicates are equal or not finite, as for the other intervals. `confidence` in 0..1.
    #[must_use]
    pub fn normal(&self, confidence: f64) -> Option<Interval> {
        let reach = normal::two_sided(confidence) * self.se;
        let centre = self.t0 - self.bias;
        self.varies().then_some(Interval { lower: centre - reach, upper: centre + reach })
    }

    /// The basic interval: the percentile interval mirrored at `t0`.
    #[must_use]
    pub fn basic(&self, confidence: f64) -> Option<Interval> {
        let Interval { lower, upper } = self.percentile(confidence)?;
        Some(Interval { lower: 2.0 * self.t0 - upper, upper: 2.0 * self.t0 - lower })
    }

    /// The percentile interval: from one quantile of the replicates to another.
    #[must_use]
    pub fn percentile(&self, confidence: f64) -> Option<Interval> {
        let tail = (1.0 - confidence) / 2.0;
        let interval = Interval { lower: self.quantile(tail), upper: self.quantile(1.0 - tail) };
        self.varies().then_some(interval)
    }

    /// The percentile interval corrected for bias (the share of replicates below `t0`) and for a
    /// standard error that changes with the value. `None` also if no replicate or every replicate
    /// is below `t0`, or if omitting any one value changes nothing.
    #[must_use]
    pub fn bca(&self, confidence: f64) -> Option<Interval> {
        let a = self.acceleration.filter(|_| self.varies())?;
        let limit = self.t0 - EQUAL * self.se;
        let below = self.sorted.partition_point(|&t| t < limit);
        let w = normal::quantile(below as f64 / self.sorted.len() as f64);
        let end = |tail: f64| {
            let z = w + normal::quantile(tail);
            self.quantile(normal::cdf(w + z / (1.0 - a * z)))
        };
        let tail = (1.0 - confidence) / 2.0;
        let interval = Interval { lower: end(tail), upper: end(1.0 - tail) };
        (w.is_finite() && interval.lower.is_finite() && interval.upper.is_finite())
            .then_some(interval)
    }

    /// The quantile at position (R + 1) p of the replicates, interpolated between two of them on
    /// the scale of normal quantiles, and constant beyond the first and last.
    fn quantile(&self, p: f64) -> f64 {
        let count = self.sorted.len();
        if p.is_nan() || count == 0 {
            return f64::NAN;
        }
        let place = (count as f64 + 1.0) * p;
        let k = place as usize;
        if k == 0 {
            return self.sorted[0];
        }
        if k >= count {
            return self.sorted[count - 1];
        }
        let (low, high) = (self.sorted[k - 1], self.sorted[k]);
        let z = |place: f64| normal::quantile(place / (count as f64 + 1.0));
        let (from, to) = (z(k as f64), z(k as f64 + 1.0));
        low + (normal::quantile(p) - from) / (to - from) * (high - low)
    }
}

#[cfg(test)]
mod tests;
