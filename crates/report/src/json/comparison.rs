//! A comparison as JSON: one metric of one side against the reference, for one row and one setting
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

/// The side of a load test whose server failed more requests than the other.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failing {
    /// Name of the side whose server failed more requests.
    pub side: String,
    /// Share of this side's requests that failed, 0 to 1.
    pub share: f64,
    /// Share of the other side's requests that failed, 0 to 1.
    pub other_share: f64,
    /// Number of the slice, from 1, in which the server stopped answering; `null` if it answered
    /// until the end.
    pub stopped_in_slice: Option<usize>,
    /// Total number of slices.
    pub slices: usize,
    /// Total time between slices, in seconds, in which the server was idle and did not answer.
    pub silent_seconds: f64,
}

/// One metric of one side, compared with the reference. Effects are given as the ratio `of` /
/// `against` and as the difference `of` − `against`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name of the side that the verdict is about.
    pub of: String,
    /// Name of the reference side. In a scan of one command it equals `of`, with other parameters.
    pub against: String,
    /// Name of the row, such as a benchmark or a function; empty for commands.
    pub row: String,
    /// Parameters of a scan or of a benchmark, by name.
    pub parameters: Map<String, Value>,
    /// Parameters of the reference, by name. They differ from `parameters` only if a scan compares
    /// with another value.
    pub against_parameters: Map<String, Value>,
    /// Name of the metric.
    pub metric: String,
    /// Base unit of the metric: `s`, `B`, `1`, `1/s`, or a unit of another tool.
    pub unit: String,
    /// The group of comparisons that share the allowed error probability.
    pub family: Family,
    /// The design of the experiment.
    pub design: Design,
    /// Direction of better values; `null` if unknown. If it is `null`, the verdict `slower` means
    /// larger values.
    pub better: Option<Better>,
    /// The verdict on the difference.
    pub verdict: Verdict,
    /// Size of the difference as in `sentence`; `null` if the direction is unknown. Programs should
    /// report this size, because `ratio.estimate` exaggerates if values are few or noisy.
    pub size: Option<Size>,
    /// True if the direction is known, but the difference may be smaller than the threshold.
    pub possibly_below_threshold: bool,
    /// The side of a load test with more failed requests than the other, if the failures instead of
    /// the values decided the verdict; otherwise `null`.
    pub failing: Option<Failing>,
    /// The verdict in words, for human readers. Programs should read the numbers.
    pub sentence: String,
    /// Ratio `of` / `against`; `null` as a whole if a value is zero or negative. `scale` selects
    /// `ratio` or `shift` as the one that decides. The selected one has both ends whenever the
    /// verdict is neither `inconclusive` nor decided by failures. The other one may lack ends even
    /// then, because the dependence of its differences is tested separately. For example, if the
    /// machine changed its speed during the run, a constant ratio does not mean a constant
    /// difference.
    pub ratio: Option<Estimate>,
    /// Difference `of` − `against`, in the unit of the metric. If `scale` is `ratio`, the ends may
    /// be missing, for the reason given at `ratio`.
    pub shift: Estimate,
    /// Scale that decides the verdict: `ratio` or `shift`.
    pub scale: Scale,
    /// Threshold on the scale that decides: a fraction for `ratio`, an amount for `shift`. `null`
    /// if it cannot be expressed on this scale, as for a fraction of a reference of zero.
    pub threshold: Option<f64>,
    /// Confidence that applies to the whole run.
    pub confidence: f64,
    /// Two-sided error level of the interval. It is smaller than 1 − `confidence` if the data was
    /// examined several times during the run, or if there are several comparisons.
    pub level: Option<f64>,
    /// True if the interval is valid regardless of when the run is stopped.
    pub anytime_valid: bool,
    /// Number of complete blocks of this metric; `null` if it was not measured in blocks.
    pub blocks: Option<usize>,
    /// Smallest number of blocks that allows a verdict; `null` if the metric was not measured in
    /// blocks.
    pub fewest_blocks: Option<u32>,
    /// The kind of values that were compared.
    pub basis: ComparisonBasis,
    /// Name of the unit if `basis` is `units`, such as `process` or `build`; otherwise `null`.
    pub unit_of_basis: Option<String>,
    /// Number of values of each side; `null` for a summary that does not state it. If `basis` is
    /// `units`, it is the number of units; for builds measured in blocks, the number of builds of
    /// each side.
    pub counts: Counts,
    /// Medians of the compared values.
    pub medians: Both,
    /// Arithmetic means of the compared values.
    pub means: Both,
    /// 99 % quantiles of the compared values.
    pub p99: Both,
    /// Ratio of the medians, for distributions with different shapes; `null` if `ratio` is `null`.
    pub ratio_of_medians: Option<f64>,
    /// Differences of single quantiles; empty for secondary metrics, and with fewer than 20 values
    /// per side.
    pub quantiles: Vec<Quantile>,
    /// Numbers of blocks in which the side was better or worse.
    pub wins: Wins,
    /// Width of the interval relative to the unweighted interval. It is given if the noise changed
    /// during the run, so that blocks from quiet times have more weight; otherwise `null`.
    pub weighted: Option<f64>,
    /// Effective number of independent blocks on which the interval is based. For unpaired data, it
    /// is the number of independent values of the smaller side.
    pub effective_sample_size: Option<f64>,
    /// Dependence between successive differences, which affects the interval. For unpaired data, it
    /// is the dependence between successive values of the more dependent side.
    pub dependence: Dependence,
    /// True if dependence could not be tested, because there are fewer than 24 differences, or
    /// fewer than 24 values of a side. In the latter case, `dependence` refers to the other side.
    pub dependence_untested: bool,
    /// Rank autocorrelation between successive differences or values; `null` if it is unknown.
    pub lag1: Option<f64>,
    /// True if the size of the difference is known to within half of itself. Otherwise, the
    /// sentence states only a lower bound.
    pub size_known: bool,
    /// The reason why there is no interval on the scale that decides; otherwise `null`.
    pub no_interval: Option<WhyNoInterval>,
    /// The reason in `no_interval` in words; otherwise `null`.
    pub reason: Option<String>,
    /// Resolution of the values, on the scale of `threshold`. Its effect is included in the
    /// intervals of `ratio` and `shift`.
    pub clock_step: Option<f64>,
    /// Effect of code layout alone on the metric, on the scale of `threshold`: 95 % of builds of
    /// one source are within this distance of their mean. `null` without several builds per side,
    /// or with too few blocks.
    pub layout: Option<f64>,
    /// Role of the benchmark in relation to the negative controls, which are benchmarks whose code
    /// is equal on both sides.
    pub role: Role,
    /// Range of the differences expected without a change, as fractions, at `level`. The interval
    /// of `ratio` takes it into account. `null` unless `role` is `judged`.
    pub without_change: Option<Interval>,
    /// Smallest true difference that is found by 80 % of experiments like this one, on the scale of
    /// `threshold`; `null` without an interval.
    pub detectable: Option<f64>,
    /// Forecasts for an undecided comparison; otherwise `null`.
    pub outlook: Option<Outlook>,
    /// All classical tests of the primary metric, if `--all` was given; otherwise `null`.
    pub tests: Option<PairTests>,
}

