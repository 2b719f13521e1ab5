//! A plan of an experiment as JSON: the number of runs, what they detect, and the basis of each
//! number. Nothing is rounded.

use super::values::{Scale, view, words};
use super::{Head, Meta};
use assay_analysis::planning::{self as found, Here, Measure, Planning};
use assay_analysis::planning::{blocks, pilot, rank};
use assay_analysis::verdict;
use serde::Serialize;

view! {
    /// The number of runs that a question needs, or the difference that a number of runs detects.
    ExperimentPlan of (planning: &Planning, meta: &Meta) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("plan"),
        /// The plan in words. For people; programs should read the numbers.
        sentence: String = crate::planning::sentence(planning),
        /// The quantity that was calculated.
        solved_for: Quantity => planning.unknown,
        /// Base unit of all amounts (`s`, `B`, `1`, …), or `fraction` for percentages without a
        /// pilot.
        unit: String = match &planning.measure {
            Measure::Unit(unit) => unit.symbol().to_owned(),
            Measure::Fraction => "fraction".to_owned(),
        },
        /// Student's t-test, for independent runs. R: `power.t.test`.
        power_t_test: PowerTTest => planning,
        /// The rank test: Mann-Whitney's, or for pairs the signed-rank test.
        rank: RankTest,
        /// Differences that numbers of runs around the planned one detect.
        curve: Vec<CurvePoint>,
        /// Results of the pilot; `null` without one.
        pilot: Option<Pilot>,
        /// The same question in blocks; `null` without a pilot in blocks.
        blocks: Option<BlocksPlan>,
        /// Estimate from this machine's last calibration for a percentage without a pilot;
        /// otherwise `null`.
        here: Option<Calibration> = Calibration::of(&planning.here),
        /// The seed of the bootstrap and of the simulation.
        seed: u64 => planning.asked.seed,
        /// The tool and version that made this report, such as `assay 0.1.0`.
        tool: String => meta.tool,
        /// The command line.
        argv: Vec<String> => meta.argv,
    }
}

words! {
    /// One of the five quantities of a plan.
    Quantity from found::Unknown {
        /// The number of runs.
        Source::N => N,
        /// The difference.
        Source::Delta => Delta,
        /// The standard deviation.
        Source::Sd => Sd,
        /// The significance level.
        Source::SigLevel => SigLevel,
        /// The power.
        Source::Power => Power,
    }
}

view! {
    /// The five quantities of a plan.
    Quantities of (all: &found::Quantities) {
        /// Number of runs of each side, or of pairs.
        n: Option<f64>,
        /// The true difference, in the unit.
        delta: Option<f64>,
        /// The standard deviation, in the unit; for pairs, that of their differences.
        sd: Option<f64>,
        /// The significance level.
        sig_level: Option<f64>,
        /// The probability of finding the difference.
        power: Option<f64>,
    }
}

view! {
    /// The plan of a t-test, with its settings.
    PowerTTest of (planning: &Planning) {
        /// Quantities of the plan.
        #[serde(flatten)]
        quantities: Quantities => planning.t,
        /// The kind of comparison.
        #[serde(rename = "type")]
        kind: TestType => planning.asked.kind,
        /// The alternative hypothesis.
        alternative: Alternative => planning.asked.alternative,
        /// True if a difference found in the wrong direction counts as found.
        strict: bool => planning.asked.strict,
    }
}

words! {
    /// Kinds of comparisons.
    TestType from found::Kind {
        /// Two samples with `n` values each.
        Source::TwoSample => TwoSample,
        /// One sample against a number.
        Source::OneSample => OneSample,
        /// `n` pairs.
        Source::Paired => Paired,
    }
}

words! {
    /// Alternative hypotheses.
    Alternative from found::Alternative {
        /// Differences in either direction.
        Source::TwoSided => TwoSided,
        /// Only larger values.
        Source::Greater => Greater,
        /// Only smaller values.
        Source::Less => Less,
    }
}

words! {
    /// Bases of a planned number of runs.
    FoundedOn from rank::Founded {
        /// The rule of 15 %, or the given number.
        Source::Rule => Rule,
        /// The normal approximation for the pilot's own distribution.
        Source::Formula => Formula,
        /// Simulated experiments with the pilot's own values.
        Source::Simulation => Simulation,
    }
}

