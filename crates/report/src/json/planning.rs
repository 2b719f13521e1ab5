//! A plan of an experiment as JSON: how many runs, what they find, and what each number rests on. Nothing is rounded.

use super::values::{Scale, words};
use super::{Head, Meta};
use assay_analysis::planning::{self as found, Here, Measure, Planning};
use assay_analysis::planning::{blocks, pilot, rank};
use schemars::JsonSchema;
use serde::Serialize;

/// How many runs a question needs, or what a number of runs can find.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExperimentPlan {
    #[serde(flatten)]
    head: Head,
    /// The plan in words. For people; programs should read the numbers.
    pub sentence: String,
    /// The quantity that was not given.
    pub solved_for: Quantity,
    /// Base unit of all amounts (`s`, `B`, `1`, …), or `fraction` where they were given in per cent and there is no pilot.
    pub unit: String,
    /// Student's t test, of independent runs. R: `power.t.test`.
    pub power_t_test: PowerTTest,
    /// The rank test, Mann-Whitney's or of pairs the signed-rank test.
    pub rank: RankTest,
    /// What numbers of runs around the planned one find.
    pub curve: Vec<CurvePoint>,
    /// What the pilot says; `null` without one.
    pub pilot: Option<Pilot>,
    /// The same question in blocks; `null` without a pilot in blocks.
    pub blocks: Option<BlocksPlan>,
    /// What the last calibration of this machine makes of a difference in per cent without a pilot; otherwise `null`.
    pub here: Option<Calibration>,
    /// The seed of the bootstrap and of the simulation.
    pub seed: u64,
    /// What made this report, such as `assay 0.1.0`.
    pub tool: String,
    /// The command line.
    pub argv: Vec<String>,
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

/// The five quantities of a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Quantities {
    /// Runs of each, or pairs.
    pub n: Option<f64>,
    /// The true difference, in the unit.
    pub delta: Option<f64>,
    /// The standard deviation, in the unit; of pairs that of their differences.
    pub sd: Option<f64>,
    /// The significance level.
    pub sig_level: Option<f64>,
    /// The chance to find the difference.
    pub power: Option<f64>,
}

/// The plan of a t test, with what was asked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PowerTTest {
    #[serde(flatten)]
    pub quantities: Quantities,
    /// What is compared.
    #[serde(rename = "type")]
    pub kind: TestType,
    /// Which differences count.
    pub alternative: Alternative,
    /// Whether a difference that is found on the wrong side counts as found.
    pub strict: bool,
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

/// The plan of a rank test. What rests on the pilot's distribution is `null` without a pilot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankTest {
    /// The t test's quantities under the rule of 15 %: its `n` and 15 % more, times the pilot's `runs_per_independent`; of few
    /// runs as many as the exact rank test needs. Where `n` was given, what the t test says of n/1.15, at the level that the exact
    /// rank test of so few really has (of 4 and 4 runs no p-value lies between 2.9 % and 5.7 %).
    pub rule_of_thumb: Quantities,
    /// Runs of each to take.
    pub n: u64,
    /// The step to which they were rounded up.
    pub rounded_to: u64,
    /// With fewer independent runs of each the exact rank test can never reject at the significance level: its power is 0 there,
    /// and `n` is never planned below it.
    pub fewest_n: u64,
    /// With values like the pilot's, the chance that one of the other is larger than one of the reference; of pairs, that two
    /// differences have a positive sum.
    pub superiority: Option<f64>,
    /// The runs needed, by the normal approximation under the pilot's distribution.
    pub formula_n: Option<f64>,
    /// The power of `n` runs by the same.
    pub formula_power: Option<f64>,
    /// The difference that `n` runs find by the same, where that was asked; otherwise `null`.
    pub formula_delta: Option<f64>,
    /// The runs at which simulated experiments reach the power.
    pub simulated_n: Option<f64>,
    /// Its standard error.
    pub simulated_n_error: Option<f64>,
    /// The share of simulated experiments of `n` runs that found the difference.
    pub simulated_power: Option<f64>,
    /// Its standard error.
    pub simulated_power_error: Option<f64>,
    /// How many experiments were simulated.
    pub experiments: Option<u64>,
    /// Why there is no simulation; otherwise `null`.
    pub reason: Option<String>,
}

