//! Properties guaranteed by an experiment: order of runs, budget, comparisons, and stopping.

use super::*;
use assay_data::StopRule;
use assay_data::Threshold;
use assay_stats::resampling::Stream;

fn fixed(blocks: u32, seed: u64) -> Plan {
    Plan {
        stop: StopRule::Fixed { blocks },
        budget_seconds: None,
        ..Plan::sequential(0.95, Threshold::default(), seed)
    }
}

fn orders(seed: u64, subjects: usize, blocks: u32) -> Vec<Vec<usize>> {
    let mut experiment = Experiment::new(fixed(blocks, seed), subjects);
    let mut orders = vec![Vec::new(); blocks as usize];
    loop {
        let turn = experiment.next_turn().expect("something is open");
        orders[turn.block as usize].push(turn.place);
        if experiment.observe(turn, &[1.0], 0.0) != Step::Continue {
            return orders;
        }
    }
}

#[test]
fn every_block_holds_every_subject_once_and_the_seed_repeats_it() {
    let first = orders(42, 3, 50);
    assert!(first.iter().all(|block| {
        let mut sorted = block.clone();
        sorted.sort_unstable();
        sorted == [0, 1, 2]
    }));
    assert_eq!(first, orders(42, 3, 50));
    assert_ne!(first, orders(43, 3, 50));
}

#[test]
fn either_subject_is_first_in_about_half_of_the_blocks() {
    let first = orders(1, 2, 2000).iter().filter(|block| block[0] == 0).count();
    // The limits are six standard deviations from 1,000.
    assert!((866..1134).contains(&first), "{first}");
}

#[test]
fn all_six_orders_of_three_are_equally_likely() {
    let mut counts = std::collections::BTreeMap::new();
    orders(9, 3, 6000).into_iter().for_each(|order| *counts.entry(order).or_insert(0) += 1);
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|&n| (826..1174).contains(&n)), "{counts:?}");
}

#[test]
fn a_budget_ends_the_run_before_a_block_that_would_outlast_it() {
    let plan =
        Plan { budget_seconds: Some(10.0), ..Plan::sequential(0.95, Threshold::default(), 1) };
    let mut experiment = Experiment::new(plan, 1);
    let mut elapsed = 0.0;
    let reason = loop {
        let turn = experiment.next_turn().expect("something is open");
        elapsed += 3.0;
        // The noise is so large that the median never becomes precise.
        let value = if turn.block.is_multiple_of(2) { 1.0 } else { 100.0 };
        if let Step::Stop(reason) = experiment.observe(turn, &[value], elapsed) {
            break reason;
        }
    };
    assert_eq!((reason, experiment.blocks()), (StopReason::Budget, 3));
}

#[test]
fn too_few_blocks_stretch_the_budget_to_its_ceiling() {
    let plan = Plan::sequential(0.95, Threshold::default(), 1);
    let mut experiment = Experiment::new(plan, 2).stretching_to(300.0);
    let mut elapsed = 0.0;
    loop {
        let turn = experiment.next_turn().expect("something is open");
        elapsed += 10.0;
        let value = 1.0 + turn.place as f64;
        if let Step::Stop(reason) = experiment.observe(turn, &[value], elapsed) {
            // A verdict at the end needs only six blocks.
            assert_eq!((reason, experiment.blocks()), (StopReason::Budget, 6));
            break;
        }
    }
}

#[test]
fn one_block_is_taken_even_if_it_outlasts_the_budget() {
    let plan =
        Plan { budget_seconds: Some(1.0), ..Plan::sequential(0.95, Threshold::default(), 1) };
    let mut experiment = Experiment::new(plan, 2);
    let turn = experiment.next_turn().expect("something is open");
    assert_eq!(experiment.observe(turn, &[30.0], 30.0), Step::Continue);
    let turn = experiment.next_turn().expect("something is open");
    assert_eq!(experiment.observe(turn, &[30.0], 60.0), Step::Stop(StopReason::Budget));
}