view! {
    /// The plan of a rank test. Members based on the pilot's distribution are `null` without a
    /// pilot.
    RankTest of (plan: &rank::RankPlan) {
        /// Quantities of the t-test with the rule of 15 %: its `n` plus 15 %, times the pilot's
        /// `runs_per_independent`; for few runs, the number that the exact rank test needs. If `n`
        /// was given, the t-test's result for n/1.15, at the actual level of the exact rank test
        /// (with 4 runs per side, no p-value is between 2.9 % and 5.7 %).
        rule_of_thumb: Quantities => plan.rule,
        /// Planned number of runs of each side.
        n: u64,
        /// The basis of that number.
        founded_on: FoundedOn,
        /// The step to which that number was rounded up.
        rounded_to: u64,
        /// The smallest number of independent runs per side with which the exact rank test can
        /// reject at the significance level. Below it, the power is 0; `n` is never planned below
        /// it.
        fewest_n: u64,
        /// Probability, for values like the pilot's, that a value of the other side is larger than
        /// one of the reference; for pairs, that two differences have a positive sum.
        superiority: Option<f64> = plan.distribution.as_ref().map(|d| d.superiority),
        /// Number of runs needed, by the normal approximation for the pilot's distribution.
        formula_n: Option<f64> = plan.distribution.as_ref().and_then(|d| d.formula_n),
        /// Power of `n` runs by the same approximation.
        formula_power: Option<f64> = plan.distribution.as_ref().map(|d| d.formula_power),
        /// Difference that `n` runs detect by the same approximation, if requested; otherwise
        /// `null`.
        formula_delta: Option<f64> = plan.distribution.as_ref().and_then(|d| d.formula_delta),
        /// Number of runs at which simulated experiments reach the power.
        simulated_n: Option<f64> = simulated(plan).and_then(|s| s.n),
        /// Standard error of that number.
        simulated_n_error: Option<f64> = simulated(plan).and_then(|s| s.n_error),
        /// The share of simulated experiments of `n` runs that found the difference.
        simulated_power: Option<f64> = simulated(plan).map(|s| s.power),
        /// Standard error of that share.
        simulated_power_error: Option<f64> = simulated(plan).map(|s| s.power_error),
        /// Number of simulated experiments.
        experiments: Option<u64> = simulated(plan).map(|s| s.experiments),
        /// The reason for a missing simulation; otherwise `null`.
        reason: Option<String> = why_not_simulated(plan),
    }
}

view! {
    /// The power of a number of runs. Rank tests use the pilot's distribution, or the rule of 15 %
    /// without a pilot. A pilot's autocorrelation is accounted for.
    CurvePoint of (point: &found::CurvePoint) {
        /// Number of runs of each side.
        n: u64,
        /// Power of the t-test for the difference in the rank test's plan.
        power_t: Option<f64> => point.t,
        /// Power of the rank test for this difference.
        power_rank: Option<f64> => point.rank,
        /// Difference that the t-test detects with the power in the rank test's plan; `null`
        /// without such a difference.
        delta_t: Option<f64> => point.delta,
        /// Difference that the rank test detects with this power; `null` without such a difference.
        delta_rank: Option<f64>,
    }
}

view! {
    /// Results of a pilot before the experiment.
    Pilot of (pilot: &pilot::Pilot) {
        /// The planned metric.
        metric: String,
        /// Base unit of the metric.
        unit: String,
        /// The median of the reference, which relative differences refer to.
        median: Option<f64>,
        /// The spread of every subject; for pairs, only that of their differences.
        spreads: Vec<PilotSpread>,
        /// The subject with the largest spread.
        noisiest: Option<String> = pilot.spreads.get(pilot.noisiest).map(|s| s.name.clone()),
        /// The standard deviation used for planning: the largest upper end for `noisiest`.
        sd: Option<f64>,
        /// Number of values in the smallest series.
        n: usize,
        /// Number of runs equivalent to one independent run, for the most autocorrelated subject; 1
        /// if autocorrelation does not matter.
        runs_per_independent: Option<f64>,
        /// The difference that ranks could have detected in the pilot itself, by the rule of 15 %.
        detectable: Option<f64>,
        /// Time of one run including pauses, s; `null` if no times were recorded.
        seconds_per_run: Option<f64>,
    }
}

