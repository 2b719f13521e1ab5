//! The single layout for everything that decides: one command, two, a scan, a suite, two profiles.
//!
//! The members and their order are always the same: for one command `verdict` is `null` and
//! `comparisons` is empty. Nothing is decided here.

use super::answers::{Answers, Try};
use super::battery::GroupTests;
use super::comparison::Comparison;
use super::comparison::Family;
use super::curve::Curve;
use super::description::Description;
use super::finding::Finding;
use super::plan::{Plan, Threshold};
use super::rigorous::Rigorous;
use super::suites::TestSuite;
use super::values::{Design, Interval, StopReason, Verdict, view, words};
use crate::benchmarks::words as of_rows;
use assay_analysis::analysis;
use assay_analysis::{Adjust, Analysis};
use serde::Serialize;
use serde_json::{Map, Value};

/// A result of `assay run`, `bench`, `load`, `compare` or `profile A B`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    /// Version of this layout: 1. New members may be added within a version. The meaning of a
    /// member changes only with a new version.
    pub schema: u64,
    /// The verb that wrote this document: `run`, `bench`, `load`, `tests`, `compare` or `profile`.
    pub verb: String,
    /// The verdict on all comparisons of the primary metric together: `slower` if any is, otherwise
    /// `inconclusive` if any is, otherwise `faster` if any is, otherwise `equivalent`. `null` if
    /// nothing is compared.
    pub verdict: Option<Verdict>,
    /// The answer in words. For people; programs should read the numbers. `null` if nothing is
    /// compared and, in a scan, nothing grows with a parameter.
    pub sentence: Option<String>,
    /// Confidence of the verdicts, for all comparisons of the primary metric together: 0.95.
    pub confidence: f64,
    /// The smallest difference that matters.
    pub threshold: Threshold,
    /// The multiple-comparison correction within a family.
    pub adjust: AdjustWord,
    /// Name of the metric that decides.
    pub primary: String,
    /// The design of the experiment.
    pub design: Design,
    /// Number of complete blocks; `null` if not measured in blocks.
    pub blocks: Option<usize>,
    /// Time of a block, including hooks: the median from the start of one to the start of the next,
    /// so that a pause before `--resume` does not count; `null` if unknown.
    pub seconds_per_block: Option<f64>,
    /// The reason for the end of measuring; `null` for samples that do not state it.
    pub stop: Option<StopReason>,
    /// The compared sides: commands, builds, revisions, files. The first is the reference.
    pub sides: Vec<Side>,
    /// The rows that the sides are compared on: benchmarks, functions. A single one without a name
    /// for commands.
    pub rows: Vec<Row>,
    /// Every metric of every compared side, against its reference: the primary metric first, then
    /// the secondary ones.
    pub comparisons: Vec<Comparison>,
    /// The tests of all sides together, with `--all`; otherwise `null`.
    pub groups: Option<GroupTests>,
    /// Summaries of many comparisons of one metric: for a suite, of every side; for a scan, of
    /// every two sides that are compared at the same values. They do not decide.
    pub means: Vec<Mean>,
    /// Every side on every row at every setting of the parameters.
    pub descriptions: Vec<Description>,
    /// Growth of the primary metric with the parameters of a scan.
    pub curves: Vec<Curve>,
    /// Results of the requests of a load test, for every side at every step; otherwise empty.
    pub answers: Vec<Answers>,
    /// Rates that a search for the highest rate (`load --find`) tried, from all blocks; otherwise
    /// empty.
    pub tries: Vec<Try>,
    /// Test suites of all sides (`assay tests`); otherwise empty.
    pub suites: Vec<TestSuite>,
    /// Rows and metrics that are missing on some sides.
    pub only: Vec<Only>,
    /// The four-step check, with `--rigorous`; otherwise `null`.
    pub rigorous: Option<Rigorous>,
    /// Findings of the checks, most serious first.
    pub findings: Vec<Finding>,
    /// Decisions made before the first block.
    pub plan: Plan,
    /// Facts about the machine, by name, as recorded with the samples. If files differ in a fact,
    /// it appears once more, with `@` and the side after its name.
    pub environment: Map<String, Value>,
    /// Start of the run (RFC 3339), or `null`.
    pub started: Option<String>,
    /// The tool and version that made this report, such as `assay 0.1.0`.
    pub tool: String,
    /// The command line of the measurement.
    pub argv: Vec<String>,
    /// The file with the samples, or `null`.
    pub file: Option<String>,
}

