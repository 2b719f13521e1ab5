//! The common layout of all results that can have a verdict: those of one command, two commands, a
//! scan, a suite or two profiles.
//!
//! The members and their order are always the same. For one command, `verdict` is `null` and
//! `comparisons` is empty. No decisions are made here.

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
use super::{Meta, VERSION, of_analysis};
use crate::benchmarks::words as of_rows;
use assay_analysis::analysis;
use assay_analysis::{Adjust, Analysis};
use serde_json::{Map, Value};

view! {
    /// A result of `assay run`, `bench`, `load`, `compare` or `profile A B`.
    Decision of (analysis: &Analysis, meta: &Meta) {
        /// Version of this layout, currently 1. New members may be added within a version, but the
        /// meaning of a member changes only with a new version.
        schema: u64 = VERSION,
        /// The command that wrote this document: `run`, `bench`, `load`, `tests`, `compare` or
        /// `profile`.
        verb: String => meta.verb,
        /// The verdict on all comparisons of the primary metric together: `slower` if any is, otherwise
        /// `inconclusive` if any is, otherwise `faster` if any is, otherwise `equivalent`. `null` if
        /// nothing is compared.
        verdict: Option<Verdict> => analysis.worst(),
        /// The answer in words, for people. Programs should read the numbers. `null` if nothing is
        /// compared and, in a scan, nothing grows with a parameter.
        sentence: Option<String> = of_analysis::sentence(analysis),
        /// Joint confidence level of the verdicts on all comparisons of the primary metric, such as
        /// 0.95.
        confidence: f64 => analysis.plan.confidence,
        /// The smallest difference that matters.
        threshold: Threshold => analysis.plan.threshold,
        /// The multiple-comparison correction within a family.
        adjust: AdjustWord,
        /// Name of the metric that decides.
        primary: String => analysis.metrics[analysis.primary].name,
        /// The design of the experiment.
        design: Design,
        /// Number of complete blocks; `null` if not measured in blocks, and for a suite.
        blocks: Option<usize>,
        /// Typical time per block in seconds, including hooks: the median time from the start of
        /// one block to the start of the next, so that a pause before `--resume` does not count.
        /// `null` if unknown.
        seconds_per_block: Option<f64>,
        /// The reason why measuring stopped; `null` if the samples do not state it.
        stop: Option<StopReason>,
        /// The compared sides: commands, builds, revisions or files. The first is the reference.
        sides: Vec<Side>,
        /// The rows on which the sides are compared, such as benchmarks or functions. Commands have
        /// a single row without a name.
        rows: Vec<Row>,
        /// Every metric of every compared side against its reference. The primary metric comes
        /// first, then the secondary ones.
        comparisons: Vec<Comparison> = of_analysis::comparisons(analysis),
        /// The tests of all sides together; `null` without `--all`.
        groups: Option<GroupTests> =
            analysis.battery.as_ref().and_then(|b| b.groups.as_ref()).map(GroupTests::of),
        /// Summaries of many comparisons of one metric. A suite has one for every side; a scan has
        /// one for every two sides that are compared at the same values. No verdict depends on
        /// them.
        means: Vec<Mean> = analysis.tables().map(|table| Mean::of(analysis, &table)).collect(),
        /// A description of every side on every row, for every setting of the parameters.
        descriptions: Vec<Description> = of_analysis::descriptions(analysis),
        /// How the primary metric grows with the parameters of a scan.
        curves: Vec<Curve>,
        /// Outcomes of the requests of a load test, for every side at every step; otherwise empty.
        answers: Vec<Answers> =
            analysis.answers.iter().map(|own| Answers::of(own, analysis)).collect(),
        /// Rates tried by a search for the highest rate (`load --find`), from all blocks; otherwise
        /// empty.
        tries: Vec<Try> = analysis.search.iter().flat_map(|own| Try::all(analysis, own)).collect(),
        /// Test suite of each side, for `assay tests`; otherwise empty.
        suites: Vec<TestSuite> => analysis.testing,
        /// Rows and metrics that some sides lack.
        only: Vec<Only> = analysis.only.iter().map(|o| Only::of(analysis, o)).collect(),
        /// The four-step check; `null` without `--rigorous`.
        rigorous: Option<Rigorous> = None,
        /// Findings of the checks, most serious first.
        findings: Vec<Finding>,
        /// Decisions made before the first block.
        plan: Plan,
        /// Facts about the machine, by name, as recorded with the samples. A fact that differs
        /// between files also appears with `@` and the name of the side appended.
        environment: Map<String, Value> => analysis.environment.facts,
        /// Start of the run in RFC 3339 format; `null` if unknown.
        started: Option<String>,
        /// The tool and version that made this report, such as `assay 0.1.0`.
        tool: String => meta.tool,
        /// The command line of the measurement.
        argv: Vec<String> => meta.argv,
        /// The file with the samples, or `null`.
        file: Option<String> => meta.file,
    }
}

