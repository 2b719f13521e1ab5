//! Uncertainty of the standard deviation by resampling (Efron, "Bootstrap methods: another look at
//! the jackknife", 1979), and a comparison of the resamples with a normal distribution.

use super::Point;
use crate::policy;
use crate::protocol::Spread;
use assay_stats::bootstrap::{Statistic, bootstrap};
use assay_stats::{Interval, descriptive, normal};

/// Number of resamples, unless the sample is too long.
const RESAMPLES: usize = 2000;
/// Maximum number of draws per subject: about a third of a second on one core.
const DRAWS: usize = 100_000_000;
/// Minimum number of resamples for a plot.
const FEWEST: usize = 200;
const BINS: usize = 40;
const MOST_POINTS: usize = 200;

/// The method of a resampled interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalOf {
    /// Percentiles, corrected for bias and acceleration (Efron 1987).
    Bca,
    /// Plain percentiles, if the corrections can't be computed.
    Percentile,
    /// Normal interval about the estimate minus its bias, as in the protocol.
    Normal,
}

/// The standard deviations of resamples, and their distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// The standard deviation of the sample itself.
    pub estimate: f64,
    /// Interval of the standard deviation, if it can be computed.
    pub interval: Option<Interval>,
    /// The method of the interval.
    pub interval_of: IntervalOf,
    /// Number of resamples.
    pub resamples: usize,
    /// The seed of the resamples.
    pub seed: u64,
    /// Lower end of the first bin of `counts`, and the width of the bins.
    pub bins: (f64, f64),
    /// Number of resamples in each bin.
    pub counts: Vec<u32>,
    /// Points of a quantile plot, ascending: quantiles of a normal distribution with the same mean
    /// and standard deviation, and the resampled values.
    pub normal: Vec<Point>,
}

impl Resampled {
    /// Resamples the values. `None` for fewer than five values, if all are equal, or for more than
    /// half a million, which would take too long. O(n · resamples).
    pub(super) fn of(values: &[f64], confidence: f64, seed: u64) -> Option<Self> {
        let resamples = (DRAWS / values.len().max(1)).min(RESAMPLES);
        if values.len() < policy::RESAMPLED_FROM || resamples < FEWEST {
            return None;
        }
        let found = bootstrap(values, Statistic::StandardDeviation, resamples, seed)?;
        let (interval, interval_of) = match found.bca(confidence) {
            Some(interval) => (Some(interval), IntervalOf::Bca),
            None => (found.percentile(confidence), IntervalOf::Percentile),
        };
        Self::drawn(found.replicates(), found.t0, (interval, interval_of), seed)
    }

    /// Uses the resamples of a protocol's plan; `None` if nothing varies.
    pub(super) fn of_plan(spread: &Spread, seed: u64) -> Option<Self> {
        let interval = (spread.normal, IntervalOf::Normal);
        Self::drawn(&spread.replicates, spread.sd, interval, seed)
    }

    /// Summarizes the standard deviations `drawn`, which must be ascending. `None` if they are all
    /// equal.
    fn drawn(
        drawn: &[f64],
        estimate: f64,
        (interval, interval_of): (Option<Interval>, IntervalOf),
        seed: u64,
    ) -> Option<Self> {
        let (&first, &last) = (drawn.first()?, drawn.last()?);
        let width = (last - first) / BINS as f64;
        if !(width > 0.0 && width.is_finite()) {
            return None;
        }
        let mut counts = vec![0; BINS];
        drawn.iter().for_each(|d| counts[(((d - first) / width) as usize).min(BINS - 1)] += 1);
        let (mean, sd) = (descriptive::mean(drawn), descriptive::standard_deviation(drawn));
        let points = drawn.len().clamp(2, MOST_POINTS);
        let point = |k: usize| {
            let index = k * (drawn.len() - 1) / (points - 1);
            let p = (index as f64 + 0.5) / drawn.len() as f64;
            (mean + sd * normal::quantile(p), drawn[index])
        };
        Some(Self {
            estimate,
            interval,
            interval_of,
            resamples: drawn.len(),
            seed,
            bins: (first, width),
            counts,
            normal: (0..points).map(point).collect(),
        })
    }
}
