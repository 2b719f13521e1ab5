//! The experiment: which subject is measured next, and whether to go on.
//!
//! Every comparison by measurement is this one experiment: subjects, blocks in random order, a stopping rule. It is fed
//! observations and answers with the next turn, or with why it stopped. It knows neither clocks nor processes: the caller says
//! how much time has passed, and everything random comes from the plan's seed, so that the same seed gives the same order.
//!
//! ```
//! use assay_analysis::{Experiment, Step};
//! use assay_data::{Plan, StopReason, Threshold};
//!
//! let plan = Plan::sequential(0.95, Threshold::default(), 7);
//! let mut experiment = Experiment::new(plan, 2);
//! let reason = loop {
//!     let turn = experiment.next_turn();
//!     let seconds = if turn.subject == 0 { 1.0 } else { 2.0 };
//!     if let Step::Stop(reason) = experiment.observe(turn, seconds, 0.0) {
//!         break reason;
//!     }
//! };
//! assert_eq!((reason, experiment.blocks()), (StopReason::Clear, 10));
//! ```

use crate::paired::{self, Level, Paired};
use crate::verdict::Decision;
use assay_data::{Better, Plan, StopReason, StopRule};
use assay_stats::{Interval, autocorrelation, descriptive, order, signed_rank::SignedRankLaw};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Longest padding of the environment, in bytes: beyond a page the stack's layout repeats.
const PADDING_BELOW: u32 = 4096;

/// What to measure next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index of the subject.
    pub subject: usize,
    /// The block, counted from 0.
    pub block: u32,
    /// Place within the block, counted from 0.
    pub position: u32,
    /// Bytes of padding for the environment, below 4096: one memory layout's luck must not pass for the code.
    pub padding: u16,
}

/// Go on, or stop and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Take the next turn.
    Continue,
    /// Stop.
    Stop(StopReason),
}

/// A running experiment.
#[derive(Debug)]
pub struct Experiment {
    plan: Plan,
    /// Seconds after which even too few blocks must do; at least the plan's budget.
    ceiling_seconds: f64,
    better: Better,
    random: Pcg64Mcg,
    order: Vec<usize>,
    place: usize,
    blocks: u32,
    current: Vec<f64>,
    pairs: Vec<Paired>,
    alone: Vec<f64>,
    next_look: u32,
    law: SignedRankLaw,
}

impl Experiment {
    /// An experiment by this plan on so many subjects (at least one); the first is the reference.
    pub fn new(plan: Plan, subjects: usize) -> Self {
        let subjects = subjects.max(1);
        let ceiling_seconds = plan.budget_seconds.unwrap_or(f64::INFINITY);
        Self {
            random: Pcg64Mcg::seed_from_u64(plan.seed),
            ceiling_seconds,
            better: Better::Lower,
            order: (0..subjects).collect(),
            place: 0,
            blocks: 0,
            current: vec![f64::NAN; subjects],
            pairs: vec![Paired::default(); subjects - 1],
            alone: Vec::new(),
            next_look: 0,
            law: SignedRankLaw::default(),
            plan,
        }
    }

    /// Lets the budget stretch to this many seconds while there are too few blocks for any verdict.
    #[must_use]
    pub fn stretching_to(mut self, seconds: f64) -> Self {
        self.ceiling_seconds = self.ceiling_seconds.max(seconds);
        self
    }

    /// Number of complete blocks.
    pub fn blocks(&self) -> usize {
        self.blocks as usize
    }

    /// What to measure next. The order is drawn anew for every block.
    pub fn next_turn(&mut self) -> Turn {
        if self.place == 0 {
            self.shuffle();
        }
        Turn {
            subject: self.order[self.place],
            block: self.blocks,
            position: self.place as u32,
            padding: self.below(PADDING_BELOW) as u16,
        }
    }

    /// Takes in the primary metric of the turn and says whether to go on. NaN makes the block incomplete: it counts
    /// towards the number of blocks, not towards the verdict.
    pub fn observe(&mut self, turn: Turn, value: f64, elapsed_seconds: f64) -> Step {
        self.current[turn.subject] = value;
        self.place += 1;
        if self.place < self.order.len() {
            return Step::Continue;
        }
        self.place = 0;
        self.blocks += 1;
        self.take_block();
        self.after_block(elapsed_seconds)
    }

    /// Difference of a subject (counted from 1) against the reference as it stands, at the level of a look.
    pub fn estimate(&mut self, subject: usize) -> Option<Decision> {
        let level = self.level();
        let pair = self.pairs.get(subject.checked_sub(1)?).filter(|pair| !pair.is_empty())?;
        Some(pair.decide(&self.plan.threshold, level, self.better, &mut self.law).decision)
    }

    /// Median of a subject over the complete blocks so far.
    pub fn median(&self, subject: usize) -> Option<f64> {
        let values = match (subject, self.pairs.first()) {
            (0, None) => self.alone.as_slice(),
            (0, Some(pair)) => pair.reference(),
            _ => self.pairs.get(subject - 1)?.other(),
        };
        (!values.is_empty()).then(|| descriptive::median(values))
    }

    /// Interval of the median of a subject that is measured alone, at the level of a look.
    pub fn median_interval(&self) -> Option<Interval> {
        let sorted = descriptive::sorted(&self.alone);
        let tau = autocorrelation::autocorrelation_time(&self.alone);
        let confidence = 1.0 - self.plan.level();
        order::median_interval_with_tau(&sorted, confidence, tau)
            .map(|(interval, _achieved)| interval)
    }

