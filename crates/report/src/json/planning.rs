//! A plan of an experiment as JSON: the number of runs, what they detect, and the basis of each
//! number. Nothing is rounded.

use super::values::{Scale, view, words};
use super::{Head, Meta};
use assay_analysis::planning::{self as found, Here, Measure, Planning};
use assay_analysis::planning::{blocks, pilot, rank};
use assay_analysis::verdict;
use serde::Serialize;

view! {
    /// How many runs a question needs, or what a number of runs can find.
    ExperimentPlan of (planning: &Planning, meta: &Meta) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("plan"),
        /// The plan in words. For people; programs should read the numbers.
        sentence: String = crate::planning::sentence(planning),
        /// The quantity that was not given.
        solved_for: Quantity = (&planning.unknown).into(),
        /// Base unit of all amounts (`s`, `B`, `1`, …), or `fraction` where they were given in per cent and there is no pilot.
        unit: String = match &planning.measure {
            Measure::Unit(unit) => unit.symbol().to_owned(),
            Measure::Fraction => "fraction".to_owned(),
        },
        /// Student's t test, of independent runs. R: `power.t.test`.
        power_t_test: PowerTTest = PowerTTest::of(planning),
        /// The rank test, Mann-Whitney's or of pairs the signed-rank test.
        rank: RankTest = RankTest::of(&planning.rank),
        /// What numbers of runs around the planned one find.
        curve: Vec<CurvePoint> = planning.curve.iter().map(CurvePoint::of).collect(),
        /// What the pilot says; `null` without one.
        pilot: Option<Pilot> = planning.pilot.as_ref().map(Pilot::of),
        /// The same question in blocks; `null` without a pilot in blocks.
        blocks: Option<BlocksPlan> = planning.blocks.as_ref().map(BlocksPlan::of),
        /// What the last calibration of this machine makes of a difference in per cent without a pilot; otherwise `null`.
        here: Option<Calibration> = Calibration::of(&planning.here),
        /// The seed of the bootstrap and of the simulation.
        seed: u64 = planning.asked.seed,
        /// What made this report, such as `assay 0.1.0`.
        tool: String = meta.tool.clone(),
        /// The command line.
        argv: Vec<String> = meta.argv.clone(),
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
        /// Runs of each, or pairs.
        n: Option<f64> = Some(all.n),
        /// The true difference, in the unit.
        delta: Option<f64> = Some(all.delta),
        /// The standard deviation, in the unit; of pairs that of their differences.
        sd: Option<f64> = Some(all.sd),
        /// The significance level.
        sig_level: Option<f64> = Some(all.sig_level),
        /// The chance to find the difference.
        power: Option<f64> = Some(all.power),
    }
}

view! {
    /// The plan of a t test, with what was asked.
    PowerTTest of (planning: &Planning) {
        /// Its quantities.
        #[serde(flatten)]
        quantities: Quantities = Quantities::of(&planning.t),
        /// What is compared.
        #[serde(rename = "type")]
        kind: TestType = (&planning.asked.kind).into(),
        /// Which differences count.
        alternative: Alternative = (&planning.asked.alternative).into(),
        /// Whether a difference that is found on the wrong side counts as found.
        strict: bool = planning.asked.strict,
    }
}

words! {
    /// What a test compares.
    TestType from found::Kind {
        /// Two samples of `n` values each.
        Source::TwoSample => TwoSample,
        /// One sample with a number.
        Source::OneSample => OneSample,
        /// `n` pairs.
        Source::Paired => Paired,
    }
}

words! {
    /// Which differences count.
    Alternative from found::Alternative {
        /// Those to either side.
        Source::TwoSided => TwoSided,
        /// Only larger values.
        Source::Greater => Greater,
        /// Only smaller values.
        Source::Less => Less,
    }
}

words! {
    /// What a planned number of runs rests on.
    FoundedOn from rank::Founded {
        /// The rule of 15 %, or whoever gave the number.
        Source::Rule => Rule,
        /// The normal approximation under the pilot's own distribution.
        Source::Formula => Formula,
        /// Simulated experiments with the pilot's own values.
        Source::Simulation => Simulation,
    }
}

