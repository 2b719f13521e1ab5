//! Suites: many benchmarks on two sides or more, matched by name, each decided, adjusted over the suite.
//!
//! The first side is the reference. Every metric that sides share has a table for each further side; the rows of the metric that
//! decides are one family of comparisons, those of all other metrics a second one, so that counters nobody asked for do not cost the
//! verdicts on the times anything. How a family shares its error is told in [`Adjust`]. What a benchmark is compared by (blocks,
//! values, means of processes, summaries) is found for each by itself. Linear in the number of observations. Pure, as everything here.

mod family;
mod findings;
mod mean;
mod sides;
#[cfg(test)]
mod tests;

pub use mean::Mean;

use crate::analysis::{self, AnalysisError, Options};
use crate::comparison::{Comparison, NoInterval, Question};
use crate::evidence::Evidence;
use crate::verdict::Verdict;
use assay_data::{Design, Environment, Finding, Metric, ParameterValue, Plan, Samples, Threshold};
use assay_stats::signed_rank::SignedRankDistribution;
use family::Member;
use sides::Sides;

/// How the comparisons of a suite share the error that is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjust {
    /// Holm's (1979), by levels: at most so rarely is *any* direction wrong. Whoever is decided leaves the others a larger share.
    #[default]
    Holm,
    /// Benjamini and Hochberg's (1995): of the directions that are told, at most this share is wrong on average. With R of m told,
    /// intervals are at R/m of the error (Benjamini and Yekutieli 2005), so that as few of theirs miss.
    FalseDiscovery,
    /// None: every comparison by itself may be wrong so often.
    None,
}

impl Adjust {
    /// The word that options and JSON use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::FalseDiscovery => "bh",
            Self::None => "none",
        }
    }
}

/// One benchmark, on whichever sides it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// Its full name, parameters included.
    pub name: String,
    /// Its name without parameters, where the tool tells.
    pub label: Option<String>,
    /// Its parameters.
    pub parameters: Vec<(String, ParameterValue)>,
}

/// One benchmark's metric on one side against the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Index of the benchmark.
    pub benchmark: usize,
    /// What is said of it.
    pub comparison: Comparison,
}

/// One metric on one side against the reference: the benchmarks that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the side; the reference is the first side.
    pub side: usize,
    /// The rows, in the order of the reference's file.
    pub rows: Vec<Row>,
    /// The geometric mean of the ratios over the benchmarks that both sides have; `None` where there is none.
    pub mean: Option<Mean>,
}

/// How many rows of a table have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Better than the reference.
    pub faster: usize,
    /// Worse than the reference.
    pub slower: usize,
    /// Within the threshold.
    pub equivalent: usize,
    /// Not known.
    pub inconclusive: usize,
}

impl Table {
    /// Counts the verdicts. O(rows).
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for row in &self.rows {
            *match row.comparison.decision.verdict {
                Verdict::Faster => &mut counts.faster,
                Verdict::Slower => &mut counts.slower,
                Verdict::Equivalent => &mut counts.equivalent,
                Verdict::Inconclusive => &mut counts.inconclusive,
            } += 1;
        }
        counts
    }

    /// How many rows have no interval for such a reason.
    pub fn without_interval(&self, is: impl Fn(NoInterval) -> bool) -> usize {
        self.rows.iter().filter(|row| row.comparison.no_interval().is_some_and(&is)).count()
    }
}

/// The benchmarks that a side has and the reference lacks, or the other way round.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlyOn {
    /// Index of the side that has them.
    pub side: usize,
    /// Index of the side that lacks them.
    pub not_on: usize,
    /// Indices of the benchmarks.
    pub benchmarks: Vec<usize>,
}

/// A metric that only one side has of benchmarks that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricOnlyOn {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the side that has it.
    pub side: usize,
    /// Index of the side that lacks it.
    pub not_on: usize,
    /// Indices of the benchmarks of which that is so, among those that both sides have.
    pub benchmarks: Vec<usize>,
}

/// What a row of a suite is called, where nothing else is said.
pub const BENCHMARK: &str = "benchmark";

/// All that is said about a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmarks {
    /// The plan that was followed, with what the user asked for laid over it.
    pub plan: Plan,
    /// How the error is shared.
    pub adjust: Adjust,
    /// How the samples were taken.
    pub design: Design,
    /// What a row is called, in the singular: [`BENCHMARK`], or what the rows say of themselves.
    pub row: String,
    /// The sides; the first is the reference.
    pub sides: Vec<String>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// Index of the metric that decides.
    pub primary: usize,
    /// The benchmarks of all sides, in the order of the files.
    pub benchmarks: Vec<Benchmark>,
    /// The tables: first those of the metric that decides, side by side, then the other metrics.
    pub tables: Vec<Table>,
    /// What is not on both sides; empty lists are left out.
    pub only: Vec<OnlyOn>,
    /// The metrics that benchmarks of both sides have on one side only; empty lists are left out.
    pub only_metrics: Vec<MetricOnlyOn>,
    /// What the checks found, most serious first.
    pub findings: Vec<Finding>,
    /// The machines; facts in which the sides differ have the name of the side behind an `@`.
    pub environment: Environment,
    /// When the first recording began, RFC 3339.
    pub started: Option<String>,
}

impl Benchmarks {
    /// The tables of the metric that decides.
    pub fn primary_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|table| table.metric == self.primary)
    }
}

