//! A comparison as JSON: a metric of one side against the reference, on one row and at one setting
//! of the parameters.
//!
//! Primary and secondary metrics have the same layout, as do runs, scans, suites and profiles.

use super::battery::PairTests;
use super::values::{Better, Both, Design, Estimate, Scale, Verdict, level, words};
use crate::benchmarks::words::reason;
use crate::words::{Bound, Reported};
use assay_analysis::protocol::QuantileDifference;
use assay_analysis::{Basis, Effect};
use assay_data::{Metric, Plan};
use serde::Serialize;
use serde_json::{Map, Value};

/// A server whose requests fail beyond those of the other.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failing {
    /// Its side.
    pub side: String,
    /// Share of its requests that failed.
    pub share: f64,
    /// The same of the other side.
    pub other_share: f64,
    /// The slice, counted from 1, from which on it answered nothing; `null` if it still answers.
    pub stopped_in_slice: Option<usize>,
    /// Its slices.
    pub slices: usize,
    /// How long it answered nothing between slices, when it had nothing else to do, s.
    pub silent_seconds: f64,
}

/// One metric of one side against the reference. Effects are `of` / `against` and `of` − `against`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name of the side that the verdict is about.
    pub of: String,
    /// Name of the side that is the reference. In a scan of one command it is the same side, with other parameters.
    pub against: String,
    /// Name of the row (benchmark, function); empty for commands.
    pub row: String,
    /// The parameters by name: of a scan, or of a benchmark.
    pub parameters: Map<String, Value>,
    /// The parameters of the reference: the same, unless a scan compares with another value.
    pub against_parameters: Map<String, Value>,
    /// What was compared.
    pub metric: String,
    /// The metric's base unit: `s`, `B`, `1`, `1/s`, or another tool's.
    pub unit: String,
    /// With which other comparisons the allowed error is shared.
    pub family: Family,
    /// How the samples were taken.
    pub design: Design,
    /// Which values are better; `null` where nothing says so. Then `slower` stands for larger values.
    pub better: Option<Better>,
    /// What is known of the difference.
    pub verdict: Verdict,
    /// The size of the difference as the sentence has it, which is what programs should report: `ratio.estimate` of few or noisy values
    /// exaggerates. `null` without a direction.
    pub size: Option<Size>,
    /// True where the direction is known, but not that the difference exceeds the threshold.
    pub possibly_below_threshold: bool,
    /// The side of a load test whose requests fail beyond the other's: then that decided the verdict, and no value did. `null` otherwise.
    pub failing: Option<Failing>,
    /// The verdict in words. For people; programs should read the numbers.
    pub sentence: String,
    /// `of` / `against`. The whole is `null` where a value is zero or negative. The one of `ratio` and `shift` that `scale` names
    /// has both ends wherever there is a verdict other than `inconclusive` that failures did not decide. The other may have none although there is one: its own
    /// differences are tested for dependence, and where the machine changed its speed during the run, a steady ratio is no steady amount.
    pub ratio: Option<Estimate>,
    /// `of` − `against`, in the unit. Where `scale` is `ratio` it may lack its ends: see there.
    pub shift: Estimate,
    /// Which of the two decided.
    pub scale: Scale,
    /// The threshold that was applied, on that scale: a fraction for `ratio`, an amount for `shift`. `null` where there is none
    /// (a fraction of 0).
    pub threshold: Option<f64>,
    /// Confidence of the whole run.
    pub confidence: f64,
    /// Two-sided level of the interval: smaller than 1 − `confidence` where the run looked often, or at several comparisons.
    pub level: Option<f64>,
    /// True where the interval holds whenever the run is stopped.
    pub anytime_valid: bool,
    /// Complete blocks of this metric; `null` when not taken in blocks.
    pub blocks: Option<usize>,
    /// The fewest blocks at which there could be a verdict; `null` when not taken in blocks.
    pub fewest_blocks: Option<u32>,
    /// What was compared.
    pub basis: ComparisonBasis,
    /// What a unit is called where `basis` is `units`: `process`, `build`; otherwise `null`.
    pub unit_of_basis: Option<String>,
    /// Number of values (units, where `basis` is `units`: of builds that were run in blocks those of either side); `null` where a summary does not say.
    pub counts: Counts,
    /// Medians over what was compared.
    pub medians: Both,
    /// Arithmetic means over what was compared.
    pub means: Both,
    /// 99 % quantiles over what was compared.
    pub p99: Both,
    /// Ratio of the medians, for distributions whose shapes differ; `null` where `ratio` is.
    pub ratio_of_medians: Option<f64>,
    /// Where in the distribution the difference lies; empty for secondary metrics and below 20 values on a side.
    pub quantiles: Vec<Quantile>,
    /// How often the side was better.
    pub wins: Wins,
    /// How many independent blocks (values of the smaller side, when unpaired) the interval is worth.
    pub effective_sample_size: Option<f64>,
    /// What is known of the dependence of successive differences (of the values of the worse side, when unpaired), on which the interval
    /// rests.
    pub dependence: Dependence,
    /// Whether the dependence of the differences, or of the values of a side, could not be tested because there are fewer than 24 of them;
    /// `dependence` then speaks of the other side.
    pub dependence_untested: bool,
    /// Rank autocorrelation of neighbours among them; `null` where there are none.
    pub lag1: Option<f64>,
    /// Whether the size of a difference is known to half of it; else the sentence says only what it is at least.
    pub size_known: bool,
    /// Why there is no interval on `scale`; `null` where there is one.
    pub no_interval: Option<WhyNoInterval>,
    /// The same in words.
    pub reason: Option<String>,
    /// The step in which values come, on the scale of `threshold`. What it hides is part of `ratio` and `shift`.
    pub clock_step: Option<f64>,
    /// How far layout alone moves the metric, on the scale of `threshold`: 95 % of builds of one source lie within so much of their
    /// mean. `null` without several builds a side, or with too few blocks to know it.
    pub layout: Option<f64>,
    /// The smallest true difference that such an experiment finds in 80 of 100 cases, on the scale of `threshold`; `null`
    /// without an interval.
    pub detectable: Option<f64>,
    /// Forecasts for a comparison that is not settled; otherwise `null`.
    pub outlook: Option<Outlook>,
    /// Every classical test of the primary metric, with `--all`; otherwise `null`.
    pub tests: Option<PairTests>,
}

