//! A suite: many experiments, one for each benchmark, taken by turns in rounds.
//!
//! A round goes once through everything that is still open, in an order drawn anew, and takes one block of each: so a disturbance
//! of the machine falls on few blocks of many benchmarks, not on all of one, and what is answered costs no more time. Each benchmark is an
//! [`Experiment`] of its own and stops by itself; all of them share the error (as in [`Experiment::among`]). Where a program can't be held
//! to one benchmark, a [`Unit`] measures several at once, and goes on as long as one of them is open.

use super::{Experiment, Step, Turn};
use crate::verdict::Decision;
use assay_data::{Metric, Plan, StopReason};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What one block measures: so many subjects (sides), and on each of them these benchmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Sides on which it is measured; the first is the reference.
    pub subjects: usize,
    /// Indices of its benchmarks; none is in two units.
    pub benchmarks: Vec<usize>,
}

/// What to measure next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTurn {
    /// Index of the unit.
    pub unit: usize,
    /// The turn within it.
    pub turn: Turn,
}

/// A running suite.
#[derive(Debug)]
pub struct Rounds {
    units: Vec<Unit>,
    /// By benchmark; `None` for those that are in no unit.
    members: Vec<Option<Member>>,
    /// Units that are given up.
    given_up: Vec<bool>,
    /// Seconds that the last block of every unit took.
    block_seconds: Vec<f64>,
    /// Units that this round has still to go through, the next one last.
    to_go: Vec<usize>,
    budget_seconds: f64,
    ceiling_seconds: f64,
    /// When the block in hand began.
    began: f64,
    random: Pcg64Mcg,
}

#[derive(Debug)]
struct Member {
    experiment: Experiment,
    stopped: Option<StopReason>,
}

