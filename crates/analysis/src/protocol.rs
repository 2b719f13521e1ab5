//! The four-step check of a careful engineer: Are the samples valid? Are there enough of them? Is
//! there a difference? Is it large enough to matter?
//!
//! The order is that of the series of articles "On Benchmarking" (C. O'Ryan, 2017): validity,
//! power, test, effect. A failed step ends the chain; a warning does not. Each step keeps the
//! numbers on which it is based, and its reasons as findings. The criterion is always the effect on
//! the answer, never a p-value: with 35,000 samples even negligible effects are significant.
//! `docs/concepts/four-step-check.md` describes each step with its thresholds and sources.
//!
//! All sizes are shifts, subject − reference, in the metric's base unit: a threshold in percent is
//! that share of the reference's median. The protocol does not affect [`Verdict`](crate::Verdict)s,
//! which are shown along with it.

mod causes;
mod effect;
mod found;
mod power;
mod test;
mod validity;

#[cfg(test)]
mod tests;

pub use assay_stats::quantile_difference::QuantileDifference;
pub use assay_stats::steady_state::Label;
pub use causes::{Cause, CauseKind, causes};
pub use effect::EffectFound;
pub use power::{PowerFound, Spread};
pub use test::{TestFound, TestName};
pub use validity::{DistributionFound, SeriesFound, Validity};

use crate::analysis::Analysis;
use crate::comparison::Comparison;
use crate::design::looks;
use crate::evidence::Evidence;
use crate::paired;
use crate::recording::Recording;
use crate::verdict::Scale;
use assay_data::plan::look_level;
use assay_data::{Better, Finding, Samples, Severity, Threshold, Unit};

/// The outcome of a step of the protocol, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The step found no reason for doubt.
    Passed,
    /// The chain continues, but its answer depends on the given reasons.
    Warning,
    /// The chain ends at this step.
    Failed,
    /// An earlier step failed, or there are no data for this step.
    NotReached,
}

impl Status {
    /// Returns the status of a step with a finding of this severity.
    pub fn of(severity: Severity) -> Self {
        match severity {
            Severity::Note => Self::Passed,
            Severity::Warning => Self::Warning,
            Severity::Serious => Self::Failed,
        }
    }

    /// Returns the word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::NotReached => "not_reached",
        }
    }
}

/// Options of the protocol beyond those of the analysis, whose threshold and confidence it uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProtocolOptions {
    /// Significance level of the two-sided test, between 0 and 1.
    pub alpha: f64,
    /// Power to detect a difference as large as the threshold, between 0 and 1.
    pub power: f64,
    /// Number of resamples for the intervals of the standard deviations; fewer are used for very
    /// long series.
    pub resamples: usize,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for ProtocolOptions {
    fn default() -> Self {
        Self { alpha: 0.01, power: 0.95, resamples: 10_000, seed: 1 }
    }
}

/// The status, reasons and results of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<T> {
    /// The outcome, determined by the worst finding.
    pub status: Status,
    /// Doubts and remarks, worst first; empty if there are none.
    pub findings: Vec<Finding>,
    /// The results; `None` for a step that was not reached.
    pub found: Option<T>,
}

impl<T> Step<T> {
    fn of(found: T, findings: Vec<Finding>) -> Self {
        Self { status: status_of(&findings), findings, found: Some(found) }
    }

    fn not_reached() -> Self {
        Self { status: Status::NotReached, findings: Vec::new(), found: None }
    }

    fn may_go_on(&self) -> bool {
        matches!(self.status, Status::Passed | Status::Warning)
    }
}

/// Returns a name, in quotation marks if it contains spaces.
pub fn quoted(name: &str) -> String {
    if name.contains(' ') { format!("'{name}'") } else { name.to_owned() }
}

/// Returns the status of a step with these findings: the worst status that any of them implies.
fn status_of(findings: &[Finding]) -> Status {
    findings.iter().map(|f| Status::of(f.severity)).max().unwrap_or(Status::Passed)
}