/// The reported size of a difference. Exactly one of the three members is not `null`. Sizes are
/// signed and describe `of` relative to `against`. On the scale `ratio`, they are fractions of the
/// reference (0.1 for 10 % more, −0.2 for 20 % less). On the scale `shift`, they are amounts in the
/// unit of the metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Size {
    /// The size, if it is known to within half of itself; otherwise `null`.
    pub number: Option<f64>,
    /// A lower bound of the magnitude, with the sign of the difference, if only that is known;
    /// otherwise `null`.
    pub at_least: Option<f64>,
    /// An upper bound of the magnitude, with the sign of the difference, if only that is known
    /// because runs reached the time limit; otherwise `null`.
    pub at_most: Option<f64>,
}

/// A group of comparisons that share the allowed error probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Comparisons of the primary metric: all sides, all values of a scan, all rows of a suite.
    Primary,
    /// Comparisons of all other metrics.
    Secondary,
    /// A control (`run --control`), which compares a command with itself. It belongs to a separate
    /// family, and no verdict depends on it.
    Control,
}

/// The kind of values that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonBasis {
    /// Single values.
    Values,
    /// Means of processes or builds, for tools that record several of them. Values within one
    /// process or build are not independent.
    Units,
    /// Means taken from summaries, without single values.
    Summary,
}

/// Numbers of values of both sides.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Number for the side that the verdict is about.
    pub of: Option<usize>,
    /// Number for the reference.
    pub against: Option<usize>,
}

view! {
    /// Numbers of blocks in which the side was better or worse. For unpaired data, pairs of values
    /// are counted instead.
    Wins of (wins: &assay_analysis::comparison::Wins) {
        /// Number of blocks or pairs in which the side was better than the reference.
        better: Option<f64>,
        /// Number of blocks or pairs in which the side was worse than the reference.
        worse: Option<f64>,
        /// Total number of blocks or pairs, including ties.
        of: Option<f64>,
    }
}

