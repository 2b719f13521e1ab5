//! A comparison as JSON: a metric of one side against the reference, on one row and at one setting
//! of the parameters.
//!
//! Primary and secondary metrics have the same layout, as do runs, scans, suites and profiles.

use super::battery::PairTests;
use super::values::{
    Better, Both, Design, Estimate, Interval, Scale, Verdict, View, level, view, words,
};
use crate::benchmarks::words::reason;
use crate::words::{Bound, Reported};
use assay_analysis::protocol::QuantileDifference;
use assay_analysis::{Basis, Effect};
use assay_data::{Metric, Plan};
use serde::Serialize;
use serde_json::{Map, Value};

/// A server with more failed requests than the other.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failing {
    /// Name of the side.
    pub side: String,
    /// Share of its requests that failed.
    pub share: f64,
    /// Share of failed requests of the other side.
    pub other_share: f64,
    /// Number of the slice, from 1, from which on it no longer answered; `null` if it still
    /// answers.
    pub stopped_in_slice: Option<usize>,
    /// Number of slices.
    pub slices: usize,
    /// Total time without an answer between slices, while it had nothing else to do, s.
    pub silent_seconds: f64,
}

/// One metric of one side, compared with the reference. Effects are `of` / `against` and `of` −
/// `against`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name of the side that the verdict is about.
    pub of: String,
    /// Name of the reference side. In a scan of one command it is the same side, with other
    /// parameters.
    pub against: String,
    /// Name of the row (benchmark, function); empty for commands.
    pub row: String,
    /// Parameters by name, of a scan or of a benchmark.
    pub parameters: Map<String, Value>,
    /// Parameters of the reference; different only if a scan compares with another value.
    pub against_parameters: Map<String, Value>,
    /// Name of the metric.
    pub metric: String,
    /// Base unit of the metric: `s`, `B`, `1`, `1/s`, or another tool's.
    pub unit: String,
    /// The other comparisons that share the allowed error.
    pub family: Family,
    /// The design of the experiment.
    pub design: Design,
    /// The direction of better values; `null` if unknown. In that case `slower` means larger
    /// values.
    pub better: Option<Better>,
    /// The verdict on the difference.
    pub verdict: Verdict,
    /// The size of the difference as in `sentence`. Programs should report this one, because
    /// `ratio.estimate` exaggerates if values are few or noisy. `null` without a direction.
    pub size: Option<Size>,
    /// True if the direction is known, but the difference may be smaller than the threshold.
    pub possibly_below_threshold: bool,
    /// The side of a load test with more failed requests than the other, if the failures decided
    /// the verdict instead of the values; otherwise `null`.
    pub failing: Option<Failing>,
    /// The verdict in words. For people; programs should read the numbers.
    pub sentence: String,
    /// `of` / `against`. `null` as a whole if a value is zero or negative. Of `ratio` and `shift`,
    /// the one named by `scale` has both ends whenever the verdict is not `inconclusive` and was
    /// not decided by failures. The other may have no ends even then, because the dependence of its
    /// differences is tested separately: if the machine changed its speed during the run, a
    /// constant ratio is not a constant amount.
    pub ratio: Option<Estimate>,
    /// `of` − `against`, in the unit. If `scale` is `ratio`, it may have no ends: see `ratio`.
    pub shift: Estimate,
    /// The scale that decided: `ratio` or `shift`.
    pub scale: Scale,
    /// The applied threshold on that scale: a fraction for `ratio`, an amount for `shift`. `null`
    /// if there is none (a fraction of 0).
    pub threshold: Option<f64>,
    /// Confidence of the whole run.
    pub confidence: f64,
    /// Two-sided level of the interval: smaller than 1 − `confidence` if the run looked several
    /// times, or has several comparisons.
    pub level: Option<f64>,
    /// True if the interval holds no matter when the run is stopped.
    pub anytime_valid: bool,
    /// Number of complete blocks of this metric; `null` if not measured in blocks.
    pub blocks: Option<usize>,
    /// The smallest number of blocks that allows a verdict; `null` if not measured in blocks.
    pub fewest_blocks: Option<u32>,
    /// The kind of values that were compared.
    pub basis: ComparisonBasis,
    /// The name of a unit if `basis` is `units`: `process`, `build`; otherwise `null`.
    pub unit_of_basis: Option<String>,
    /// Number of values of each side (if `basis` is `units`, of units; for builds measured in
    /// blocks, the builds of each side); `null` if a summary does not state it.
    pub counts: Counts,
    /// Medians of the compared values.
    pub medians: Both,
    /// Arithmetic means of the compared values.
    pub means: Both,
    /// 99 % quantiles of the compared values.
    pub p99: Both,
    /// Ratio of the medians, for distributions with different shapes; `null` if `ratio` is.
    pub ratio_of_medians: Option<f64>,
    /// The difference at each quantile; empty for secondary metrics and below 20 values per side.
    pub quantiles: Vec<Quantile>,
    /// Number of blocks in which the side was better or worse.
    pub wins: Wins,
    /// Width of the interval relative to the unweighted one if blocks of quiet times count more,
    /// because the noise changed during the run; otherwise `null`.
    pub weighted: Option<f64>,
    /// Effective number of independent blocks (of values of the smaller side, if unpaired) behind
    /// the interval.
    pub effective_sample_size: Option<f64>,
    /// Dependence of successive differences (if unpaired, of the values of the worse side), which
    /// affects the interval.
    pub dependence: Dependence,
    /// True if the dependence of the differences, or of the values of a side, could not be tested
    /// because there are fewer than 24 of them. `dependence` then refers to the other side.
    pub dependence_untested: bool,
    /// Rank autocorrelation of neighbors among them; `null` if there are none.
    pub lag1: Option<f64>,
    /// True if the size of the difference is known to within half of itself; otherwise the sentence
    /// only states a lower bound.
    pub size_known: bool,
    /// The reason for a missing interval on `scale`; otherwise `null`.
    pub no_interval: Option<WhyNoInterval>,
    /// The same reason in words.
    pub reason: Option<String>,
    /// The resolution of the values, on the scale of `threshold`. Its effect is included in `ratio`
    /// and `shift`.
    pub clock_step: Option<f64>,
    /// The effect of code layout alone on the metric, on the scale of `threshold`: 95 % of builds
    /// of the same source are within this distance of their mean. `null` without several builds per
    /// side, or with too few blocks.
    pub layout: Option<f64>,
    /// The role among the benchmarks whose code is the same on both sides.
    pub role: Role,
    /// If `role` is `judged`: the range of the difference without a change, as fractions, at
    /// `level`; the interval of `ratio` includes it. Otherwise `null`.
    pub without_change: Option<Interval>,
    /// The smallest true difference that 80 of 100 such experiments find, on the scale of
    /// `threshold`; `null` without an interval.
    pub detectable: Option<f64>,
    /// Forecasts for an undecided comparison; otherwise `null`.
    pub outlook: Option<Outlook>,
    /// Every classical test of the primary metric, with `--all`; otherwise `null`.
    pub tests: Option<PairTests>,
}

