//! What is decided before the first block: how many blocks, for how long, how strictly, and from which seed.

use crate::args::{JudgeArgs, seconds};
use crate::session::metrics;
use assay_analysis::design;
use assay_data::plan::{MAX_BLOCKS, look_level};
use assay_data::{Finding, Plan, Severity, StopRule, Threshold, Unit};
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
    /// Take exactly N blocks and look once, instead of stopping when the answer is clear
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,

    /// Time budget [default: 60s, stretched up to 5min for the fewest blocks that can decide]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub time: Option<f64>,

    /// Blocks to run first, not recorded
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    pub warmup: u32,

    /// Seed of the random order [default: drawn anew, and recorded]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub seed: Option<u64>,
}

/// The plan, before anything is known about how long a run takes.
pub(super) fn plan(when: &WhenArgs, judge: &JudgeArgs, commands: usize) -> anyhow::Result<Plan> {
    let confidence = judge.confidence.unwrap_or(0.95);
    let seed = when.seed.unwrap_or_else(new_seed);
    let max_blocks = if commands > 1 { MAX_BLOCKS } else { MAX_RUNS_ALONE };
    let stop = match when.runs {
        Some(blocks) => StopRule::Fixed { blocks },
        None => StopRule::Sequential { look_level: look_level(confidence), max_blocks },
    };
    let budget_seconds = when.time.or_else(|| when.runs.is_none().then_some(BUDGET));
    let threshold = judge.threshold.clone().unwrap_or_default();
    let primary = judge.primary.clone().unwrap_or_else(|| "wall".to_owned());
    if let Threshold::Absolute { unit, .. } = &threshold
        && let Some(metric) = metrics().iter().find(|m| m.name == primary && m.unit != *unit)
    {
        anyhow::bail!(
            "--threshold is in {}, but {} is measured in {}; give it in that unit or in %",
            unit.symbol(),
            metric.name,
            metric.unit.symbol()
        );
    }
    Ok(Plan {
        confidence,
        threshold,
        stop,
        budget_seconds,
        warmup: when.warmup,
        primary,
        beside: Vec::new(),
        until: None,
        seed,
    })
}

/// Where the fewest blocks that can decide one by one do not fit, the number is fixed beforehand: looked at once, fewer
/// suffice. Decided after warming up and before the first block, so that no result can sway it.
pub(super) fn fit_to_budget(
    plan: &mut Plan,
    block_seconds: Option<f64>,
    when: &WhenArgs,
    commands: usize,
) -> Option<Finding> {
    let block_seconds = block_seconds?;
    let StopRule::Sequential { .. } = plan.stop else { return None };
    let limit = when.time.unwrap_or(CEILING);
    if commands < 2 || block_seconds * f64::from(design::fewest_blocks(plan, commands)) <= limit {
        return None;
    }
    let blocks = ((limit / block_seconds) as u32).max(1);
    plan.stop = StopRule::Fixed { blocks };
    plan.budget_seconds = Some(limit);
    let needed = design::fewest_blocks(plan, commands);
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
        .next(format!(
            "give it more time: --time {}s, or --runs {needed}",
            (block_seconds * f64::from(needed) * 1.2).ceil()
        )),
    )
}

/// A seed that nobody chose: from the clock's nanoseconds and the process. It only has to differ from run to run.
fn new_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond() as u64;
    (now ^ (u64::from(std::process::id()) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11
}
