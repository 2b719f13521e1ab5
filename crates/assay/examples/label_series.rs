//! How often would `assay` be wrong on a recorded series? Its runs are labeled A and B afterwards.
//!
//!     assay run --runs 20000 --save series.assay ./program
//!     cargo run --release -p assay --example label_series -- --design fixed:50 --comparisons 10000 series.assay
//!
//! All runs of a series are of one program, so a label cannot have changed a run, and every
//! `faster` or `slower` is false. Each comparison begins at a different place of the series, takes
//! its runs in order, and passes them to the same [`Experiment`] that `assay run` uses, which draws
//! the order within every block and decides when to stop; the verdict is the one that `assay run`
//! would have printed. Prints counts as JSON. For what other tools would have concluded from the
//! same series, see `bench/run.py aa-recorded`.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use anyhow::{Context, bail, ensure};
use assay_analysis::{Experiment, Step, Verdict};
use assay_data::plan::MAX_BLOCKS;
use assay_data::{Plan, StopReason, StopRule, Threshold, assay_file};
use clap::Parser;
use std::path::PathBuf;

/// Runs in a block of two.
const PAIR: usize = 2;
/// The design that stops by itself.
const DEFAULT: &str = "default";

#[derive(Parser, Debug)]
struct Args {
    /// `fixed:N` for N blocks and one look, `default` for the run that stops by itself
    #[arg(long, default_value = DEFAULT)]
    design: String,

    /// How many comparisons
    #[arg(long, default_value_t = 1000)]
    comparisons: u32,

    /// Seed of places and orders
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// A sample file with one subject
    series: PathBuf,
}

/// Counts of the comparisons' results.
#[derive(Default)]
struct Tally {
    faster: u32,
    slower: u32,
    possibly_below_threshold: u32,
    equivalent: u32,
    inconclusive: u32,
    stopped_clear: u32,
    blocks: Vec<usize>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let stop = stop_rule(&args.design)?;
    let samples = assay_file::read(&args.series)?;
    ensure!(
        samples.subjects.len() == 1,
        "{}: labels are put on one subject",
        args.series.display()
    );
    let metric = samples.metric_index("wall").context("the series has no metric `wall`")?;
    let series = samples.series(0, metric).values;
    let most_blocks = match &stop {
        StopRule::Fixed { blocks } => *blocks,
        StopRule::Sequential { max_blocks, .. } => *max_blocks,
    };
    let longest = most_blocks as usize * PAIR;
    ensure!(
        series.len() >= longest,
        "{}: {} runs, but a comparison may take {longest}; record more with --runs",
        args.series.display(),
        series.len()
    );

    let mut random = SplitMix(args.seed);
    let mut tally = Tally::default();
    for _ in 0..args.comparisons {
        let begin = (random.next() % (series.len() - longest + 1) as u64) as usize;
        // Seeds of a plan stay below 2^53, so that every JSON reader represents them exactly.
        let plan = Plan::sequential(0.95, Threshold::default(), random.next() >> 11);
        // As in `assay run`, a fixed number of blocks has no time budget.
        let budget_seconds = plan.budget_seconds.filter(|_| args.design == DEFAULT);
        let plan = Plan { stop: stop.clone(), budget_seconds, ..plan };
        compare(plan, &series[begin..begin + longest], &mut tally)?;
    }
    tally.blocks.sort_unstable();
    let result = serde_json::json!({
        "design": args.design,
        "seed": args.seed,
        "runs": series.len(),
        "comparisons": args.comparisons,
        "faster": tally.faster,
        "slower": tally.slower,
        "possibly_below_threshold": tally.possibly_below_threshold,
        "equivalent": tally.equivalent,
        "inconclusive": tally.inconclusive,
        "stopped_clear": tally.stopped_clear,
        "median_blocks": tally.blocks.get(tally.blocks.len() / 2),
        "most_blocks": tally.blocks.last(),
    });
    println!("{result:#}");
    Ok(())
}

fn stop_rule(design: &str) -> anyhow::Result<StopRule> {
    if design == DEFAULT {
        return Ok(Plan::sequential(0.95, Threshold::default(), 0).stop);
    }
    let blocks = design.strip_prefix("fixed:").and_then(|n| n.parse().ok());
    match blocks {
        Some(blocks @ 1..=MAX_BLOCKS) => Ok(StopRule::Fixed { blocks }),
        _ => {
            bail!("--design {design}: write `default`, or `fixed:N` with N from 1 to {MAX_BLOCKS}")
        }
    }
}

/// Runs one comparison on as many of these runs as it needs.
fn compare(plan: Plan, runs: &[f64], tally: &mut Tally) -> anyhow::Result<()> {
    let mut experiment = Experiment::new(plan, PAIR);
    // The runs themselves are the clock: measuring them took at least this long.
    let mut elapsed = 0.0;
    for &wall in runs {
        elapsed += wall;
        let turn = experiment.next_turn().context("it goes on until it stops")?;
        let Step::Stop(reason) = experiment.observe(turn, &[wall], elapsed) else { continue };
        let decision = experiment.estimate(0, 0, 1).context("it stops after a whole block")?;
        match decision.verdict {
            Verdict::Faster => tally.faster += 1,
            Verdict::Slower => tally.slower += 1,
            Verdict::Equivalent => tally.equivalent += 1,
            Verdict::Inconclusive => tally.inconclusive += 1,
        }
        tally.possibly_below_threshold += u32::from(decision.possibly_below_threshold);
        tally.stopped_clear += u32::from(reason == StopReason::Clear);
        tally.blocks.push(experiment.blocks());
        return Ok(());
    }
    bail!("the experiment asked for more runs than its plan allows")
}

/// Places and seeds need no more than a generator of one line (Steele, Lea & Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