view! {
    /// The plan of a rank test. What rests on the pilot's distribution is `null` without a pilot.
    RankTest of (plan: &rank::RankPlan) {
        /// The t test's quantities under the rule of 15 %: its `n` and 15 % more, times the pilot's `runs_per_independent`; of few
        /// runs as many as the exact rank test needs. Where `n` was given, what the t test says of n/1.15, at the level that the exact
        /// rank test of so few really has (of 4 and 4 runs no p-value lies between 2.9 % and 5.7 %).
        rule_of_thumb: Quantities = Quantities::of(&plan.rule),
        /// Runs of each to take.
        n: u64 = plan.n,
        /// What that number rests on.
        founded_on: FoundedOn = (&plan.founded_on).into(),
        /// The step to which they were rounded up.
        rounded_to: u64 = plan.rounded_to,
        /// With fewer independent runs of each the exact rank test can never reject at the significance level: its power is 0 there,
        /// and `n` is never planned below it.
        fewest_n: u64 = plan.fewest_n,
        /// With values like the pilot's, the chance that one of the other is larger than one of the reference; of pairs, that two
        /// differences have a positive sum.
        superiority: Option<f64> = plan.distribution.as_ref().map(|d| d.superiority),
        /// The runs needed, by the normal approximation under the pilot's distribution.
        formula_n: Option<f64> = plan.distribution.as_ref().and_then(|d| d.formula_n),
        /// The power of `n` runs by the same.
        formula_power: Option<f64> = plan.distribution.as_ref().map(|d| d.formula_power),
        /// The difference that `n` runs find by the same, where that was asked; otherwise `null`.
        formula_delta: Option<f64> = plan.distribution.as_ref().and_then(|d| d.formula_delta),
        /// The runs at which simulated experiments reach the power.
        simulated_n: Option<f64> = simulated(plan).and_then(|s| s.n),
        /// Its standard error.
        simulated_n_error: Option<f64> = simulated(plan).and_then(|s| s.n_error),
        /// The share of simulated experiments of `n` runs that found the difference.
        simulated_power: Option<f64> = simulated(plan).map(|s| s.power),
        /// Its standard error.
        simulated_power_error: Option<f64> = simulated(plan).map(|s| s.power_error),
        /// How many experiments were simulated.
        experiments: Option<u64> = simulated(plan).map(|s| s.experiments),
        /// Why there is no simulation; otherwise `null`.
        reason: Option<String> = why_not_simulated(plan),
    }
}

view! {
    /// What a number of runs finds. Rank tests are planned by the pilot's distribution, without a pilot by the rule of 15 %. A pilot's
    /// autocorrelation is accounted for.
    CurvePoint of (point: &found::CurvePoint) {
        /// Runs of each.
        n: u64 = point.n,
        /// Power of the t test for the difference of the rank test's answer.
        power_t: Option<f64> = Some(point.t),
        /// Power of the rank test for it.
        power_rank: Option<f64> = Some(point.rank),
        /// The difference that the t test finds with the power of the rank test's answer; `null` where so few find none.
        delta_t: Option<f64> = point.delta,
        /// The difference that the rank test finds with it; `null` where so few find none.
        delta_rank: Option<f64> = point.delta_rank,
    }
}

view! {
    /// What a pilot says before the experiment.
    Pilot of (pilot: &pilot::Pilot) {
        /// The metric that is planned for.
        metric: String = pilot.metric.clone(),
        /// Its base unit.
        unit: String = pilot.unit.symbol().to_owned(),
        /// The median of the reference, of which a relative difference is a fraction.
        median: Option<f64> = Some(pilot.median),
        /// The spread of every subject; of pairs that of their differences alone.
        spreads: Vec<PilotSpread> = pilot.spreads.iter().map(PilotSpread::of).collect(),
        /// The subject that spreads most.
        noisiest: Option<String> = pilot.spreads.get(pilot.noisiest).map(|s| s.name.clone()),
        /// The standard deviation that is planned with: the largest upper end of the noisiest.
        sd: Option<f64> = Some(pilot.sd),
        /// Values of the smallest series.
        n: usize = pilot.n,
        /// How many runs are worth one independent run, by the most autocorrelated subject: 1 where autocorrelation does not matter.
        runs_per_independent: Option<f64> = Some(pilot.runs_per_independent),
        /// The difference that ranks could have found in the pilot itself, by the rule of 15 %.
        detectable: Option<f64> = pilot.detectable,
        /// Seconds that one run took, pauses included; `null` where no times were recorded.
        seconds_per_run: Option<f64> = pilot.seconds_per_run,
    }
}

