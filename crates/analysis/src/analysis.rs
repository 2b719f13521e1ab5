//! All that is said about samples: descriptions, comparisons, findings.
//!
//! This is where the rules that span several comparisons stand: one primary metric decides, several subjects share the error, and the
//! other metrics are adjusted among themselves (`comparer`).

use crate::battery::{self, Battery};
use crate::checks;
use crate::comparison::{Basis, Comparison};
use crate::coverage;
use crate::describe::{Description, Histogram, SubjectSummary};
use crate::evidence::{self, Evidence};
use crate::machine;
use crate::noise::{self, NoiseOf};
use crate::recording::Recording;
use crate::scaling::{self, Curve, Layout};
use crate::suite::{self, Overall};
use assay_data::samples::BlockRow;
use assay_data::{Design, Environment, Finding, Metric, Outcome, Plan, Samples, StopReason};
use assay_stats::signed_rank::SignedRankDistribution;
use comparer::Comparer;

mod comparer;
mod options;

pub use options::{AnalysisError, Options};
pub(crate) use options::{
    check_threshold, plan_for, primary_metric, secondary_metrics, units_differ,
};

/// Bins of the small pictures.
const BINS: usize = 7;

/// All that is said about samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The plan that was followed, with what the user asked for laid over it.
    pub plan: Plan,
    /// How the samples were taken.
    pub design: Design,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// Index of the metric that decides.
    pub primary: usize,
    /// The subjects; the first is a reference.
    pub subjects: Vec<SubjectSummary>,
    /// The primary metric of every subject that is compared, against its reference, in the order of the subjects.
    pub comparisons: Vec<Comparison>,
    /// The other metrics (the secondary metrics that the plan names, if it names any), metric by
    /// metric, decided and adjusted among themselves.
    pub secondary: Vec<Comparison>,
    /// Every classical test of the primary metric; `None` unless asked for.
    pub battery: Option<Box<Battery>>,
    /// The commands of a scan; `None` for what is no scan.
    pub scan: Option<Layout>,
    /// How the primary metric grows with the parameters of a scan.
    pub curves: Vec<Curve>,
    /// What the comparisons of a scan say together.
    pub overall: Vec<Overall>,
    /// Complete blocks; `None` when the samples were not taken in blocks.
    pub blocks: Option<usize>,
    /// Where the spread of the primary metric comes from, for every subject in their order.
    pub noise: Vec<NoiseOf>,
    /// Small pictures of the primary metric, over a range common to all subjects.
    pub histogram: Option<Histogram>,
    /// What the checks found, most serious first.
    pub findings: Vec<Finding>,
    /// Why measuring stopped.
    pub stop: Option<StopReason>,
    /// Seconds that a block typically took, hooks and all.
    pub seconds_per_block: Option<f64>,
    /// The machine.
    pub environment: Environment,
    /// When the run began, RFC 3339.
    pub started: Option<String>,
}

impl Analysis {
    /// The description of a subject's primary metric.
    pub fn primary_of(&self, subject: usize) -> Option<&Description> {
        self.subjects.get(subject)?.metrics.get(self.primary)?.as_ref()
    }

    /// The comparison of another metric of a subject, by the metric's name.
    pub fn secondary_of(&self, subject: usize, metric: &str) -> Option<&Comparison> {
        self.secondary.iter().find(|c| c.of == subject && self.metrics[c.metric].name == metric)
    }

    /// The comparison of a subject's primary metric; `None` for a reference.
    pub fn comparison_of(&self, subject: usize) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.of == subject)
    }

    /// Names of the subjects, in order.
    pub fn names(&self) -> Vec<String> {
        self.subjects.iter().map(|s| s.name.clone()).collect()
    }
}

/// Analyses samples. O(metrics · n log n).
///
/// # Errors
/// When there is nothing to analyse, or what the options name is not there.
pub fn analyse(samples: &Samples, options: &Options) -> Result<Analysis, AnalysisError> {
    analyse_telling(samples, options, &mut |_| ())
}

/// How many phases [`analyse_telling`] tells of.
pub fn phases(options: &Options) -> usize {
    3 + usize::from(options.all)
}

