//! Tests of the procedure's guarantees by seeded simulation: its false-positive rate, the coverage
//! of its interval, and its power. The noise is deliberately difficult: drift, dependence, stalls,
//! ticks.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod dependence;
mod size;
mod weighted;

use assay_analysis::design::looks::{self, End};
use assay_analysis::paired::Paired;
use assay_analysis::{Experiment, Step, Verdict};
use assay_data::{Better, Plan, StopReason, StopRule, Threshold};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::SignedRankDistribution;

/// Number of experiments per table cell: 4,000 under `make coverage`.
fn experiments() -> u64 {
    std::env::var("ASSAY_EXPERIMENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// Prints a row of a table, visible with `--nocapture`.
#[expect(clippy::print_stdout, reason = "it is what the long simulation is for")]
fn say(what: &str, cells: &[String]) {
    println!("| {what} | {} |", cells.join(" · "));
}

/// Successive log times of one unchanging program.
struct Noise {
    random: Stream,
    kind: Kind,
    run: u32,
    last: f64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Independent, with a spread of 2 %.
    Plain,
    /// Independent, with a 30 % drift over 600 runs.
    Drift,
    /// Successive runs correlated by 0.9, with a spread of 5 %.
    Dependent,
    /// Every second run is 5 % slower, like with a timer tick.
    Tick,
    /// One run in a hundred is 25 times as long.
    Stalls,
    /// A spread of 0.5 and of 5 %, alternately for 40 runs.
    Bursts,
}

impl Noise {
    fn next(&mut self) -> f64 {
        self.run += 1;
        let z = self.random.normal();
        match self.kind {
            Kind::Plain => 0.02 * z,
            Kind::Drift => 0.02 * z + 0.3 * f64::from(self.run) / 600.0,
            Kind::Dependent => {
                self.last = 0.9 * self.last + 0.05 * (1.0f64 - 0.81).sqrt() * z;
                self.last
            }
            Kind::Tick => 0.01 * z + if self.run.is_multiple_of(2) { 0.05 } else { 0.0 },
            Kind::Bursts => z * if (self.run / 40).is_multiple_of(2) { 0.005 } else { 0.05 },
            Kind::Stalls => 0.01 * z + if self.random.next_index(100) == 0 { 3.2 } else { 0.0 },
        }
    }
}

const ALL: [Kind; 6] =
    [Kind::Plain, Kind::Drift, Kind::Dependent, Kind::Tick, Kind::Stalls, Kind::Bursts];

struct Outcome {
    verdict: Verdict,
    possibly_below: bool,
    covers: bool,
    blocks: usize,
    reason: StopReason,
}

/// Duration of a run in these experiments: 24 blocks of two runs take longer than the two seconds
/// before which no run stops.
const RUN_SECONDS: f64 = 0.05;

fn experiment(stop: StopRule, kind: Kind, effect: f64, seed: u64) -> Outcome {
    let plan =
        Plan { stop, budget_seconds: None, ..Plan::sequential(0.95, Threshold::default(), seed) };
    let mut noise = Noise { random: Stream::new(seed, 0), kind, run: (seed % 2) as u32, last: 0.0 };
    let mut experiment = Experiment::new(plan, 2);
    let mut elapsed = 0.0;
    let reason = loop {
        let turn = experiment.next_turn().unwrap();
        elapsed += RUN_SECONDS;
        let truth = if turn.place == 1 { effect.ln_1p() } else { 0.0 };
        let value = (noise.next() + truth).exp();
        if let Step::Stop(reason) = experiment.observe(turn, &[value], elapsed) {
            break reason;
        }
    };
    let found = experiment.estimate(0, 0, 1).unwrap();
    Outcome {
        verdict: found.verdict,
        possibly_below: found.possibly_below_threshold,
        covers: found.interval.is_some_and(|i| i.contains(effect.ln_1p())),
        blocks: experiment.blocks(),
        reason,
    }
}

fn rate(count: u64, condition: impl Fn(u64) -> bool) -> f64 {
    (0..count).filter(|&seed| condition(seed)).count() as f64 / count as f64
}

/// The maximum rate: 5 % plus three standard errors of the simulation.
fn at_most_5_percent(count: u64) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / count as f64).sqrt()
}

#[test]
fn fifty_blocks_of_a_program_against_itself_cry_wolf_in_5_percent_whatever_the_noise() {
    for kind in ALL {
        let outcomes: Vec<_> = (0..600)
            .map(|seed| experiment(StopRule::Fixed { blocks: 50 }, kind, 0.0, seed))
            .collect();
        let share =
            |f: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| f(o)).count() as f64 / 600.0;
        let false_rate = share(&|o| o.verdict.is_directional());
        assert!(false_rate <= at_most_5_percent(600), "{kind:?}: {false_rate}");
        // An interval that is too wide must not pass either, so it must miss in about 5 %, not far
        // less.
        let misses = share(&|o| !o.covers);
        assert!((0.02..=at_most_5_percent(600)).contains(&misses), "{kind:?}: {misses}");
    }
}

