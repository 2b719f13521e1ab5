//! A detailed summary of one series: location, spread, shape, course over time, dependence, and
//! candidate distributions.
//!
//! [`crate::describe`] covers the properties of a series that comparisons need; this module covers
//! all others. The numbers are those of R (`docs/reference/json.md` names the call for each);
//! findings and the report interpret them. Values are never removed.

mod distributions;
mod findings;
mod numbers;
mod outliers;
mod over_time;
mod repeated;
mod resampled;
mod shape;
mod stability;

pub use assay_stats::bootstrap::Bootstrap;
pub use assay_stats::change_points::{ChangePoint, ChangePoints};
pub use assay_stats::dip::Dip;
pub use assay_stats::independence::LjungBox;
pub use assay_stats::kolmogorov::Distance;
pub use assay_stats::periodic::Periodic;
pub use assay_stats::steady_state::{Label as SteadyLabel, Part, SteadyState};
pub use distributions::{Distribution, DistributionKind, Tails};
pub use numbers::{Descriptives, MedianInterval, SerialCorrelation, Tests};
pub use outliers::Outliers;
pub use over_time::Slice;
pub use repeated::RepeatedValue;
pub use resampled::Resampled;
pub use shape::{Bandwidths, Mode, Shape};
pub use stability::Stability;

use crate::analysis::AnalysisError;
use crate::battery::SignedRanks;
use crate::checks;
use crate::coverage::{Situation, Traits};
use crate::describe::Description;
use crate::levels::{self as nesting, Nested};
use crate::policy;
use crate::recording::Recording;
use assay_data::samples::NOT_COMPARED;
use assay_data::{Better, Environment, Finding, Metric, Samples, Summary};
use assay_stats::periodic;
use assay_stats::t_test::{self, TTest};

/// Levels at which intervals are always given.
const LEVELS: [f64; 3] = [0.90, 0.95, 0.99];

/// The options of a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Confidence level of the median's interval, and an additional level for all other intervals.
    pub confidence: f64,
    /// The metric to describe; `None` for the plan's primary metric or, if there is none, the first
    /// metric.
    pub primary: Option<String>,
    /// Whether to describe every metric, and to include the more expensive parts: the signed-rank
    /// test and the bootstrap.
    pub all: bool,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: 0.95, primary: None, all: false, seed: 1 }
    }
}

/// The summaries of one or several files.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesSummaries {
    /// The requested confidence level.
    pub confidence: f64,
    /// Seed of all random choices.
    pub seed: u64,
    /// One summary per series that has values, ordered by subject and then by metric.
    pub series: Vec<SeriesSummary>,
    /// Recorded summaries of series without values.
    pub left: Vec<SummaryOnly>,
    /// Findings from reading the files; findings about single series are in `series`.
    pub findings: Vec<Finding>,
    /// The machine as it was recorded.
    pub environment: Environment,
    /// Start of the run in RFC 3339 format.
    pub started: Option<String>,
}

/// A series with only a recorded summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOnly {
    /// Name of the subject.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// The recorded summary, in the metric's base unit.
    pub summary: Summary,
}

/// One series. Values are in the metric's base unit.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesSummary {
    /// Name of the subject.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// The description used by comparisons, with the median's interval (widened for dependence),
    /// drift and autocorrelation time.
    pub description: Description,
    /// Descriptive statistics.
    pub descriptives: Descriptives,
    /// Intervals of the median from order statistics, one per level. They assume independent
    /// values.
    pub median_intervals: Vec<MedianInterval>,
    /// Student's t test of the mean; `None` if there are fewer than two values, or if all are
    /// equal.
    pub student: Option<TTest>,
    /// Serial correlation.
    pub correlation: SerialCorrelation,
    /// Tests of the shape.
    pub tests: Tests,
    /// Fitted distributions, in the order normal, lognormal, exponential; those that do not apply
    /// are omitted.
    pub distributions: Vec<Distribution>,
    /// Skewness and kurtosis compared with those of known distributions; `None` if undefined.
    pub tails: Option<Tails>,
    /// Bandwidths for a kernel density.
    pub bandwidths: Bandwidths,
    /// The distribution, for plots.
    pub shape: Shape,
    /// The modes: one unless there is good evidence for more.
    pub modes: Vec<Mode>,
    /// The series over time, for plots.
    pub over_time: Vec<Slice>,
    /// Changes of level, and the steady state, if any.
    pub stability: Stability,
    /// The periodic deviation, if every n-th value differs from the others.
    pub periodic: Option<Periodic>,
    /// The signed-rank test about zero, if all parts were requested.
    pub signed_rank: Option<SignedRanks>,
    /// The bootstrap of mean, standard deviation and median, if all parts were requested.
    pub resampled: Option<Resampled>,
    /// Variance components, if the values come from several levels of repetition.
    pub levels: Option<Nested>,
    /// The kind of data, which determines the intervals with nominal coverage.
    pub situation: Situation,
    /// Number of outliers, and the farthest of them.
    pub outliers: Outliers,
    /// Number of distinct values.
    pub distinct: usize,
    /// The distinct values with their counts; empty unless at least 20 values have two to twelve
    /// distinct ones.
    pub repeated: Vec<RepeatedValue>,
    /// True if all values are multiples of the smallest step between them.
    pub multiples: bool,
    /// Share of the values that equal the most common one.
    pub commonest_share: f64,
    /// Findings of the checks, most serious first.
    pub findings: Vec<Finding>,
}