/// The same; `tell` is told the name of every phase as it begins.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_telling(
    samples: &Samples,
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<Analysis, AnalysisError> {
    if samples.is_empty() && samples.summaries.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let plan = plan_for(samples, options);
    let primary = primary_metric(samples, options, &plan)?;
    let secondary = secondary_metrics(samples, options, &plan, primary)?;
    check_threshold(&plan.threshold, &samples.metrics[primary])?;
    let design = samples.design();
    let in_blocks = design == Design::Blocks;
    let compared = compared(samples);
    // What is compared with nobody stopped when it was precise enough: it is shown with the interval that stopped it.
    let alone = compared.is_empty();
    let own_confidence = if in_blocks && alone { 1.0 - plan.level() } else { plan.confidence };
    tell("sorting");
    let recordings: Vec<Recording<'static>> = (0..samples.subjects.len())
        .map(|subject| Recording::of(samples.values(subject, primary)))
        .collect();
    let subjects = describe(samples, primary, &recordings, own_confidence, plan.confidence);
    let histogram = {
        let sorted: Vec<&[f64]> = recordings.iter().map(|r| r.sorted.as_slice()).collect();
        Histogram::of(&sorted, BINS)
    };

    let mut distribution = SignedRankDistribution::default();
    let rows = if in_blocks { samples.complete_blocks(primary) } else { Vec::new() };
    let mixed = samples.findings.iter().any(|f| f.code == checks::RESUMED_DIFFERENT);
    tell("differences");
    // Blocks are compared as they are; plain values, as they were looked at already.
    let is_plain = in_blocks || (samples.summaries.is_empty() && !samples.has_levels());
    let evidence = (!is_plain).then(|| Evidence::of(samples));
    let evidence = evidence.as_ref();
    let mut comparer = Comparer {
        samples,
        evidence,
        plan: &plan,
        distribution: &mut distribution,
        in_blocks,
        mixed,
    };
    let comparisons = comparer.primary(primary, &compared, &rows, &recordings);
    // Of long recordings they are most of the memory.
    drop(recordings);
    let secondary = comparer.secondary(&secondary, &compared);
    let scan = Layout::of(samples);
    let curves = scan.as_ref().map_or_else(Vec::new, |layout| {
        scaling::curves(
            samples,
            layout,
            primary,
            &plan,
            in_blocks.then_some(&rows),
            &mut distribution,
        )
    });

    let overall = scan.as_ref().map_or_else(Vec::new, |layout| {
        let rows = in_blocks.then_some(rows.as_slice());
        suite::overall(samples, layout, primary, &plan, &comparisons, rows)
    });
    let battery = options.all.then(|| {
        tell("every test");
        let rows = in_blocks.then_some(rows.as_slice());
        Box::new(battery::of(samples, primary, &plan, &comparisons, rows))
    });
    tell("checking");
    let blocks = in_blocks.then_some(rows.len());
    let mut analysis = Analysis {
        design,
        noise: noise::of(samples, primary, &comparisons),
        metrics: samples.metrics.clone(),
        primary,
        subjects,
        comparisons,
        secondary,
        battery,
        scan,
        curves,
        overall,
        blocks,
        histogram,
        findings: samples.findings.clone(),
        stop: samples.stop,
        seconds_per_block: blocks.and_then(|_| seconds_per_block(samples)),
        environment: samples.environment.clone(),
        started: samples.started.clone(),
        plan,
    };
    let found = findings(samples, &analysis, &rows, &mut distribution);
    analysis.findings.extend(found);
    analysis.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(analysis)
}

/// The subjects that are compared, each with its reference.
fn compared(samples: &Samples) -> Vec<(usize, usize)> {
    (0..samples.subjects.len()).filter_map(|of| Some((of, samples.reference_of(of)?))).collect()
}

