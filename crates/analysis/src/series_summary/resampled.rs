//! The bootstrap of one series: how far mean, standard deviation and median would waver if all were
//! done again. It takes the values for independent; where they are not, its intervals are too
//! narrow, and a finding says so.

use assay_stats::bootstrap::{self, Bootstrap, Statistic};

/// Three statistics resampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// How many resamples were taken.
    pub resamples: usize,
    /// The seed.
    pub seed: u64,
    /// Of the mean.
    pub mean: Bootstrap,
    /// Of the standard deviation.
    pub sd: Bootstrap,
    /// Of the median.
    pub median: Bootstrap,
}

impl Resampled {
    /// One of `together` series that are resampled; `None` for no values. O(n · resamples), in all
    /// at most a few seconds.
    pub(super) fn of(values: &[f64], together: usize, seed: u64) -> Option<Self> {
        let resamples = bootstrap::resamples_for(values.len(), together);
        let of = |statistic| bootstrap::bootstrap(values, statistic, resamples, seed);
        Some(Self {
            resamples,
            seed,
            mean: of(Statistic::Mean)?,
            sd: of(Statistic::StandardDeviation)?,
            median: of(Statistic::Median)?,
        })
    }
}