/// The reported size of a difference. Exactly one of the three members is not `null`. Sizes are
/// signed, `of` relative to `against`: on the scale `ratio` a fraction of the reference (0.1 for 10
/// % more, −0.2 for 20 % less), on `shift` an amount in the unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Size {
    /// The size, if it is known to within half of itself.
    pub number: Option<f64>,
    /// A lower bound, if no more is known.
    pub at_least: Option<f64>,
    /// An upper bound, if this is all that is known because runs reached the time limit.
    pub at_most: Option<f64>,
}

/// The comparisons that share the allowed error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Comparisons of the primary metric: all sides, all values of a scan, all rows of a suite.
    Primary,
    /// Comparisons of all other metrics.
    Secondary,
    /// A control (`run --control`): a command compared with itself, in a family of its own. No
    /// verdict depends on it.
    Control,
}

/// The kind of values that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonBasis {
    /// Single values.
    Values,
    /// Means of processes or builds, for tools that recorded several, because values within one are
    /// not independent.
    Units,
    /// Means from summaries, without single values.
    Summary,
}

/// Numbers of values.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Value for the side that the verdict is about.
    pub of: Option<usize>,
    /// Value for the reference.
    pub against: Option<usize>,
}

view! {
    /// Number of blocks (if unpaired, of pairs of values) in which the side was better or worse.
    Wins of (wins: &assay_analysis::comparison::Wins) {
        /// Number in which it was better than the reference.
        better: Option<f64>,
        /// Number in which it was worse than the reference.
        worse: Option<f64>,
        /// Total number, including ties.
        of: Option<f64>,
    }
}

