//! The complete analysis of samples: descriptions, comparisons, and findings.
//!
//! All comparisons have the same result type: sides on one row, a scan, a suite of many rows, and
//! the functions of two profiles. This module contains the rules that span several comparisons. One
//! primary metric decides. Its comparisons form a family that shares the error rate, and those of
//! the secondary metrics form another (`family`). [`Shape`] determines which subjects are compared,
//! and whether findings are reported for each of them or summarized.

use crate::battery::{self, Battery};
use crate::checks;
use crate::comparison::{Basis, Comparison, Question, Role};
use crate::coverage;
use crate::describe::{Description, Histogram, SubjectSummary};
use crate::design::looks::End;
use crate::evidence::{self, Evidence};
use crate::failing;
use crate::machine;
use crate::noise::{self, NoiseOf};
use crate::quantiles;
use crate::recording::Recording;
use crate::scaling::{self, Curve, Layout};
use crate::search::Search;
use crate::slices::{self, Answers};
use crate::testing::{self, Testing};
use crate::verdict::Verdict;
use assay_data::code::{self, OUTPUT_DIFFERS, RESUMED};
use assay_data::finding::shared::{OUTPUTS, SAME_OUTPUTS};
use assay_data::samples::WHOLE_SUITE;
use assay_data::{
    Design, Environment, Finding, Metric, Outcome, Plan, Row, Samples, Severity, Side, StopReason,
    Threshold,
};
use assay_stats::signed_rank::SignedRankDistribution;
use family::Member;
pub(crate) use family::shared_out;
use shape::Keys;
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) mod controls;
mod family;
mod mean;
mod options;
mod shape;

pub use family::Adjust;
pub use mean::{Counts, Group, Mean, Table};
pub use options::{AnalysisError, Options};
pub(crate) use options::{
    check_threshold, plan_for, primary_metric, secondary_metrics, units_differ,
};
pub use shape::{BENCHMARK, Only, Shape, is_suite};

/// Number of bins in each subject's histogram.
const BINS: usize = 7;
/// Above this number of comparisons, the recordings of a suite's subjects are not kept, but created
/// each time they are needed.
const MOST_KEPT: usize = 10_000;

/// The complete analysis of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The plan of the samples, with the user's options applied.
    pub plan: Plan,
    /// How the comparisons of a family share the error rate.
    pub adjust: Adjust,
    /// How the samples were taken.
    pub design: Design,
    /// The arrangement of the comparisons.
    pub shape: Shape,
    /// The compared sides; the first is the reference. In a scan, these are its commands. If there
    /// is only one row, they are its subjects.
    pub sides: Vec<Side>,
    /// The rows on which sides are compared. Commands have a single unnamed row.
    pub rows: Vec<Row>,
    /// The noun for a row, in the singular: [`BENCHMARK`], or the noun that all rows share.
    pub noun: String,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// Index of the deciding metric.
    pub primary: usize,
    /// The subjects; the first is a reference.
    pub subjects: Vec<SubjectSummary>,
    /// Comparisons of every compared subject with its reference, on the primary metric, in the
    /// order of the subjects. A suite lists one side after the other, each in the order of the
    /// reference's rows.
    pub comparisons: Vec<Comparison>,
    /// Comparisons of every control with the subject that it repeats, on the primary metric. They
    /// do not share the error rate of the other comparisons, and no verdict depends on them.
    pub controls: Vec<Comparison>,
    /// Comparisons of the other metrics (the plan's secondary metrics, if it names any), metric by
    /// metric, adjusted as a separate family.
    pub secondary: Vec<Comparison>,
    /// Summaries of the comparisons of one side with one reference, for scans and suites; the
    /// primary metric first.
    pub groups: Vec<Group>,
    /// Rows or metrics that only one of two sides has. Empty lists are omitted.
    pub only: Vec<Only>,
    /// All classical tests of the primary metric; `None` unless requested.
    pub battery: Option<Box<Battery>>,
    /// How the primary metric grows with the parameters of a scan.
    pub curves: Vec<Curve>,
    /// Number of complete blocks; `None` if the samples were not taken in blocks, and for a suite,
    /// where the number differs by comparison.
    pub blocks: Option<usize>,
    /// Sources of variance of the primary metric, for every subject in order; empty for a suite.
    pub noise: Vec<NoiseOf>,
    /// Histograms of the primary metric with few bins, over a range common to all subjects. `None`
    /// for a suite.
    pub histogram: Option<Histogram>,
    /// Outcomes of the requests, for each subject of a load test; otherwise empty.
    pub answers: Vec<Answers>,
    /// Analysis of each side's test suite; empty if the samples are not of test suites.
    pub testing: Vec<Testing>,
    /// The rates that a search for the highest rate tried; `None` without such a search.
    pub search: Option<Search>,
    /// Findings of the checks, most serious first.
    pub findings: Vec<Finding>,
    /// The reason why measuring stopped, if known.
    pub stop: Option<StopReason>,
    /// Typical duration of a block in seconds, including hooks.
    pub seconds_per_block: Option<f64>,
    /// Facts about the machine. Facts that differ between sides carry the side's name after an `@`.
    pub environment: Environment,
    /// Start of the run, in RFC 3339 format.
    pub started: Option<String>,
}

