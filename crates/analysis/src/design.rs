//! The experiment: which subject is measured next, and whether to go on.
//!
//! Every comparison by measurement is this one experiment: subjects, blocks in random order, a stopping rule. It is fed
//! observations and answers with the next turn, or with why it stopped. It knows neither clocks nor processes: the caller says
//! how much time has passed, and everything random comes from the plan's seed, so that the same seed gives the same order.
//!
//! A plan's `until` takes the place of "is the answer clear?". That costs no certainty: the interval of every look is at the look
//! level, which was chosen so that one may look after every block and stop at any of them, for whatever reason.
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
use crate::until::{Condition, State};
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Metric, Plan, StopReason, StopRule};
use assay_stats::{
    Interval, autocorrelation, descriptive, order, signed_rank::SignedRankDistribution,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

mod replay;
mod rounds;

pub use replay::ReplayError;
pub use rounds::{RoundTurn, Rounds, Unit};

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
    /// Blocks that were complete when a recorded run was taken up again: the elapsed time is not theirs.
    replayed: u32,
    current: Vec<f64>,
    pairs: Vec<Pair>,
    /// Per subject its values in the complete blocks.
    values: Vec<Vec<f64>>,
    until: Option<Condition>,
    next_look: u32,
    /// How many experiments share the error, this one included.
    family: usize,
    /// Whether its values are exact counts.
    counts: bool,
    distribution: SignedRankDistribution,
}

/// A subject and the one that it is compared with.
#[derive(Debug)]
struct Pair {
    of: usize,
    against: usize,
    blocks: Paired,
}

impl Experiment {
    /// An experiment by this plan on so many subjects (at least one); the first is the reference of all others.
    pub fn new(plan: Plan, subjects: usize) -> Self {
        Self::against(plan, &against_the_first(subjects.max(1)))
    }

    /// An experiment on subjects of which each names whom it is compared with; `None` marks a reference, and so does an index
    /// that is its own or no subject's. Where nobody is compared, every subject is measured until its median is precise.
    ///
    /// The plan's `until`, where it has one, must be a [`Condition`]: one that can't be read never comes true, and the run goes
    /// on to its budget. Callers tell their users beforehand what [`Condition::parse`] says of it.
    pub fn against(plan: Plan, references: &[Option<usize>]) -> Self {
        let subjects = references.len().max(1);
        let ceiling_seconds = plan.budget_seconds.unwrap_or(f64::INFINITY);
        let pair = |(of, against): (usize, &Option<usize>)| {
            let against = against.filter(|&a| a != of && a < subjects)?;
            Some(Pair { of, against, blocks: Paired::default() })
        };
        Self {
            random: Pcg64Mcg::seed_from_u64(plan.seed),
            ceiling_seconds,
            better: Better::Lower,
            order: (0..subjects).collect(),
            place: 0,
            blocks: 0,
            replayed: 0,
            current: vec![f64::NAN; subjects],
            pairs: references.iter().enumerate().filter_map(pair).collect(),
            values: vec![Vec::new(); subjects],
            until: plan
                .until
                .as_deref()
                .map(|text| Condition::parse(text).unwrap_or_else(|_| Condition::never())),
            next_look: 0,
            family: 1,
            counts: false,
            distribution: SignedRankDistribution::default(),
            plan,
        }
    }

    /// Lets the budget stretch to this many seconds while there are too few blocks for any verdict.
    #[must_use]
    pub fn stretching_to(mut self, seconds: f64) -> Self {
        self.ceiling_seconds = self.ceiling_seconds.max(seconds);
        self
    }

    /// Says which direction of the metric that decides is better; less, unless this is called.
    #[must_use]
    pub fn preferring(mut self, better: Better) -> Self {
        self.better = better;
        self
    }

    /// Makes it one of so many experiments that share the error (at least 1): each is answered at its part.
    #[must_use]
    pub fn among(mut self, experiments: usize) -> Self {
        self.family = experiments.max(1);
        self
    }

