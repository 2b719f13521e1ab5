//! The bootstrap of one series: the uncertainty of mean, standard deviation and median. It assumes
//! independent values; for dependent values its intervals are too narrow, which a finding reports.

use assay_stats::bootstrap::{self, Bootstrap, Statistic};

/// The bootstrap of three statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// Number of resamples.
    pub resamples: usize,
    /// Seed of the resampling.
    pub seed: u64,
    /// Bootstrap of the mean.
    pub mean: Bootstrap,
    /// Bootstrap of the standard deviation.
    pub sd: Bootstrap,
    /// Bootstrap of the median.
    pub median: Bootstrap,
}

impl Resampled {
    /// Resamples one of `together` series; `None` for fewer than two values, because all resamples
    /// would be equal. O(n · resamples), at most a few seconds in total.
    pub(super) fn of(values: &[f64], together: usize, seed: u64) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
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
