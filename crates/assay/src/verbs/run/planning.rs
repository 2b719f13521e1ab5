//! Decisions made before the first block: the number of blocks, the time budget, the confidence and
//! the seed.

use super::metrics::RequestedMetrics;
use crate::args::JudgeArgs;
use crate::commands::COUNTING_RUNS;
use crate::counted::Counted;
use crate::meter::{CPU_PER_WALL, Meter, is_given, of_every_run};
use crate::planning::{self, BUDGET_ALONE, DurationArgs, Words, check_threshold};
use assay_analysis::until::Condition;
use assay_data::plan::MAX_BLOCKS;
use assay_data::{Action, Finding, Plan, Samples};

/// Number of runs after which measuring a single command stops even if the result is not precise.
const MAX_RUNS_ALONE: u32 = 100_000;

/// Options that determine how long commands are measured.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "How long")]
pub(super) struct LengthArgs {
    #[command(flatten)]
    pub duration: DurationArgs,

    /// Stop as soon as this condition holds, as in 'width < 0.5% and blocks >= 30' or 'clear or
    /// seconds > 90'
    ///
    /// It is checked after every block.
    #[arg(long, value_name = "CONDITION", conflicts_with = "runs")]
    pub until: Option<String>,

    /// Number of warm-up blocks, which are not recorded
    ///
    /// At least one is run if settings or custom metrics must be tried first.
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    pub warmup: u32,
}

/// Returns the plan, made before the duration of a run is known.
pub(super) fn plan(
    length: &LengthArgs,
    judge: &JudgeArgs,
    asked: &RequestedMetrics,
    controlled: bool,
    commands: usize,
) -> anyhow::Result<Plan> {
    let when = &length.duration;
    if let Some(text) = &length.until {
        Condition::parse(text).map_err(|error| anyhow::anyhow!("--until {text}: {error}"))?;
    }
    let first_asked = asked.specs.first().map(|spec| spec.metric.name.clone());
    let primary = judge.primary.clone().or(first_asked).unwrap_or_else(|| "wall".to_owned());
    // Values reported by programs are known only after a run. If no values can be reported, an
    // unknown metric is an error right away.
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
            let known = of_every_run();
            let known = known.iter().map(|metric| metric.name.as_str());
            let known: Vec<&str> = known.chain([CPU_PER_WALL]).collect();
            anyhow::bail!(planning::no_such_metric(option, name, &known));
        }
    }
    // Values reported by programs, and settings that may be refused, are tried in a warm-up block
    // before anything is recorded.
    let warmup = if may_come || controlled { length.warmup.max(1) } else { length.warmup };
    let max_blocks = if commands > 1 { MAX_BLOCKS } else { MAX_RUNS_ALONE };
    let mut plan = planning::plan(when, judge, &primary, max_blocks);
    if commands == 1 && when.time.is_none() && when.runs.is_none() && length.until.is_none() {
        plan.budget_seconds = Some(BUDGET_ALONE);
    }
    if asked.deciding(&primary).is_some() {
        let given = [
            (when.runs.is_some(), "--runs"),
            (when.time.is_some(), "--time"),
            (length.until.is_some(), "--until"),
        ];
        plan = planning::counting_plan(plan, COUNTING_RUNS, &given, "each command")?;
    }
    let plan = Plan { warmup, until: length.until.clone(), ..plan };
    if let Some(metric) = of_every_run().iter().find(|m| m.name == plan.primary) {
        check_threshold(&plan, metric).map_err(anyhow::Error::msg)?;
    }
    Ok(plan)
}

/// Returns the plan of a resumed run: its original plan with a new budget. Other changes are
/// errors, because they were decided before the first block, and some blocks have been seen.
pub(super) fn gone_on_with(
    wished: Plan,
    recorded: &Samples,
    length: &LengthArgs,
    judge: &JudgeArgs,
) -> anyhow::Result<Plan> {
    let when = &length.duration;
    let Some(begun) = recorded.plan.clone() else {
        anyhow::bail!("--resume: the file contains no plan, so it can't be resumed");
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
    if length.until.is_some() && wished.until != begun.until {
        changed.push("--until");
    }
    if when.seed.is_some() && wished.seed != begun.seed {
        changed.push("--seed");
    }
    anyhow::ensure!(
        changed.is_empty(),
        "--resume: {} differs from what the run was started with; that was decided before its first block, and changing it after seeing some would invalidate the verdict. Leave it out, or start a new run",
        changed.join(", ")
    );
    Ok(Plan { warmup: wished.warmup, ..planning::resumed(begun, when.time) })
}

fn comparisons(samples: &Samples) -> usize {
    let subjects = 0..samples.subjects.len();
    subjects.filter(|&subject| samples.reference_of(subject).is_some()).count()
}

/// Returns the message that the default budget is extended to reach a first verdict.
pub(super) fn extended(
    plan: &Plan,
    block_seconds: Option<f64>,
    time: Option<f64>,
    samples: &Samples,
) -> Option<String> {
    let comparisons = comparisons(samples);
    let block_seconds = block_seconds.filter(|_| comparisons > 0 && time.is_none())?;
    planning::extended(plan, block_seconds, comparisons)
}

/// Returns a finding if the budget after the warm-up is too short for a verdict.
pub(super) fn too_short(
    plan: &Plan,
    block_seconds: Option<f64>,
    time: Option<f64>,
    samples: &Samples,
) -> Option<Finding> {
    let comparisons = comparisons(samples);
    let advice = |seconds: f64, blocks: u32| {
        let longer = Action::MeasureLonger { seconds: Some(seconds) };
        vec![longer, Action::FixRuns { runs: blocks.into() }]
    };
    let words = Words { block: "block", on: "", advice: &advice };
    let block_seconds = block_seconds.filter(|_| comparisons > 0)?;
    planning::too_short(plan, block_seconds, time, comparisons, &words)
}