/// What a number of runs finds. Rank tests are planned by the pilot's distribution, without a pilot by the rule of 15 %. A pilot's
/// autocorrelation is accounted for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// Runs of each.
    pub n: u64,
    /// Power of the t test for the difference of the rank test's answer.
    pub power_t: Option<f64>,
    /// Power of the rank test for it.
    pub power_rank: Option<f64>,
    /// The difference that the t test finds with the power of the rank test's answer; `null` where so few find none.
    pub delta_t: Option<f64>,
    /// The difference that the rank test finds with it; `null` where so few find none.
    pub delta_rank: Option<f64>,
}

/// What a pilot says before the experiment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pilot {
    /// The metric that is planned for.
    pub metric: String,
    /// Its base unit.
    pub unit: String,
    /// The median of the reference, of which a relative difference is a fraction.
    pub median: Option<f64>,
    /// The spread of every subject; of pairs that of their differences alone.
    pub spreads: Vec<PilotSpread>,
    /// The subject that spreads most.
    pub noisiest: Option<String>,
    /// The standard deviation that is planned with: the largest upper end of the noisiest.
    pub sd: Option<f64>,
    /// Values of the smallest series.
    pub n: usize,
    /// How many runs are worth one independent run, by the most autocorrelated subject: 1 where autocorrelation does not matter.
    pub runs_per_independent: Option<f64>,
    /// The difference that ranks could have found in the pilot itself, by the rule of 15 %.
    pub detectable: Option<f64>,
    /// Seconds that one run took, pauses included; `null` where no times were recorded.
    pub seconds_per_run: Option<f64>,
}

/// How much a subject of a pilot spreads.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PilotSpread {
    /// The subject, or the two that make the pairs.
    pub subject: String,
    /// Number of values.
    pub n: usize,
    /// The standard deviation.
    pub sd: Option<f64>,
    /// Upper end of its 95 % bootstrap interval, normal; the three ends are `null` where all values are equal.
    pub normal_upper: Option<f64>,
    /// Upper end of the basic interval.
    pub basic_upper: Option<f64>,
    /// Upper end of the percentile interval.
    pub percentile_upper: Option<f64>,
    /// Number of resamples.
    pub resamples: usize,
    /// How strongly successive values are correlated (1: not at all).
    pub autocorrelation_time: Option<f64>,
}

/// A plan in blocks. Differences are fractions on the scale `ratio` and amounts on the scale `shift`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlocksPlan {
    /// The subject that spreads most against the reference.
    pub of: String,
    /// The reference.
    pub against: String,
    /// Blocks of the pilot.
    pub pilot_blocks: usize,
    /// The number of blocks asked about; the pilot's, where none was.
    pub at_blocks: Option<f64>,
    /// Whether ratios or differences are planned for.
    pub scale: Scale,
    /// Robust standard deviation of the per-block differences: of logarithms on the scale `ratio`.
    pub spread: Option<f64>,
    /// The difference that matters; `null` where none was given.
    pub threshold: Option<f64>,
    /// For a fixed number of blocks.
    pub fixed: NeededBlocks,
    /// For a run that stops by itself.
    pub sequential: NeededBlocks,
    /// Seconds that a block took, pauses included; `null` where no times were recorded.
    pub seconds_per_block: Option<f64>,
}

/// The blocks that a way of stopping needs. `null` where no number is enough.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NeededBlocks {
    /// To find a difference of the threshold with the power asked for.
    pub to_find: Option<u64>,
    /// To rule out any as large in half of all experiments, if there is none.
    pub to_rule_out: Option<u64>,
    /// The difference that `at_blocks` blocks find with the power asked for.
    pub detectable: Option<f64>,
}

/// What the last `assay calibrate` of this machine makes of a difference.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Calibration {
    /// The day of the calibration.
    pub calibrated_at: String,
    /// The smallest difference that it detects in a minute, a fraction.
    pub in_a_minute: Option<f64>,
    /// Roughly the seconds that `assay run A B` takes for the difference of the plan.
    pub seconds: Option<f64>,
}

impl From<&found::Quantities> for Quantities {
    fn from(all: &found::Quantities) -> Self {
        Self {
            n: Some(all.n),
            delta: Some(all.delta),
            sd: Some(all.sd),
            sig_level: Some(all.sig_level),
            power: Some(all.power),
        }
    }
}

