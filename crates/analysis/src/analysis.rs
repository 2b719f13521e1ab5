//! All that is said about samples: descriptions, comparisons, findings.
//!
//! This is where the rules that span several comparisons stand: one primary metric decides, several subjects share the error
//! (Holm 1979, by levels: whoever is decided leaves the others a larger share), and the other metrics are adjusted among
//! themselves.

use crate::checks;
use crate::comparison::{Comparison, Question};
use crate::describe::{Description, Histogram, SubjectSummary};
use crate::machine;
use crate::paired::Paired;
use assay_data::samples::BlockRow;
use assay_data::{
    Design, Environment, Finding, Metric, Outcome, Plan, Samples, Series, Severity, StopReason,
    StopRule, Threshold,
};
use assay_stats::signed_rank::SignedRankLaw;

/// Bins of the small pictures.
const BINS: usize = 7;

/// What the user asked of recorded samples, beyond what their plan says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Confidence of the verdict; the plan's, or 95 %.
    pub confidence: Option<f64>,
    /// The smallest difference that matters; the plan's, or 1 %.
    pub threshold: Option<Threshold>,
    /// Name of the metric that decides; the plan's, or the first.
    pub primary: Option<String>,
}

/// Why samples can't be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// There is nothing to look at.
    #[error("there are no observations to analyse")]
    Nothing,
    /// The metric asked for was not measured.
    #[error("there is no metric `{asked}`; measured were {known}")]
    NoSuchMetric {
        /// What was asked for.
        asked: String,
        /// The names that there are.
        known: String,
    },
    /// An absolute threshold in a unit that the primary metric does not have.
    #[error(
        "the threshold is in `{threshold}`, but `{metric}` is measured in `{unit}`; give it in that unit or in %"
    )]
    ThresholdUnit {
        /// Unit of the threshold.
        threshold: String,
        /// Name of the primary metric.
        metric: String,
        /// Its unit.
        unit: String,
    },
}

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
    /// The subjects; the first is the reference.
    pub subjects: Vec<SubjectSummary>,
    /// The primary metric of every other subject against the reference, in their order.
    pub comparisons: Vec<Comparison>,
    /// The other metrics, decided beside it and adjusted among themselves.
    pub secondary: Vec<Comparison>,
    /// Complete blocks; `None` when the samples were not taken in blocks.
    pub blocks: Option<usize>,
    /// Small pictures of the primary metric, over a range common to all subjects.
    pub histogram: Option<Histogram>,
    /// What the checks found, most serious first.
    pub findings: Vec<Finding>,
    /// Why measuring stopped.
    pub stop: Option<StopReason>,
    /// Seconds that a block took on average, hooks and all.
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
    if samples.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let plan = plan_for(samples, options);
    let primary = primary_metric(samples, options, &plan)?;
    check_threshold(&plan.threshold, &samples.metrics[primary])?;
    let design = samples.design();
    let several = samples.subjects.len() > 1;
    let in_blocks = design == Design::Blocks;
    // A single command that stopped when it was precise enough is shown with the interval that stopped it.
    let own_confidence = if in_blocks && !several { 1.0 - plan.level() } else { plan.confidence };
    let subjects = describe(samples, primary, own_confidence, plan.confidence);
    let histogram = {
        let series: Vec<Series> =
            (0..samples.subjects.len()).map(|s| samples.series(s, primary)).collect();
        let values: Vec<&[f64]> = series.iter().map(|s| s.values.as_slice()).collect();
        Histogram::of(&values, BINS)
    };

    let mut law = SignedRankLaw::default();
    let rows = if in_blocks { samples.complete_blocks(primary) } else { Vec::new() };
    let mut comparer = Comparer { samples, plan: &plan, law: &mut law, in_blocks };
    let (comparisons, secondary) = if several {
        (comparer.primary(primary, &rows), comparer.secondary(primary))
    } else {
        (Vec::new(), Vec::new())
    };

    let blocks = in_blocks.then_some(rows.len());
    let mut analysis = Analysis {
        design,
        metrics: samples.metrics.clone(),
        primary,
        subjects,
        comparisons,
        secondary,
        blocks,
        histogram,
        findings: samples.findings.clone(),
        stop: samples.stop,
        seconds_per_block: blocks.and_then(|blocks| seconds_per_block(samples, blocks)),
        environment: samples.environment.clone(),
        started: samples.started.clone(),
        plan,
    };
    let found = findings(samples, &analysis, &rows, &mut law);
    analysis.findings.extend(found);
    analysis.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(analysis)
}