#[test]
fn one_subject_stops_when_its_median_is_precise() {
    let mut experiment = Experiment::new(Plan::sequential(0.95, Threshold::default(), 3), 1);
    let reason = loop {
        let turn = experiment.next_turn().expect("something is open");
        let value = 1.0 + f64::from((turn.block * 7) % 11) / 10_000.0;
        if let Step::Stop(reason) = experiment.observe(turn, &[value], f64::from(turn.block)) {
            break reason;
        }
    };
    assert_eq!((reason, experiment.blocks()), (StopReason::Precise, 10));
}

#[test]
fn one_subject_is_given_up_when_twice_as_many_runs_hardly_help_but_not_within_20_seconds() {
    /// Returns the reason to stop and the number of blocks, at twenty runs per second.
    fn stop(value: impl Fn(u32) -> f64) -> (StopReason, usize) {
        let mut experiment = Experiment::new(Plan::sequential(0.95, Threshold::default(), 3), 1);
        loop {
            let turn = experiment.next_turn().expect("something is open");
            let elapsed = f64::from(turn.block + 1) / 20.0;
            let step = experiment.observe(turn, &[value(turn.block + 1)], elapsed);
            if let Step::Stop(reason) = step {
                return (reason, experiment.blocks());
            }
        }
    }
    // The oscillation gets slower as the run goes on, so longer runs add little information. The
    // first look, after 20 s, therefore ends the run.
    let (reason, blocks) = stop(|block| 2.0 + f64::from(block).log2().sin());
    assert_eq!(reason, StopReason::Diminishing);
    assert!((400..=460).contains(&blocks), "{blocks}");
    // Independent values keep adding information.
    let spread = |block: u32| Stream::new(u64::from(block), 0).normal();
    assert_eq!(stop(spread).0, StopReason::Blocks);
}

#[test]
fn fast_commands_are_watched_for_24_blocks_and_two_seconds() {
    let blocks_of = |seconds: f64| {
        let mut experiment = Experiment::new(Plan::sequential(0.95, Threshold::default(), 3), 2);
        let mut elapsed = 0.0;
        while let Some(turn) = experiment.next_turn() {
            elapsed += seconds;
            let value = if turn.place == 0 { 1.0 } else { 8.0 };
            if let Step::Stop(reason) = experiment.observe(turn, &[value], elapsed) {
                assert_eq!(reason, StopReason::Clear);
                break;
            }
        }
        experiment.blocks()
    };
    // Blocks of at least half a second, of a tenth, and of four milliseconds: 10 blocks, 24, and
    // the first look after two seconds.
    assert_eq!([0.4, 0.05, 0.002].map(blocks_of), [10, 24, 538]);
}

#[test]
fn a_slow_benchmark_is_told_apart_from_the_fast_ones_beside_it() {
    let pair = || Unit::of_subjects(&[None, Some(0)]);
    let plan = Plan { budget_seconds: None, ..Plan::sequential(0.95, Threshold::default(), 3) };
    let mut experiment = Experiment::of_units(plan, &[pair(), pair(), pair()]);
    let mut elapsed = 0.0;
    while let Some(turn) = experiment.next_turn() {
        elapsed += [0.4, 0.002, 0.002][turn.unit];
        let value = if turn.place == 0 { 1.0 } else { 8.0 };
        experiment.observe(turn, &[value], elapsed);
    }
    // A round of the three units takes 0.8 s, so a block of one unit takes about 0.3 s on average.
    assert_eq!([0, 1, 2].map(|unit| experiment.blocks_of(unit)), [10, 24, 24]);
}

fn run(experiment: &mut Experiment, value: impl Fn(Turn) -> f64) -> StopReason {
    loop {
        let turn = experiment.next_turn().expect("something is open");
        if let Step::Stop(reason) = experiment.observe(turn, &[value(turn)], f64::from(turn.block))
        {
            return reason;
        }
    }
}

