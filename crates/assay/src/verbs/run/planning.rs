//! What is decided before the first block: how many blocks, for how long, how strictly, and from which seed.

use super::metrics::Asked;
use crate::args::{JudgeArgs, seconds};
use crate::commands::COUNTING_RUNS;
use crate::counted::Counted;
use crate::meter::{Meter, is_given, of_every_run};
use crate::seed;
use assay_analysis::design;
use assay_analysis::until::Condition;
use assay_data::plan::{MAX_BLOCKS, look_level};
use assay_data::{Action, Finding, Metric, Plan, Samples, Severity, StopRule, Threshold, Unit};
use assay_report::number;

/// Seconds that a run takes at most by default.
const BUDGET: f64 = 60.0;
/// Seconds to which the default budget stretches while there are too few blocks for a verdict.
pub(super) const CEILING: f64 = 300.0;
/// Runs of a single command at which it stops even if it is not precise.
const MAX_RUNS_ALONE: u32 = 100_000;

/// How long to measure.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "How long")]
pub(super) struct WhenArgs {
    /// Take exactly N blocks and evaluate once, instead of stopping when the verdict is clear
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,

    /// Stop as soon as this condition holds; checked after every block, as in 'width < 0.5% and blocks >=
    /// 30, clear or seconds > 90
    #[arg(long, value_name = "CONDITION", conflicts_with = "runs")]
    pub until: Option<String>,

    /// Time budget [default: 60s, extended up to 5min if the fewest blocks for a verdict take
    /// longer]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub time: Option<f64>,

    /// Warm-up blocks, not recorded; at least one if settings or custom metrics have to be tried
    /// first
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    pub warmup: u32,

    /// Seed of the random order [default: a new one, recorded]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    pub seed: Option<u64>,
}

/// The plan, before anything is known about how long a run takes.
pub(super) fn plan(
    when: &WhenArgs,
    judge: &JudgeArgs,
    asked: &Asked,
    controlled: bool,
    commands: usize,
) -> anyhow::Result<Plan> {
    let confidence = judge.confidence.unwrap_or(0.95);
    let seed = when.seed.unwrap_or_else(seed::fresh);
    let max_blocks = if commands > 1 { MAX_BLOCKS } else { MAX_RUNS_ALONE };
    let stop = match when.runs {
        Some(blocks) => StopRule::Fixed { blocks },
        None => StopRule::Sequential { look_level: look_level(confidence), max_blocks },
    };
    if let Some(text) = &when.until {
        Condition::parse(text).map_err(|error| anyhow::anyhow!("--until {text}: {error}"))?;
    }
    let budget_seconds = when.time.or_else(|| when.runs.is_none().then_some(BUDGET));
    let first_asked = asked.specs.first().map(|spec| spec.metric.name.clone());
    let primary = judge.primary.clone().or(first_asked).unwrap_or_else(|| "wall".to_owned());
    // What programs give is known only after they have run once; a metric that nobody can know of is a mistake at once.
    let may_come = asked.all_samples || asked.specs.iter().any(is_given);
    let known = |name: &String| {
        Meter::is_own(name)
            || asked.specs.iter().any(|spec| spec.metric.name == *name)
            || asked.events.iter().any(|event| event.name == *name)
    };
    for (option, name) in
        judge.secondary.iter().map(|n| ("--secondary", n)).chain([("--primary", &primary)])
    {
        if let Some(own) = Counted::of_metric(name) {
            if asked.counted.contains(&own) {
                continue;
            }
            if !may_come && !known(name) {
                let (what, by) = (own.what(), own.option());
                anyhow::bail!("{option} {name}: {what} are counted with {by}");
            }
        }
        if !may_come && !known(name) {
            let known: Vec<String> = of_every_run().into_iter().map(|m| m.name).collect();
            anyhow::bail!(
                "{option} {name}: there is no such metric; known are {}",
                known.join(", ")
            );
        }
    }
    // What programs give, and settings that may be refused, have to be tried before anything is recorded.
    let warmup = if may_come || controlled { when.warmup.max(1) } else { when.warmup };
    let (stop, budget_seconds) = match asked.deciding(&primary) {
        None => (stop, budget_seconds),
        Some(_) => {
            let given = [
                (when.runs.is_some(), "--runs"),
                (when.time.is_some(), "--time"),
                (when.until.is_some(), "--until"),
            ];
            if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
                anyhow::bail!(
                    "{option}: with --primary {primary} nothing is timed, and each command is counted {COUNTING_RUNS} times; leave {option} out"
                );
            }
            (StopRule::Fixed { blocks: COUNTING_RUNS }, None)
        }
    };
    let plan = Plan {
        confidence,
        threshold: judge.threshold.clone().unwrap_or_default(),
        stop,
        budget_seconds,
        warmup,
        primary,
        secondary: judge.secondary.clone(),
        until: when.until.clone(),
        seed,
    };
    if let Some(metric) = of_every_run().iter().find(|m| m.name == plan.primary) {
        check_threshold(&plan, metric).map_err(anyhow::Error::msg)?;
    }
    Ok(plan)
}