view! {
    /// How much a subject of a pilot spreads.
    PilotSpread of (spread: &pilot::SpreadOf) {
        /// The subject, or the two that make the pairs.
        subject: String = spread.name.clone(),
        /// Number of values.
        n: usize = spread.n,
        /// The standard deviation.
        sd: Option<f64> = Some(spread.sd),
        /// Upper end of its 95 % bootstrap interval, normal; the three ends are `null` where all values are equal.
        normal_upper: Option<f64> = spread.normal_upper,
        /// Upper end of the basic interval.
        basic_upper: Option<f64> = spread.basic_upper,
        /// Upper end of the percentile interval.
        percentile_upper: Option<f64> = spread.percentile_upper,
        /// Number of resamples.
        resamples: usize = spread.resamples,
        /// How strongly successive values are correlated (1: not at all).
        autocorrelation_time: Option<f64> = Some(spread.autocorrelation_time),
    }
}

view! {
    /// A plan in blocks. Differences are fractions on the scale `ratio` and amounts on the scale `shift`.
    BlocksPlan of (plan: &blocks::BlocksPlan) {
        /// The subject that spreads most against the reference.
        of: String = plan.of.clone(),
        /// The reference.
        against: String = plan.against.clone(),
        /// Blocks of the pilot.
        pilot_blocks: usize = plan.pilot_blocks,
        /// The number of blocks asked about; the pilot's, where none was.
        at_blocks: Option<f64> = Some(plan.at_blocks),
        /// Whether ratios or differences are planned for.
        scale: Scale = (&plan.scale).into(),
        /// Robust standard deviation of the per-block differences: of logarithms on the scale `ratio`.
        spread: Option<f64> = Some(plan.spread),
        /// The difference that matters; `null` where none was given.
        threshold: Option<f64> = plan.threshold.map(|threshold| size(plan.scale, threshold)),
        /// For a fixed number of blocks.
        fixed: NeededBlocks = NeededBlocks::of(&plan.fixed, plan.scale),
        /// For a run that stops by itself.
        sequential: NeededBlocks = NeededBlocks::of(&plan.sequential, plan.scale),
        /// Seconds that a block took, pauses included; `null` where no times were recorded.
        seconds_per_block: Option<f64> = plan.seconds_per_block,
    }
}

view! {
    /// The blocks that a way of stopping needs. `null` where no number is enough.
    NeededBlocks of (needed: &blocks::Needed, scale: verdict::Scale) {
        /// To find a difference of the threshold with the power asked for.
        to_find: Option<u64> = needed.to_find,
        /// To rule out any as large in half of all experiments, if there is none.
        to_rule_out: Option<u64> = needed.to_rule_out,
        /// The difference that `at_blocks` blocks find with the power asked for.
        detectable: Option<f64> = Some(size(scale, needed.detectable)),
    }
}

/// What the last `assay calibrate` of this machine makes of a difference.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// The day of the calibration.
    pub calibrated_at: String,
    /// The smallest difference that it detects in a minute, a fraction.
    pub in_a_minute: Option<f64>,
    /// Roughly the seconds that `assay run A B` takes for the difference of the plan.
    pub seconds: Option<f64>,
}

impl Calibration {
    fn of(here: &Here) -> Option<Self> {
        let Here::Calibrated { at, in_a_minute, seconds } = here else { return None };
        let (in_a_minute, seconds) = (Some(*in_a_minute), Some(*seconds));
        Some(Self { calibrated_at: at.clone(), in_a_minute, seconds })
    }
}

/// What the simulated experiments say, where there were any.
fn simulated(plan: &rank::RankPlan) -> Option<&rank::Simulated> {
    plan.distribution.as_ref()?.simulated.as_ref().ok()
}

fn why_not_simulated(plan: &rank::RankPlan) -> Option<String> {
    match &plan.distribution {
        None => Some("a simulation needs a pilot".to_owned()),
        Some(distribution) => distribution.simulated.as_ref().err().cloned(),
    }
}

/// A difference on a scale as a fraction or an amount.
fn size(scale: verdict::Scale, on_scale: f64) -> f64 {
    if scale == verdict::Scale::Ratio { on_scale.exp_m1() } else { on_scale }
}