fn describe(
    samples: &Samples,
    primary: usize,
    of_primary: &[Recording<'_>],
    primary_confidence: f64,
    confidence: f64,
) -> Vec<SubjectSummary> {
    let summary = |(index, subject): (usize, &assay_data::Subject)| SubjectSummary {
        name: subject.name.clone(),
        command: subject.command.clone(),
        parameters: subject.parameters.clone(),
        against: samples.reference_of(index),
        observations: samples.count_outcomes(index, |_| true),
        failures: samples
            .count_outcomes(index, |o| matches!(o, Outcome::Exit(_) | Outcome::Signal(_))),
        timeouts: samples.count_outcomes(index, |o| o == Outcome::Timeout),
        metrics: (0..samples.metrics.len())
            .map(|metric| {
                if metric == primary {
                    Description::of_recording(&of_primary[index], primary_confidence)
                } else {
                    Description::of(&samples.values(index, metric), confidence)
                }
            })
            .collect(),
    };
    samples.subjects.iter().enumerate().map(summary).collect()
}

/// The middle one (of an even number the lower one) of the times from the start of a block to the start of the next. A pause before a
/// run was taken up again is within one of them, and the middle one does not see it. The last block counts from its start to the end
/// of its last run, if it is complete.
pub(crate) fn seconds_per_block(samples: &Samples) -> Option<f64> {
    let wall = samples.metric_index("wall");
    let mut lengths: Vec<f64> = Vec::new();
    // The block at hand: its number, its start, the end of its last run, and how many runs it has. Blocks follow one another.
    let mut at_hand: Option<(u32, f64, f64, usize)> = None;
    for observation in samples.observations().filter(|o| o.pass.is_none()) {
        let (Some(block), Some(start)) = (observation.block, observation.time) else { continue };
        let end = start + wall.map_or(f64::NAN, |metric| observation.values[metric]);
        at_hand = match at_hand {
            Some((number, first, last, runs)) if number == block => {
                Some((number, first.min(start), last.max(end), runs + 1))
            }
            before => {
                let successive = before.filter(|b| b.0.checked_add(1) == Some(block));
                lengths.extend(successive.map(|(_, first, ..)| start - first));
                Some((block, start, end, 1))
            }
        };
    }
    if let Some((_, start, end, runs)) = at_hand
        && runs == samples.subjects.len()
    {
        lengths.push(end - start);
    }
    lengths.retain(|length| length.is_finite() && *length >= 0.0);
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len().saturating_sub(1) / 2).copied()
}

fn findings(
    samples: &Samples,
    analysis: &Analysis,
    rows: &[BlockRow],
    distribution: &mut SignedRankDistribution,
) -> Vec<Finding> {
    let metric = &analysis.metrics[analysis.primary];
    let names = analysis.names();
    let in_blocks = analysis.design == Design::Blocks;
    let compared = analysis.subjects.iter().any(|s| s.against.is_some());
    let mut findings = checks::outcomes(samples, analysis.primary, analysis.blocks);
    for comparison in &analysis.comparisons {
        findings.extend(checks::comparison(comparison, &names, metric, &analysis.plan));
        findings.extend(evidence::findings(comparison, &names[comparison.of]));
        // How often intervals hold was simulated for values.
        if comparison.basis == Basis::Values {
            let name = &names[comparison.of];
            findings.extend(coverage::findings::verdict(samples, comparison, rows, name));
        }
        if metric.name == "wall"
            && let Some(cpu) = analysis.secondary_of(comparison.of, "cpu")
        {
            findings.extend(checks::wall_and_cpu(comparison, cpu, &names[comparison.of]));
        }
    }
    for (index, subject) in analysis.subjects.iter().enumerate() {
        findings.extend(checks::series(subject, analysis.primary, metric, in_blocks && compared));
        findings.extend(coverage::findings::median(samples, subject, index, analysis.primary));
    }
    if in_blocks {
        findings.extend(checks::position(rows, distribution));
    } else if compared {
        findings.push(checks::not_interleaved());
        findings.extend(checks::machines_differ(&analysis.environment));
    }
    findings.extend(noise::findings(&analysis.noise, &names));
    if analysis.stop == Some(StopReason::Interrupted) {
        findings.push(checks::interrupted("decided on what there was"));
    }
    if compared && analysis.subjects.iter().all(|s| s.command.is_some()) {
        let threshold = &analysis.plan.threshold;
        findings.extend(machine::detectable(metric, threshold, &analysis.environment));
    }
    findings.extend(machine::findings(&analysis.environment));
    findings
}

#[cfg(test)]
mod tests;
