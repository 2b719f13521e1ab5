//! Single series of values as JSON: a description of every metric, and the sources of noise of the
//! primary metric.

use super::values::{NamedValues, Scale, view};
use assay_analysis::NoMedianInterval;
use assay_analysis::noise::NoiseOf;
use serde::Serialize;
use serde_json::{Map, Value};

/// A series of values of one side, for one row and one setting of the parameters.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Description {
    /// Name of the side.
    pub side: String,
    /// Name of the row; empty for commands.
    pub row: String,
    /// Parameters by name.
    pub parameters: Map<String, Value>,
    /// Name of the series for human readers.
    pub name: String,
    /// Command line; `null` if the series does not come from a command.
    pub command: Option<String>,
    /// Number of observations (recorded runs or measurements).
    pub observations: usize,
    /// Number of failed runs.
    pub failures: usize,
    /// Number of runs that reached the time limit.
    pub timeouts: usize,
    /// Summary of each metric, by name. Metrics without values are omitted.
    pub metrics: NamedValues<Summary>,
    /// Recorded causes of the spread of the primary metric; `null` if none were recorded.
    pub noise: Option<Noise>,
}

view! {
    /// Summary of the values of one metric.
    Summary of (d: &assay_analysis::Description, unit: &str) {
        /// Base unit of the metric.
        unit: String => unit,
        /// Number of values.
        n: usize,
        /// Median of the values.
        median: Option<f64>,
        /// Confidence interval of the median.
        median_interval: MedianInterval => d,
        /// Arithmetic mean of the values.
        mean: Option<f64>,
        /// Sample standard deviation (divisor n − 1); `null` for a single value.
        standard_deviation: Option<f64>,
        /// Smallest value.
        min: Option<f64>,
        /// Largest value.
        max: Option<f64>,
        /// Quantiles, keyed by their share (`0.05`, `0.25`, `0.75`, `0.95`, `0.99`), interpolated
        /// (R's type 7).
        quantiles: NamedValues<Option<f64>> = quantiles(d),
        /// Number of values more than three interquartile ranges outside the quartiles. Outliers
        /// are only counted, never removed.
        outliers: usize,
        /// Autocorrelation time of successive values, at least 1. A value of 1 means that there is
        /// no correlation.
        autocorrelation_time: Option<f64>,
        /// Effective number of independent values.
        effective_sample_size: Option<f64> => d.effective(),
        /// Rank autocorrelation between successive values.
        lag1: Option<f64>,
        /// Smallest gap between distinct values; `null` if all values are equal.
        clock_step: Option<f64>,
        /// Change from the first to the last third of the values, in the unit of the metric; `null`
        /// if it may be due to chance.
        drift: Option<f64>,
    }
}

view! {
    /// The interval of a median. Both ends are among the measured values. They are `null` if there
    /// are too few values, or too few independent ones.
    MedianInterval of (d: &assay_analysis::Description) {
        /// Lower end of the interval.
        lower: Option<f64> = d.median_interval.map(|i| i.lower),
        /// Upper end of the interval.
        upper: Option<f64> = d.median_interval.map(|i| i.upper),
        /// Confidence of the interval. It is that of the plan, or a stricter one for repeated looks
        /// if a single command was measured with automatic stopping.
        confidence: Option<f64>,
        /// Effective number of independent values for the median. It is computed from the
        /// autocorrelation of the signs of the deviations from the median.
        effective_sample_size: Option<f64> => d.effective_of_median(),
        /// True if the interval is valid only for independent values. Independence cannot be tested
        /// with twelve values or fewer.
        assumes_independence: bool => d.assumes_independence(),
        /// The reason why there is no interval: `too_few` values, or values that are
        /// `too_dependent` on each other; otherwise `null`.
        reason: Option<&'static str> = d.no_median_interval().map(reason),
    }
}

fn reason(missing: NoMedianInterval) -> &'static str {
    match missing {
        NoMedianInterval::TooFew => "too_few",
        NoMedianInterval::TooDependent => "too_dependent",
    }
}

view! {
    /// Recorded causes of the spread of a primary metric.
    Noise of (noise: &NoiseOf) {
        /// Number of runs with a value of the primary metric.
        runs: usize,
        /// Quantities recorded with every run that may have caused the spread.
        causes: Vec<Cause>,
        /// Share of the spread that all causes together explain; `null` if it may be due to chance.
        /// It is a correlation and does not prove causation.
        together: Option<f64>,
        /// Runs that were preempted or waited for the disk more than usual, as indices of
        /// observations in the file, from 0. They are not excluded from the analysis.
        disturbed: Vec<usize>,
        /// The difference if blocks with disturbed runs get less weight. No verdict depends on it.
        /// `null` for a reference, without disturbed runs, and for series not measured in blocks.
        weighed: Option<Weighed>,
    }
}

view! {
    /// A quantity recorded with every run that may have caused a part of the spread.
    Cause of (cause: &assay_analysis::noise::Cause) {
        /// Name of the quantity, such as involuntary switches, minor or major faults, or stolen
        /// time.
        metric: String,
        /// Rank correlation with the primary metric after removal of slow drift; `null` if the
        /// quantity never changed.
        correlation: Option<f64>,
        /// Share of the spread that this cause alone explains; `null` if it may be due to chance.
        share: Option<f64>,
    }
}

view! {
    /// A difference for which blocks with disturbed runs have less weight.
    Weighed of (weighed: &assay_analysis::noise::Weighed) {
        /// Scale of the difference.
        scale: Scale,
        /// The weighted difference, on `scale`.
        estimate: Option<f64>,
        /// Number of blocks with disturbed runs.
        blocks: usize,
    }
}

fn quantiles(d: &assay_analysis::Description) -> NamedValues<Option<f64>> {
    let q = d.quantiles;
    let quantiles =
        [("0.05", q.p5), ("0.25", q.p25), ("0.75", q.p75), ("0.95", q.p95), ("0.99", q.p99)];
    quantiles.into_iter().map(|(at, q)| (at.to_owned(), Some(q))).collect()
}

impl Noise {
    /// Returns the noise; `None` if neither a cause nor a disturbed run was recorded.
    pub(crate) fn new(noise: &NoiseOf) -> Option<Self> {
        let is_recorded = !noise.causes.is_empty() || !noise.disturbed.is_empty();
        is_recorded.then(|| Self::of(noise))
    }
}