/// The chain for one subject against its reference, or for a single subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    /// Index of the subject.
    pub of: usize,
    /// Index of the reference; `None` for a single subject, with nothing to test.
    pub against: Option<usize>,
    /// Index of the metric.
    pub metric: usize,
    /// The direction in which the metric improves.
    pub better: Better,
    /// True for blocks, whose differences are analyzed.
    pub paired: bool,
    /// Requested significance, for all comparisons together.
    pub alpha: f64,
    /// True if the run was analyzed after every block. Significance and interval are then those of
    /// a single analysis, which are valid whenever the run stopped.
    pub looked_often: bool,
    /// Significance level of this comparison's test: its share (Holm) of the level of one analysis.
    pub level: f64,
    /// Number of comparisons that share the significance and the confidence.
    pub shared_by: usize,
    /// Requested power.
    pub power_wanted: f64,
    /// Requested confidence of the effect's interval, for all comparisons together.
    pub confidence: f64,
    /// Two-sided level of the effect's interval: 1 − confidence of a single analysis, divided by
    /// the number of comparisons.
    pub interval_level: f64,
    /// Unit of the metric.
    pub unit: Unit,
    /// The smallest difference that matters, in the base unit; NaN for a share of zero.
    pub threshold: f64,
    /// The threshold as a share of the reference's median, if given as such.
    pub threshold_share: Option<f64>,
    /// Requested number of resamples, and their seed.
    pub resampling: (usize, u64),
    /// First step: are the samples valid for the test?
    pub validity: Step<Validity>,
    /// Second step: are there enough samples?
    pub power: Step<PowerFound>,
    /// Third step: is there a difference?
    pub test: Step<TestFound>,
    /// Fourth step: is the difference large enough to matter?
    pub effect: Step<EffectFound>,
}

/// Names of the steps, in order.
pub const STEPS: [&str; 4] = ["validity", "power", "test", "effect"];

impl Protocol {
    /// Returns the findings of all steps, mutably.
    pub fn findings_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        let Self { validity, power, test, effect, .. } = self;
        let steps = [&mut validity.findings, &mut power.findings, &mut test.findings];
        steps.into_iter().chain([&mut effect.findings]).flatten()
    }

    /// Returns the steps in order: name, status, findings.
    pub fn steps(&self) -> [(&'static str, Status, &[Finding]); 4] {
        [
            (STEPS[0], self.validity.status, &self.validity.findings),
            (STEPS[1], self.power.status, &self.power.findings),
            (STEPS[2], self.test.status, &self.test.findings),
            (STEPS[3], self.effect.status, &self.effect.findings),
        ]
    }

    /// Returns the significance level used for planning: the smallest share that the test may get.
    pub fn level_planned(&self) -> f64 {
        alpha_of_a_look(self.alpha, self.looked_often) / self.shared_by as f64
    }

    /// Returns the outcome of the whole chain: the worst status of the steps that were reached. For
    /// a single subject it is at least a warning, since nothing was tested.
    pub fn outcome(&self) -> Status {
        let reached = self.steps().into_iter().map(|(_, status, _)| status);
        let worst = reached.filter(|&s| s != Status::NotReached).max().unwrap_or(Status::Failed);
        if self.against.is_none() { worst.max(Status::Warning) } else { worst }
    }

    /// Returns the index in [`STEPS`] of the step that ended the chain; `None` if the chain was
    /// completed.
    pub fn stopped_at(&self) -> Option<usize> {
        self.steps().iter().position(|(_, status, _)| *status == Status::Failed)
    }
}

/// The values of a chain; each series is sorted and ranked once for all steps.
pub(crate) struct Values {
    /// The reference's values; empty for a single subject.
    against: Recording<'static>,
    /// The subject's values.
    of: Recording<'static>,
    /// Differences subject − reference by block; `None` if there are no blocks.
    differences: Option<Recording<'static>>,
}

impl Values {
    fn of_pair(evidence: &Evidence<'_>, metric: usize, of: usize, against: Option<usize>) -> Self {
        let series = |subject| evidence.recorded(evidence.index().values(subject, metric), metric);
        let Some(against) = against else {
            return Self { against: Recording::of(Vec::new()), of: series(of), differences: None };
        };
        if !evidence.is_in_blocks() {
            return Self { against: series(against), of: series(of), differences: None };
        }
        let paired = evidence.in_blocks(against, of, metric);
        let recording = |values: &[f64]| evidence.recorded(values.to_vec(), metric);
        Self {
            against: recording(paired.reference()),
            of: recording(paired.other()),
            differences: Some(Recording::of(paired.shifts())),
        }
    }
}