words! {
    /// The dependence of successive values or differences.
    Dependence from assay_analysis::dependence::Dependence {
        /// Tested: no more dependence than chance.
        Source::Unseen => NoneFound,
        /// Not tested: there are fewer than 24.
        Source::Untested => NotTested,
        /// Found: the interval is widened for it.
        Source::Noticed => Noticed,
        /// So strong that there is no interval.
        Source::TooStrong => TooStrong,
    }
}

words! {
    /// The role of a comparison among negative controls: benchmarks whose code is the same on both
    /// sides.
    Role from assay_analysis::Role {
        /// The suite has fewer than ten controls.
        Source::Alone => Alone,
        /// The benchmark is a control: it moved for other reasons than its code.
        Source::Control => Control,
        /// The benchmark is judged by the controls: its interval covers how far they moved.
        Source::Judged { .. } => Judged,
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
        /// A summary does not state its number of values.
        Source::NoCount => NoCount,
        /// A summary has no spread.
        Source::NoSpread => NoSpread,
    }
}

/// Forecasts for an undecided comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// Number of further blocks to rule out any difference above the threshold, if there is none.
    pub to_rule_out: Option<u64>,
    /// Number of further blocks to confirm the present estimate.
    pub to_confirm: Option<u64>,
    /// The threshold that a complete run could rule out, if `to_rule_out` is out of reach; on the
    /// scale of `threshold`.
    pub reachable_threshold: Option<f64>,
}

view! {
    /// The difference of one quantile, from order statistics: valid for any distribution.
    Quantile of (q: &QuantileDifference) {
        /// The share of values below it: 0.99 for p99.
        share: f64,
        /// The quantile of the side that the verdict is about.
        of: Option<f64> => q.y,
        /// The quantile of the reference.
        against: Option<f64> => q.x,
        /// `of` − `against`, with its interval at `confidence`; both ends are `null` with fewer than
        /// `fewest` independent values per side.
        shift: Estimate = Effect { estimate: q.difference, interval: q.interval }.into(),
        /// `of` / `against`, likewise; `null` as a whole if a value is zero or negative.
        ratio: Option<Estimate> = q.ratio.map(|estimate| Estimate::new(estimate, q.ratio_interval)),
        /// p-value against no difference; `null` without an interval.
        p: Option<f64>,
        /// The p-value adjusted for all quantiles (Benjamini and Hochberg).
        p_adjusted: Option<f64> => q.adjusted,
        /// The smallest number of values per side for which this quantile has an interval.
        fewest: u64,
    }
}

/// One of the two compared sides, as named by the comparison's key.
pub(crate) struct Key<'a> {
    pub side: &'a str,
    pub parameters: Map<String, Value>,
}

/// Facts about a comparison that are not in the comparison itself.
pub(crate) struct Context<'a> {
    pub of: Key<'a>,
    pub against: Key<'a>,
    pub row: &'a str,
    pub metric: &'a Metric,
    pub family: Family,
    pub sentence: String,
    /// The size in the sentence, on the scale of the decision.
    pub size: Option<Reported>,
    pub plan: &'a Plan,
    pub tests: Option<PairTests>,
}

impl Comparison {
    /// Returns a comparison with its names.
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
            quantiles: View::view(&c.quantiles),
            wins: View::view(&c.wins),
            weighted: c.weighted,
            effective_sample_size: Some(c.effective),
            dependence: (&c.dependence).into(),
            dependence_untested: c.untested,
            lag1: Some(c.lag1),
            size_known: c.decision.size_is_known(),
            no_interval: c.no_interval().as_ref().map(WhyNoInterval::from),
            reason: reason(c),
            clock_step: Some(size(c.decision.clock_step)),
            layout: c.layout.map(|sd| size(1.96 * sd)),
            role: (&c.role).into(),
            without_change: match c.role {
                assay_analysis::Role::Judged { range, .. } => {
                    let (lower, upper) = (Some(size(range.lower)), Some(size(range.upper)));
                    Some(Interval { lower, upper })
                }
                _ => None,
            },
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