#[test]
fn a_scan_compares_within_each_value() {
    let references = [None, Some(0), None, Some(2)];
    let plan = fixed(12, 5);
    assert_eq!(fewest_blocks(&plan, 2), 7);
    let mut experiment = Experiment::against(plan, &references);
    let reason = run(&mut experiment, |turn| [1.0, 2.0, 10.0, 30.0][turn.place]);
    assert_eq!(reason, StopReason::Blocks);
    let found: Vec<_> =
        (0..4).map(|s| experiment.estimate(0, 0, s).map(|d| d.estimate.exp().round())).collect();
    assert_eq!(found, [None, Some(2.0), None, Some(3.0)]);
    assert_eq!(experiment.median(0, 0, 2), Some(10.0));
}

#[test]
fn several_that_are_compared_with_nobody_must_all_be_precise() {
    let plan = Plan::sequential(0.95, Threshold::default(), 3);
    let mut experiment = Experiment::against(plan, &[None, None]);
    let noisy_at_first = |turn: Turn| match (turn.place, turn.block) {
        (1, block) if block < 15 => 1.0 + f64::from(block % 3),
        (_, block) => 1.0 + f64::from((block * 7) % 11) / 10_000.0,
    };
    assert_eq!(run(&mut experiment, noisy_at_first), StopReason::Precise);
    assert!(experiment.blocks() > 20, "{}", experiment.blocks());
}

#[test]
fn a_reference_that_is_no_subject_is_none() {
    let plan = fixed(3, 1);
    assert_eq!(fewest_blocks(&plan, 0), 6);
    let mut experiment = Experiment::against(plan, &[Some(0), Some(9)]);
    run(&mut experiment, |_| 1.0);
    assert_eq!((experiment.estimate(0, 0, 0), experiment.estimate(0, 0, 1)), (None, None));
}

fn stops_at(until: &str, spread: f64) -> (StopReason, usize) {
    let plan = Plan {
        until: Some(until.to_owned()),
        budget_seconds: Some(500.0),
        ..Plan::sequential(0.95, Threshold::default(), 3)
    };
    let mut experiment = Experiment::new(plan, 2);
    let value = |turn: Turn| {
        let noise = f64::from((turn.block * 7 + turn.place as u32 * 5) % 11) / 11.0;
        (1.0 + turn.place as f64) * (1.0 + spread * noise)
    };
    (run(&mut experiment, value), experiment.blocks())
}

#[test]
fn a_condition_of_the_user_stops_the_run_instead_of_a_clear_answer() {
    // The answer is clear after ten blocks, but the condition requires thirty.
    assert_eq!(stops_at("blocks >= 30", 0.001), (StopReason::Until, 30));
    assert_eq!(stops_at("clear and blocks >= 30", 0.001), (StopReason::Until, 30));
    assert_eq!(stops_at("clear", 0.001), (StopReason::Until, 10));
    // A condition that does not depend on the samples may stop the run before a verdict is
    // possible.
    assert_eq!(stops_at("blocks >= 4", 0.001), (StopReason::Until, 4));
    // Conditions on the samples are evaluated only after the minimum number of blocks for a
    // verdict. Other conditions are evaluated earlier.
    assert_eq!(stops_at("width < 50%", 0.001), (StopReason::Until, 10));
    assert_eq!(stops_at("width < 50% or blocks >= 4", 0.001), (StopReason::Until, 4));
    assert_eq!(stops_at("seconds > 40", 0.001), (StopReason::Until, 42));
    // If the condition never becomes true or cannot be parsed, the run ends with its budget.
    assert_eq!(stops_at("width < 0.0001%", 0.3), (StopReason::Budget, 501));
    assert_eq!(stops_at("whenever", 0.3), (StopReason::Budget, 501));
    let (reason, blocks) = stops_at("width < 5%", 0.3);
    assert!(reason == StopReason::Until && (11..500).contains(&blocks), "{reason:?} {blocks}");
}

/// Runs an experiment with a stopping condition and blocks of `block_seconds` seconds, whose values
/// never settle. Returns the reason to stop and the number of blocks.
fn stops_after(until: &str, subjects: usize, block_seconds: f64) -> (StopReason, usize) {
    let plan =
        Plan { until: Some(until.to_owned()), ..Plan::sequential(0.95, Threshold::default(), 3) };
    let mut experiment = Experiment::new(plan, subjects).stretching_to(3600.0);
    loop {
        let turn = experiment.next_turn().expect("something is open");
        let value = 1.0 + f64::from((turn.block * 7 + turn.place as u32 * 5) % 11);
        let elapsed = f64::from(turn.block + 1) * block_seconds;
        if let Step::Stop(reason) = experiment.observe(turn, &[value], elapsed) {
            return (reason, experiment.blocks());
        }
    }
}