words! {
    /// Multiple-comparison corrections within a family.
    AdjustWord from Adjust {
        /// Holm's method, which limits the probability of reporting any wrong direction.
        Source::Holm => Holm,
        /// Benjamini and Hochberg's false discovery rate, which limits the share of wrong
        /// directions among those reported.
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
        /// The command line as typed, with `{n}` in place of the value of a parameter; `null` if
        /// the side has none.
        command: Option<String>,
        /// The file that the values were read from; `null` for a new measurement.
        source: Option<String>,
        /// Files of the side's builds, which were run alternately; empty if there is only one
        /// build.
        builds: Vec<String>,
    }
}

view! {
    /// A row on which sides are compared.
    Row of (row: &assay_data::Row) {
        /// Full, unique name of the row; empty for commands.
        name: String,
        /// Name of the row without parameters; `null` if the measuring tool does not state it.
        label: Option<String>,
        /// Singular noun for a row of this kind, such as `function`; `null` for a benchmark.
        noun: Option<String>,
    }
}

view! {
    /// A summary of the comparisons of one metric between two sides.
    Mean of (analysis: &Analysis, table: &analysis::Table<'_>) {
        /// Name of the side.
        of: String => analysis.sides[table.side].name,
        /// Name of the reference.
        against: String => analysis.sides[table.against].name,
        /// The metric.
        metric: String => analysis.metrics[table.metric].name,
        /// The family of the comparisons.
        family: Family = if table.metric == analysis.primary { Family::Primary } else { Family::Secondary },
        /// The headline in words; `null` for a scan.
        sentence: Option<String> = analysis.is_suite().then(|| of_rows::headline(analysis, table)),
        /// Number of comparisons.
        compared: usize = table.rows.len(),
        /// Number of comparisons in which the side is better.
        faster: usize => table.counts().faster,
        /// Number of comparisons in which the side is worse.
        slower: usize => table.counts().slower,
        /// Number of comparisons with a difference within the threshold.
        equivalent: usize => table.counts().equivalent,
        /// Number of inconclusive comparisons.
        inconclusive: usize => table.counts().inconclusive,
        /// Number of controls, whose code is the same on both sides. They are not included in the
        /// numbers above.
        same_code: usize => table.counts().same_code,
        /// Geometric mean of the ratios `of` / `against`. Each ratio is the Hodges-Lehmann ratio
        /// or, in blocks, the pseudo-median of the per-block ratios. `null` if there are fewer than
        /// two.
        geometric_mean: Option<f64> = table.mean.map(|m| m.estimate),
        /// Interval of the mean for exactly these rows or values, which covers only the variation
        /// of the samples. `null` if the spread of any row is unknown.
        interval_of_these: Option<Interval> = table.mean.and_then(|m| m.of_these).map(Interval::from),
        /// The wider interval that treats these rows or values as a sample of all such rows or
        /// values. It is meaningless if they were chosen for a particular purpose.
        interval_of_such: Option<Interval> = table.mean.and_then(|m| m.of_such).map(Interval::from),
        /// Number of ratios in the mean.
        rows: Option<usize> = table.mean.map(|m| m.rows),
    }
}

view! {
    /// Rows, or metrics of rows, that one side has and another side lacks.
    Only of (analysis: &Analysis, only: &analysis::Only) {
        /// The metric that only `side` has, for rows that both sides have; `null` if the other side
        /// lacks the rows themselves.
        metric: Option<String> = only.metric.map(|metric| analysis.metrics[metric].name.clone()),
        /// Name of the side that has the rows or the metric.
        side: String => analysis.sides[only.side].name,
        /// Name of the side that lacks the rows or the metric.
        not_on: String => analysis.sides[only.not_on].name,
        /// Names of the rows.
        rows: Vec<String> = only.rows.iter().map(|&row| analysis.rows[row].name.clone()).collect(),
    }
}
