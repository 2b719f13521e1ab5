//! Change points: places where a series changes permanently.
//!
//! There are three detectors. PELT (Killick, Fearnhead and Eckley, "Optimal detection of
//! changepoints with a linear computational cost", 2012) finds the optimal division of the whole
//! series and detects changes of the mean and of the spread. E-divisive (Matteson and James, "A
//! nonparametric approach for multiple change point analysis of multivariate data", 2014) splits
//! where the energy distance between the two sides is largest, tests the split by permutation, and
//! continues in the parts; it detects any change of the distribution. [`levels`] detects only
//! changes of level, in series whose values may be dependent, and gives a p-value for each; it is
//! meant for a history of runs, where every run is expensive. The first two deviate from their
//! sources:
//!
//! - Both work on ranks (PELT on their normal scores), so that a stall is not a change and the
//!   false-positive rate is the same for every distribution. Ties are ranked in a random order
//!   fixed by the seed, so that values in steps behave like all others.
//! - A series longer than [`MOST_POINTS`] is first reduced to medians of groups of consecutive
//!   values; places are then known to within such a group.
//! - Both statistics are divided by the autocorrelation time, so that correlated neighbors do not
//!   count as independent. The time is estimated from differences between neighbors, which a step
//!   does not disturb, and again from the residuals after removing the steps.
//!
//! `level` is the false-positive rate for a series without a change (at most that if values are
//! correlated: both are then conservative). This module does not judge whether a change matters.

mod energy;
mod level;
mod pelt;

pub use level::{Creep, LevelChange, Levels, creep, levels, places};

use crate::resampling::Stream;
use crate::{autocorrelation, descriptive, groups, normal};

/// Maximum number of points that a detector uses; longer series are reduced to medians of groups.
pub const MOST_POINTS: usize = 2000;

/// Default minimum number of values between two changes: fewer values are a burst, not a new state.
pub const SHORTEST: usize = 10;

/// If the autocorrelation time of the residuals exceeds the assumed one by more than this factor,
/// detection is repeated.
const UNDERRATED: f64 = 1.5;

/// The detection method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The best division of the whole series, by mean and spread of normal scores.
    Pelt,
    /// Recursive splits by the energy distance of ranks, each tested by permutation.
    EDivisive,
}

/// Settings of a detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The detection method.
    pub method: Method,
    /// False-positive rate: 0.001..=0.2, clamped to that range.
    pub level: f64,
    /// Minimum number of values between two changes, at least 5.
    pub shortest: usize,
    /// Seed for ordering ties and for the permutations.
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

/// A place where the series changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Median between the change before this one (or the start) and this one.
    pub before: f64,
    /// Median between this change and the next (or the end).
    pub after: f64,
}

/// The changes in a series.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePoints {
    /// The changes, in the order of the series.
    pub points: Vec<ChangePoint>,
    /// Number of consecutive values per point: 1 unless the series is longer than [`MOST_POINTS`].
    /// Places are known to within this many values.
    pub group: usize,
    /// The autocorrelation time of the points by which the statistics were divided, at least 1.
    pub autocorrelation_time: f64,
}

/// Detects the changes in a series.
///
/// `xs`: finite, in order of measurement. A constant series, or one shorter than two parts, has no
/// changes. After grouping to at most [`MOST_POINTS`] points p: O(p²) at worst, O(p) typically with
/// many changes (PELT); per split of a part of q points 1,000 permutations of O(q log q), or 10 p /
/// (q level) if that is more (E-divisive).
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
    // Group sizes differ by one value: the place of a group is that of its first value.
    let place_of = |point: usize| first_of_group(xs.len(), points.len(), point);
    let indices: Vec<usize> = places.into_iter().map(place_of).collect();
    ChangePoints { points: with_medians(xs, &indices), group, autocorrelation_time: tau }
}

/// Start of group number `group` of `groups` among `n` values, as divided by
/// [`groups::group_medians`].
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

/// Distinct ranks 0..n, with ties in an order drawn from the stream.
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

/// The autocorrelation time (1 + φ)/(1 − φ) with φ from neighbors: for autoregressive values,
/// differences at distance 2 have 1 + φ times the variance of those at distance 1 (Chakar,
/// Lebarbier, Lévy-Leduc and Robin, 2017, who use robust scales). A step affects only few of them.
fn neighbours_time(scores: &[f64]) -> f64 {
    let phi = lag1_of_differences(scores).min(0.98);
    if phi < 1.0 / (scores.len() as f64).sqrt() {
        // Within chance for independent values.
        return 1.0;
    }
    (1.0 + phi) / (1.0 - phi)
}

/// The correlation of neighbors, from differences alone; it may be anything from −1 on.
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