#[test]
fn a_condition_is_held_against_every_block_whether_or_not_the_samples_are_looked_at() {
    for subjects in [1, 2] {
        let at = |until: &str, seconds: f64| stops_after(until, subjects, seconds);
        // The run stops before the minimum number of blocks for a verdict.
        assert_eq!(at("blocks >= 100 and clear or seconds > 2", 0.5), (StopReason::Until, 5));
        // At this point the samples of a single subject are evaluated only every fifth block. Block
        // 103 is not one of these, but the time limit is still checked.
        assert_eq!(at("clear or seconds > 51.25", 0.5), (StopReason::Until, 103));
        // An extended budget does not affect the condition.
        assert_eq!(at("seconds > 2", 30.0), (StopReason::Until, 1));
        assert_eq!(at("clear or seconds > 2", 30.0), (StopReason::Until, 1));
    }
}

#[test]
fn the_width_of_one_alone_is_that_of_its_median() {
    let plan = |until: &str| Plan {
        until: Some(until.to_owned()),
        ..Plan::sequential(0.95, Threshold::default(), 3)
    };
    let value = |turn: Turn| 1.0 + f64::from((turn.block * 7) % 11) / 110.0;
    let blocks = |until: &str| {
        let mut experiment = Experiment::new(plan(until), 1);
        assert_eq!(run(&mut experiment, value), StopReason::Until);
        experiment.blocks()
    };
    assert!(blocks("width < 4%") < blocks("width < 2%"));
}

#[test]
fn too_little_time_for_a_verdict_is_known_before() {
    let plan = Plan::sequential(0.95, Threshold::default(), 1);
    assert_eq!(too_few_fit(&plan, 50.0, 300.0, 1), None);
    assert_eq!(too_few_fit(&plan, 70.0, 300.0, 1), Some(TooFew { blocks: 4, needed: 6 }));
    assert_eq!(too_few_fit(&plan, 50.0, 300.0, 11), Some(TooFew { blocks: 6, needed: 11 }));
    let until = Plan { until: Some("blocks >= 3".to_owned()), ..plan };
    assert_eq!(too_few_fit(&until, 70.0, 300.0, 1), None);
}

/// Experiments on several units: rounds, units that finish early, and a shared budget.
mod units {
    use super::*;
    use assay_data::Metric;

    fn pairs(count: usize) -> Vec<Unit> {
        (0..count).map(|u| Unit::against_the_first(vec![vec![2 * u], vec![2 * u + 1]])).collect()
    }

    fn suite(plan: &Plan, units: &[Unit], share: usize, ceiling: f64) -> Experiment {
        Experiment::of_units(plan.clone(), units)
            .of_metric(&Metric::wall())
            .among(share)
            .stretching_to(ceiling)
    }

    fn plan(budget: Option<f64>) -> Plan {
        Plan { budget_seconds: budget, ..Plan::sequential(0.95, Threshold::default(), 7) }
    }

    /// Runs a suite in which each run takes one second. `value` is called with unit, side and
    /// block.
    fn run(
        rounds: &mut Experiment,
        value: impl Fn(usize, usize, u32) -> f64,
    ) -> (StopReason, Vec<Turn>) {
        let mut taken = Vec::new();
        let mut elapsed = 0.0;
        loop {
            let at = rounds.next_turn().expect("something is open");
            taken.push(at);
            elapsed += 1.0;
            let v = value(at.unit, at.place, at.block);
            if let Step::Stop(reason) = rounds.observe(at, &[v], elapsed) {
                return (reason, taken);
            }
        }
    }

    fn noise(block: u32, side: usize) -> f64 {
        1.0 + 0.001 * f64::from((block * 7 + side as u32 * 3) % 11)
    }