impl Analysis {
    /// Returns the worst verdict on the primary metric; `None` if nothing was compared. Rows whose
    /// code is known to be the same count as equivalent.
    pub fn worst(&self) -> Option<Verdict> {
        let badness = |verdict: &Verdict| match verdict {
            Verdict::Slower => 3,
            Verdict::Inconclusive => 2,
            Verdict::Faster => 1,
            Verdict::Equivalent => 0,
        };
        let verdict = |c: &Comparison| match c.role {
            Role::Control => Verdict::Equivalent,
            _ => c.decision.verdict,
        };
        self.comparisons.iter().map(verdict).max_by_key(badness)
    }

    /// Returns true if this is a suite of many rows.
    pub fn is_suite(&self) -> bool {
        self.shape == Shape::Rows
    }

    /// Returns the layout of a scan; `None` for other shapes.
    pub fn scan(&self) -> Option<&Layout> {
        match &self.shape {
            Shape::Scan(layout) => Some(layout),
            Shape::Sides | Shape::Rows => None,
        }
    }

    /// Returns true if the output of a command was found to differ from that of its reference.
    pub fn has_different_output(&self, c: &Comparison) -> bool {
        let is_about = |subject: usize| {
            let name = self.subjects.get(subject).map(|subject| subject.name.as_str());
            let about = |f: &Finding| f.is(OUTPUT_DIFFERS) && f.subject.as_deref() == name;
            self.findings.iter().any(about)
        };
        // If both commands differ from a third one, this does not show whether they differ from
        // each other.
        is_about(c.of) != is_about(c.against)
    }

    /// Returns true if a side of a suite was found to do different work than the reference.
    pub fn side_has_different_output(&self, side: usize) -> bool {
        let name = Some(self.sides[side].name.as_str());
        self.findings.iter().any(|f| f.is(OUTPUT_DIFFERS) && f.subject.as_deref() == name)
    }

    /// Returns true if the outputs of all commands were compared and are the same.
    pub fn has_same_outputs(&self) -> bool {
        self.environment.text(OUTPUTS) == Some(SAME_OUTPUTS)
    }

    /// Returns the reason why measuring ended, which determines the levels of the comparisons.
    pub fn end(&self) -> End {
        end_of(self.stop, &self.findings)
    }

    /// Returns the description of a subject's primary metric.
    pub fn primary_of(&self, subject: usize) -> Option<&Description> {
        self.subjects.get(subject)?.metrics.get(self.primary)?.as_ref()
    }

    /// Returns the comparison of a subject on the secondary metric with this name.
    pub fn secondary_of(&self, subject: usize, metric: &str) -> Option<&Comparison> {
        self.secondaries(metric).find(|c| c.of == subject)
    }

    /// Returns the comparisons on the secondary metric with this name.
    fn secondaries(&self, metric: &str) -> impl Iterator<Item = &Comparison> {
        self.secondary.iter().filter(move |c| self.metrics[c.metric].name == metric)
    }

    /// Returns the comparison of a subject on the primary metric; `None` for a reference.
    pub fn comparison_of(&self, subject: usize) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.of == subject)
    }

    /// Returns the names of the subjects, in order.
    pub fn names(&self) -> Vec<String> {
        self.subjects.iter().map(|s| s.name.clone()).collect()
    }

    /// Returns the row of a comparison.
    pub fn row_of(&self, c: &Comparison) -> &Row {
        &self.rows[self.subjects[c.of].row]
    }

    /// Returns the groups with their comparisons, by metric and then by side. The primary metric
    /// comes first.
    pub fn tables(&self) -> impl Iterator<Item = Table<'_>> {
        self.groups.iter().map(|group| {
            let primary = group.metric == self.primary;
            let family = if primary { &self.comparisons } else { &self.secondary };
            Table {
                metric: group.metric,
                side: group.of,
                against: group.against,
                rows: group.comparisons.iter().map(|&index| &family[index]).collect(),
                mean: group.mean.as_ref(),
            }
        })
    }

    /// Returns the tables of the primary metric.
    pub fn primary_tables(&self) -> impl Iterator<Item = Table<'_>> {
        self.tables().filter(|table| table.metric == self.primary)
    }
}