/// An absolute threshold has to be in the unit of what decides.
pub(super) fn check_threshold(plan: &Plan, metric: &Metric) -> Result<(), String> {
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

/// The plan of a run that goes on: the one that it was begun with, with a new budget. What was decided before the first block
/// can't be decided anew after some of them were seen.
pub(super) fn gone_on_with(
    wished: Plan,
    recorded: &Samples,
    when: &WhenArgs,
    judge: &JudgeArgs,
) -> anyhow::Result<Plan> {
    let Some(begun) = recorded.plan.clone() else {
        anyhow::bail!("--resume: the file holds no plan, so there is nothing to go on with");
    };
    let mut changed = Vec::new();
    if judge.confidence.is_some() && wished.confidence != begun.confidence {
        changed.push("--confidence");
    }
    if judge.threshold.is_some() && wished.threshold != begun.threshold {
        changed.push("--threshold");
    }
    if judge.primary.is_some() && wished.primary != begun.primary {
        changed.push("--primary");
    }
    if !judge.secondary.is_empty() && wished.secondary != begun.secondary {
        changed.push("--secondary");
    }
    if when.runs.is_some() && wished.stop != begun.stop {
        changed.push("--runs");
    }
    if when.until.is_some() && wished.until != begun.until {
        changed.push("--until");
    }
    if when.seed.is_some() && wished.seed != begun.seed {
        changed.push("--seed");
    }
    anyhow::ensure!(
        changed.is_empty(),
        "--resume: {} is not what the run was begun with; that was decided before its first block, and deciding anew after \
         seeing some would make the verdict untrue. Leave it out, or begin a new run",
        changed.join(", ")
    );
    let budget_seconds = if matches!(begun.stop, StopRule::Fixed { .. }) {
        when.time
    } else {
        wished.budget_seconds
    };
    Ok(Plan { budget_seconds, warmup: wished.warmup, ..begun })
}

/// Where the fewest blocks that can decide one by one do not fit, the number is fixed beforehand: looked at once, fewer
/// suffice. Decided after warming up and before the first block, so that no result can sway it.
pub(super) fn fit_to_budget(
    plan: &mut Plan,
    block_seconds: Option<f64>,
    when: &WhenArgs,
    samples: &Samples,
) -> Option<Finding> {
    let block_seconds = block_seconds?;
    let references: Vec<Option<usize>> =
        (0..samples.subjects.len()).map(|subject| samples.reference_of(subject)).collect();
    let alone = references.iter().all(Option::is_none);
    let StopRule::Sequential { .. } = plan.stop else { return None };
    // A condition of the user's is looked at after every block, however few there will be.
    if plan.until.is_some() {
        return None;
    }
    let limit = when.time.unwrap_or(CEILING);
    if alone || block_seconds * f64::from(design::fewest_blocks(plan, &references)) <= limit {
        return None;
    }
    let blocks = ((limit / block_seconds) as u32).max(1);
    plan.stop = StopRule::Fixed { blocks };
    plan.budget_seconds = Some(limit);
    let needed = design::fewest_blocks(plan, &references);
    let outlook = if blocks < needed {
        format!("; that is too few for a verdict, {needed} are needed")
    } else {
        " and look once".to_owned()
    };
    Some(
        Finding::new(
            "FEW_BLOCKS_PLANNED",
            Severity::Note,
            format!(
                "one block takes about {}: taking {blocks} in {}{outlook}",
                number::rough(block_seconds, &Unit::Second),
                number::chosen(limit, &Unit::Second)
            ),
        )
        .with("block_seconds", block_seconds)
        .with("blocks", f64::from(blocks))
        .advise(Action::MeasureLonger {
            seconds: Some((block_seconds * f64::from(needed) * 1.2).ceil()),
        })
        .advise(Action::FixRuns { runs: needed.into() }),
    )
}