words! {
    /// Multiple-comparison corrections within a family.
    AdjustWord from Adjust {
        /// Holm's method: limits the probability of any wrong direction.
        Source::Holm => Holm,
        /// Benjamini and Hochberg's false discovery rate: limits the share of wrong directions
        /// among those reported.
        Source::FalseDiscovery => Bh,
        /// No correction: each comparison by itself.
        Source::None => None,
    }
}

view! {
    /// A compared side.
    Side of (side: &assay_data::Side) {
        /// Unique name of the side.
        name: String,
        /// The command line as typed, with `{n}` for the value of a parameter; `null` if there is
        /// none.
        command: Option<String>,
        /// The file with the values; `null` for a new measurement.
        source: Option<String>,
        /// Files of the side's builds, which were run alternately; empty for a single build.
        builds: Vec<String>,
    }
}

view! {
    /// A row that sides are compared on.
    Row of (row: &assay_data::Row) {
        /// Full, unique name of the row; empty for commands.
        name: String,
        /// Name of the row without parameters, if the measuring tool states it.
        label: Option<String>,
        /// The word for the kind of row, as in `function`; `null` for a benchmark.
        noun: Option<String>,
    }
}

view! {
    /// A summary of the comparisons of one metric of two sides.
    Mean of (analysis: &Analysis, table: &analysis::Table<'_>) {
        /// Name of the side.
        of: String = analysis.sides[table.side].name.clone(),
        /// Name of the reference.
        against: String = analysis.sides[table.against].name.clone(),
        /// The metric.
        metric: String = analysis.metrics[table.metric].name.clone(),
        /// The family of the comparisons.
        family: Family = if table.metric == analysis.primary { Family::Primary } else { Family::Secondary },
        /// The headline in words; `null` for a scan.
        sentence: Option<String> = analysis.is_suite().then(|| of_rows::headline(analysis, table)),
        /// Number of comparisons.
        compared: usize = table.rows.len(),
        /// Number of comparisons in which the side is better.
        faster: usize = table.counts().faster,
        /// Number of comparisons in which the side is worse.
        slower: usize = table.counts().slower,
        /// Number of comparisons with a difference within the threshold.
        equivalent: usize = table.counts().equivalent,
        /// Number of inconclusive comparisons.
        inconclusive: usize = table.counts().inconclusive,
        /// Number of controls: their code is the same on both sides, and they are not included in
        /// the numbers above.
        same_code: usize = table.counts().same_code,
        /// The geometric mean of the ratios `of` / `against`; each is the Hodges-Lehmann ratio or,
        /// in blocks, the pseudo-median of the per-block ratios. `null` for fewer than two.
        geometric_mean: Option<f64> = table.mean.map(|m| m.estimate),
        /// Interval of the mean for exactly these rows or values, which covers only the variation
        /// of the samples. `null` if the spread of some is unknown.
        interval_of_these: Option<Interval> = table.mean.and_then(|m| m.of_these).map(Interval::from),
        /// The wider interval for other rows or values, of which these are a sample. It is
        /// meaningless if they were chosen for a particular purpose.
        interval_of_such: Option<Interval> = table.mean.and_then(|m| m.of_such).map(Interval::from),
        /// Number of ratios in the mean.
        rows: Option<usize> = table.mean.map(|m| m.rows),
    }
}

view! {
    /// Rows, or metrics of rows, that one side has and another lacks.
    Only of (analysis: &Analysis, only: &analysis::Only) {
        /// The metric that only this side has, for rows on both sides; `null` if the other side
        /// lacks the rows.
        metric: Option<String> = only.metric.map(|metric| analysis.metrics[metric].name.clone()),
        /// Name of the side that has the rows.
        side: String = analysis.sides[only.side].name.clone(),
        /// Name of the side that lacks the rows.
        not_on: String = analysis.sides[only.not_on].name.clone(),
        /// Names of the rows.
        rows: Vec<String> = only.rows.iter().map(|&row| analysis.rows[row].name.clone()).collect(),
    }
}
