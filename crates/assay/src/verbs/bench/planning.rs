//! What is decided after trying everything out and before the first block: which metric decides, how many blocks, for how long.

use super::WhenArgs;
use crate::args::JudgeArgs;
use crate::bench::{Benchmarks, Catalogue, Passes, TIMES, Trial};
use crate::counted::Counted;
use crate::seed;
use crate::verbs::compare::suite::SuiteArgs;
use anyhow::bail;
use assay_analysis::benchmarks::Adjust;
use assay_analysis::{design, paired};
use assay_data::plan::{MAX_BLOCKS, look_level};
use assay_data::samples::NOT_COMPARED;
use assay_data::{Action, Finding, Plan, Severity, Source, StopRule, Threshold, Unit};
use assay_report::number;

/// Seconds that a suite takes at most by default.
const BUDGET: f64 = 60.0;
/// Seconds to which the default budget stretches while there are too few blocks for verdicts.
const CEILING: f64 = 300.0;
/// Blocks of everything for which the default length of a run leaves time: with so many, changes of 3 % and less are found, also when
/// the error is divided among two dozen benchmarks.
const AMPLE_BLOCKS: f64 = 120.0;
/// Of the time of a process, about the share in which it measures what it was asked for; the rest starts up and finds the number of
/// iterations.
const MEASURING_SHARE: f64 = 0.25;
/// Between these the default length of a run is chosen, s: in less the clock's own cost shows, and more adds little, because what
/// differs from process to process stays.
const RUN_TIMES: (f64, f64) = (0.002, 0.050);

/// To how many seconds the budget may be stretched.
pub(super) fn ceiling(when: &WhenArgs) -> f64 {
    when.time.unwrap_or(CEILING)
}

/// How long one process is to measure, s: what was asked for, or so short that the budget holds many blocks, but no shorter than it
/// takes to start the program, since else most of the budget went into starting.
pub(super) fn run_time(when: &WhenArgs, catalogue: &Catalogue, benchmarks: usize) -> f64 {
    let processes = (benchmarks * catalogue.sides.len()) as f64;
    let each = when.time.unwrap_or(BUDGET) / (AMPLE_BLOCKS * processes);
    let chosen = (each * MEASURING_SHARE).max(catalogue.start_seconds);
    when.run_time.unwrap_or_else(|| chosen.clamp(RUN_TIMES.0, RUN_TIMES.1))
}

/// By how many benchmarks the error is divided while measuring.
pub(super) fn share(suite: &SuiteArgs, benchmarks: usize) -> usize {
    if suite.adjust() == Adjust::None { 1 } else { benchmarks.max(1) }
}

/// The metric that decides: the one that was asked for, the time, or else the first. The second says whether it is counted: then nothing
/// is timed.
///
/// # Errors
/// When nobody gives it.
pub(super) fn primary(
    suite: &Benchmarks<'_>,
    judge: &JudgeArgs,
    passes: &Passes,
) -> anyhow::Result<(String, bool)> {
    let metrics = suite.metrics();
    let known = || metrics.iter().map(|metric| metric.name.as_str());
    if let Some(asked) = &judge.primary {
        if known().any(|name| name == asked) {
            return Ok((asked.clone(), false));
        }
        if let Some(counted) = suite.counted_name(passes, asked)? {
            return Ok((counted, true));
        }
        let plain = asked.split('/').next().and_then(Counted::of_metric);
        if let Some(counted) = plain {
            bail!("--primary {asked}: {} are counted with {}", counted.what(), counted.option());
        }
        let known: Vec<&str> = known().collect();
        bail!("--primary {asked}: there is no such metric; known are {}", known.join(", "));
    }
    let compared = |name: &&str| !NOT_COMPARED.contains(name);
    match known().find(|name| *name == "wall").or_else(|| known().find(compared)) {
        Some(name) => Ok((name.to_owned(), false)),
        None => bail!("the benchmarks give no value"),
    }
}

/// The plan of a suite that is counted and not timed.
///
/// # Errors
/// When it is said how long to time.
pub(super) fn counting_plan(
    when: &WhenArgs,
    judge: &JudgeArgs,
    primary: &str,
) -> anyhow::Result<Plan> {
    let given = [(when.runs.is_some(), "--runs"), (when.time.is_some(), "--time")];
    if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
        bail!(
            "{option}: with --primary {primary} nothing is timed, and everything is counted {TIMES} times; leave {option} out"
        );
    }
    Ok(Plan {
        stop: StopRule::Fixed { blocks: TIMES },
        budget_seconds: None,
        ..begin(when, judge, primary)
    })
}

/// What all plans have in common.
fn begin(when: &WhenArgs, judge: &JudgeArgs, primary: &str) -> Plan {
    let confidence = judge.confidence.unwrap_or(0.95);
    let stop = match when.runs {
        Some(blocks) => StopRule::Fixed { blocks },
        None => StopRule::Sequential { look_level: look_level(confidence), max_blocks: MAX_BLOCKS },
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

/// The plan. Where the fewest blocks that can decide one by one do not fit the time, the number is fixed beforehand: looked at once,
/// fewer suffice.
///
/// # Errors
/// When the threshold is in another unit than the metric that decides.
pub(super) fn plan(
    when: &WhenArgs,
    judge: &JudgeArgs,
    adjust: &SuiteArgs,
    suite: &Benchmarks<'_>,
    trial: &Trial,
    primary: &str,
) -> anyhow::Result<(Plan, Option<Finding>)> {
    let mut plan = begin(when, judge, primary);
    let metric = suite.metrics().iter().find(|metric| metric.name == primary);
    if let (Threshold::Absolute { unit, .. }, Some(metric)) = (&plan.threshold, metric)
        && *unit != metric.unit
    {
        bail!(
            "--threshold is in {}, but {} is measured in {}; give it in that unit or in %",
            unit.symbol(),
            metric.name,
            metric.unit.symbol()
        );
    }
    let fitted =
        fit(&mut plan, when, suite.round_seconds(trial), share(adjust, suite.benchmarks()));
    Ok((plan, fitted))
}

fn fit(plan: &mut Plan, when: &WhenArgs, round_seconds: f64, share: usize) -> Option<Finding> {
    let needed = |plan: &Plan| paired::fewest_blocks(design::level_for(plan, share).interval);
    let StopRule::Sequential { .. } = plan.stop else { return None };
    let limit = ceiling(when);
    if round_seconds * f64::from(needed(plan)) <= limit {
        return None;
    }
    let blocks = ((limit / round_seconds) as u32).max(1);
    plan.stop = StopRule::Fixed { blocks };
    plan.budget_seconds = Some(limit);
    let needed = needed(plan);
    let outlook = if blocks < needed {
        format!("; that is too few for a verdict on so many benchmarks, {needed} are needed")
    } else {
        " and look once".to_owned()
    };
    let finding = Finding::new(
        "FEW_BLOCKS_PLANNED",
        Severity::Note,
        format!(
            "one round takes about {}: taking {blocks} in {}{outlook}",
            number::rough(round_seconds, &Unit::Second),
            number::chosen(limit, &Unit::Second)
        ),
    );
    Some(
        finding
            .with("block_seconds", round_seconds)
            .with("blocks", f64::from(blocks))
            .advise(Action::MeasureLonger {
                seconds: Some((round_seconds * f64::from(needed) * 1.2).ceil()),
            })
            .advise(Action::FewerRows { rows: "benchmarks".to_owned() })
            .advise(Action::ShorterRuns),
    )
}
