//! One series drawn from every side: how large and wide it is, which shape it has, how it went over time, how far its values
//! depend on each other, and which distributions it could follow.
//!
//! Where [`crate::describe`] says what a comparison needs to know of a series, this says all there is to know of it by itself.
//! The numbers are those of R (`docs/reference/json.md` names the call for each); what people should make of them is said by
//! findings and by the report. Nothing is compared here, nothing is removed.

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

/// The levels at which intervals are always given.
const LEVELS: [f64; 3] = [0.90, 0.95, 0.99];

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Confidence of the median's interval, and one more level for all others.
    pub confidence: f64,
    /// The metric to describe; `None` for the plan's primary one, or the first.
    pub primary: Option<String>,
    /// Describe every metric, and add what costs more: the signed-rank test and the bootstrap.
    pub all: bool,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: 0.95, primary: None, all: false, seed: 1 }
    }
}

/// All summaries of one file or several.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesSummaries {
    /// Confidence that was asked for.
    pub confidence: f64,
    /// The seed of every random choice.
    pub seed: u64,
    /// One per series that has values: subject by subject, metric by metric.
    pub series: Vec<SeriesSummary>,
    /// What is left of series without values.
    pub left: Vec<Left>,
    /// What reading found on the way; the findings about series are with them.
    pub findings: Vec<Finding>,
    /// The machine, as recorded.
    pub environment: Environment,
    /// When the run began, RFC 3339.
    pub started: Option<String>,
}

/// A series of which only a summary was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Name of the subject.
    pub name: String,
    /// What was measured.
    pub metric: Metric,
    /// What was recorded, in the metric's base unit.
    pub summary: Summary,
}

/// One series. Values are in the metric's base unit.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesSummary {
    /// Name of the subject.
    pub name: String,
    /// What was measured.
    pub metric: Metric,
    /// What a comparison would say of it: the median's interval, widened for dependence, drift, autocorrelation time.
    pub description: Description,
    /// Plain numbers.
    pub descriptives: Descriptives,
    /// Intervals of the median by order statistics, as if the values were independent, one per level.
    pub median_intervals: Vec<MedianInterval>,
    /// Student's mean; `None` for fewer than two values, or all equal.
    pub student: Option<TTest>,
    /// Dependence of values on those before.
    pub correlation: SerialCorrelation,
    /// Tests of the shape.
    pub tests: Tests,
    /// Distributions fitted, in the order normal, lognormal, exponential; those that do not apply
    /// are left out.
    pub distributions: Vec<Distribution>,
    /// Skewness and kurtosis beside those of known distributions; `None` where there are none.
    pub tails: Option<Tails>,
    /// Bandwidths for a kernel density.
    pub bandwidths: Bandwidths,
    /// The distribution for pictures.
    pub shape: Shape,
    /// Where the values cluster: one mode unless there is good evidence for more.
    pub modes: Vec<Mode>,
    /// The series in time, for pictures.
    pub over_time: Vec<Slice>,
    /// Where the series changed, and whether it came to rest.
    pub stability: Stability,
    /// Whether every so many values one differs.
    pub periodic: Option<Periodic>,
    /// The signed-rank test about zero, where all was asked for.
    pub signed_rank: Option<SignedRanks>,
    /// The bootstrap of mean, standard deviation and median, where all was asked for.
    pub resampled: Option<Resampled>,
    /// Where the values come from several levels of repetition, which level their spread comes from.
    pub levels: Option<Nested>,
    /// What kind of data it is: it decides which of the intervals hold what they say.
    pub situation: Situation,
    /// Values far outside, counted and named.
    pub outliers: Outliers,
    /// How many different values there are.
    pub distinct: usize,
    /// The different values with their counts, where they are up to twelve, of at least 20 values.
    pub repeated: Vec<RepeatedValue>,
    /// Whether all values are multiples of the smallest step between them.
    pub multiples: bool,
    /// Share of the values that are equal to the commonest.
    pub commonest_share: f64,
    /// What the checks found, most serious first.
    pub findings: Vec<Finding>,
}

/// Levels of all intervals: 90, 95 and 99 %, and the one that was asked for.
pub fn levels(asked: f64) -> Vec<f64> {
    let mut levels = LEVELS.to_vec();
    if LEVELS.iter().all(|level| (level - asked).abs() > 1e-9) {
        levels.push(asked);
    }
    levels
}

/// Draws the series of samples: of every subject the metric that is asked for, or all. O(n log n) a series.
///
/// # Errors
/// When there is nothing to describe, or the metric asked for is not there.
pub fn of_samples(samples: &Samples, options: &Options) -> Result<SeriesSummaries, AnalysisError> {
    of_samples_telling(samples, options, &mut |_| ())
}

/// How many phases [`of_samples_telling`] tells of.
///
/// # Errors
/// As [`of_samples`].
pub fn phases(samples: &Samples, options: &Options) -> Result<usize, AnalysisError> {
    let series = samples.subjects.len() * chosen(samples, options)?.len();
    Ok(series * (PHASES + usize::from(options.all)))
}

/// Phases of one series, without what costs more.
const PHASES: usize = 5;

/// The same; `tell` is told the name of every phase as it begins.
///
/// # Errors
/// As [`of_samples`].
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
                None => left.extend(Left::of(samples, subject, metric_of)),
            }
        }
    }
    if series.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let mut findings = samples.findings.clone();
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

/// Draws one metric of some subjects, as a page about their comparison shows them; those without values are left out. O(n log n) a
/// series.
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
        Some(asked) => samples.metric_index(asked).ok_or_else(|| AnalysisError::NoSuchMetric {
            asked: asked.clone(),
            known: samples.metrics.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", "),
        })?,
        None => planned.and_then(|name| samples.metric_index(name)).unwrap_or(0),
    };
    if !options.all {
        return Ok(vec![primary]);
    }
    // Stolen time says something of the machine, not of a subject.
    let others = (0..samples.metrics.len()).filter(|&m| m != primary);
    let others = others.filter(|&m| !NOT_COMPARED.contains(&samples.metrics[m].name.as_str()));
    Ok(std::iter::once(primary).chain(others).collect())
}

impl Left {
    fn of(samples: &Samples, subject: usize, metric: &Metric) -> Option<Self> {
        let is_own = |s: &&Summary| s.subject == subject && s.metric == metric.name;
        let summary = samples.summaries.iter().rfind(is_own)?.clone();
        let name = samples.subjects[subject].name.clone();
        Some(Self { name, metric: metric.clone(), summary })
    }
}

impl SeriesSummary {
    /// Draws one series in its order of measurement; `None` for an empty one. `values`: finite. O(n log n).
    pub fn of(name: &str, metric: &Metric, values: &[f64], options: &Options) -> Option<Self> {
        Self::of_telling(name, metric, values, (options, 1), &mut |_| ())
    }

    /// The same; `tell` is told the name of every phase as it begins.
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

    /// Share of the values that are worth something by themselves: effective / n, in 0..=1.
    pub fn effective_share(&self) -> f64 {
        self.description.effective() / self.description.n as f64
    }
}

#[cfg(test)]
mod tests;
