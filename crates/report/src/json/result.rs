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

/// What `assay run`, `bench`, `load`, `compare` and `profile A B` found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    /// Version of this layout: 1. New members may be added within a version; a member changes its meaning only with a new one.
    pub schema: u64,
    /// The verb that wrote this: `run`, `bench`, `load`, `tests`, `compare` or `profile`.
    pub verb: String,
    /// What is known of all comparisons of the primary metric together: `slower` if any is, else `inconclusive` if any is, else
    /// `faster` if any is, else `equivalent`. `null` where nothing is compared.
    pub verdict: Option<Verdict>,
    /// The answer in words. For people; programs should read the numbers. `null` where nothing is compared.
    pub sentence: Option<String>,
    /// Confidence of the verdicts, for all comparisons of the primary metric together: 0.95.
    pub confidence: f64,
    /// The smallest difference that matters.
    pub threshold: Threshold,
    /// How the comparisons of a family share the allowed error.
    pub adjust: AdjustWord,
    /// Name of the metric that decides.
    pub primary: String,
    /// How the samples were taken.
    pub design: Design,
    /// Complete blocks; `null` when not taken in blocks.
    pub blocks: Option<usize>,
    /// What a block took, hooks and all: the median from the start of one to the start of the next, so that a pause before
    /// `--resume` does not count; `null` when not known.
    pub seconds_per_block: Option<f64>,
    /// Why measuring stopped; `null` for samples that do not say.
    pub stop: Option<StopReason>,
    /// What is compared: commands, builds, revisions, files. The first is the reference.
    pub sides: Vec<Side>,
    /// What the sides are compared on: benchmarks, functions. One without a name for commands.
    pub rows: Vec<Row>,
    /// Every metric of every side that is compared, against its reference: first the primary metric, then the secondary ones.
    pub comparisons: Vec<Comparison>,
    /// The tests of all sides together, with `--all`; otherwise `null`.
    pub groups: Option<GroupTests>,
    /// What many comparisons of one metric come to together: of a suite for every side, of a scan for every two sides that are
    /// compared at the same values. They summarise and do not decide.
    pub means: Vec<Mean>,
    /// Every side on every row and at every setting of the parameters, by itself.
    pub descriptions: Vec<Description>,
    /// How the primary metric grows with the parameters of a scan.
    pub curves: Vec<Curve>,
    /// What came of the requests of a load test, for every side at every step; empty for all else.
    pub answers: Vec<Answers>,
    /// What a search for the highest rate (`load --find`) tried, all blocks together; empty for all else.
    pub tries: Vec<Try>,
    /// The suites of tests of all sides (`assay tests`); empty for all else.
    pub suites: Vec<TestSuite>,
    /// What is not on both sides.
    pub only: Vec<Only>,
    /// The four-step check, with the option that asks for it; otherwise `null`.
    pub rigorous: Option<Rigorous>,
    /// What the checks found, the most serious first.
    pub findings: Vec<Finding>,
    /// What was decided before the first block.
    pub plan: Plan,
    /// Facts about the machine, by name, as recorded with the samples. Facts in which files differ stand there a second time,
    /// with the side behind an `@`.
    pub environment: Map<String, Value>,
    /// When the run began (RFC 3339), or `null`.
    pub started: Option<String>,
    /// What made this report, such as `assay 0.1.0`.
    pub tool: String,
    /// The command line that took the samples.
    pub argv: Vec<String>,
    /// The file that keeps the samples, or `null`.
    pub file: Option<String>,
}

words! {
    /// How the comparisons of a family share the allowed error.
    AdjustWord from Adjust {
        /// Holm's: at most so rarely is any direction wrong.
        Source::Holm => Holm,
        /// Benjamini and Hochberg's false discovery rate: of the directions that are reported, at most this share is wrong.
        Source::FalseDiscovery => Bh,
        /// Not at all: each by itself.
        Source::None => None,
    }
}

view! {
    /// What is compared.
    Side of (side: &assay_data::Side) {
        /// Its name; unique.
        name: String = side.name.clone(),
        /// The command line as it was typed, with `{n}` where the value of a parameter comes; `null` where there is none.
        command: Option<String> = side.command.clone(),
        /// The file that the values came from; `null` for what was measured now.
        source: Option<String> = side.source.clone(),
        /// The builds of it that were run by turns, as their files; none where there is one.
        builds: Vec<String> = side.builds.clone(),
    }
}

view! {
    /// What sides are compared on.
    Row of (row: &assay_data::Row) {
        /// Its full name, unique; empty for commands.
        name: String = row.name.clone(),
        /// Its name without parameters, where the tool that measured it says.
        label: Option<String> = row.label.clone(),
        /// What such a row is called, as in `function`; `null` for a benchmark.
        noun: Option<String> = row.noun.clone(),
    }
}

view! {
    /// What the comparisons of one metric of two sides come to.
    Mean of (analysis: &Analysis, table: &analysis::Table<'_>) {
        /// Name of the side.
        of: String = analysis.sides[table.side].name.clone(),
        /// Name of the reference.
        against: String = analysis.sides[table.against].name.clone(),
        /// The metric.
        metric: String = analysis.metrics[table.metric].name.clone(),
        /// Whether it is the primary metric.
        family: Family = if table.metric == analysis.primary { Family::Primary } else { Family::Secondary },
        /// The headline in words; `null` for a scan.
        sentence: Option<String> = analysis.is_suite().then(|| of_rows::headline(analysis, table)),
        /// How many comparisons there are.
        compared: usize = table.rows.len(),
        /// How many are better.
        faster: usize = table.counts().faster,
        /// How many are worse.
        slower: usize = table.counts().slower,
        /// How many are within the threshold.
        equivalent: usize = table.counts().equivalent,
        /// How many are not known.
        inconclusive: usize = table.counts().inconclusive,
        /// The geometric mean of the ratios `of` / `against`, each the Hodges-Lehmann ratio, in blocks the pseudo-median of the
        /// per-block ratios; `null` for fewer than two.
        geometric_mean: Option<f64> = table.mean.map(|m| m.estimate),
        /// Its interval for these rows or values: only the samples could have come out otherwise. `null` where the spread of some is
        /// not known.
        interval_of_these: Option<Interval> = table.mean.and_then(|m| m.of_these).map(Interval::from),
        /// The wider interval for others of which these are a sample; it means nothing where somebody chose them with a purpose.
        interval_of_such: Option<Interval> = table.mean.and_then(|m| m.of_such).map(Interval::from),
        /// How many ratios are in the mean.
        rows: Option<usize> = table.mean.map(|m| m.rows),
    }
}

view! {
    /// Rows that a side has and another lacks, or of which it alone has a metric.
    Only of (analysis: &Analysis, only: &analysis::Only) {
        /// The metric that only this side has of rows on both; `null` where the other side lacks the rows.
        metric: Option<String> = only.metric.map(|metric| analysis.metrics[metric].name.clone()),
        /// Name of the side that has them.
        side: String = analysis.sides[only.side].name.clone(),
        /// Name of the side that lacks them.
        not_on: String = analysis.sides[only.not_on].name.clone(),
        /// Names of the rows.
        rows: Vec<String> = only.rows.iter().map(|&row| analysis.rows[row].name.clone()).collect(),
    }
}
