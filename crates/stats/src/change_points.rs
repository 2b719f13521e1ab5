//! Where a series changes for good: the places at which what is measured became something else.
//!
//! Three detectors share this room. PELT (Killick, Fearnhead and Eckley, "Optimal detection of
//! changepoints with a linear computational cost", 2012) finds the best division of the whole
//! series at once and sees changes of the mean and of the spread. E-divisive (Matteson and James,
//! "A nonparametric approach for multiple change point analysis of multivariate data", 2014) splits
//! where the energy distance between the two sides is largest, tests the split by permutation, and
//! goes on in the parts; it sees any change of the distribution. [`levels`] sees nothing but
//! levels, in series whose values may depend on each other, and says how sure each change is; it is
//! the one for a history of runs, where everything counts that a run costs. Deviations of the first
//! two from their sources:
//!
//! - Both work on ranks (PELT on their normal scores), so that a stall is no change and the chance
//!   of a false alarm is the same for every distribution. Equal values are ranked in a random order
//!   that the seed fixes, so that values in steps behave like all others.
//! - A series longer than [`MOST_POINTS`] is first made into medians of groups of consecutive
//!   values; places are then known to within such a group.
//! - Both statistics are divided by the autocorrelation time: what is common to neighbours counts
//!   once. The time is taken from differences between neighbours, which a step does not disturb,
//!   and again from what is left once the steps are taken out.
//!
//! `level` is the chance that a series without a change is said to have one (at most that where
//! values are correlated: then both err on the careful side). What a change means is not decided
//! here.

mod energy;
mod level;
mod pelt;

pub use level::{Creep, LevelChange, Levels, creep, levels, places};

use crate::resampling::Stream;
use crate::{autocorrelation, descriptive, groups, normal};

/// The most points that a detector looks at; longer series are made into medians of groups.
pub const MOST_POINTS: usize = 2000;

/// Fewest values between two changes, as the default: fewer make a burst, not a new state.
pub const SHORTEST: usize = 10;

/// How much larger than assumed the autocorrelation time of what is left may be before all is done
/// again.
const UNDERRATED: f64 = 1.5;

/// How changes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The best division of the whole series, by mean and spread of normal scores.
    Pelt,
    /// Split by split, by the energy distance of ranks, each tested by permutation.
    EDivisive,
}

/// What is asked of a detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How changes are looked for.
    pub method: Method,
    /// The chance of a change being found where there is none: 0.001..=0.2, else taken to the
    /// nearer end.
    pub level: f64,
    /// Fewest values between two changes, at least 5.
    pub shortest: usize,
    /// Seed of the order of equal values and of the permutations.
    pub seed: u64,
}

impl Settings {
    /// E-divisive at `level`, with [`SHORTEST`] values between two changes.
    #[must_use]
    pub fn e_divisive(level: f64, seed: u64) -> Self {
        Settings { method: Method::EDivisive, level, shortest: SHORTEST, seed }
    }

    /// PELT at `level`, with [`SHORTEST`] values between two changes.
    #[must_use]
    pub fn pelt(level: f64, seed: u64) -> Self {
        Settings { method: Method::Pelt, ..Settings::e_divisive(level, seed) }
    }
}

/// A place at which the series changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Median between the change before this one (or the start) and this one.
    pub before: f64,
    /// Median between this change and the next (or the end).
    pub after: f64,
}

/// What was found in a series.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePoints {
    /// The changes, in the order of the series.
    pub points: Vec<ChangePoint>,
    /// How many consecutive values were made into one point: 1 unless the series is longer than
    /// [`MOST_POINTS`]. Places are known to within so many values.
    pub group: usize,
    /// The autocorrelation time of the points that the statistics were divided by, at least 1.
    pub autocorrelation_time: f64,
}