#[test]
fn a_run_that_stops_by_itself_cries_wolf_in_5_percent_and_covers_the_truth() {
    let stop = StopRule::Sequential { look_level: 0.002, max_blocks: 300 };
    for kind in ALL {
        let outcomes: Vec<_> =
            (0..300).map(|seed| experiment(stop.clone(), kind, 0.0, seed)).collect();
        let share =
            |f: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| f(o)).count() as f64 / 300.0;
        let false_rate = share(&|o| o.verdict.is_directional());
        assert!(false_rate <= at_most_5_percent(300), "{kind:?}: {false_rate}");
        assert!(share(&|o| o.covers) >= 0.92, "{kind:?} covers");
        if matches!(kind, Kind::Plain | Kind::Stalls) {
            assert!(
                share(&|o| o.verdict == Verdict::Equivalent) >= 0.85,
                "{kind:?} is seldom settled"
            );
        }
    }
}

#[test]
fn looks_an_end_by_the_clock_and_any_other_moment_together_cry_wolf_in_5_percent() {
    // An observer stops at the worst moment; otherwise the budget ends the run.
    for kind in [Kind::Plain, Kind::Stalls] {
        let count = experiments();
        let ever = rate(count, |seed| {
            let mut plan = Plan::sequential(0.95, Threshold::default(), seed);
            plan.stop = StopRule::Sequential { look_level: 0.002, max_blocks: 1024 };
            let mut random = Stream::new(seed, 2);
            let last = 6 + random.next_index(120);
            let mut noise = Noise { random, kind, run: 0, last: 0.0 };
            let (mut blocks, mut distribution) =
                (Paired::default(), SignedRankDistribution::default());
            (1..=last).any(|n| {
                let (a, b) = (noise.next().exp(), noise.next().exp());
                let (a, b) = if noise.random.next_index(2) == 0 { (a, b) } else { (b, a) };
                blocks.push(a, b);
                let end = if n == last { End::Planned } else { End::Any };
                let level = looks::level(&plan, 1.0, n, end);
                let found = blocks.decide(&plan.threshold, level, Better::Lower, &mut distribution);
                found.decision.verdict.is_directional()
            })
        });
        say(&format!("{kind:?}: ever false"), &[format!("{:.1} %", 100.0 * ever)]);
        assert!(ever <= at_most_5_percent(count), "{kind:?}: {ever}");
    }
}

#[test]
fn a_difference_of_exactly_the_threshold_is_hardly_ever_called_equivalent() {
    let stop = StopRule::Sequential { look_level: 0.002, max_blocks: 300 };
    let wrong = rate(300, |seed| {
        experiment(stop.clone(), Kind::Plain, 0.01, seed).verdict == Verdict::Equivalent
    });
    assert!(wrong <= 0.05, "{wrong}");
}

#[test]
fn a_difference_of_2_percent_is_found_and_5_percent_at_once() {
    let stop = StopRule::Sequential { look_level: 0.002, max_blocks: 1024 };
    let outcomes: Vec<_> =
        (0..100).map(|seed| experiment(stop.clone(), Kind::Plain, 0.02, seed)).collect();
    let found =
        outcomes.iter().filter(|o| o.verdict == Verdict::Slower && !o.possibly_below).count();
    assert!(found >= 95, "{found} of 100");
    let mut blocks: Vec<_> =
        (0..51).map(|seed| experiment(stop.clone(), Kind::Plain, 0.05, seed).blocks).collect();
    blocks.sort_unstable();
    assert_eq!(blocks[25], 24, "no more than are needed before any run stops");
}

#[test]
fn a_condition_of_the_user_leaves_the_interval_as_true_as_before() {
    for until in ["width < 0.8% or blocks >= 60", "clear or blocks >= 25"] {
        let covered = rate(300, |seed| {
            let plan = Plan {
                until: Some(until.to_owned()),
                budget_seconds: None,
                ..Plan::sequential(0.95, Threshold::default(), seed)
            };
            let random = Stream::new(seed, 1);
            let mut noise = Noise { random, kind: Kind::Plain, run: 0, last: 0.0 };
            let mut experiment = Experiment::new(plan, 2);
            loop {
                let turn = experiment.next_turn().unwrap();
                let step = experiment.observe(turn, &[noise.next().exp()], 0.0);
                if let Step::Stop(reason) = step {
                    assert_eq!(reason, StopReason::Until);
                    break;
                }
            }
            experiment
                .estimate(0, 0, 1)
                .is_some_and(|d| d.interval.is_some_and(|i| i.contains(0.0)))
        });
        assert!(covered >= 0.95 - 3.0 * (0.05 * 0.95 / 300.0_f64).sqrt(), "{until}: {covered}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let stop = StopRule::Sequential { look_level: 0.002, max_blocks: 300 };
    let once = experiment(stop.clone(), Kind::Plain, 0.003, 11);
    let again = experiment(stop, Kind::Plain, 0.003, 11);
    assert_eq!(
        (once.blocks, once.verdict, once.reason),
        (again.blocks, again.verdict, again.reason)
    );
}