view! {
    /// The spread of a pilot's subject.
    PilotSpread of (spread: &pilot::SpreadOf) {
        /// The subject, or the two subjects of the pairs.
        subject: String => spread.name,
        /// Number of values.
        n: usize,
        /// The standard deviation.
        sd: Option<f64>,
        /// Upper end of its 95 % bootstrap interval, by the normal method; all three ends are
        /// `null` if all values are equal.
        normal_upper: Option<f64>,
        /// Upper end by the basic method.
        basic_upper: Option<f64>,
        /// Upper end by the percentile method.
        percentile_upper: Option<f64>,
        /// Number of resamples.
        resamples: usize,
        /// Autocorrelation time of successive values (1: no correlation).
        autocorrelation_time: Option<f64>,
    }
}

view! {
    /// A plan in blocks. Differences are fractions on the scale `ratio` and amounts on the scale `shift`.
    BlocksPlan of (plan: &blocks::BlocksPlan) {
        /// The subject with the largest spread relative to the reference.
        of: String,
        /// The reference.
        against: String,
        /// Number of blocks of the pilot.
        pilot_blocks: usize,
        /// The number of blocks in question; that of the pilot, if none was given.
        at_blocks: Option<f64>,
        /// The scale of the plan: ratios or differences.
        scale: Scale,
        /// Robust standard deviation of the per-block differences: of logarithms on the scale `ratio`.
        spread: Option<f64>,
        /// The difference that matters; `null` if none was given.
        threshold: Option<f64> = plan.threshold.map(|threshold| size(plan.scale, threshold)),
        /// Plan for a fixed number of blocks.
        fixed: NeededBlocks = NeededBlocks::of(&plan.fixed, plan.scale),
        /// Plan for a run that stops by itself.
        sequential: NeededBlocks = NeededBlocks::of(&plan.sequential, plan.scale),
        /// Time of a block including pauses, s; `null` if no times were recorded.
        seconds_per_block: Option<f64>,
    }
}

view! {
    /// Numbers of blocks for a stopping rule. `null` if no number is enough.
    NeededBlocks of (needed: &blocks::Needed, scale: verdict::Scale) {
        /// Number of blocks to find a difference of the threshold with the requested power.
        to_find: Option<u64>,
        /// Number of blocks to rule out any difference of the threshold in half of all experiments,
        /// if there is none.
        to_rule_out: Option<u64>,
        /// The difference that `at_blocks` blocks detect with the requested power.
        detectable: Option<f64> = Some(size(scale, needed.detectable)),
    }
}

/// Estimate from the last `assay calibrate` on this machine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// The day of the calibration.
    pub calibrated_at: String,
    /// The smallest difference detected within a minute, as a fraction.
    pub in_a_minute: Option<f64>,
    /// Approximate time that `assay run A B` takes for the planned difference, s.
    pub seconds: Option<f64>,
}

impl Calibration {
    fn of(here: &Here) -> Option<Self> {
        let Here::Calibrated { at, in_a_minute, seconds } = here else { return None };
        let (in_a_minute, seconds) = (Some(*in_a_minute), Some(*seconds));
        Some(Self { calibrated_at: at.clone(), in_a_minute, seconds })
    }
}

/// Returns the results of the simulated experiments, if any.
fn simulated(plan: &rank::RankPlan) -> Option<&rank::Simulated> {
    plan.distribution.as_ref()?.simulated.as_ref().ok()
}

fn why_not_simulated(plan: &rank::RankPlan) -> Option<String> {
    match &plan.distribution {
        None => Some("a simulation needs a pilot".to_owned()),
        Some(distribution) => distribution.simulated.as_ref().err().cloned(),
    }
}

/// Returns a difference on a scale as a fraction or an amount.
fn size(scale: verdict::Scale, on_scale: f64) -> f64 {
    if scale == verdict::Scale::Ratio { on_scale.exp_m1() } else { on_scale }
}
