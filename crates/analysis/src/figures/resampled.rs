//! How sure the standard deviation is, by drawing samples out of the sample (Efron, "Bootstrap
//! methods: another look at the jackknife", 1979), and how near to normal that uncertainty is.

use super::Point;
use crate::policy;
use crate::protocol::Spread;
use assay_stats::bootstrap::{Statistic, bootstrap};
use assay_stats::{Interval, descriptive, normal};

/// Resamples of a sample that is not too long for them.
const RESAMPLES: usize = 2000;
/// Draws that one subject may cost: about a third of a second on one core.
const DRAWS: usize = 100_000_000;
/// With fewer resamples there is nothing to see.
const FEWEST: usize = 200;
const BINS: usize = 40;
const MOST_POINTS: usize = 200;

/// How an interval comes out of what was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalOf {
    /// Percentiles, corrected for bias and acceleration (Efron 1987).
    Bca,
    /// Plain percentiles, where those corrections can't be had.
    Percentile,
    /// The normal distribution, about the estimate less its bias: as the protocol takes it.
    Normal,
}

/// The standard deviations of samples drawn out of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// That of the sample itself.
    pub estimate: f64,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Where that comes from.
    pub interval_of: IntervalOf,
    /// How many samples were drawn.
    pub resamples: usize,
    /// The seed that they were drawn from.
    pub seed: u64,
    /// Lower end of the first bin of `counts`, and the width of each.
    pub bins: (f64, f64),
    /// How many of the drawn samples fall into each bin.
    pub counts: Vec<u32>,
    /// What a normal distribution would have (with the same mean and standard deviation) over what
    /// was drawn, ascending.
    pub normal: Vec<Point>,
}

impl Resampled {
    /// Resamples; `None` for fewer than five values, equal ones, or so many (above half a million)
    /// that it would take long. O(n · resamples).
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

    /// What a protocol has drawn for its plan; `None` where nothing wavers.
    pub(super) fn of_plan(spread: &Spread, seed: u64) -> Option<Self> {
        let interval = (spread.normal, IntervalOf::Normal);
        Self::drawn(&spread.replicates, spread.sd, interval, seed)
    }

    /// `drawn` stands in ascending order.
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