/// Returns the reason why measuring ended. A resumed run never counts as planned, since somebody
/// may have seen its earlier results.
fn end_of(stop: Option<StopReason>, findings: &[Finding]) -> End {
    let planned = matches!(stop, Some(StopReason::Budget | StopReason::Blocks));
    if planned && !findings.iter().any(|f| f.is(RESUMED)) { End::Planned } else { End::Any }
}

/// Analyzes samples. O(metrics · n log n).
///
/// # Errors
/// Returns an error if there is nothing to analyze, or if a name in the options does not exist.
pub fn analyse(samples: &Samples, options: &Options) -> Result<Analysis, AnalysisError> {
    analyse_telling(samples, options, &mut |_| ())
}

/// Returns the number of phases that [`analyse_telling`] reports.
pub fn phases(options: &Options) -> usize {
    3 + usize::from(options.all)
}

/// Like [`analyse`], but calls `tell` with the name of each phase as it starts.
///
/// # Errors
/// See [`analyse`].
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
    let keys = Keys::of(samples, options.reference.as_deref(), options.alone)?;
    let is_suite = keys.shape == Shape::Rows;
    let design = samples.design();
    let in_blocks = design == Design::Blocks;
    // Measuring subjects without a reference stopped when they were precise enough, so each is
    // shown with the interval that stopped it.
    let alone = keys.pairs.is_empty();
    let own_confidence = if in_blocks && alone { 1.0 - plan.level() } else { plan.confidence };
    tell("sorting");
    let evidence = Evidence::of(samples);
    let keeps = !options.alone && (!is_suite || keys.pairs.len() <= MOST_KEPT);
    let kept = if keeps { samples.subjects.len() } else { 0 };
    let recordings: Vec<Rc<Recording<'static>>> =
        (0..kept).map(|s| evidence.recording(s, primary)).collect();
    let confidences = (own_confidence, plan.confidence);
    let deciding = (primary, recordings.as_slice());
    let subjects = describe(samples, &evidence, &keys, options.alone, deciding, confidences);
    let histogram = if is_suite {
        None
    } else {
        let sorted: Vec<&[f64]> = recordings.iter().map(|r| r.sorted.as_slice()).collect();
        Histogram::of(&sorted, BINS)
    };

    tell("differences");
    let mut distribution = SignedRankDistribution::default();
    let end = end_of(samples.stop, &samples.findings);
    let mixed = samples.findings.iter().any(|f| f.is(RESUMED) && f.severity == Severity::Serious);
    let is_whole = |member: &&Member<'_>| {
        samples.row_of(&samples.subjects[member.question.of]).name == WHOLE_SUITE
    };
    let mut decided = |members: &[Member<'_>]| -> Vec<Comparison> {
        let (wholes, others): (Vec<_>, Vec<_>) = members.iter().partition(is_whole);
        let places = (0..members.len()).filter(|&place| is_whole(&&members[place]));
        // Note: a scan, like a suite, is adjusted as a whole, since its overall verdict is that of
        // its worst comparison.
        let mut family = |members: &[_]| family::decide(members, options.adjust, &mut distribution);
        let mut found = family(&others);
        places.zip(family(&wholes)).for_each(|(place, whole)| found.insert(place, whole));
        if mixed { found.into_iter().map(Comparison::withheld).collect() } else { found }
    };
    let question = |plan, metric: usize, of, against| {
        let better = samples.metrics[metric].better;
        Question { plan, metric, better, against, of, share: 1.0, end }
    };
    let member = |&(of, against): &(usize, usize)| {
        let pair = if is_suite {
            evidence.pair(against, of, primary, &recordings)?
        } else {
            evidence.pair_or_empty(against, of, primary, &recordings)
        };
        Some(Member::new(question(&plan, primary, of, against), &pair, &evidence, &recordings))
    };
    let mut members = Vec::with_capacity(keys.pairs.len());
    members.extend(keys.pairs.iter().filter_map(member));
    let noun = shape::noun(&keys.rows).to_owned();
    if is_suite && members.is_empty() {
        let metric = samples.metrics[primary].name.clone();
        return Err(AnalysisError::NothingInCommon { noun, metric });
    }
    if is_suite {
        family::assign(samples, &mut members, &mut SignedRankDistribution::default());
    }
    let mut comparisons = decided(&members);
    let control = |(of, subject): (usize, &assay_data::Subject)| {
        let against = subject.repeats.filter(|_| in_blocks)?;
        let pair = evidence.pair(against, of, primary, &recordings)?;
        Some(Member::new(question(&plan, primary, of, against), &pair, &evidence, &recordings))
    };
    let repeated = samples.subjects.iter().enumerate().filter_map(control);
    let controls: Vec<Comparison> = match is_suite {
        true => decided(&repeated.collect::<Vec<_>>()),
        false => repeated.flat_map(|own| decided(&[own])).collect(),
    };
    let answers = slices::of(samples);
    let search = Search::of(samples);
    if search.is_none() {
        failing::decide(&mut comparisons, &answers, &plan);
    }
    let mut groups = keys.groups(&members, &comparisons, &plan);
    drop(members);
    if !mixed && !is_suite {
        for c in comparisons.iter_mut().filter(|c| c.basis == Basis::Values) {
            c.quantiles = quantiles::of(&recordings[c.against], &recordings[c.of], plan.confidence);
        }
    }
    // Recordings take most of the memory if they are long.
    drop(recordings);
    // An absolute threshold applies to the primary metric only.
    let of_others = match plan.threshold {
        Threshold::Relative(_) => plan.clone(),
        Threshold::Absolute { .. } => Plan { threshold: Threshold::default(), ..plan.clone() },
    };
    let pairs_of = |&metric: &usize| keys.pairs.iter().map(move |&pair| (metric, pair));
    let mut members: Vec<Member<'_>> = secondary
        .iter()
        .flat_map(pairs_of)
        .filter_map(|(metric, (of, against))| {
            let pair = evidence.pair(against, of, metric, &[])?;
            let question = question(&of_others, metric, of, against);
            Some(Member::new(question, &pair, &evidence, &[]))
        })
        .collect();
    if is_suite {
        family::assign(samples, &mut members, &mut SignedRankDistribution::default());
    }
    let secondary_comparisons = decided(&members);
    if is_suite {
        groups.extend(keys.groups(&members, &secondary_comparisons, &plan));
    }
    drop(members);
    let rows = if in_blocks && !is_suite { samples.complete_blocks(primary) } else { Vec::new() };
    let curves = match &keys.shape {
        Shape::Scan(layout) => {
            let rows = in_blocks.then_some(&rows);
            scaling::curves(samples, layout, primary, (&plan, end), rows, &mut distribution)
        }
        Shape::Sides | Shape::Rows => Vec::new(),
    };
    let battery = options.all.then(|| {
        tell("every test");
        Box::new(battery::of(samples, &evidence, primary, &plan, &comparisons, !is_suite))
    });
    tell("checking");
    // With several sides, the smallest number of blocks counts.
    let blocks = comparisons.iter().filter_map(|c| c.blocks).min().unwrap_or(rows.len());
    let blocks = (in_blocks && !is_suite).then_some(blocks);
    let metrics: Vec<usize> = std::iter::once(primary).chain(secondary).collect();
    let noise = if is_suite { Vec::new() } else { noise::of(samples, primary, &comparisons) };
    let mut analysis = Analysis {
        adjust: options.adjust,
        design,
        only: keys.only(&metrics, |subject, metric| evidence.has(subject, metric)),
        noise,
        noun,
        metrics: samples.metrics.clone(),
        primary,
        subjects,
        comparisons,
        controls,
        secondary: secondary_comparisons,
        groups,
        battery,
        curves,
        blocks,
        histogram,
        findings: checks::of_samples(samples, options.primary.is_some()),
        stop: samples.stop,
        seconds_per_block: blocks.and_then(|_| seconds_per_block(samples)),
        environment: samples.environment.clone(),
        answers,
        testing: testing::of(samples, plan.confidence),
        search,
        started: samples.started.clone(),
        plan,
        shape: keys.shape,
        sides: keys.sides,
        rows: keys.rows,
    };
    let found = if is_suite {
        checks::rows::findings(samples, &analysis)
    } else {
        findings(samples, &evidence, &analysis)
    };
    let unmatched: Vec<&str> = analysis
        .subjects
        .iter()
        .filter(|subject| checks::is_unmatched(&analysis, subject))
        .map(|subject| subject.name.as_str())
        .collect();
    analysis.findings.retain(|f| !f.subject.as_deref().is_some_and(|own| unmatched.contains(&own)));
    analysis.findings.extend(found);
    analysis.findings.extend(machine::findings(&analysis.environment));
    analysis.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(analysis)
}

