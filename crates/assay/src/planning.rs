//! Decisions made before the first block of any measurement: the number of blocks, the time budget,
//! the confidence level and the seed.

use crate::args::{JudgeArgs, seconds};
use crate::seed;
use assay_analysis::design;
use assay_data::code;
use assay_data::metric_names;
use assay_data::plan::look_level;
use assay_data::{Action, Finding, Metric, Plan, StopRule, Threshold, Unit};
use assay_report::number;

/// Default time budget of a comparison, in seconds.
pub(crate) const BUDGET: f64 = 60.0;
/// Default time budget without a comparison, in seconds. It is short because there is no verdict to
/// wait for.
pub(crate) const BUDGET_ALONE: f64 = 10.0;
/// Limit up to which the default budget is extended while there are too few blocks for a verdict,
/// in seconds.
pub(crate) const CEILING: f64 = 300.0;

/// Events that are counted only on request.
const EVENTS: [&str; 3] = ["instructions", "cycles", "cache-misses"];

/// Options for the duration of a measurement, shared by the verbs that compare sides in blocks.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "How long")]
pub(crate) struct DurationArgs {
    /// Measure exactly N blocks and evaluate once, instead of stopping when the verdicts are clear
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,

    /// Time budget [default: 60s, 10s for one side]
    ///
    /// Extended to at most 5min if the minimum number of blocks for a verdict takes longer.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    #[arg(default_value_if("quick", "true", "3s"))]
    pub time: Option<f64>,

    /// Take a quick look: --time 3s
    #[arg(long, conflicts_with_all = ["time", "runs"])]
    pub quick: bool,

    /// Seed of the random order [default: a new one, recorded]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    pub seed: Option<u64>,
}

/// Returns the plan, before the duration of a run is known. A plan without a fixed number of blocks
/// gives up at `max_blocks`.
pub(crate) fn plan(when: &DurationArgs, judge: &JudgeArgs, primary: &str, max_blocks: u32) -> Plan {
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

/// Returns the plan for counting `times` times without timing. `given` lists the options that
/// control timing, and whether each was given.
///
/// # Errors
/// Fails if any of these options was given.
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

/// Returns the plan of a resumed run, which is the original plan with a new budget. Decisions made
/// before the first block cannot be changed after some blocks have been seen.
pub(crate) fn resumed(begun: Plan, time: Option<f64>) -> Plan {
    let budget_seconds = match begun.stop {
        StopRule::Fixed { .. } => time,
        StopRule::Sequential { .. } => Some(time.unwrap_or(BUDGET)),
    };
    Plan { budget_seconds, ..begun }
}

/// Returns the message that no metric has this name, with a suggestion if one was probably meant.
pub(crate) fn no_such_metric(option: &str, name: &str, known: &[&str]) -> String {
    let meant = match metric_names::meant(name, known) {
        Some(own) => format!("; did you mean {own}?"),
        None if EVENTS.contains(&name) => format!("; count it with --counters {name}"),
        None => String::new(),
    };
    format!("{option} {name}: there is no such metric{meant}; known are {}", known.join(", "))
}

/// Checks that an absolute threshold has the unit of the deciding metric.
///
/// # Errors
/// Returns a message if the units differ.
pub(crate) fn check_threshold(plan: &Plan, metric: &Metric) -> Result<(), String> {
    match &plan.threshold {
        Threshold::Absolute { unit, .. } if *unit != metric.unit => Err(format!(
            "--threshold is in {}, but {} is measured in {}; write {}",
            unit.symbol(),
            metric.name,
            metric.unit.symbol(),
            match &metric.unit {
                Unit::Second => "e.g. 5ms or 1%",
                Unit::Byte => "e.g. 64KiB or 1%",
                Unit::One => "e.g. 2units or 1%",
                _ => "a percentage, e.g. 1%",
            }
        )),
        _ => Ok(()),
    }
}

/// Wording of the warning that a plan has too little time.
pub(crate) struct Words<'a> {
    /// Word for a block: `block` or `round`.
    pub block: &'a str,
    /// What the verdict is about, appended to `a verdict`.
    pub on: &'a str,
    /// Returns the advice, given the number of seconds and of blocks that would suffice.
    pub advice: &'a dyn Fn(f64, u32) -> Vec<Action>,
}

/// Returns a warning if the time is too short for a verdict, before any of it is spent.
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

/// Returns the announcement that the default budget is extended because a first verdict takes
/// longer; `None` if no extension is needed, or if even the extended budget is too short
/// ([`too_short`]).
pub(crate) fn extended(plan: &Plan, block_seconds: f64, comparisons: usize) -> Option<String> {
    let budget = plan.budget_seconds?;
    let design::TooFew { needed, .. } =
        design::too_few_fit(plan, block_seconds, budget, comparisons)?;
    let least = block_seconds * f64::from(needed);
    (least <= CEILING).then(|| {
        format!(
            "a block takes about {}, and a first verdict {needed} blocks, at least {}: that is more than the budget of {}, which --time {budget}s would enforce",
            number::rough(block_seconds, &Unit::Second),
            number::rough(least, &Unit::Second),
            number::chosen(budget, &Unit::Second),
        )
    })
}

/// Returns a warning if the given number of blocks is too small for a verdict, before any is
/// measured.
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
    Finding::new(code::TOO_FEW, message).with("blocks", f64::from(blocks))
}