impl Rounds {
    /// A suite by this plan, whose budget is that of all. `share`: by how many benchmarks the error is divided; at most the budget is
    /// stretched to `ceiling_seconds` while something has too few blocks for any verdict.
    pub fn new(
        plan: &Plan,
        metric: &Metric,
        units: Vec<Unit>,
        share: usize,
        ceiling_seconds: f64,
    ) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(plan.seed);
        let count = units.iter().flat_map(|u| &u.benchmarks).max().map_or(0, |&last| last + 1);
        let mut members: Vec<Option<Member>> = (0..count).map(|_| None).collect();
        for unit in &units {
            for &benchmark in &unit.benchmarks {
                // Seeds stay below 2^53, as everywhere.
                let seed = random.next_u64() >> 11;
                let own = Plan { budget_seconds: None, seed, ..plan.clone() };
                let experiment = Experiment::new(own, unit.subjects).of_metric(metric);
                members[benchmark] =
                    Some(Member { experiment: experiment.among(share), stopped: None });
            }
        }
        let budget_seconds = plan.budget_seconds.unwrap_or(f64::INFINITY);
        Self {
            given_up: vec![false; units.len()],
            block_seconds: vec![0.0; units.len()],
            to_go: Vec::new(),
            ceiling_seconds: ceiling_seconds.max(budget_seconds),
            budget_seconds,
            began: 0.0,
            units,
            members,
            random,
        }
    }

    /// Whether a benchmark still waits for its answer.
    pub fn is_open(&self, benchmark: usize) -> bool {
        let Some(unit) = self.units.iter().position(|u| u.benchmarks.contains(&benchmark)) else {
            return false;
        };
        let member = self.members.get(benchmark).and_then(Option::as_ref);
        !self.given_up[unit] && member.is_some_and(|m| m.stopped.is_none())
    }

    /// Complete blocks of a benchmark.
    pub fn blocks(&self, benchmark: usize) -> usize {
        let member = self.members.get(benchmark).and_then(Option::as_ref);
        member.map_or(0, |m| m.experiment.blocks())
    }

    /// What is known of a benchmark's second side, or a later one, against the first.
    pub fn estimate(&mut self, benchmark: usize, subject: usize) -> Option<Decision> {
        self.members.get_mut(benchmark)?.as_mut()?.experiment.estimate(subject)
    }

    /// What to measure next; `None` when nothing is open.
    pub fn next_turn(&mut self) -> Option<RoundTurn> {
        let unit = self.next_unit()?;
        let leader = *self.units[unit].benchmarks.first()?;
        let turn = self.members[leader].as_mut()?.experiment.next_turn();
        Some(RoundTurn { unit, turn })
    }

    /// Takes in one value for each of the unit's benchmarks, in their order (NaN where there is none), and says whether to go on.
    pub fn observe(&mut self, at: RoundTurn, values: &[f64], elapsed_seconds: f64) -> Step {
        let unit = &self.units[at.unit];
        for (&benchmark, &value) in unit.benchmarks.iter().zip(values) {
            let Some(Some(member)) = self.members.get_mut(benchmark) else { continue };
            let step = member.experiment.observe(at.turn, value, elapsed_seconds);
            if let (Step::Stop(reason), None) = (step, member.stopped) {
                member.stopped = Some(reason);
            }
        }
        if at.turn.position as usize + 1 < unit.subjects {
            return Step::Continue;
        }
        self.to_go.pop();
        self.block_seconds[at.unit] = (elapsed_seconds - self.began).max(0.0);
        self.began = elapsed_seconds;
        self.after_block(elapsed_seconds)
    }

    /// Leaves a unit out from now on: a run of it failed. What is known of it stays.
    pub fn give_up(&mut self, unit: usize, elapsed_seconds: f64) -> Step {
        self.given_up[unit] = true;
        self.to_go.retain(|&other| other != unit);
        self.began = elapsed_seconds;
        self.after_block(elapsed_seconds)
    }

    fn after_block(&mut self, elapsed_seconds: f64) -> Step {
        let Some(next) = self.next_unit() else {
            let budget = |m: &Option<Member>| {
                m.as_ref().is_some_and(|m| m.stopped == Some(StopReason::Blocks))
            };
            let fixed = self.members.iter().any(budget);
            return Step::Stop(if fixed { StopReason::Blocks } else { StopReason::Clear });
        };
        let too_few = |m: &Option<Member>| {
            m.as_ref().is_some_and(|m| {
                m.stopped.is_none() && m.experiment.blocks() < m.experiment.fewest() as usize
            })
        };
        let limit = if self.members.iter().any(too_few) {
            self.ceiling_seconds
        } else {
            self.budget_seconds
        };
        // A block that would end beyond the budget is not begun.
        if elapsed_seconds + self.block_seconds[next] > limit {
            return Step::Stop(StopReason::Budget);
        }
        Step::Continue
    }

    /// The unit whose block is next; a new round is begun where the last one is through.
    fn next_unit(&mut self) -> Option<usize> {
        let open = |this: &Self, unit: usize| {
            !this.given_up[unit]
                && this.units[unit].benchmarks.iter().any(|&b| {
                    this.members[b].as_ref().is_some_and(|member| member.stopped.is_none())
                })
        };
        if self.to_go.is_empty() {
            let mut round: Vec<usize> =
                (0..self.units.len()).filter(|&unit| open(self, unit)).collect();
            for last in (1..round.len()).rev() {
                let other = super::below(&mut self.random, last as u32 + 1) as usize;
                round.swap(last, other);
            }
            self.to_go = round;
        }
        self.to_go.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{StopRule, Threshold};

    fn pairs(count: usize) -> Vec<Unit> {
        (0..count).map(|b| Unit { subjects: 2, benchmarks: vec![b] }).collect()
    }

    fn plan(budget: Option<f64>) -> Plan {
        Plan { budget_seconds: budget, ..Plan::sequential(0.95, Threshold::default(), 7) }
    }

    /// Runs a suite in which a run takes a second; `value` of unit, side and block.
    fn run(
        rounds: &mut Rounds,
        value: impl Fn(usize, usize, u32) -> f64,
    ) -> (StopReason, Vec<RoundTurn>) {
        let mut taken = Vec::new();
        let mut elapsed = 0.0;
        loop {
            let at = rounds.next_turn().expect("something is open");
            taken.push(at);
            elapsed += 1.0;
            let v = value(at.unit, at.turn.subject, at.turn.block);
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
        let mut rounds = Rounds::new(&fixed, &Metric::wall(), pairs(5), 5, 0.0);
        let (reason, taken) = run(&mut rounds, |_, _, _| 1.0);
        assert_eq!((reason, taken.len()), (StopReason::Blocks, 30));
        for pair in taken.chunks(2) {
            assert_eq!((pair[0].unit, pair[0].turn.block), (pair[1].unit, pair[1].turn.block));
            assert_ne!(pair[0].turn.subject, pair[1].turn.subject);
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
        // The first benchmark is twice as slow on the second side, the other one drifts about no
        // difference.
        let mut rounds = Rounds::new(&plan(Some(400.0)), &Metric::wall(), pairs(2), 2, 0.0);
        let (reason, _) = run(&mut rounds, |unit, side, block| match unit {
            0 => noise(block, side) * (1.0 + side as f64),
            _ => 1.0 + 0.2 * f64::from((block * 13 + side as u32 * 5) % 17),
        });
        assert_eq!(reason, StopReason::Budget);
        assert!(!rounds.is_open(0) && rounds.is_open(1));
        assert!(rounds.blocks(0) < 20 && rounds.blocks(1) > 100);
    }

    #[test]
    fn more_benchmarks_ask_for_more_blocks_each() {
        let blocks = |count: usize| {
            let mut rounds = Rounds::new(&plan(None), &Metric::wall(), pairs(count), count, 0.0);
            let (reason, _) =
                run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64));
            assert_eq!(reason, StopReason::Clear);
            rounds.blocks(0)
        };
        assert_eq!((blocks(1), blocks(20)), (10, 15));
    }

    #[test]
    fn what_is_given_up_costs_nothing_more() {
        let mut rounds = Rounds::new(&plan(None), &Metric::wall(), pairs(2), 2, 0.0);
        let first = rounds.next_turn().expect("open");
        assert_eq!(rounds.give_up(first.unit, 1.0), Step::Continue);
        let (_, taken) =
            run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64));
        assert!(taken.iter().all(|at| at.unit != first.unit));
        assert!(!rounds.is_open(first.unit));
    }

    #[test]
    fn a_unit_of_several_goes_on_until_all_of_them_are_answered() {
        let unit = vec![Unit { subjects: 2, benchmarks: vec![0, 1] }];
        let mut rounds = Rounds::new(&plan(Some(300.0)), &Metric::wall(), unit, 2, 0.0);
        let mut elapsed = 0.0;
        loop {
            let at = rounds.next_turn().expect("open");
            elapsed += 1.0;
            let (side, block) = (at.turn.subject, at.turn.block);
            let slow = noise(block, side) * (1.0 + side as f64);
            let open = 1.0 + 0.2 * f64::from((block * 13 + side as u32 * 5) % 17);
            if let Step::Stop(reason) = rounds.observe(at, &[slow, open], elapsed) {
                assert_eq!(reason, StopReason::Budget);
                break;
            }
        }
        assert!(!rounds.is_open(0) && rounds.is_open(1));
        assert_eq!(rounds.blocks(0), rounds.blocks(1));
    }

    #[test]
    fn the_budget_stretches_while_nothing_can_be_said() {
        let run_with = |ceiling| {
            let mut rounds = Rounds::new(&plan(Some(5.0)), &Metric::wall(), pairs(1), 1, ceiling);
            run(&mut rounds, |_, side, block| noise(block, side) * (1.0 + side as f64)).0
        };
        assert_eq!(run_with(0.0), StopReason::Budget);
        assert_eq!(run_with(100.0), StopReason::Clear);
    }
}