/// The changes in a series.
///
/// `xs`: finite, in the order in which they were taken. None are found in a constant series or one
/// that is shorter than two parts. After grouping to at most [`MOST_POINTS`] points p: O(p²) at
/// worst, O(p) typically where there are many changes (PELT); per split of a part of q points 1,000
/// permutations of O(q log q), or 10 p / (q level) where those are more (E-divisive).
#[must_use]
pub fn change_points(xs: &[f64], settings: &Settings) -> ChangePoints {
    let group = xs.len().div_ceil(MOST_POINTS).max(1);
    let grouped;
    let points = if group == 1 {
        xs
    } else {
        grouped = groups::group_medians(xs, xs.len() / group);
        &grouped
    };
    let nothing = ChangePoints { points: Vec::new(), group, autocorrelation_time: 1.0 };
    let shortest = settings.shortest.max(5).div_ceil(group).max(5);
    if points.len() < 2 * shortest || points.iter().all(|x| *x == points[0]) {
        return nothing;
    }
    let level = settings.level.clamp(0.001, 0.2);
    let ranks = distinct_ranks(points, &mut Stream::new(settings.seed, 0));
    let scores = normal_scores(&ranks);
    let mut tau = neighbours_time(&scores);
    let mut places = Vec::new();
    for _ in 0..3 {
        places = match settings.method {
            Method::Pelt => pelt::divide(&scores, level, tau, shortest),
            Method::EDivisive => energy::divide(&ranks, level, tau, shortest, settings.seed),
        };
        if places.is_empty() {
            break;
        }
        let left = autocorrelation::autocorrelation_time(&without_steps(&scores, &places));
        if left <= UNDERRATED * tau {
            break;
        }
        tau = left;
    }
    // Groups differ in size by one value: the place of a group is that of its first value.
    let place_of = |point: usize| first_of_group(xs.len(), points.len(), point);
    let indices: Vec<usize> = places.into_iter().map(place_of).collect();
    ChangePoints { points: with_medians(xs, &indices), group, autocorrelation_time: tau }
}

/// Where group number `group` of `groups` begins among `n` values, as
/// [`groups::group_medians`] divides them.
fn first_of_group(n: usize, groups: usize, group: usize) -> usize {
    let (size, larger) = (n / groups, n % groups);
    group * size + group.min(larger)
}

fn with_medians(xs: &[f64], indices: &[usize]) -> Vec<ChangePoint> {
    let mut edges = vec![0];
    edges.extend(indices);
    edges.push(xs.len());
    let medians: Vec<f64> =
        edges.windows(2).map(|pair| descriptive::median(&xs[pair[0]..pair[1]])).collect();
    indices
        .iter()
        .zip(medians.windows(2))
        .map(|(&index, pair)| ChangePoint { index, before: pair[0], after: pair[1] })
        .collect()
}

/// Ranks 0..n, every one once: equal values in an order drawn from the stream.
fn distinct_ranks(xs: &[f64], stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..xs.len()).collect();
    stream.shuffle(&mut order);
    order.sort_by(|&a, &b| xs[a].total_cmp(&xs[b]));
    let mut ranks = vec![0; xs.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank;
    }
    ranks
}

fn normal_scores(ranks: &[usize]) -> Vec<f64> {
    let n = ranks.len() as f64;
    ranks.iter().map(|&rank| normal::quantile((rank as f64 + 0.5) / n)).collect()
}

/// The autocorrelation time (1 + φ)/(1 − φ) with φ from neighbours: differences at distance 2 have
/// 1 + φ times the variance of those at distance 1, when each value keeps φ of the one before
/// (Chakar, Lebarbier, Lévy-Leduc and Robin, 2017, who take robust scales). A step is in few of
/// them.
fn neighbours_time(scores: &[f64]) -> f64 {
    let phi = lag1_of_differences(scores).min(0.98);
    if phi < 1.0 / (scores.len() as f64).sqrt() {
        // No more than chance makes of independent values.
        return 1.0;
    }
    (1.0 + phi) / (1.0 - phi)
}

/// The correlation of neighbours, from differences alone; it may be anything from −1 on.
fn lag1_of_differences(scores: &[f64]) -> f64 {
    let mean_square = |lag: usize| {
        let squares = scores.iter().zip(&scores[lag..]).map(|(a, b)| (b - a) * (b - a));
        squares.sum::<f64>() / (scores.len() - lag) as f64
    };
    mean_square(2) / mean_square(1) - 1.0
}

fn without_steps(scores: &[f64], places: &[usize]) -> Vec<f64> {
    let mut left = Vec::with_capacity(scores.len());
    let mut start = 0;
    for end in places.iter().copied().chain([scores.len()]) {
        let part = &scores[start..end];
        let centre = descriptive::mean(part);
        left.extend(part.iter().map(|score| score - centre));
        start = end;
    }
    left
}

#[cfg(test)]
mod tests;