/// Returns the levels of all intervals: 90, 95 and 99 %, and the requested one.
pub fn levels(asked: f64) -> Vec<f64> {
    let mut levels = LEVELS.to_vec();
    if LEVELS.iter().all(|level| (level - asked).abs() > 1e-9) {
        levels.push(asked);
    }
    levels
}

/// Summarizes the requested metric of every subject, or all metrics. O(n log n) per series.
///
/// # Errors
/// Returns an error if there is nothing to describe, or if the requested metric does not exist.
pub fn of_samples(samples: &Samples, options: &Options) -> Result<SeriesSummaries, AnalysisError> {
    of_samples_telling(samples, options, &mut |_| ())
}

/// Returns the number of phases that [`of_samples_telling`] reports.
///
/// # Errors
/// See [`of_samples`].
pub fn phases(samples: &Samples, options: &Options) -> Result<usize, AnalysisError> {
    let series = samples.subjects.len() * chosen(samples, options)?.len();
    Ok(series * (PHASES + usize::from(options.all)))
}

/// Number of phases of one series, without the more expensive parts.
const PHASES: usize = 5;

/// Like [`of_samples`]; calls `tell` with the name of each phase as it starts.
///
/// # Errors
/// See [`of_samples`].
pub fn of_samples_telling(
    samples: &Samples,
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<SeriesSummaries, AnalysisError> {
    if samples.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let chosen = chosen(samples, options)?;
    let (mut series, mut left) = (Vec::new(), Vec::new());
    let asked = (options, samples.subjects.len() * chosen.len());
    for (subject, described) in samples.subjects.iter().enumerate() {
        for &metric in &chosen {
            let values = samples.values(subject, metric);
            let metric_of = &samples.metrics[metric];
            let drawn = SeriesSummary::of_telling(&described.name, metric_of, &values, asked, tell);
            match drawn {
                Some(p) => series.push(p.with_levels(nesting::of(samples, subject, metric))),
                None => left.extend(SummaryOnly::of(samples, subject, metric_of)),
            }
        }
    }
    if series.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let mut findings = checks::of_samples(samples, options.primary.is_some());
    findings.extend(checks::outcomes(samples, 0, None));
    Ok(SeriesSummaries {
        confidence: options.confidence,
        seed: options.seed,
        series,
        left,
        findings,
        environment: samples.environment.clone(),
        started: samples.started.clone(),
    })
}

/// Summarizes one metric of some subjects, as shown on a comparison's page; subjects without values
/// are omitted. O(n log n) per series.
pub fn of_subjects(
    samples: &Samples,
    subjects: impl IntoIterator<Item = usize>,
    metric: usize,
    options: &Options,
) -> Vec<SeriesSummary> {
    let Some(measured) = samples.metrics.get(metric) else { return Vec::new() };
    let of = |subject: usize| {
        let name = &samples.subjects.get(subject)?.name;
        let drawn = SeriesSummary::of(name, measured, &samples.values(subject, metric), options)?;
        Some(drawn.with_levels(nesting::of(samples, subject, metric)))
    };
    subjects.into_iter().filter_map(of).collect()
}

fn chosen(samples: &Samples, options: &Options) -> Result<Vec<usize>, AnalysisError> {
    let planned = samples.plan.as_ref().map(|plan| plan.primary.as_str());
    let primary = match &options.primary {
        Some(asked) => {
            samples.metric_index(asked).ok_or_else(|| AnalysisError::no_metric(samples, asked))?
        }
        None => planned.and_then(|name| samples.metric_index(name)).unwrap_or(0),
    };
    if !options.all {
        return Ok(vec![primary]);
    }
    // Stolen time describes the machine, not a subject.
    let others = (0..samples.metrics.len()).filter(|&m| m != primary);
    let others = others.filter(|&m| !NOT_COMPARED.contains(&samples.metrics[m].name.as_str()));
    Ok(std::iter::once(primary).chain(others).collect())
}

impl SummaryOnly {
    fn of(samples: &Samples, subject: usize, metric: &Metric) -> Option<Self> {
        let is_own = |s: &&Summary| s.subject == subject && s.metric == metric.name;
        let summary = samples.summaries.iter().rfind(is_own)?.clone();
        let name = samples.subjects[subject].name.clone();
        Some(Self { name, metric: metric.clone(), summary })
    }
}

impl SeriesSummary {
    /// Summarizes one series, whose values must be finite and in the order of measurement; `None`
    /// if it is empty. O(n log n).
    pub fn of(name: &str, metric: &Metric, values: &[f64], options: &Options) -> Option<Self> {
        Self::of_telling(name, metric, values, (options, 1), &mut |_| ())
    }

    /// Like [`Self::of`]; calls `tell` with the name of each phase as it starts.
    fn of_telling(
        name: &str,
        metric: &Metric,
        values: &[f64],
        (options, together): (&Options, usize),
        tell: &mut dyn FnMut(&str),
    ) -> Option<Self> {
        tell("sorting");
        let recording = Recording::of(values);
        let description = Description::of_recording(&recording, options.confidence)?;
        let sorted = recording.sorted;
        let levels = levels(options.confidence);
        let descriptives = Descriptives::of(values, &sorted);
        tell("distributions");
        let tests = Tests::of(&sorted);
        tell("density");
        let bandwidths = Bandwidths::of(&sorted);
        let shape = Shape::of(&sorted, &bandwidths, description.clock_step);
        tell("dependence");
        let correlation = SerialCorrelation::of(values, &sorted);
        tell("changes over time");
        let lower_is_better = metric.better == Better::Lower;
        let stability = Stability::of(values, &sorted, lower_is_better, options.seed);
        if options.all {
            tell("resampling");
        }
        let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let mut summary = Self {
            name: name.to_owned(),
            metric: metric.clone(),
            median_intervals: numbers::median_intervals(&sorted, &levels),
            student: t_test::one_sample(values),
            correlation,
            distributions: distributions::fitted(&sorted, &tests),
            tails: Tails::of(&descriptives),
            modes: shape::modes(&sorted, &shape, tests.dip),
            over_time: over_time::of(values),
            stability,
            periodic: periodic::periodic(values, policy::PERIODIC_LEVEL),
            signed_rank: options.all.then(|| SignedRanks::of(values, &levels)).flatten(),
            resampled: options.all.then(|| Resampled::of(values, together, options.seed)).flatten(),
            levels: None,
            situation: Situation {
                n: values.len(),
                traits: Traits::with_time(values, description.autocorrelation_time),
            },
            outliers: Outliers::of(values, &sorted),
            commonest_share: sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
                as f64
                / sorted.len() as f64,
            distinct,
            repeated: repeated::of(&sorted, distinct),
            multiples: description
                .clock_step
                .is_some_and(|step| repeated::are_multiples(&sorted, step)),
            findings: Vec::new(),
            description,
            descriptives,
            tests,
            bandwidths,
            shape,
        };
        summary.findings = findings::of(&summary);
        Some(summary)
    }

    fn with_levels(mut self, levels: Option<Nested>) -> Self {
        self.levels = levels;
        self.findings = findings::of(&self);
        self
    }

    /// Returns the effective number of values divided by n, between 0 and 1.
    pub fn effective_share(&self) -> f64 {
        self.description.effective() / self.description.n as f64
    }
}

#[cfg(test)]
mod tests;