/// Describes every subject. If `only_deciding`, the other metrics and the parameters are left out.
fn describe(
    samples: &Samples,
    evidence: &Evidence<'_>,
    keys: &Keys,
    only_deciding: bool,
    (primary, of_primary): (usize, &[Rc<Recording<'static>>]),
    (primary_confidence, confidence): (f64, f64),
) -> Vec<SubjectSummary> {
    let index = evidence.index();
    let described = if only_deciding { primary + 1 } else { samples.metrics.len() };
    let mut against = vec![None; samples.subjects.len()];
    keys.pairs.iter().for_each(|&(of, reference)| against[of] = Some(reference));
    let summary = |(subject, own): (usize, &assay_data::Subject)| SubjectSummary {
        side: keys.places[subject].0,
        row: keys.places[subject].1,
        name: own.name.clone(),
        command: own.command.clone(),
        parameters: if only_deciding { Vec::new() } else { own.parameters.clone() },
        against: against[subject],
        observations: index.observations(subject).len(),
        failures: index
            .count_outcomes(subject, |o| matches!(o, Outcome::Exit(_) | Outcome::Signal(_))),
        timeouts: index.count_outcomes(subject, |o| o == Outcome::Timeout),
        metrics: (0..described)
            .map(|metric| {
                if metric == primary {
                    let known = of_primary.get(subject).cloned();
                    let own = known.unwrap_or_else(|| evidence.recording(subject, primary));
                    Description::of_recording(&own, primary_confidence)
                } else {
                    Description::of(&index.values(subject, metric), confidence)
                }
            })
            .collect(),
    };
    samples.subjects.iter().enumerate().map(summary).collect()
}

/// Returns the median time from the start of a block to the start of the next (the lower of the two
/// middle times if their number is even). A pause before a resumed run is part of only one of these
/// times, so it does not affect the median. The last block, if complete, counts from its start to
/// the end of its last run.
pub(crate) fn seconds_per_block(samples: &Samples) -> Option<f64> {
    let wall = samples.metric_index("wall");
    let mut lengths: Vec<f64> = Vec::new();
    // The current block: number, start, end of its last run, and number of runs. Blocks are
    // contiguous.
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

fn findings(samples: &Samples, evidence: &Evidence<'_>, analysis: &Analysis) -> Vec<Finding> {
    let metric = &analysis.metrics[analysis.primary];
    let names = analysis.names();
    let in_blocks = analysis.design == Design::Blocks;
    let compared = analysis.subjects.iter().any(|s| s.against.is_some());
    let mut findings = checks::outcomes(samples, analysis.primary, analysis.blocks);
    let cpu: HashMap<usize, &Comparison> = analysis.secondaries("cpu").map(|c| (c.of, c)).collect();
    for comparison in &analysis.comparisons {
        findings.extend(checks::comparison(comparison, &names, metric, &analysis.plan));
        findings.extend(evidence::findings(comparison, &names[comparison.of]));
        // Coverage was simulated only for comparisons of values.
        if comparison.basis == Basis::Values {
            let name = &names[comparison.of];
            findings.extend(coverage::findings::verdict(evidence, comparison, name));
        }
        if metric.name == "wall"
            && let Some(cpu) = cpu.get(&comparison.of)
        {
            findings.extend(checks::wall_and_cpu(comparison, cpu, &names[comparison.of]));
        }
    }
    findings.extend(analysis.controls.iter().filter_map(|c| checks::control(c, &names)));
    findings.extend(checks::requests_failed(analysis));
    findings.extend(checks::same_code(samples, &analysis.comparisons));
    for (index, subject) in analysis.subjects.iter().enumerate() {
        findings.extend(checks::series(subject, analysis.primary, metric, in_blocks && compared));
        let blocks = in_blocks && compared;
        findings.extend(coverage::findings::median(
            evidence,
            subject,
            index,
            analysis.primary,
            blocks,
        ));
    }
    if compared && !in_blocks {
        findings.extend(checks::of_separate_runs(samples, analysis));
        findings.extend(checks::machines_differ(&analysis.environment));
    }
    findings.extend(noise::findings(&analysis.noise, &names));
    if analysis.stop == Some(StopReason::Interrupted) {
        findings.push(checks::interrupted("results are based on the runs until then"));
        // The user interrupted the run, so the advice to measure longer does not apply.
        let too_few = findings.iter_mut().filter(|finding| finding.is(code::TOO_FEW));
        too_few.for_each(|finding| finding.advice.clear());
    }
    if compared && analysis.subjects.iter().all(|s| s.command.is_some()) {
        let threshold = &analysis.plan.threshold;
        findings.extend(machine::detectable(metric, threshold, &analysis.environment));
    }
    findings
}

#[cfg(test)]
mod tests;
