//! The bootstrap of a series as JSON.

use crate::json::values::{Coverage, Interval, view};
use assay_analysis::coverage::Method::{self, *};
use assay_analysis::coverage::speaks_for;
use assay_analysis::series_summary::{self as found, Resampled, SeriesSummary};

view! {
    /// The bootstrap of a statistic. The ends of the intervals are `null` if all values are equal.
    Bootstrap of (
        p: &SeriesSummary,
        all: &Resampled,
        of: &found::Bootstrap,
        methods: [Method; 4],
        confidence: f64
    ) {
        /// Number of resamples.
        #[serde(rename = "R")]
        resamples: usize => all.resamples,
        /// The seed of the resampling.
        seed: u64 => all.seed,
        /// Confidence of the intervals.
        confidence: f64 = confidence,
        /// The statistic of the values.
        t0: Option<f64> => of.t0,
        /// Mean of the resampled statistics − `t0`.
        bias: Option<f64> => of.bias,
        /// Standard deviation of the resampled statistics.
        se: Option<f64> => of.se,
        /// The interval by the normal method.
        normal: Interval => of.normal(confidence),
        /// The interval by the basic method.
        basic: Interval => of.basic(confidence),
        /// The interval by the percentile method.
        percentile: Interval => of.percentile(confidence),
        /// The interval by the BCa method, corrected for bias and skewness.
        bca: Interval => of.bca(confidence),
        /// Simulated coverage of each interval.
        coverage: BootstrapCoverage = BootstrapCoverage::of(p, methods, confidence),
    }
}

view! {
    /// Simulated coverage of bootstrap intervals; `null` for a method whose coverage is not known
    /// to be too low.
    BootstrapCoverage of (p: &SeriesSummary, methods: [Method; 4], confidence: f64) {
        /// The normal interval.
        normal: Option<Coverage> = coverage(p, methods[0], confidence),
        /// The basic interval.
        basic: Option<Coverage> = coverage(p, methods[1], confidence),
        /// The percentile interval.
        percentile: Option<Coverage> = coverage(p, methods[2], confidence),
        /// The interval corrected for bias and skewness.
        bca: Option<Coverage> = coverage(p, methods[3], confidence),
    }
}

impl Bootstrap {
    /// Returns the bootstrap of the mean; `None` if the values were not resampled.
    pub(super) fn of_mean(p: &SeriesSummary, confidence: f64) -> Option<Self> {
        let methods =
            [BootstrapMeanNormal, BootstrapMeanBasic, BootstrapMeanPercentile, BootstrapMeanBca];
        p.resampled.as_ref().map(|all| Self::of(p, all, &all.mean, methods, confidence))
    }

    /// Returns the bootstrap of the standard deviation; `None` if the values were not resampled.
    pub(super) fn of_sd(p: &SeriesSummary, confidence: f64) -> Option<Self> {
        let methods = [BootstrapSdNormal, BootstrapSdBasic, BootstrapSdPercentile, BootstrapSdBca];
        p.resampled.as_ref().map(|all| Self::of(p, all, &all.sd, methods, confidence))
    }

    /// Returns the bootstrap of the median; `None` if the values were not resampled.
    pub(super) fn of_median(p: &SeriesSummary, confidence: f64) -> Option<Self> {
        let methods = [
            BootstrapMedianNormal,
            BootstrapMedianBasic,
            BootstrapMedianPercentile,
            BootstrapMedianBca,
        ];
        p.resampled.as_ref().map(|all| Self::of(p, all, &all.median, methods, confidence))
    }
}

/// Returns the simulated coverage of a method's intervals for values like these; `None` if it is
/// not too low, or if it was not simulated for that confidence.
pub(super) fn coverage(p: &SeriesSummary, method: Method, confidence: f64) -> Option<Coverage> {
    p.situation.warning(method).filter(|_| speaks_for(confidence)).map(Coverage::from)
}
