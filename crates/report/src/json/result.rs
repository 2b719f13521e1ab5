//! The common layout of all results that can have a verdict: of one command, two commands, a scan,
//! a suite or two profiles.
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
use super::{Meta, VERSION, of_analysis};
use crate::benchmarks::words as of_rows;
use assay_analysis::analysis;
use assay_analysis::{Adjust, Analysis};
use serde_json::{Map, Value};

view! {
    /// A result of `assay run`, `bench`, `load`, `compare` or `profile A B`.
    Decision of (analysis: &Analysis, meta: &Meta) {
        /// Version of this layout: 1. New members may be added within a version. The meaning of a
        /// member changes only with a new version.
        schema: u64 = VERSION,
        /// The verb that wrote this document: `run`, `bench`, `load`, `tests`, `compare` or `profile`.
        verb: String => meta.verb,
        /// The verdict on all comparisons of the primary metric together: `slower` if any is, otherwise
        /// `inconclusive` if any is, otherwise `faster` if any is, otherwise `equivalent`. `null` if
        /// nothing is compared.
        verdict: Option<Verdict> => analysis.worst(),
        /// The answer in words. For people; programs should read the numbers. `null` if nothing is
        /// compared and, in a scan, nothing grows with a parameter.
        sentence: Option<String> = of_analysis::sentence(analysis),
        /// Confidence of the verdicts, for all comparisons of the primary metric together: 0.95.
        confidence: f64 => analysis.plan.confidence,
        /// The smallest difference that matters.
        threshold: Threshold => analysis.plan.threshold,
        /// The multiple-comparison correction within a family.
        adjust: AdjustWord,
        /// Name of the metric that decides.
        primary: String => analysis.metrics[analysis.primary].name,
        /// The design of the experiment.
        design: Design,
        /// Number of complete blocks; `null` if not measured in blocks.
        blocks: Option<usize>,
        /// Time of a block, including hooks: the median from the start of one to the start of the next,
        /// so that a pause before `--resume` does not count; `null` if unknown.
        seconds_per_block: Option<f64>,
        /// The reason for the end of measuring; `null` for samples that do not state it.
        stop: Option<StopReason>,
        /// The compared sides: commands, builds, revisions, files. The first is the reference.
        sides: Vec<Side>,
        /// The rows that the sides are compared on: benchmarks, functions. A single one without a name
        /// for commands.
        rows: Vec<Row>,
        /// Every metric of every compared side, against its reference: the primary metric first, then
        /// the secondary ones.
        comparisons: Vec<Comparison> = of_analysis::comparisons(analysis),
        /// The tests of all sides together, with `--all`; otherwise `null`.
        groups: Option<GroupTests> =
            analysis.battery.as_ref().and_then(|b| b.groups.as_ref()).map(GroupTests::of),
        /// Summaries of many comparisons of one metric: for a suite, of every side; for a scan, of
        /// every two sides that are compared at the same values. They do not decide.
        means: Vec<Mean> = analysis.tables().map(|table| Mean::of(analysis, &table)).collect(),
        /// Every side on every row at every setting of the parameters.
        descriptions: Vec<Description> = of_analysis::descriptions(analysis),
        /// Growth of the primary metric with the parameters of a scan.
        curves: Vec<Curve>,
        /// Results of the requests of a load test, for every side at every step; otherwise empty.
        answers: Vec<Answers> =
            analysis.answers.iter().map(|own| Answers::of(own, analysis)).collect(),
        /// Rates that a search for the highest rate (`load --find`) tried, from all blocks; otherwise
        /// empty.
        tries: Vec<Try> = analysis.search.iter().flat_map(|own| Try::all(analysis, own)).collect(),
        /// Test suites of all sides (`assay tests`); otherwise empty.
        suites: Vec<TestSuite> => analysis.testing,
        /// Rows and metrics that are missing on some sides.
        only: Vec<Only> = analysis.only.iter().map(|o| Only::of(analysis, o)).collect(),
        /// The four-step check, with `--rigorous`; otherwise `null`.
        rigorous: Option<Rigorous> = None,
        /// Findings of the checks, most serious first.
        findings: Vec<Finding>,
        /// Decisions made before the first block.
        plan: Plan,
        /// Facts about the machine, by name, as recorded with the samples. If files differ in a fact,
        /// it appears once more, with `@` and the side after its name.
        environment: Map<String, Value> => analysis.environment.facts,
        /// Start of the run (RFC 3339), or `null`.
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
        /// Number of controls: their code is the same on both sides, and they are not included in
        /// the numbers above.
        same_code: usize => table.counts().same_code,
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
        side: String => analysis.sides[only.side].name,
        /// Name of the side that lacks the rows.
        not_on: String => analysis.sides[only.not_on].name,
        /// Names of the rows.
        rows: Vec<String> = only.rows.iter().map(|&row| analysis.rows[row].name.clone()).collect(),
    }
}