impl From<&rank::RankPlan> for RankTest {
    fn from(plan: &rank::RankPlan) -> Self {
        let distribution = plan.distribution.as_ref();
        let simulated = distribution.and_then(|d| d.simulated.as_ref().ok());
        let reason = match distribution {
            None => Some("a simulation needs a pilot".to_owned()),
            Some(distribution) => distribution.simulated.as_ref().err().cloned(),
        };
        Self {
            rule_of_thumb: (&plan.rule).into(),
            n: plan.n,
            rounded_to: plan.rounded_to,
            fewest_n: plan.fewest_n,
            superiority: distribution.map(|d| d.superiority),
            formula_n: distribution.and_then(|d| d.formula_n),
            formula_power: distribution.map(|d| d.formula_power),
            formula_delta: distribution.and_then(|d| d.formula_delta),
            simulated_n: simulated.and_then(|s| s.n),
            simulated_n_error: simulated.and_then(|s| s.n_error),
            simulated_power: simulated.map(|s| s.power),
            simulated_power_error: simulated.map(|s| s.power_error),
            experiments: simulated.map(|s| s.experiments),
            reason,
        }
    }
}

impl From<&pilot::SpreadOf> for PilotSpread {
    fn from(spread: &pilot::SpreadOf) -> Self {
        Self {
            subject: spread.name.clone(),
            n: spread.n,
            sd: Some(spread.sd),
            normal_upper: spread.normal_upper,
            basic_upper: spread.basic_upper,
            percentile_upper: spread.percentile_upper,
            resamples: spread.resamples,
            autocorrelation_time: Some(spread.autocorrelation_time),
        }
    }
}

impl From<&pilot::Pilot> for Pilot {
    fn from(pilot: &pilot::Pilot) -> Self {
        Self {
            metric: pilot.metric.clone(),
            unit: pilot.unit.symbol().to_owned(),
            median: Some(pilot.median),
            spreads: pilot.spreads.iter().map(Into::into).collect(),
            noisiest: pilot.spreads.get(pilot.noisiest).map(|s| s.name.clone()),
            sd: Some(pilot.sd),
            n: pilot.n,
            runs_per_independent: Some(pilot.runs_per_independent),
            detectable: pilot.detectable,
            seconds_per_run: pilot.seconds_per_run,
        }
    }
}

impl From<&blocks::BlocksPlan> for BlocksPlan {
    fn from(plan: &blocks::BlocksPlan) -> Self {
        let size = |on_scale: f64| match plan.scale {
            assay_analysis::Scale::Ratio => on_scale.exp_m1(),
            assay_analysis::Scale::Shift => on_scale,
        };
        let needed = |needed: &blocks::Needed| NeededBlocks {
            to_find: needed.to_find,
            to_rule_out: needed.to_rule_out,
            detectable: Some(size(needed.detectable)),
        };
        Self {
            of: plan.of.clone(),
            against: plan.against.clone(),
            pilot_blocks: plan.pilot_blocks,
            at_blocks: Some(plan.at_blocks),
            scale: (&plan.scale).into(),
            spread: Some(plan.spread),
            threshold: plan.threshold.map(size),
            fixed: needed(&plan.fixed),
            sequential: needed(&plan.sequential),
            seconds_per_block: plan.seconds_per_block,
        }
    }
}

/// A plan in full.
pub fn of_planning(planning: &Planning, meta: &Meta) -> ExperimentPlan {
    let asked = &planning.asked;
    ExperimentPlan {
        head: Head::of("plan"),
        sentence: crate::planning::sentence(planning),
        solved_for: (&planning.unknown).into(),
        unit: match &planning.measure {
            Measure::Unit(unit) => unit.symbol().to_owned(),
            Measure::Fraction => "fraction".to_owned(),
        },
        power_t_test: PowerTTest {
            quantities: (&planning.t).into(),
            kind: (&asked.kind).into(),
            alternative: (&asked.alternative).into(),
            strict: asked.strict,
        },
        rank: (&planning.rank).into(),
        curve: planning
            .curve
            .iter()
            .map(|point| CurvePoint {
                n: point.n,
                power_t: Some(point.t),
                power_rank: Some(point.rank),
                delta_t: point.delta,
                delta_rank: point.delta_rank,
            })
            .collect(),
        pilot: planning.pilot.as_ref().map(Into::into),
        blocks: planning.blocks.as_ref().map(Into::into),
        here: match &planning.here {
            Here::NotAsked | Here::NotCalibrated => None,
            Here::Calibrated { at, in_a_minute, seconds } => Some(Calibration {
                calibrated_at: at.clone(),
                in_a_minute: Some(*in_a_minute),
                seconds: Some(*seconds),
            }),
        },
        seed: asked.seed,
        tool: meta.tool.clone(),
        argv: meta.argv.clone(),
    }
}
