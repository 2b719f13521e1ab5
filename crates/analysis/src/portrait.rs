//! One series drawn from every side: how large and wide it is, which shape it has, how it went over time, how far its values
//! depend on each other, and which laws it could follow.
//!
//! Where [`crate::describe`] says what a comparison needs to know of a series, this says all there is to know of it by itself.
//! The numbers are those of R (`docs/reference/json.md` names the call for each); what people should make of them is said by
//! findings and by the report. Nothing is compared here, nothing is removed.

mod course;
mod findings;
mod laws;
mod numbers;
mod outliers;
mod resampled;
mod shape;
mod stability;

pub use assay_stats::independence::LjungBox;
pub use assay_stats::steady_state::{Label as SteadyLabel, Part};
pub use course::Slice;
pub use laws::{Law, LawKind, Tails};
pub use numbers::{Descriptives, MedianInterval, Order, Tests};
pub use outliers::Outliers;
pub use resampled::Resampled;
pub use shape::{Bandwidths, Mode, Shape};
pub use stability::Stability;

use crate::analysis::AnalysisError;
use crate::coverage::{Situation, Traits};
use crate::describe::Description;
use crate::levels::{self as nesting, Nested};
use assay_data::samples::NOT_COMPARED;
use assay_data::{Better, Environment, Finding, Metric, Samples};
use assay_stats::descriptive;
use assay_stats::signed_rank::{self, SignedRankTest};
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

/// All portraits of one file or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Portraits {
    /// Confidence that was asked for.
    pub confidence: f64,
    /// The seed of every random choice.
    pub seed: u64,
    /// One per series that has values: subject by subject, metric by metric.
    pub series: Vec<Portrait>,
    /// What reading found on the way; the findings about series are with them.
    pub findings: Vec<Finding>,
    /// The machine, as recorded.
    pub environment: Environment,
    /// When the run began, RFC 3339.
    pub started: Option<String>,
}

/// One series. Values are in the metric's base unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Portrait {
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
    pub order: Order,
    /// Tests of the shape.
    pub tests: Tests,
    /// Laws fitted, in the order normal, lognormal, exponential; those that do not apply are left out.
    pub laws: Vec<Law>,
    /// Skewness and kurtosis beside those of known laws; `None` where there are none.
    pub tails: Option<Tails>,
    /// Bandwidths for a kernel density.
    pub bandwidths: Bandwidths,
    /// The distribution for pictures.
    pub shape: Shape,
    /// Where the values heap up: one mode unless there is good evidence for more.
    pub modes: Vec<Mode>,
    /// The series in time, for pictures.
    pub course: Vec<Slice>,
    /// Where the series changed, and whether it came to rest.
    pub stability: Stability,
    /// The signed-rank test about zero, and the median of all Walsh averages, where all was asked for.
    pub signed_rank: Option<(SignedRankTest, f64)>,
    /// The bootstrap of mean, standard deviation and median, where all was asked for.
    pub resampled: Option<Resampled>,
    /// Where the values come from several levels of repetition, which level their spread comes from.
    pub levels: Option<Nested>,
    /// What kind of data it is: tells which of the intervals hold what they say.
    pub situation: Situation,
    /// Values far outside, counted and named.
    pub outliers: Outliers,
    /// How many different values there are.
    pub distinct: usize,
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
pub fn of_samples(samples: &Samples, options: &Options) -> Result<Portraits, AnalysisError> {
    of_samples_telling(samples, options, &mut |_| ())
}

/// The same; `tell` is told now and then which share of the work is done, 0..=1.
///
/// # Errors
/// As [`of_samples`].
pub fn of_samples_telling(
    samples: &Samples,
    options: &Options,
    tell: &mut dyn FnMut(f64),
) -> Result<Portraits, AnalysisError> {
    if samples.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let chosen = chosen(samples, options)?;
    let mut series = Vec::new();
    let (mut done, all) = (0.0, (samples.len() * chosen.len()) as f64);
    for (subject, described) in samples.subjects.iter().enumerate() {
        for &metric in &chosen {
            let values = samples.values(subject, metric);
            let own = values.len() as f64;
            let drawn = Portrait::of_telling(
                &described.name,
                &samples.metrics[metric],
                &values,
                options,
                &mut |share| tell(((done + share * own) / all).min(1.0)),
            );
            done += own;
            series.extend(drawn.map(|p| p.with_levels(nesting::of(samples, subject, metric))));
        }
    }
    if series.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    Ok(Portraits {
        confidence: options.confidence,
        seed: options.seed,
        series,
        findings: samples.findings.clone(),
        environment: samples.environment.clone(),
        started: samples.started.clone(),
    })
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

impl Portrait {
    /// Draws one series in its order of measurement; `None` for an empty one. `values`: finite. O(n log n).
    pub fn of(name: &str, metric: &Metric, values: &[f64], options: &Options) -> Option<Self> {
        Self::of_telling(name, metric, values, options, &mut |_| ())
    }

    /// The same; `tell` is told which share is done. The shares are about those of the time.
    fn of_telling(
        name: &str,
        metric: &Metric,
        values: &[f64],
        options: &Options,
        tell: &mut dyn FnMut(f64),
    ) -> Option<Self> {
        // The bootstrap takes longer than all else together.
        let whole = if options.all { 0.2 } else { 1.0 };
        let mut done = |share: f64| tell(share * whole);
        let description = Description::of(values, options.confidence)?;
        done(0.35);
        let sorted = descriptive::sorted(values);
        let levels = levels(options.confidence);
        let descriptives = Descriptives::of(values, &sorted);
        done(0.55);
        let tests = Tests::of(&sorted);
        done(0.65);
        let bandwidths = Bandwidths::of(&sorted);
        let shape = Shape::of(&sorted, &bandwidths, description.clock_step);
        done(0.75);
        let order = Order::of(values);
        done(0.85);
        let stability = Stability::of(values, metric.better == Better::Lower, options.seed);
        done(1.0);
        let mut portrait = Self {
            name: name.to_owned(),
            metric: metric.clone(),
            median_intervals: numbers::median_intervals(&sorted, &levels),
            student: t_test::one_sample(values),
            order,
            laws: laws::fitted(&sorted, &tests),
            tails: Tails::of(&descriptives),
            modes: shape::modes(&sorted, &shape, tests.dip),
            course: course::of(values),
            stability,
            signed_rank: options
                .all
                .then(|| (SignedRankTest::of(values), signed_rank::pseudo_median(&sorted))),
            resampled: options.all.then(|| Resampled::of(values, options.seed)).flatten(),
            levels: None,
            situation: Situation {
                n: values.len(),
                traits: Traits::with_time(values, description.autocorrelation_time),
            },
            outliers: Outliers::of(values, &sorted),
            commonest_share: sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
                as f64
                / sorted.len() as f64,
            distinct: 1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count(),
            findings: Vec::new(),
            description,
            descriptives,
            tests,
            bandwidths,
            shape,
        };
        portrait.findings = findings::of(&portrait);
        Some(portrait)
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