/// Runs the protocol for each subject of an analysis against its reference, in order, or the two
/// possible steps for a single subject. O(n log n + n · resamples) per subject.
pub fn run(samples: &Samples, analysis: &Analysis, options: &ProtocolOptions) -> Vec<Protocol> {
    run_telling(samples, analysis, options, &mut |_| ())
}

/// Like [`run`], but calls `tell` with the name of each step when it starts, at most once for each
/// of [`STEPS`] per subject.
pub fn run_telling(
    samples: &Samples,
    analysis: &Analysis,
    options: &ProtocolOptions,
    tell: &mut dyn FnMut(&str),
) -> Vec<Protocol> {
    let evidence = &Evidence::of(samples);
    let names: Vec<String> = analysis.subjects.iter().map(|s| quoted(&s.name)).collect();
    let at = &ChainContext { evidence, analysis, names: &names, options };
    if analysis.comparisons.is_empty() {
        let alone = 0..analysis.subjects.len();
        let alone = alone.map(|of| chain(at, (of, None, 1), tell));
        return alone.collect();
    }
    let shared_by = analysis.comparisons.len();
    let of_each = analysis.comparisons.iter().map(|c| (c.of, Some(c), shared_by));
    let mut chains: Vec<Protocol> = of_each.map(|which| chain(at, which, tell)).collect();
    test::share_alpha(&mut chains);
    chains
}

/// The context shared by all chains of one analysis.
struct ChainContext<'a> {
    evidence: &'a Evidence<'a>,
    analysis: &'a Analysis,
    /// The subjects' names, as used in sentences.
    names: &'a [String],
    options: &'a ProtocolOptions,
}

fn chain(
    &ChainContext { evidence, analysis, names, options }: &ChainContext<'_>,
    (of, comparison, shared_by): (usize, Option<&Comparison>, usize),
    tell: &mut dyn FnMut(&str),
) -> Protocol {
    tell(STEPS[0]);
    let metric = analysis.primary;
    let against = comparison.map(|c| c.against);
    let values = Values::of_pair(evidence, metric, of, against);
    let yardstick = if against.is_some() { &values.against } else { &values.of };
    let threshold = paired::threshold_on(
        Scale::Shift,
        &analysis.plan.threshold,
        assay_stats::descriptive::median_sorted(&yardstick.sorted),
    );
    let plan = &analysis.plan;
    let confidence = plan.confidence;
    let paired = values.differences.is_some();
    let looked_often = paired && plan.is_sequential();
    let mut protocol = Protocol {
        of,
        against,
        metric,
        better: analysis.metrics[metric].better,
        paired,
        alpha: options.alpha,
        looked_often,
        level: alpha_of_a_look(options.alpha, looked_often) / shared_by as f64,
        shared_by,
        power_wanted: options.power,
        confidence,
        interval_level: if paired {
            let blocks = values.differences.as_ref().map_or(0, |d| d.in_order.len());
            looks::level(plan, shared_by as f64, blocks, analysis.end()).interval
        } else {
            (1.0 - confidence) / shared_by as f64
        },
        unit: analysis.metrics[metric].unit.clone(),
        threshold,
        threshold_share: match plan.threshold {
            Threshold::Relative(share) => Some(share),
            Threshold::Absolute { .. } => None,
        },
        resampling: (options.resamples, options.seed),
        validity: Step::not_reached(),
        power: Step::not_reached(),
        test: Step::not_reached(),
        effect: Step::not_reached(),
    };
    protocol.validity = validity::step(analysis, names, &protocol, comparison, &values);
    if !protocol.validity.may_go_on() {
        return protocol;
    }
    let Some(validity) = protocol.validity.found.clone() else { return protocol };
    tell(STEPS[1]);
    let seen = comparison.map_or(0.0, |c| c.shift.estimate.abs());
    protocol.power = power::step(&protocol, &values, &validity, seen);
    if !protocol.power.may_go_on() || against.is_none() {
        return protocol;
    }
    tell(STEPS[2]);
    protocol.test = test::step(&protocol, &values, &validity);
    if let Some(comparison) = comparison.filter(|_| protocol.test.may_go_on()) {
        tell(STEPS[3]);
        protocol.effect = effect::step(&protocol, &values, &validity, comparison);
    }
    protocol
}

/// Returns the significance level of a single analysis if the run was analyzed after every block;
/// otherwise `alpha`.
fn alpha_of_a_look(alpha: f64, looked_often: bool) -> f64 {
    if looked_often { look_level(1.0 - alpha) } else { alpha }
}