words! {
    /// Dependence between successive values or differences.
    Dependence from assay_analysis::dependence::Dependence {
        /// Tested; there is no more dependence than chance explains.
        Source::Unseen => NoneFound,
        /// Not tested, because there are fewer than 24 values or differences.
        Source::Untested => NotTested,
        /// Found; the interval was widened accordingly.
        Source::Noticed => Noticed,
        /// Too strong for an interval to be computed.
        Source::TooStrong => TooStrong,
    }
}

words! {
    /// The role of a comparison with respect to negative controls, which are benchmarks whose code
    /// is equal on both sides.
    Role from assay_analysis::Role {
        /// The suite has fewer than ten controls, so that the benchmark is judged on its own.
        Source::Alone => Alone,
        /// The benchmark is a control. It can change only for reasons other than its code.
        Source::Control => Control,
        /// The benchmark is judged by the controls. Its interval takes into account how much they
        /// changed.
        Source::Judged { .. } => Judged,
    }
}

words! {
    /// The reason why a comparison has no interval.
    WhyNoInterval from assay_analysis::NoInterval {
        /// There are too few values, units or blocks for an interval at this level.
        Source::TooFew { .. } => TooFew,
        /// Successive values, or successive differences of blocks, are too strongly correlated.
        Source::TooDependent => Autocorrelated,
        /// The run was resumed with a different setup, so its blocks do not form one experiment.
        Source::Mixed => ResumedDifferent,
        /// A summary does not state its number of values.
        Source::NoCount => NoCount,
        /// A summary does not state the spread of its values.
        Source::NoSpread => NoSpread,
    }
}

/// Forecasts for an undecided comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// Estimated number of further blocks needed to rule out a difference above the threshold,
    /// assuming that there is none; `null` if it cannot be estimated.
    pub to_rule_out: Option<u64>,
    /// Estimated number of further blocks needed to confirm the present estimate in 80 % of runs,
    /// if it is the true difference; `null` if it cannot be estimated.
    pub to_confirm: Option<u64>,
    /// Smallest threshold that a complete run could rule out, on the scale of `threshold`. It is
    /// given if `to_rule_out` exceeds the maximum number of blocks; otherwise `null`.
    pub reachable_threshold: Option<f64>,
}

view! {
    /// The difference of one quantile. It is computed from order statistics and valid for any
    /// distribution.
    Quantile of (q: &QuantileDifference) {
        /// Share of the values below the quantile: 0.99 for p99.
        share: f64,
        /// Quantile of the side that the verdict is about.
        of: Option<f64> => q.y,
        /// Quantile of the reference.
        against: Option<f64> => q.x,
        /// Difference `of` − `against`, with its interval at `confidence`. Both ends are `null`
        /// with fewer than `fewest` independent values per side.
        shift: Estimate = Effect { estimate: q.difference, interval: q.interval }.into(),
        /// Ratio `of` / `against`, with its interval at `confidence`; `null` as a whole if a value
        /// is zero or negative.
        ratio: Option<Estimate> = q.ratio.map(|estimate| Estimate::new(estimate, q.ratio_interval)),
        /// p-value for the hypothesis of no difference; `null` without an interval.
        p: Option<f64>,
        /// p-value adjusted for the number of quantiles (Benjamini and Hochberg).
        p_adjusted: Option<f64> => q.adjusted,
        /// Smallest number of values per side for which this quantile has an interval.
        fewest: u64,
    }
}

/// One of the two compared sides, with its parameters.
pub(crate) struct Key<'a> {
    pub side: &'a str,
    pub parameters: Map<String, Value>,
}

/// Facts about a comparison that the analysis does not store in the comparison itself.
pub(crate) struct Context<'a> {
    pub of: Key<'a>,
    pub against: Key<'a>,
    pub row: &'a str,
    pub metric: &'a Metric,
    pub family: Family,
    pub sentence: String,
    /// Size of the difference as stated in the sentence, on the scale of the decision.
    pub size: Option<Reported>,
    pub plan: &'a Plan,
    pub tests: Option<PairTests>,
}

impl Comparison {
    /// Converts a comparison to its JSON form.
    pub(crate) fn new(context: Context<'_>, c: &assay_analysis::Comparison) -> Self {
        let Context { of, against, row, metric, family, sentence, size: reported, plan, tests } =
            context;
        let scale = c.decision.scale;
        // Sizes on the logarithmic scale are written as fractions, like the threshold given by the
        // user.
        let size = |on_scale: f64| match scale {
            assay_analysis::Scale::Ratio => on_scale.exp_m1(),
            assay_analysis::Scale::Shift => on_scale,
        };
        let in_blocks = c.design == assay_data::Design::Blocks;
        // A count of 0 means that the number of values of a summary is unknown.
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