/// The reported size of a difference: one of the three, the others are `null`. Signed, `of` against `against`: on the scale `ratio` a
/// fraction of the reference (0.1 for 10 % more, −0.2 for 20 % less), on `shift` an amount in the unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Size {
    /// The size, where it is known to half of itself.
    pub number: Option<f64>,
    /// A lower bound, if no more is known.
    pub at_least: Option<f64>,
    /// An upper bound, if runs that hit the time limit allow no more.
    pub at_most: Option<f64>,
}

/// With which other comparisons the allowed error is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The comparisons of the metric that decides: all sides, all values of a scan, all rows of a suite.
    Primary,
    /// The comparisons of all other metrics.
    Secondary,
    /// A control (`run --control`): a command against itself, by itself. No verdict depends on it.
    Control,
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonBasis {
    /// The values.
    Values,
    /// The means of processes or builds, where a tool recorded several, because values within one are not independent.
    Units,
    /// Means from summaries: no values survive.
    Summary,
}

/// Numbers of values.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// That of the side that the verdict is about.
    pub of: Option<usize>,
    /// That of the reference.
    pub against: Option<usize>,
}

/// In how many blocks (pairs of values, when unpaired) the side was better or worse.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wins {
    /// Better than the reference.
    pub better: Option<f64>,
    /// Worse than the reference.
    pub worse: Option<f64>,
    /// Out of how many, ties included.
    pub of: Option<f64>,
}

words! {
    /// What is known of the dependence of successive values or differences.
    Dependence from assay_analysis::dependence::Dependence {
        /// It was tested, and none beyond chance was found.
        Source::Unseen => NoneFound,
        /// There are too few for a test: 24 are needed.
        Source::Untested => NotTested,
        /// There is some, and the interval is widened for it.
        Source::Noticed => Noticed,
        /// There is so much that there is no interval.
        Source::TooStrong => TooStrong,
    }
}

words! {
    /// Why a comparison has no interval.
    WhyNoInterval from assay_analysis::NoInterval {
        /// There are too few values, units or blocks at this level.
        Source::TooFew { .. } => TooFew,
        /// Successive values, or differences of blocks, are too strongly correlated.
        Source::TooDependent => Autocorrelated,
        /// The run was resumed with a different setup, so its blocks are not one experiment.
        Source::Mixed => ResumedDifferent,
        /// A summary does not say how many values it is of.
        Source::NoCount => NoCount,
        /// A summary has no spread.
        Source::NoSpread => NoSpread,
    }
}

/// Forecasts for a comparison that is not settled.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// Blocks more to rule out any difference above the threshold, if there is none.
    pub to_rule_out: Option<u64>,
    /// Blocks more to confirm what is seen now.
    pub to_confirm: Option<u64>,
    /// The threshold that a whole run could rule out, where `to_rule_out` is beyond it; on the scale of `threshold`.
    pub reachable_threshold: Option<f64>,
}

/// The difference of one quantile, from order statistics: valid for any distribution.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantile {
    /// The share of values below it: 0.99 for p99.
    pub share: f64,
    /// The quantile of the side that the verdict is about.
    pub of: Option<f64>,
    /// The quantile of the reference.
    pub against: Option<f64>,
    /// `of` − `against`, with its interval at `confidence`; no ends below `fewest` independent values on a side.
    pub shift: Estimate,
    /// `of` / `against`, likewise; the whole is `null` where a value is zero or negative.
    pub ratio: Option<Estimate>,
    /// p-value against no difference; `null` without an interval.
    pub p: Option<f64>,
    /// The p-value adjusted for all quantiles (Benjamini and Hochberg).
    pub p_adjusted: Option<f64>,
    /// Values on each side below which this quantile has no interval.
    pub fewest: u64,
}