    /// The same for values of this metric: of one that is exact, equal values are certain.
    #[must_use]
    pub fn of_metric(mut self, metric: &Metric) -> Self {
        self.better = metric.better;
        self.pairs.iter_mut().for_each(|pair| pair.blocks = Paired::of_metric(metric));
        self.counts = metric.exact;
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

    /// Difference of a subject against its reference as it stands, at the level of a look; `None` for a reference, and before
    /// the first complete block.
    pub fn estimate(&mut self, subject: usize) -> Option<Decision> {
        let level = self.level();
        let pair = self.pairs.iter().find(|pair| pair.of == subject && !pair.blocks.is_empty())?;
        let found =
            pair.blocks.decide(&self.plan.threshold, level, self.better, &mut self.distribution);
        Some(found.decision)
    }

    /// Median of a subject over the complete blocks so far.
    pub fn median(&self, subject: usize) -> Option<f64> {
        let values = self.values.get(subject)?;
        (!values.is_empty()).then(|| descriptive::median(values))
    }

    /// Interval of the median of a subject, at the level of a look. O(n log n).
    pub fn median_interval(&self, subject: usize) -> Option<Interval> {
        let values = self.values.get(subject)?;
        let sorted = descriptive::sorted(values);
        let tau = autocorrelation::autocorrelation_time(values);
        let confidence = 1.0 - self.plan.level();
        order::median_interval_with_tau(&sorted, confidence, tau)
            .map(|(interval, _achieved)| interval)
    }

    fn take_block(&mut self) {
        let current = &self.current;
        if current.iter().all(|v| v.is_finite()) {
            self.values.iter_mut().zip(current).for_each(|(values, &value)| values.push(value));
            for pair in &mut self.pairs {
                pair.blocks.push(current[pair.against], current[pair.of]);
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
                if let Some(reason) = self.answer(elapsed_seconds) {
                    return Step::Stop(reason);
                }
                if self.blocks >= max_blocks {
                    return Step::Stop(StopReason::Blocks);
                }
            }
        }
        // A block that would end beyond the budget is not begun.
        let taken = self.blocks.saturating_sub(self.replayed).max(1);
        let after_next = elapsed_seconds * (1.0 + 1.0 / f64::from(taken));
        let limit = if self.blocks < self.fewest() {
            self.ceiling_seconds
        } else {
            self.plan.budget_seconds.unwrap_or(f64::INFINITY)
        };
        if after_next > limit { Step::Stop(StopReason::Budget) } else { Step::Continue }
    }

    /// Whether what was asked for is known: the user's condition, or else a clear answer. The condition is held against every block,
    /// since it may ask for blocks and seconds too; where the samples are not looked at, nothing is known of them.
    fn answer(&mut self, elapsed_seconds: f64) -> Option<StopReason> {
        let Some(until) = self.until.clone() else {
            let reason =
                if self.pairs.is_empty() { StopReason::Precise } else { StopReason::Clear };
            return (self.looks_now() && self.is_answered()).then_some(reason);
        };
        let looks = until.asks_samples() && self.looks_now();
        let state = State {
            blocks: self.blocks,
            seconds: elapsed_seconds,
            width: if looks { self.width() } else { f64::INFINITY },
            clear: looks && self.is_answered(),
        };
        until.holds(&state).then_some(StopReason::Until)
    }

    /// Whether to look at the samples after this block. Of comparisons after every one; of medians at blocks that are 5 % apart:
    /// an interval costs a sort, and a long run of short commands should not spend its time on looking.
    fn looks_now(&mut self) -> bool {
        if self.blocks < self.fewest() || (self.pairs.is_empty() && self.blocks < self.next_look) {
            return false;
        }
        self.next_look = self.blocks + (self.blocks / 20).max(1);
        true
    }

    /// True when measuring on would not change what is said of any comparison, or without one, when every subject's median is
    /// known to the threshold on either side. The medians share no error: each is told by itself.
    fn is_answered(&mut self) -> bool {
        if self.pairs.is_empty() {
            return (0..self.values.len()).all(|subject| self.is_precise(subject));
        }
        let level = self.level();
        let (threshold, distribution) = (&self.plan.threshold, &mut self.distribution);
        self.pairs.iter().all(|pair| {
            pair.blocks.may_be_settled(threshold, level.interval, distribution) && {
                let found = pair.blocks.decide(threshold, level, self.better, distribution);
                found.decision.is_settled() && found.drifting.is_none()
            }
        })
    }

    fn is_precise(&self, subject: usize) -> bool {
        let (Some(median), Some(interval)) = (self.median(subject), self.median_interval(subject))
        else {
            return false;
        };
        let threshold = paired::threshold_on(Scale::Shift, &self.plan.threshold, median);
        interval.half_width() <= threshold
    }

    /// Half width of the widest interval, as a fraction: of the ratio (of the reference's median, where amounts decide), or
    /// without comparisons of the median. Infinite while one is lacking.
    fn width(&mut self) -> f64 {
        let relative = |half_width: f64, to: Option<f64>| match to {
            Some(to) if to != 0.0 => half_width / to.abs(),
            _ => f64::INFINITY,
        };
        let mut widths = Vec::new();
        if self.pairs.is_empty() {
            for subject in 0..self.values.len() {
                let interval = self.median_interval(subject).unwrap_or(Interval::UNBOUNDED);
                widths.push(relative(interval.half_width(), self.median(subject)));
            }
        }
        for (of, against) in self.pairs.iter().map(|p| (p.of, p.against)).collect::<Vec<_>>() {
            let found = self.estimate(of).and_then(|d| Some((d.scale, d.interval?)));
            widths.push(match found {
                None => f64::INFINITY,
                Some((Scale::Ratio, i)) => (i.upper.exp() - i.lower.exp()) / 2.0,
                Some((Scale::Shift, i)) => relative(i.half_width(), self.median(against)),
            });
        }
        // A width that is no number is no width.
        widths.into_iter().map(|w| if w.is_nan() { f64::INFINITY } else { w }).fold(0.0, f64::max)
    }

    fn level(&self) -> Level {
        level_for(&self.plan, self.pairs.len().max(1) * self.family)
    }

    fn fewest(&self) -> u32 {
        if self.counts { 2 } else { paired::fewest_blocks(self.level().interval) }
    }

    fn shuffle(&mut self) {
        for i in (1..self.order.len()).rev() {
            let j = self.below(i as u32 + 1) as usize;
            self.order.swap(i, j);
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        below(&mut self.random, bound)
    }
}

/// A number below `bound`, every one equally likely (Lemire 2019, with rejection).
fn below(random: &mut Pcg64Mcg, bound: u32) -> u32 {
    let reject_below = bound.wrapping_neg() % bound;
    loop {
        let wide = u64::from(random.next_u32()) * u64::from(bound);
        if wide as u32 >= reject_below {
            return (wide >> 32) as u32;
        }
    }
}

/// The level of each comparison when a plan is held against so many comparisons.
pub fn level_for(plan: &Plan, comparisons: usize) -> Level {
    let share = comparisons as f64;
    Level { interval: plan.level() / share, groups: (1.0 - plan.confidence) / share }
}

/// The fewest blocks at which a plan can come to a verdict on subjects with these references (as for
/// [`Experiment::against`]).
pub fn fewest_blocks(plan: &Plan, references: &[Option<usize>]) -> u32 {
    let compared = |&(of, against): &(usize, &Option<usize>)| {
        against.is_some_and(|a| a != of && a < references.len())
    };
    let pairs = references.iter().enumerate().filter(compared).count();
    paired::fewest_blocks(level_for(plan, pairs.max(1)).interval)
}

/// The references of the plain case: all subjects are compared with the first.
pub fn against_the_first(subjects: usize) -> Vec<Option<usize>> {
    (0..subjects).map(|subject| (subject > 0).then_some(0)).collect()
}

#[cfg(test)]
mod tests;
