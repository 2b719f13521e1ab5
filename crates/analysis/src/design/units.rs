//! What an experiment on several units promises: rounds, who is done, one budget for all.

use super::*;
use assay_data::{Metric, StopRule, Threshold};

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

/// Runs a suite in which a run takes a second; `value` of unit, side and block.
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
    let orders: Vec<Vec<usize>> =
        taken.chunks(10).map(|round| round.iter().step_by(2).map(|t| t.unit).collect()).collect();
    for order in &orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
    }
    assert!(orders.windows(2).any(|two| two[0] != two[1]), "{orders:?}");
}

#[test]
fn time_goes_to_what_is_still_open() {
    // The first benchmark is twice as slow on the second side, the other one drifts about no difference.
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
    assert_eq!((blocks(1), blocks(20)), (10, 15));
}

#[test]
fn what_is_given_up_costs_nothing_more() {
    let mut rounds = suite(&plan(None), &pairs(2), 2, 0.0);
    let first = rounds.next_turn().expect("open");
    assert_eq!(rounds.give_up(first.unit, 1.0), Step::Continue);
    let (_, taken) = run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64));
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
    assert_eq!(rounds.blocks_of(0), rounds.blocks_of(1));
}

#[test]
fn the_budget_stretches_while_nothing_can_be_said() {
    let run_with = |ceiling| {
        let mut rounds = suite(&plan(Some(5.0)), &pairs(1), 1, ceiling);
        run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64)).0
    };
    assert_eq!(run_with(0.0), StopReason::Budget);
    assert_eq!(run_with(100.0), StopReason::Clear);
}
