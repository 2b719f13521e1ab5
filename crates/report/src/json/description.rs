//! Individual series as JSON: a description of every metric, and the sources of noise of the
//! primary one.

use super::values::{NamedValues, Scale, view};
use assay_analysis::NoMedianInterval;
use assay_analysis::noise::NoiseOf;
use serde::Serialize;
use serde_json::{Map, Value};

/// One side on one row at one setting of the parameters.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Description {
    /// Name of the side.
    pub side: String,
    /// Name of the row; empty for commands.
    pub row: String,
    /// Parameters by name.
    pub parameters: Map<String, Value>,
    /// The name shown to people.
    pub name: String,
    /// The command line; `null` if it is not a command.
    pub command: Option<String>,
    /// Number of observations.
    pub observations: usize,
    /// Number of failures.
    pub failures: usize,
    /// Number of runs that reached the time limit.
    pub timeouts: usize,
    /// A summary of each metric, by name; metrics without values are omitted.
    pub metrics: NamedValues<Summary>,
    /// Recorded causes of the spread of the primary metric; `null` if none was recorded.
    pub noise: Option<Noise>,
}

view! {
    /// Summary of one metric.
    Summary of (d: &assay_analysis::Description, unit: &str) {
        /// Base unit of the metric.
        unit: String => unit,
        /// Number of values.
        n: usize,
        /// The median.
        median: Option<f64>,
        /// The interval of the median.
        median_interval: MedianInterval => d,
        /// Arithmetic mean.
        mean: Option<f64>,
        /// Standard deviation with n − 1; `null` for one value.
        standard_deviation: Option<f64>,
        /// The smallest value.
        min: Option<f64>,
        /// The largest value.
        max: Option<f64>,
        /// Quantiles by their share (`0.05`, `0.25`, `0.75`, `0.95`, `0.99`), interpolated (type 7).
        quantiles: NamedValues<Option<f64>> = quantiles(d),
        /// Number of values more than three interquartile ranges outside the quartiles. They are
        /// counted, never removed.
        outliers: usize,
        /// Autocorrelation time of successive values (1: no correlation).
        autocorrelation_time: Option<f64>,
        /// Effective number of independent values.
        effective_sample_size: Option<f64> => d.effective(),
        /// Rank autocorrelation of neighbors.
        lag1: Option<f64>,
        /// Smallest gap between distinct values; `null` if all are equal.
        clock_step: Option<f64>,
        /// Change from the first to the last third, in the unit, if larger than chance; otherwise
        /// `null`.
        drift: Option<f64>,
    }
}

view! {
    /// The interval of a median, whose ends are two of the values. They are `null` if there are too few
    /// values, or too few independent ones.
    MedianInterval of (d: &assay_analysis::Description) {
        /// Lower end of the interval.
        lower: Option<f64> = d.median_interval.map(|i| i.lower),
        /// Upper end of the interval.
        upper: Option<f64> = d.median_interval.map(|i| i.upper),
        /// Confidence of the interval: that of the plan, or, for a single command that stopped by
        /// itself, the stricter one of repeated looks.
        confidence: Option<f64>,
        /// Effective number of independent values for the median, from the autocorrelation of the signs
        /// about it.
        effective_sample_size: Option<f64> => d.effective_of_median(),
        /// True if the interval holds only for independent values: twelve values or fewer cannot show
        /// whether they are.
        assumes_independence: bool => d.assumes_independence(),
        /// The reason for a missing interval: `too_few` values, or values that are `too_dependent` on
        /// each other; otherwise `null`.
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
        /// The causes, each recorded with every run.
        causes: Vec<Cause>,
        /// The share of the spread that all causes together explain; `null` if no larger than chance. A
        /// correlation, not a proof.
        together: Option<f64>,
        /// Runs that were preempted or waited for the disk more than usual, as indices of observations
        /// in the file, from 0. They are included like all others.
        disturbed: Vec<usize>,
        /// The difference with less weight for blocks with disturbed runs. It never decides. `null` for
        /// a reference, without disturbed runs, and if not measured in blocks.
        weighed: Option<Weighed>,
    }
}

view! {
    /// A quantity recorded with every run.
    Cause of (cause: &assay_analysis::noise::Cause) {
        /// The metric: involuntary switches, minor and major faults, stolen time.
        metric: String,
        /// Rank correlation with the primary metric, without slow drift; `null` if the quantity never
        /// changed.
        correlation: Option<f64>,
        /// The share of the spread that this cause alone explains; `null` if no larger than chance.
        share: Option<f64>,
    }
}

view! {
    /// A difference with less weight for disturbed blocks.
    Weighed of (weighed: &assay_analysis::noise::Weighed) {
        /// Scale of the difference.
        scale: Scale,
        /// The difference.
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
    /// Returns the noise, `None` if no cause was recorded.
    pub(crate) fn new(noise: &NoiseOf) -> Option<Self> {
        let is_recorded = !noise.causes.is_empty() || !noise.disturbed.is_empty();
        is_recorded.then(|| Self::of(noise))
    }
}
