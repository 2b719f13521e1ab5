//! What is decided before the first block, whatever is measured: how many blocks, for how long, how strictly, and from which seed.

use crate::args::JudgeArgs;
use crate::seed;
use assay_analysis::design;
use assay_data::plan::look_level;
use assay_data::{Action, Finding, Metric, Plan, Severity, StopRule, Threshold, Unit};
use assay_report::number;

/// Seconds that measuring takes at most by default.
pub(crate) const BUDGET: f64 = 60.0;
/// Seconds that what is compared with nothing is measured by default: nothing waits for a verdict.
pub(crate) const BUDGET_ALONE: f64 = 10.0;
/// Seconds to which the default budget stretches while there are too few blocks for a verdict.
pub(crate) const CEILING: f64 = 300.0;

/// What `--quick` makes of `--time`.
pub(crate) const QUICK: &str = "3s";

/// How long to measure, as the user says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct When {
    /// Exactly so many blocks.
    pub runs: Option<u32>,
    /// Time budget, s.
    pub time: Option<f64>,
    /// Seed of the random order.
    pub seed: Option<u64>,
}

/// The plan, before anything is known about how long a run takes. One that stops by itself gives up at `max_blocks`.
pub(crate) fn plan(when: When, judge: &JudgeArgs, primary: &str, max_blocks: u32) -> Plan {
    let confidence = judge.confidence.unwrap_or(0.95);
    let stop = match when.runs {
        Some(blocks) => StopRule::Fixed { blocks },
        None => StopRule::Sequential { look_level: look_level(confidence), max_blocks },
    };
    Plan {
        confidence,
        threshold: judge.threshold.clone().unwrap_or_default(),
        stop,
        budget_seconds: when.time.or_else(|| when.runs.is_none().then_some(BUDGET)),
        warmup: 0,
        primary: primary.to_owned(),
        secondary: judge.secondary.clone(),
        until: None,
        seed: when.seed.unwrap_or_else(seed::fresh),
    }
}

/// The same for what is counted so often and not timed. `given`: the options that say how long to time, and whether they are there;
/// `what` is counted.
///
/// # Errors
/// When one of them is there.
pub(crate) fn counting_plan(
    plan: Plan,
    times: u32,
    given: &[(bool, &str)],
    what: &str,
) -> anyhow::Result<Plan> {
    if let Some((_, option)) = given.iter().find(|(given, _)| *given) {
        anyhow::bail!(
            "{option}: with --primary {} nothing is timed, and {what} is counted {times} times; leave {option} out",
            plan.primary
        );
    }
    Ok(Plan { stop: StopRule::Fixed { blocks: times }, budget_seconds: None, ..plan })
}

/// The plan of a run that is resumed: the one that it was begun with, with a new budget. What was decided before the first block
/// can't be decided anew after some of them were seen.
pub(crate) fn resumed(begun: Plan, time: Option<f64>) -> Plan {
    let budget_seconds = match begun.stop {
        StopRule::Fixed { .. } => time,
        StopRule::Sequential { .. } => Some(time.unwrap_or(BUDGET)),
    };
    Plan { budget_seconds, ..begun }
}

/// Why a metric can't be had: there is none of this name; with the one that was probably meant.
pub(crate) fn no_such_metric(option: &str, name: &str, known: &[&str]) -> String {
    let meant = known.iter().find(|own| own.ends_with(&format!("_{}", name.replace('.', "_"))));
    let meant = meant.map_or(String::new(), |own| format!("; did you mean {own}?"));
    format!("{option} {name}: there is no such metric{meant}; known are {}", known.join(", "))
}

/// An absolute threshold has to be in the unit of what decides.
///
/// # Errors
/// In words, when it is not.
pub(crate) fn check_threshold(plan: &Plan, metric: &Metric) -> Result<(), String> {
    match &plan.threshold {
        Threshold::Absolute { unit, .. } if *unit != metric.unit => Err(format!(
            "--threshold is in {}, but {} is measured in {}; give it in that unit or in %",
            unit.symbol(),
            metric.name,
            metric.unit.symbol()
        )),
        _ => Ok(()),
    }
}

/// How a plan is spoken of for which time is too short.
pub(crate) struct Words<'a> {
    /// What takes so long.
    pub block: &'a str,
    /// What the verdict is on, behind `a verdict`.
    pub on: &'a str,
    /// What can be done about it, from the seconds and the blocks that would suffice.
    pub advice: &'a dyn Fn(f64, u32) -> Vec<Action>,
}

/// Says so where there is no time for a verdict, before it is spent.
pub(crate) fn too_short(
    plan: &Plan,
    block_seconds: f64,
    time: Option<f64>,
    comparisons: usize,
    words: &Words<'_>,
) -> Option<Finding> {
    let limit = time.unwrap_or(CEILING);
    let design::TooFew { blocks, needed } =
        design::too_few_fit(plan, block_seconds, limit, comparisons)?;
    let message = format!(
        "one {} takes about {}: {} has time for {blocks}; that is too few for a verdict{}, {needed} are needed",
        words.block,
        number::rough(block_seconds, &Unit::Second),
        number::chosen(limit, &Unit::Second),
        words.on,
    );
    let enough = (block_seconds * f64::from(needed) * 1.2).ceil();
    let finding = few_planned(message, blocks).with("block_seconds", block_seconds);
    Some((words.advice)(enough, needed).into_iter().fold(finding, Finding::advise))
}

/// Says so where a number of blocks was given that can't lead to a verdict, before their time is spent.
pub(crate) fn too_few_runs(plan: &Plan, comparisons: usize) -> Option<Finding> {
    let StopRule::Fixed { blocks } = plan.stop else { return None };
    let needed = design::fewest_blocks(plan, comparisons);
    if comparisons == 0 || blocks >= needed {
        return None;
    }
    let message = format!(
        "{blocks} of them are too few for a verdict on {comparisons} {}: {needed} are needed",
        if comparisons == 1 { "comparison" } else { "comparisons together" }
    );
    Some(few_planned(message, blocks).advise(Action::FixRuns { runs: needed.into() }))
}

fn few_planned(message: String, blocks: u32) -> Finding {
    Finding::new("FEW_BLOCKS_PLANNED", Severity::Note, message).with("blocks", f64::from(blocks))
}
