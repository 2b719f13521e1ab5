//! Individual series as JSON: a description of every metric, and the sources of noise of the
//! primary one.

use super::values::{NamedValues, Scale};
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

/// Summary of one metric.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Base unit of the metric.
    pub unit: String,
    /// Number of values.
    pub n: usize,
    /// The median.
    pub median: Option<f64>,
    /// The interval of the median.
    pub median_interval: MedianInterval,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation with n − 1; `null` for one value.
    pub standard_deviation: Option<f64>,
    /// The smallest value.
    pub min: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
    /// Quantiles by their share (`0.05`, `0.25`, `0.75`, `0.95`, `0.99`), interpolated (type 7).
    pub quantiles: NamedValues<Option<f64>>,
    /// Number of values more than three interquartile ranges outside the quartiles. They are
    /// counted, never removed.
    pub outliers: usize,
    /// Autocorrelation time of successive values (1: no correlation).
    pub autocorrelation_time: Option<f64>,
    /// Effective number of independent values.
    pub effective_sample_size: Option<f64>,
    /// Rank autocorrelation of neighbors.
    pub lag1: Option<f64>,
    /// Smallest gap between distinct values; `null` if all are equal.
    pub clock_step: Option<f64>,
    /// Change from the first to the last third, in the unit, if larger than chance; otherwise
    /// `null`.
    pub drift: Option<f64>,
}

/// The interval of a median, whose ends are two of the values. They are `null` if there are too few
/// values, or too few independent ones.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MedianInterval {
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
    /// Confidence of the interval: that of the plan, or, for a single command that stopped by
    /// itself, the stricter one of repeated looks.
    pub confidence: Option<f64>,
    /// Effective number of independent values for the median, from the autocorrelation of the signs
    /// about it.
    pub effective_sample_size: Option<f64>,
    /// True if the interval holds only for independent values: twelve values or fewer cannot show
    /// whether they are.
    pub assumes_independence: bool,
    /// The reason for a missing interval: `too_few` values, or values that are `too_dependent` on
    /// each other; otherwise `null`.
    pub reason: Option<&'static str>,
}

impl MedianInterval {
    pub(crate) fn new(d: &assay_analysis::Description) -> Self {
        Self {
            lower: d.median_interval.map(|i| i.lower),
            upper: d.median_interval.map(|i| i.upper),
            confidence: Some(d.confidence),
            effective_sample_size: Some(d.effective_of_median()),
            assumes_independence: d.assumes_independence(),
            reason: d.no_median_interval().map(|reason| match reason {
                NoMedianInterval::TooFew => "too_few",
                NoMedianInterval::TooDependent => "too_dependent",
            }),
        }
    }
}

/// Recorded causes of the spread of a primary metric.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Number of runs with a value of the primary metric.
    pub runs: usize,
    /// The causes, each recorded with every run.
    pub causes: Vec<Cause>,
    /// The share of the spread that all causes together explain; `null` if no larger than chance. A
    /// correlation, not a proof.
    pub together: Option<f64>,
    /// Runs that were preempted or waited for the disk more than usual, as indices of observations
    /// in the file, from 0. They are included like all others.
    pub disturbed: Vec<usize>,
    /// The difference with less weight for blocks with disturbed runs. It never decides. `null` for
    /// a reference, without disturbed runs, and if not measured in blocks.
    pub weighed: Option<Weighed>,
}

/// A quantity recorded with every run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// The metric: involuntary switches, minor and major faults, stolen time.
    pub metric: String,
    /// Rank correlation with the primary metric, without slow drift; `null` if the quantity never
    /// changed.
    pub correlation: Option<f64>,
    /// The share of the spread that this cause alone explains; `null` if no larger than chance.
    pub share: Option<f64>,
}

/// A difference with less weight for disturbed blocks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Weighed {
    /// Scale of the difference.
    pub scale: Scale,
    /// The difference.
    pub estimate: Option<f64>,
    /// Number of blocks with disturbed runs.
    pub blocks: usize,
}

impl Summary {
    pub(crate) fn new(unit: &str, d: &assay_analysis::Description) -> Self {
        let q = d.quantiles;
        let quantiles =
            [("0.05", q.p5), ("0.25", q.p25), ("0.75", q.p75), ("0.95", q.p95), ("0.99", q.p99)];
        Self {
            unit: unit.to_owned(),
            n: d.n,
            median: Some(d.median),
            median_interval: MedianInterval::new(d),
            mean: Some(d.mean),
            standard_deviation: Some(d.standard_deviation),
            min: Some(d.min),
            max: Some(d.max),
            quantiles: quantiles.into_iter().map(|(at, q)| (at.to_owned(), Some(q))).collect(),
            outliers: d.outliers,
            autocorrelation_time: Some(d.autocorrelation_time),
            effective_sample_size: Some(d.effective()),
            lag1: Some(d.lag1),
            clock_step: d.clock_step,
            drift: d.drift,
        }
    }
}

impl Noise {
    /// Returns the noise, `None` if no cause was recorded.
    pub(crate) fn new(of: &NoiseOf) -> Option<Self> {
        (!of.causes.is_empty() || !of.disturbed.is_empty()).then(|| Self {
            runs: of.runs,
            causes: of
                .causes
                .iter()
                .map(|cause| Cause {
                    metric: cause.metric.to_owned(),
                    correlation: cause.correlation,
                    share: cause.share,
                })
                .collect(),
            together: of.together,
            disturbed: of.disturbed.clone(),
            weighed: of.weighed.map(|weighed| Weighed {
                scale: (&weighed.scale).into(),
                estimate: Some(weighed.estimate),
                blocks: weighed.blocks,
            }),
        })
    }
}