    #[test]
    fn both_sides_of_a_block_stand_together_and_each_round_holds_every_benchmark_once() {
        let fixed = Plan { stop: StopRule::Fixed { blocks: 3 }, ..plan(None) };
        let mut rounds = suite(&fixed, &pairs(5), 5, 0.0);
        let (reason, taken) = run(&mut rounds, |_, _, _| 1.0);
        assert_eq!((reason, taken.len()), (StopReason::Blocks, 30));
        for pair in taken.chunks(2) {
            assert_eq!((pair[0].unit, pair[0].block), (pair[1].unit, pair[1].block));
            assert_ne!(pair[0].place, pair[1].place);
        }
        let orders: Vec<Vec<usize>> = taken
            .chunks(10)
            .map(|round| round.iter().step_by(2).map(|t| t.unit).collect())
            .collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
        }
        assert!(orders.windows(2).any(|two| two[0] != two[1]), "{orders:?}");
    }

    #[test]
    fn time_goes_to_what_is_still_open() {
        // The first benchmark is twice as slow on the second side. The other benchmark drifts,
        // equally on both sides.
        let mut rounds = suite(&plan(Some(400.0)), &pairs(2), 2, 0.0);
        let (reason, _) = run(&mut rounds, |unit, side, block| match unit {
            0 => noise(block, side) * (1.0 + side as f64),
            _ => 1.0 + 0.2 * f64::from((block * 13 + side as u32 * 5) % 17),
        });
        assert_eq!(reason, StopReason::Budget);
        assert!(!rounds.is_open(0, 0) && rounds.is_open(1, 0));
        assert!(rounds.blocks_of(0) < 20 && rounds.blocks_of(1) > 100);
    }

    #[test]
    fn more_benchmarks_ask_for_more_blocks_each() {
        let blocks = |count: usize| {
            let mut rounds = suite(&plan(None), &pairs(count), count, 0.0);
            let (reason, _) =
                run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64));
            assert_eq!(reason, StopReason::Clear);
            rounds.blocks_of(0)
        };
        assert_eq!((blocks(1), blocks(20)), (10, 14));
    }

    #[test]
    fn what_is_given_up_costs_nothing_more() {
        let mut rounds = suite(&plan(None), &pairs(2), 2, 0.0);
        let first = rounds.next_turn().expect("open");
        assert_eq!(rounds.give_up(first.unit, 1.0), Step::Continue);
        let (_, taken) =
            run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64));
        assert!(taken.iter().all(|at| at.unit != first.unit));
        assert!(!rounds.is_open(first.unit, 0));
    }

    #[test]
    fn a_unit_of_several_goes_on_until_all_of_them_are_answered() {
        let unit = [Unit::against_the_first(vec![vec![0, 1], vec![2, 3]])];
        let mut rounds = suite(&plan(Some(300.0)), &unit, 2, 0.0);
        let mut elapsed = 0.0;
        loop {
            let at = rounds.next_turn().expect("open");
            elapsed += 1.0;
            let (side, block) = (at.place, at.block);
            let slow = noise(block, side) * (1.0 + side as f64);
            let open = 1.0 + 0.2 * f64::from((block * 13 + side as u32 * 5) % 17);
            if let Step::Stop(reason) = rounds.observe(at, &[slow, open], elapsed) {
                assert_eq!(reason, StopReason::Budget);
                break;
            }
        }
        assert!(!rounds.is_open(0, 0) && rounds.is_open(0, 1));
        // All blocks belong to the first unit, and each consists of two runs of one second.
        assert_eq!(2.0 * rounds.blocks_of(0) as f64, elapsed);
    }

    #[test]
    fn the_budget_stretches_while_nothing_can_be_said() {
        let run_with = |ceiling| {
            let mut rounds = suite(&plan(Some(5.0)), &pairs(1), 1, ceiling);
            let reason =
                run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64)).0;
            assert_eq!(reason, StopReason::Budget);
            rounds.blocks()
        };
        assert_eq!([0.0, 100.0].map(run_with), [2, 6]);
    }
}