/// The plan in the file with the user's wishes laid over it. What was not measured by a plan is looked at once.
fn plan_for(samples: &Samples, options: &Options) -> Plan {
    let mut plan = samples.plan.clone().unwrap_or_else(|| Plan {
        stop: StopRule::Fixed { blocks: 0 },
        budget_seconds: None,
        warmup: 0,
        primary: samples.metrics.first().map_or_else(|| "value".to_owned(), |m| m.name.clone()),
        ..Plan::sequential(0.95, Threshold::default(), 0)
    });
    if let Some(confidence) = options.confidence {
        plan.confidence = confidence;
        if let StopRule::Sequential { look_level, .. } = &mut plan.stop {
            *look_level = assay_data::plan::look_level(confidence);
        }
    }
    if let Some(threshold) = &options.threshold {
        plan.threshold = threshold.clone();
    }
    if let Some(primary) = &options.primary {
        plan.primary.clone_from(primary);
    }
    plan
}

fn primary_metric(
    samples: &Samples,
    options: &Options,
    plan: &Plan,
) -> Result<usize, AnalysisError> {
    match (samples.metric_index(&plan.primary), &options.primary) {
        (Some(index), _) => Ok(index),
        (None, None) if !samples.metrics.is_empty() => Ok(0),
        _ => Err(AnalysisError::NoSuchMetric {
            asked: plan.primary.clone(),
            known: samples.metrics.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}

fn check_threshold(threshold: &Threshold, metric: &Metric) -> Result<(), AnalysisError> {
    match threshold {
        Threshold::Absolute { unit, .. } if *unit != metric.unit => {
            Err(AnalysisError::ThresholdUnit {
                threshold: unit.symbol().to_owned(),
                metric: metric.name.clone(),
                unit: metric.unit.symbol().to_owned(),
            })
        }
        _ => Ok(()),
    }
}

fn describe(
    samples: &Samples,
    primary: usize,
    primary_confidence: f64,
    confidence: f64,
) -> Vec<SubjectSummary> {
    let summary = |(index, subject): (usize, &assay_data::Subject)| SubjectSummary {
        name: subject.name.clone(),
        command: subject.command.clone(),
        observations: samples.count_outcomes(index, |_| true),
        failures: samples
            .count_outcomes(index, |o| matches!(o, Outcome::Exit(_) | Outcome::Signal(_))),
        timeouts: samples.count_outcomes(index, |o| o == Outcome::Timeout),
        metrics: (0..samples.metrics.len())
            .map(|metric| {
                let confidence = if metric == primary { primary_confidence } else { confidence };
                Description::of(&samples.series(index, metric).values, confidence)
            })
            .collect(),
    };
    samples.subjects.iter().enumerate().map(summary).collect()
}

struct Comparer<'a> {
    samples: &'a Samples,
    plan: &'a Plan,
    law: &'a mut SignedRankLaw,
    in_blocks: bool,
}

impl Comparer<'_> {
    fn primary(&mut self, metric: usize, rows: &[BlockRow]) -> Vec<Comparison> {
        let others: Vec<(usize, usize)> =
            (1..self.samples.subjects.len()).map(|of| (metric, of)).collect();
        let plan = self.plan;
        let all_rows = vec![rows.to_vec()];
        self.holm(&others, plan, |_| 0, &all_rows)
    }

    fn secondary(&mut self, primary: usize) -> Vec<Comparison> {
        let metrics: Vec<usize> =
            (0..self.samples.metrics.len()).filter(|&m| m != primary).collect();
        let all_rows: Vec<Vec<BlockRow>> = metrics
            .iter()
            .map(|&m| if self.in_blocks { self.samples.complete_blocks(m) } else { Vec::new() })
            .collect();
        let pairs: Vec<(usize, usize)> = metrics
            .iter()
            .flat_map(|&metric| (1..self.samples.subjects.len()).map(move |of| (metric, of)))
            .filter(|&(metric, of)| {
                [0, of].iter().all(|&s| !self.samples.series(s, metric).values.is_empty())
            })
            .collect();
        let row_of = |metric: usize| metrics.iter().position(|&m| m == metric).unwrap_or(0);
        // An absolute threshold belongs to the primary metric.
        let plan = match self.plan.threshold {
            Threshold::Relative(_) => self.plan.clone(),
            Threshold::Absolute { .. } => {
                Plan { threshold: Threshold::default(), ..self.plan.clone() }
            }
        };
        self.holm(&pairs, &plan, row_of, &all_rows)
    }

    /// Decides every pair (metric, subject) at its share of the error; whoever has a direction leaves the others a larger
    /// share, until nothing changes.
    fn holm(
        &mut self,
        pairs: &[(usize, usize)],
        plan: &Plan,
        row_of: impl Fn(usize) -> usize,
        all_rows: &[Vec<BlockRow>],
    ) -> Vec<Comparison> {
        let mut decided: Vec<Option<Comparison>> = vec![None; pairs.len()];
        let mut share = pairs.len();
        loop {
            let mut newly = 0;
            for (slot, &(metric, of)) in decided.iter_mut().zip(pairs) {
                if slot.as_ref().is_some_and(|c| c.decision.verdict.is_directional()) {
                    continue;
                }
                let rows = all_rows.get(row_of(metric)).map_or(&[][..], Vec::as_slice);
                let found = self.compare(plan, metric, of, share, rows);
                newly += usize::from(found.decision.verdict.is_directional());
                *slot = Some(found);
            }
            let directional =
                decided.iter().flatten().filter(|c| c.decision.verdict.is_directional()).count();
            if newly == 0 || directional == pairs.len() {
                return decided.into_iter().flatten().collect();
            }
            share = pairs.len() - directional;
        }
    }

    fn compare(
        &mut self,
        plan: &Plan,
        metric: usize,
        of: usize,
        share: usize,
        rows: &[BlockRow],
    ) -> Comparison {
        let better = self.samples.metrics[metric].better;
        let question = Question { plan, metric, better, against: 0, of, share };
        if self.in_blocks {
            let mut paired = Paired::default();
            rows.iter().for_each(|row| paired.push(row.values[0], row.values[of]));
            Comparison::in_blocks(question, &paired, self.law)
        } else {
            let (reference, other) =
                (self.samples.series(0, metric), self.samples.series(of, metric));
            Comparison::of_recordings(question, &reference.values, &other.values)
        }
    }
}

fn seconds_per_block(samples: &Samples, blocks: usize) -> Option<f64> {
    let last = samples.observation(samples.len() - 1)?;
    let wall = samples.metric_index("wall").map_or(0.0, |m| last.values[m]);
    let total = last.time? + if wall.is_finite() { wall } else { 0.0 };
    (blocks > 0).then(|| total / blocks as f64)
}

fn findings(
    samples: &Samples,
    analysis: &Analysis,
    rows: &[BlockRow],
    law: &mut SignedRankLaw,
) -> Vec<Finding> {
    let metric = &analysis.metrics[analysis.primary];
    let names = analysis.names();
    let in_blocks = analysis.design == Design::Blocks;
    let several = analysis.subjects.len() > 1;
    let mut findings = checks::outcomes(samples, analysis.blocks);
    for comparison in &analysis.comparisons {
        findings.extend(checks::comparison(comparison, &names, metric, &analysis.plan));
        if metric.name == "wall"
            && let Some(cpu) = analysis.secondary_of(comparison.of, "cpu")
        {
            findings.extend(checks::wall_and_cpu(comparison, cpu, &names[comparison.of]));
        }
    }
    for subject in &analysis.subjects {
        findings.extend(checks::series(subject, analysis.primary, metric, in_blocks && several));
    }
    if in_blocks {
        findings.extend(checks::position(rows, law));
    } else if several {
        findings.push(checks::not_interleaved());
        findings.extend(checks::machines_differ(&analysis.environment));
    }
    if analysis.stop == Some(StopReason::Interrupted) {
        findings.push(Finding::new(
            "INTERRUPTED",
            Severity::Note,
            "stopped by the user; decided on what there was",
        ));
    }
    findings.extend(machine::findings(&analysis.environment));
    findings
}