    fn take_block(&mut self) {
        if self.current.iter().all(|v| v.is_finite()) {
            if self.pairs.is_empty() {
                self.alone.push(self.current[0]);
            }
            for (pair, &value) in self.pairs.iter_mut().zip(&self.current[1..]) {
                pair.push(self.current[0], value);
            }
        }
        self.current.fill(f64::NAN);
    }

    fn after_block(&mut self, elapsed_seconds: f64) -> Step {
        match self.plan.stop {
            StopRule::Fixed { blocks } if self.blocks >= blocks => {
                return Step::Stop(StopReason::Blocks);
            }
            StopRule::Fixed { .. } => {}
            StopRule::Sequential { max_blocks, .. } => {
                if self.is_answered() {
                    let alone = self.pairs.is_empty();
                    return Step::Stop(if alone { StopReason::Precise } else { StopReason::Clear });
                }
                if self.blocks >= max_blocks {
                    return Step::Stop(StopReason::Blocks);
                }
            }
        }
        // A block that would end beyond the budget is not begun.
        let after_next = elapsed_seconds * (1.0 + 1.0 / f64::from(self.blocks));
        let limit = if self.blocks < self.fewest() {
            self.ceiling_seconds
        } else {
            self.plan.budget_seconds.unwrap_or(f64::INFINITY)
        };
        if after_next > limit { Step::Stop(StopReason::Budget) } else { Step::Continue }
    }

    fn is_answered(&mut self) -> bool {
        if self.pairs.is_empty() {
            return self.is_precise();
        }
        let level = self.level();
        let (threshold, law) = (&self.plan.threshold, &mut self.law);
        self.pairs.iter().all(|pair| {
            pair.may_be_settled(threshold, level.interval, law) && {
                let found = pair.decide(threshold, level, self.better, law);
                found.decision.is_settled() && found.wandering.is_none()
            }
        })
    }

    /// One subject: its median's interval is within the threshold on either side. Looks are 5 % apart: an interval costs a
    /// sort, and a long run of short commands should not spend its time on looking.
    fn is_precise(&mut self) -> bool {
        if self.blocks < self.next_look.max(self.fewest()) {
            return false;
        }
        self.next_look = self.blocks + (self.blocks / 20).max(1);
        let (Some(median), Some(interval)) = (self.median(0), self.median_interval()) else {
            return false;
        };
        let threshold = paired::threshold_on(crate::Scale::Shift, &self.plan.threshold, &[median]);
        interval.half_width() <= threshold
    }

    fn level(&self) -> Level {
        level_for(&self.plan, self.pairs.len().max(1))
    }

    fn fewest(&self) -> u32 {
        paired::fewest_blocks(self.level().interval)
    }

    fn shuffle(&mut self) {
        for i in (1..self.order.len()).rev() {
            let j = self.below(i as u32 + 1) as usize;
            self.order.swap(i, j);
        }
    }

    /// A number below `bound`, every one equally likely (Lemire 2019, with rejection).
    fn below(&mut self, bound: u32) -> u32 {
        let reject_below = bound.wrapping_neg() % bound;
        loop {
            let wide = u64::from(self.random.next_u32()) * u64::from(bound);
            if wide as u32 >= reject_below {
                return (wide >> 32) as u32;
            }
        }
    }
}

/// The level of each comparison when a plan is held against so many comparisons.
pub fn level_for(plan: &Plan, comparisons: usize) -> Level {
    let share = comparisons as f64;
    Level { interval: plan.level() / share, groups: (1.0 - plan.confidence) / share }
}

/// The fewest blocks at which a plan can come to a verdict on so many subjects.
pub fn fewest_blocks(plan: &Plan, subjects: usize) -> u32 {
    paired::fewest_blocks(level_for(plan, subjects.saturating_sub(1).max(1)).interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Threshold;

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
            let turn = experiment.next_turn();
            orders[turn.block as usize].push(turn.subject);
            if experiment.observe(turn, 1.0, 0.0) != Step::Continue {
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
        // Six standard deviations around 1,000.
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
            let turn = experiment.next_turn();
            elapsed += 3.0;
            // Noise so large that the median is never precise.
            let value = if turn.block.is_multiple_of(2) { 1.0 } else { 100.0 };
            if let Step::Stop(reason) = experiment.observe(turn, value, elapsed) {
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
            let turn = experiment.next_turn();
            elapsed += 10.0;
            let value = 1.0 + turn.subject as f64;
            if let Step::Stop(reason) = experiment.observe(turn, value, elapsed) {
                assert_eq!((reason, experiment.blocks()), (StopReason::Clear, 10));
                break;
            }
        }
    }

    #[test]
    fn one_block_is_taken_even_if_it_outlasts_the_budget() {
        let plan =
            Plan { budget_seconds: Some(1.0), ..Plan::sequential(0.95, Threshold::default(), 1) };
        let mut experiment = Experiment::new(plan, 2);
        let turn = experiment.next_turn();
        assert_eq!(experiment.observe(turn, 30.0, 30.0), Step::Continue);
        let turn = experiment.next_turn();
        assert_eq!(experiment.observe(turn, 30.0, 60.0), Step::Stop(StopReason::Budget));
    }

    #[test]
    fn one_subject_stops_when_its_median_is_precise() {
        let mut experiment = Experiment::new(Plan::sequential(0.95, Threshold::default(), 3), 1);
        let reason = loop {
            let turn = experiment.next_turn();
            let value = 1.0 + f64::from((turn.block * 7) % 11) / 10_000.0;
            if let Step::Stop(reason) = experiment.observe(turn, value, 0.0) {
                break reason;
            }
        };
        assert_eq!((reason, experiment.blocks()), (StopReason::Precise, 10));
    }
}
