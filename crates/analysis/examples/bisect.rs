//! Simulates how often a search over 100 commits finds the one that introduced a change, for
//! several kinds of noise.
//!
//! `cargo run --release -p assay-analysis --example bisect -- 200` prints one line per kind of
//! noise, from fixed seeds.
#![expect(clippy::print_stdout, reason = "an example prints")]

use assay_analysis::bisect::{Bisected, Outcome};
use assay_analysis::{Experiment, Step};
use assay_data::source::Unit;
use assay_data::{Metric, Observation, Plan, Samples, StopReason, StopRule, Threshold};
use assay_stats::resampling::Stream;
use rayon::prelude::*;

const COMMITS: usize = 100;
const CHANGE: f64 = 0.03;
/// Maximum number of blocks of a search.
const MOST: u32 = 12_000;

/// Sources of variation, as standard deviations of logarithms.
#[derive(Clone, Copy)]
struct Noise {
    name: &'static str,
    /// Variation between runs.
    run: f64,
    /// Variation between blocks.
    block: f64,
    /// Variation between builds.
    build: f64,
    /// The share of disturbed runs, and the factor of their noise.
    wild: (f64, f64),
    change: f64,
}

const KINDS: [Noise; 7] = [
    Noise { name: "noise 1 x the change", ..PLAIN },
    Noise { name: "noise 3 x", run: 0.09, ..PLAIN },
    Noise { name: "3 x, and blocks differ by 3 x", run: 0.09, block: 0.09, ..PLAIN },
    Noise { name: "3 x with heavy tails", run: 0.05, wild: (0.1, 5.0), ..PLAIN },
    Noise { name: "3 x, and builds differ by 1/6", run: 0.09, build: 0.005, ..PLAIN },
    Noise { name: "1 x, and builds differ by 1/3", build: 0.01, ..PLAIN },
    Noise { name: "no change, noise 3 x", run: 0.09, change: 0.0, ..PLAIN },
];

const PLAIN: Noise =
    Noise { name: "", run: 0.03, block: 0.0, build: 0.0, wild: (0.0, 1.0), change: CHANGE };

/// The result of a search.
#[derive(Clone, Copy)]
struct Found {
    outcome: Outcome,
    is_right: bool,
    holds: bool,
    runs: usize,
    built: usize,
}

fn search(noise: Noise, seed: u64) -> Found {
    let mut stream = Stream::new(seed, 9);
    let at = 1 + stream.next_index(COMMITS - 1);
    let levels: Vec<f64> = (0..COMMITS)
        .map(|place| {
            let change = if place >= at { noise.change.ln_1p() } else { 0.0 };
            change + noise.build * stream.normal()
        })
        .collect();
    let unit = Unit { search: true, ..Unit::of_subjects(&references()) };
    let stop = StopRule::Sequential { look_level: 0.002, max_blocks: MOST };
    let plan =
        Plan { stop, budget_seconds: None, ..Plan::sequential(0.95, Threshold::default(), seed) };
    let mut experiment = Experiment::of_units(plan.clone(), &[unit]).of_metric(&Metric::wall());
    let mut samples = Samples::new(vec![Metric::wall()]);
    for place in 0..COMMITS {
        samples.add_subject(&place.to_string());
    }
    let mut seconds = 0.0;
    let (mut block, mut level) = (u32::MAX, 0.0);
    samples.stop = loop {
        let Some(turn) = experiment.next_turn() else { break Some(StopReason::Clear) };
        if turn.block != block {
            (block, level) = (turn.block, noise.block * stream.normal());
        }
        let wild = if stream.uniform() < noise.wild.0 { noise.wild.1 } else { 1.0 };
        let value: f64 = (levels[turn.place] + level + noise.run * wild * stream.normal()).exp();
        seconds += value;
        samples.push(Observation {
            subject: turn.place,
            block: Some(turn.block),
            position: Some(turn.position),
            values: vec![value],
            ..Observation::default()
        });
        if let Step::Stop(why) = experiment.observe(turn, &[value], seconds) {
            break Some(why);
        }
    };
    let found = Bisected::of(&samples, 0, &plan, &[]);
    let truth = levels[at] - levels[at - 1];
    Found {
        outcome: found.outcome,
        is_right: found.best.is_some_and(|(best, _)| best.at == at),
        holds: found.best.is_some_and(|(_, pair)| pair.interval.is_some_and(|i| i.contains(truth))),
        runs: found.runs,
        built: found.measured,
    }
}

fn references() -> Vec<Option<usize>> {
    (0..COMMITS).map(|place| (place > 0).then_some(0)).collect()
}

fn median(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(200);
    println!("{count} searches of each kind over {COMMITS} commits with a change of {CHANGE}");
    for noise in KINDS {
        let found: Vec<Found> =
            (0..count).into_par_iter().map(|seed| search(noise, seed + 1)).collect();
        let of = |outcome| found.iter().filter(move |f| f.outcome == outcome);
        let right = of(Outcome::Found).filter(|f| f.is_right).count();
        println!(
            "{:32} right {right}, wrong {}, not found {}, no change {}, not known whether {}; interval right {}; runs {}, built {}",
            noise.name,
            of(Outcome::Found).count() - right,
            of(Outcome::Unplaced).count(),
            of(Outcome::Unchanged).count(),
            of(Outcome::EndsUnknown).count(),
            of(Outcome::Found).filter(|f| f.is_right && f.holds).count(),
            median(found.iter().map(|f| f.runs).collect()),
            median(found.iter().map(|f| f.built).collect()),
        );
    }
}