impl From<&QuantileDifference> for Quantile {
    fn from(q: &QuantileDifference) -> Self {
        Self {
            share: q.share,
            of: Some(q.y),
            against: Some(q.x),
            shift: Effect { estimate: q.difference, interval: q.interval }.into(),
            ratio: q.ratio.map(|estimate| Estimate::new(estimate, q.ratio_interval)),
            p: q.p,
            p_adjusted: q.adjusted,
            fewest: q.fewest,
        }
    }
}

/// One of the two that are compared, as the comparison's key names it.
pub(crate) struct Key<'a> {
    pub side: &'a str,
    pub parameters: Map<String, Value>,
}

/// What a comparison does not know of itself.
pub(crate) struct Context<'a> {
    pub of: Key<'a>,
    pub against: Key<'a>,
    pub row: &'a str,
    pub metric: &'a Metric,
    pub family: Family,
    pub sentence: String,
    /// The size that the sentence has, on the scale of the decision.
    pub size: Option<Reported>,
    pub plan: &'a Plan,
    pub tests: Option<PairTests>,
}

impl Comparison {
    /// A comparison with its names.
    pub(crate) fn new(context: Context<'_>, c: &assay_analysis::Comparison) -> Self {
        let Context { of, against, row, metric, family, sentence, size: reported, plan, tests } =
            context;
        let scale = c.decision.scale;
        // Sizes on the logarithmic scale are shown as fractions, like the threshold given by the
        // user.
        let size = |on_scale: f64| match scale {
            assay_analysis::Scale::Ratio => on_scale.exp_m1(),
            assay_analysis::Scale::Shift => on_scale,
        };
        let in_blocks = c.design == assay_data::Design::Blocks;
        // The number of values of a summary may be unknown.
        let count = |n: usize| (n > 0 || c.basis != Basis::Summary).then_some(n);
        let (basis, unit_of_basis) = match &c.basis {
            Basis::Values => (ComparisonBasis::Values, None),
            Basis::Units(unit) => (ComparisonBasis::Units, Some(unit.clone())),
            Basis::Summary => (ComparisonBasis::Summary, None),
        };
        Self {
            of: of.side.to_owned(),
            against: against.side.to_owned(),
            row: row.to_owned(),
            parameters: of.parameters,
            against_parameters: against.parameters,
            metric: metric.name.clone(),
            unit: metric.unit.symbol().to_owned(),
            family,
            design: (&c.design).into(),
            better: (!metric.undirected).then(|| (&metric.better).into()),
            verdict: (&c.decision.verdict).into(),
            size: reported.map(|reported| {
                let is = |bound: Bound| (reported.bound == bound).then(|| size(reported.size));
                Size {
                    number: is(Bound::None),
                    at_least: is(Bound::AtLeast),
                    at_most: is(Bound::AtMost),
                }
            }),
            possibly_below_threshold: c.decision.possibly_below_threshold,
            failing: c.failing.as_ref().map(|own| Failing {
                side: if own.subject == c.of { of.side } else { against.side }.to_owned(),
                share: own.share(),
                other_share: own.other_share,
                stopped_in_slice: own.stopped,
                slices: own.slices,
                silent_seconds: own.silent_seconds,
            }),
            sentence,
            ratio: c.ratio.map(Estimate::from),
            shift: c.shift.into(),
            scale: (&scale).into(),
            threshold: Some(size(c.decision.threshold)),
            confidence: plan.confidence,
            level: Some(level(c.level)),
            anytime_valid: in_blocks && plan.is_sequential() && c.basis == Basis::Values,
            blocks: c.blocks,
            fewest_blocks: (c.fewest_blocks > 0).then_some(c.fewest_blocks),
            basis,
            unit_of_basis,
            counts: Counts { of: count(c.counts.1), against: count(c.counts.0) },
            medians: Both::new(c.medians),
            means: Both::new(c.means),
            p99: Both::new(c.p99),
            ratio_of_medians: c.ratio_of_medians(),
            quantiles: c.quantiles.iter().map(Quantile::from).collect(),
            wins: Wins {
                better: Some(c.wins.better),
                worse: Some(c.wins.worse),
                of: Some(c.wins.of),
            },
            effective_sample_size: Some(c.effective),
            dependence: (&c.dependence).into(),
            dependence_untested: c.untested,
            lag1: Some(c.lag1),
            size_known: c.decision.size_is_known(),
            no_interval: c.no_interval().as_ref().map(WhyNoInterval::from),
            reason: reason(c),
            clock_step: Some(size(c.decision.clock_step)),
            layout: c.layout.map(|sd| size(1.96 * sd)),
            detectable: c.detectable.map(size),
            outlook: c.outlook.map(|outlook| Outlook {
                to_rule_out: outlook.to_rule_out,
                to_confirm: outlook.to_confirm,
                reachable_threshold: outlook.reachable_threshold.map(size),
            }),
            tests,
        }
    }
}