/// Whether samples hold a suite: several benchmarks, at least one of them on several sides; or one of which only summaries are left, for
/// which there is no more to show than a row.
pub fn is_suite(samples: &Samples) -> bool {
    let several = samples.rows.iter().filter(|row| !row.name.is_empty()).count() > 1;
    (several || samples.design() == Design::Summary)
        && samples.shares_a_row(|row| !row.name.is_empty())
}

/// What the rows are called, in the singular: what all of them say.
fn noun(samples: &Samples) -> &str {
    let mut nouns = samples.rows.iter().map(|row| row.noun.as_deref());
    let first = nouns.next().flatten().unwrap_or(BENCHMARK);
    if nouns.all(|noun| noun == Some(first)) { first } else { BENCHMARK }
}

/// Why no suite can be analysed, beyond what is wrong with any samples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// What is wrong with any samples.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// No benchmark of a side is among those of the reference, or they share no metric.
    #[error("no benchmark has a metric on both sides")]
    NothingInCommon,
}

/// Analyses a suite. `reference`: the side that the others are compared with; the first. O(observations log observations).
///
/// # Errors
/// When there is nothing to compare, or what the options name is not there.
pub fn analyse(
    samples: &Samples,
    options: &Options,
    adjust: Adjust,
    reference: Option<&str>,
) -> Result<Benchmarks, SuiteError> {
    let plan = analysis::plan_for(samples, options);
    let primary = analysis::primary_metric(samples, options, &plan)?;
    analysis::check_threshold(&plan.threshold, &samples.metrics[primary])?;
    let secondary = analysis::secondary_metrics(samples, options, &plan, primary)?;
    let sides = Sides::of(samples, reference);
    let evidence = Evidence::of(samples);
    let mut distribution = SignedRankDistribution::default();
    let mut tables =
        decided(&evidence, &sides, samples, &[primary], &plan, adjust, &mut distribution);
    if tables.is_empty() {
        return Err(SuiteError::NothingInCommon);
    }
    // An absolute threshold belongs to the metric that decides.
    let others = match plan.threshold {
        Threshold::Relative(_) => plan.clone(),
        Threshold::Absolute { .. } => Plan { threshold: Threshold::default(), ..plan.clone() },
    };
    tables.extend(decided(
        &evidence,
        &sides,
        samples,
        &secondary,
        &others,
        adjust,
        &mut distribution,
    ));
    let mut found = Benchmarks {
        adjust,
        design: samples.design(),
        row: noun(samples).to_owned(),
        only: sides.only(),
        only_metrics: only_metrics(&evidence, &sides, primary, &secondary),
        sides: sides.names,
        metrics: samples.metrics.clone(),
        primary,
        benchmarks: sides.benchmarks,
        tables,
        findings: samples.findings.clone(),
        environment: samples.environment.clone(),
        started: samples.started.clone(),
        plan,
    };
    let more = findings::of(samples, evidence.index(), &found);
    found.findings.extend(more);
    found.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(found)
}

/// The metrics that decide or stand secondary, where only one of two sides has them of a benchmark
/// that is on both: a row that one would otherwise miss without a word. O(observations × metrics).
fn only_metrics(
    evidence: &Evidence<'_>,
    sides: &Sides,
    primary: usize,
    secondary: &[usize],
) -> Vec<MetricOnlyOn> {
    let mut found = Vec::new();
    for side in 1..sides.names.len() {
        for &metric in std::iter::once(&primary).chain(secondary) {
            let (mut old, mut new) = (Vec::new(), Vec::new());
            for pair in sides.common(side) {
                match (evidence.has(pair.against, metric), evidence.has(pair.of, metric)) {
                    (true, false) => old.push(pair.benchmark),
                    (false, true) => new.push(pair.benchmark),
                    _ => {}
                }
            }
            for (side, not_on, benchmarks) in [(0, side, old), (side, 0, new)] {
                if !benchmarks.is_empty() {
                    found.push(MetricOnlyOn { metric, side, not_on, benchmarks });
                }
            }
        }
    }
    found
}

/// The tables of some metrics, which are one family; empty ones are left out.
fn decided(
    evidence: &Evidence<'_>,
    sides: &Sides,
    samples: &Samples,
    metrics: &[usize],
    plan: &Plan,
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<Table> {
    let mut members = Vec::new();
    for &metric in metrics {
        let better = samples.metrics[metric].better;
        for side in 1..sides.names.len() {
            for pair in sides.common(side) {
                let Some(found) = evidence.pair(pair.against, pair.of, metric) else { continue };
                let question = Question {
                    plan,
                    metric,
                    better,
                    against: pair.against,
                    of: pair.of,
                    share: 1.0,
                };
                members.push((side, pair.benchmark, Member { question, pair: found }));
            }
        }
    }
    let shares = family::shares(members.iter().map(|(.., member)| member), adjust, distribution);
    let mut tables: Vec<Table> = Vec::new();
    for ((side, benchmark, member), share) in members.iter().zip(shares) {
        let question = Question { share, ..member.question };
        let comparison = member.pair.compare(question, distribution);
        let row = Row { benchmark: *benchmark, comparison };
        match tables.last_mut() {
            Some(table) if table.metric == question.metric && table.side == *side => {
                table.rows.push(row);
            }
            _ => tables.push(Table {
                metric: question.metric,
                side: *side,
                rows: vec![row],
                mean: None,
            }),
        }
    }
    let mut rest = members.as_slice();
    for table in &mut tables {
        let (own, later) = rest.split_at(table.rows.len());
        rest = later;
        table.mean = mean::of(own.iter().map(|(.., member)| &member.pair), table, plan);
    }
    tables
}
