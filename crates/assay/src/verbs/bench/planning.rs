//! Decisions made after the trial runs and before the first block: which metric decides, how many
//! blocks are measured, and for how long.

use crate::args::JudgeArgs;
use crate::bench::{Benchmarks, Catalogue, Passes, TIMES, Trial};
use crate::counted::Counted;
use crate::planning::{
    self, BUDGET_ALONE, CEILING, DurationArgs, Words, check_threshold, no_such_metric,
};
use crate::verbs::compare::suite::SuiteArgs;
use anyhow::bail;
use assay_analysis::Adjust;
use assay_data::plan::MAX_BLOCKS;
use assay_data::samples::NOT_COMPARED;
use assay_data::{Action, Finding, Plan, Source};

/// Measuring time of a process, as a multiple of its start-up time. Longer runs average out
/// variation within a process, and more runs average out variation between processes. With Google
/// Benchmark programs, which start in 2 ms, measuring for 2 to 3 ms gave the narrowest intervals in
/// equal time, and 1 ms and 5 ms wider ones (tried manually with `--run-time`; no benchmark records
/// it).
const OF_START: f64 = 1.5;
/// Limits of the default run time, in seconds. Below the range, the cost of reading the clock is
/// visible; above it, little is gained.
const RUN_TIMES: (f64, f64) = (0.002, 0.300);

/// Number of rounds that should fit into the budget. Runs are shortened if necessary. A verdict on
/// ten benchmarks needs nine rounds.
const ROUNDS: f64 = 20.0;
/// Measuring time below which runs are not shortened, in seconds.
const ALWAYS: f64 = 0.050;

/// Returns the limit up to which the budget may be extended, in seconds.
pub(super) fn ceiling(when: &DurationArgs) -> f64 {
    when.time.unwrap_or(CEILING)
}

/// Returns the time for measuring a benchmark in one process, in seconds: as requested, or
/// proportional to the time for starting the process. If a process measures all benchmarks, they
/// share that time, and it is shorter if the budget would otherwise end before enough rounds.
pub(super) fn run_time(
    wished: Option<f64>,
    catalogue: &Catalogue,
    (together, budget): (bool, f64),
) -> f64 {
    let start = catalogue.start_seconds;
    let (chosen, least) = if together {
        let of_process = budget / ROUNDS / catalogue.sides.len() as f64;
        let measuring = (OF_START * start).min(of_process - start);
        (measuring / catalogue.benchmarks.len() as f64, ALWAYS)
    } else {
        (OF_START * start, RUN_TIMES.0)
    };
    wished.unwrap_or_else(|| chosen.clamp(least, RUN_TIMES.1))
}

/// Shortens the runs if too few rounds would fit into the budget, and returns the measuring time of
/// one process, in seconds.
pub(super) fn fit(run_time: f64, trial: &mut Trial, start_seconds: f64, budget: f64) -> f64 {
    let processes = trial.tried.iter().flatten().filter(|one| one.reading.is_some()).count() as f64;
    let starting = processes * start_seconds;
    let share = (budget / ROUNDS - starting) / (trial.seconds() - starting).max(f64::EPSILON);
    let least = (ALWAYS / run_time).min(1.0);
    let share = share.clamp(least, 1.0);
    trial.shorten(share, start_seconds);
    run_time * share
}

/// Returns the number of benchmarks that share the allowed error while measuring.
pub(super) fn share(suite: &SuiteArgs, benchmarks: usize) -> usize {
    if suite.adjust() == Adjust::None { 1 } else { benchmarks.max(1) }
}

/// Returns the deciding metric: the requested one, otherwise the time, otherwise the first that may
/// be compared. The second value is true if that metric is counted, in which case nothing is timed.
///
/// # Errors
/// Fails if no benchmark reports the requested metric, or any metric.
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
        bail!(no_such_metric("--primary", asked, &known));
    }
    let compared = |name: &&str| !NOT_COMPARED.contains(name);
    match known().find(|name| *name == "wall").or_else(|| known().find(compared)) {
        Some(name) => Ok((name.to_owned(), false)),
        None => bail!("the benchmarks report no value"),
    }
}

/// Returns the plan of a suite that is counted and not timed.
///
/// # Errors
/// Fails if an option that controls timing is present.
pub(super) fn counting_plan(
    when: &DurationArgs,
    judge: &JudgeArgs,
    primary: &str,
) -> anyhow::Result<Plan> {
    let given = [(when.runs.is_some(), "--runs"), (when.time.is_some(), "--time")];
    planning::counting_plan(
        planning::plan(when, judge, primary, MAX_BLOCKS),
        TIMES,
        &given,
        "everything",
    )
}

/// Returns the plan, and a warning if the time is too short for a verdict.
///
/// # Errors
/// Fails if the threshold and the deciding metric have different units.
pub(super) fn plan(
    when: &DurationArgs,
    judge: &JudgeArgs,
    adjust: &SuiteArgs,
    suite: &Benchmarks<'_>,
    trial: &Trial,
    primary: &str,
) -> anyhow::Result<(Plan, Option<Finding>)> {
    let plan = planning::plan(when, judge, primary, MAX_BLOCKS);
    let metric = suite.metrics().iter().find(|metric| metric.name == primary);
    if let Some(metric) = metric {
        check_threshold(&plan, metric).map_err(anyhow::Error::msg)?;
    }
    let advice = |seconds: f64, _| {
        let longer = Action::MeasureLonger { seconds: Some(seconds) };
        let fewer = Action::FewerRows { rows: "benchmarks".to_owned() };
        // A harness that always runs all benchmarks does not get faster if some are left out.
        [longer]
            .into_iter()
            .chain(suite.isolates().then_some(fewer))
            .chain([Action::ShorterRuns])
            .collect()
    };
    let words = Words { block: "round", on: " on so many benchmarks", advice: &advice };
    if suite.sides() < 2 {
        // Without a comparison, there is no verdict to wait for.
        let budget_seconds = when.time.or(plan.budget_seconds.map(|_| BUDGET_ALONE));
        return Ok((Plan { budget_seconds, ..plan }, None));
    }
    let sharing = share(adjust, suite.benchmarks());
    let short = planning::too_short(&plan, suite.round_seconds(trial), when.time, sharing, &words);
    Ok((plan, short))
}
