//! One row of an experiment: its values, block by block, and whether what was asked of it is answered.

use super::looks::{self, End};
use crate::dependence::Dependence;
use crate::describe::median_interval;
use crate::paired::{self, Level, Paired};
use crate::policy;
use crate::until::{Condition, State};
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Metric, Plan, StopReason, StopRule};
use assay_stats::{Interval, descriptive, signed_rank::SignedRankDistribution, signs};

/// What is known of one row.
#[derive(Debug)]
pub(super) struct RowState {
    plan: Plan,
    better: Better,
    /// Complete blocks and those in which a value is missing.
    pub blocks: u32,
    current: Vec<f64>,
    /// By place the build that gave it.
    current_builds: Vec<u32>,
    /// Whether a place has several builds.
    has_builds: bool,
    pairs: Vec<Pair>,
    /// By place its values in the complete blocks.
    values: Vec<Vec<f64>>,
    until: Option<Condition>,
    next_look: u32,
    /// At looks without comparisons that came late enough to be held against, how many blocks there were and the half widths of all
    /// medians' intervals.
    widths: Vec<(u32, Vec<f64>)>,
    /// How many rows share the error, this one included.
    family: usize,
    /// Whether its values are exact counts.
    counts: bool,
    distribution: SignedRankDistribution,
    /// Why it needs no more blocks.
    pub stopped: Option<StopReason>,
}

/// What a run has seen of time, also before it was taken up again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    /// Seconds.
    pub seconds: f64,
    /// What a block of the row's unit takes on average.
    pub block_seconds: f64,
}

/// A place and the one that it is compared with.
#[derive(Debug)]
struct Pair {
    of: usize,
    against: usize,
    blocks: Paired,
}

impl RowState {
    /// A row by this plan with these references, of which those that are no other place's index mark a reference; `builds`: how many
    /// each place has, if not one.
    pub fn new(plan: &Plan, references: &[Option<usize>], builds: &[u32]) -> Self {
        let places = references.len();
        let pair = |(of, against): (usize, &Option<usize>)| {
            let against = against.filter(|&a| a != of && a < places)?;
            Some(Pair { of, against, blocks: Paired::default() })
        };
        let until = plan.until.as_deref();
        Self {
            better: Better::Lower,
            blocks: 0,
            current: vec![f64::NAN; places],
            current_builds: vec![0; places],
            has_builds: builds.iter().any(|&count| count > 1),
            pairs: references.iter().enumerate().filter_map(pair).collect(),
            values: vec![Vec::new(); places],
            until: until.map(|text| Condition::parse(text).unwrap_or_else(|_| Condition::never())),
            next_look: 0,
            widths: Vec::new(),
            family: 1,
            counts: false,
            distribution: SignedRankDistribution::default(),
            stopped: None,
            plan: plan.clone(),
        }
    }

    /// Says of which metric the values are.
    pub fn set_metric(&mut self, metric: &Metric) {
        self.better = metric.better;
        self.pairs.iter_mut().for_each(|pair| pair.blocks = Paired::of_metric(metric));
        self.counts = metric.exact;
    }

    /// Says which direction is better.
    pub fn set_better(&mut self, better: Better) {
        self.better = better;
    }

    /// Makes it one of so many rows that share the error.
    pub fn set_family(&mut self, rows: usize) {
        self.family = rows.max(1);
    }

    /// Takes in the value of a place in the block at hand; NaN makes the block incomplete.
    pub fn observe(&mut self, place: usize, value: f64, build: u32) {
        self.current[place] = value;
        self.current_builds[place] = build;
    }

    /// Ends the block at hand: whether what was asked for is known now. What was answered once stays answered.
    pub fn end_block(&mut self, elapsed_seconds: f64, watched: Watched) {
        self.blocks += 1;
        self.take_block();
        if self.stopped.is_none() {
            self.stopped = self.after_block(elapsed_seconds, watched);
        }
    }

    /// Difference of a place against its reference as it stands, at the level of a look; `None` for a reference, and before
    /// the first complete block.
    pub fn estimate(&mut self, place: usize) -> Option<Decision> {
        let level = self.level();
        let pair = self.pairs.iter().find(|pair| pair.of == place && !pair.blocks.is_empty())?;
        let found =
            pair.blocks.decide(&self.plan.threshold, level, self.better, &mut self.distribution);
        Some(found.decision)
    }

    /// Median of a place over the complete blocks so far.
    pub fn median(&self, place: usize) -> Option<f64> {
        let values = self.values.get(place)?;
        (!values.is_empty()).then(|| descriptive::median(values))
    }

    /// Interval of the median of a place, at the level of a look. O(n log n).
    pub fn median_interval(&self, place: usize) -> Option<Interval> {
        let values = self.values.get(place)?;
        let sorted = descriptive::sorted(values);
        median_interval(&sorted, signs::time_of(values), 1.0 - self.plan.level())
    }

    fn take_block(&mut self) {
        let current = &self.current;
        if current.iter().all(|v| v.is_finite()) {
            self.values.iter_mut().zip(current).for_each(|(values, &value)| values.push(value));
            let builds = &self.current_builds;
            for Pair { of, against, blocks } in &mut self.pairs {
                blocks.push(current[*against], current[*of]);
                if self.has_builds {
                    blocks.push_builds(builds[*against], builds[*of]);
                }
            }
        }
        self.current.fill(f64::NAN);
    }

    fn after_block(&mut self, elapsed_seconds: f64, watched: Watched) -> Option<StopReason> {
        match self.plan.stop {
            StopRule::Fixed { blocks } => (self.blocks >= blocks).then_some(StopReason::Blocks),
            StopRule::Sequential { max_blocks, .. } => self
                .answer(elapsed_seconds, watched)
                .or((self.blocks >= max_blocks).then_some(StopReason::Blocks)),
        }
    }

    /// Whether what was asked for is known: the user's condition, or else a clear answer. The condition is held against every block,
    /// since it may ask for blocks and seconds too; where the samples are not looked at, nothing is known of them.
    fn answer(&mut self, elapsed_seconds: f64, watched: Watched) -> Option<StopReason> {
        let soon = self.is_too_soon(watched);
        let Some(until) = self.until.clone() else {
            if soon || !self.looks_now() {
                return None;
            }
            if self.pairs.is_empty() {
                let precise = self.is_answered().then_some(StopReason::Precise);
                let hardly =
                    |row: &mut Self| row.has_diminished(watched).then_some(StopReason::Diminishing);
                return precise.or_else(|| hardly(self));
            }
            if self.has_builds {
                let known =
                    self.pairs.iter().all(|p| p.blocks.are_builds_known(&self.plan.threshold));
                let reason =
                    if self.is_answered() { StopReason::Clear } else { StopReason::Diminishing };
                return known.then_some(reason);
            }
            return self.is_answered().then_some(StopReason::Clear);
        };
        let looks = until.asks_samples() && self.looks_now();
        let state = State {
            blocks: self.blocks,
            seconds: elapsed_seconds,
            width: if looks { self.width() } else { f64::INFINITY },
            clear: looks && !soon && self.is_answered(),
        };
        until.holds(&state).then_some(StopReason::Until)
    }

    /// Whether a run that stops by itself has seen too little of time: fewer blocks than show a difference that wanders, or less than
    /// any slow disturbance lasts. Slow blocks see time enough. Exact counts need none.
    fn is_too_soon(&self, watched: Watched) -> bool {
        if self.counts {
            return false;
        }
        if watched.block_seconds > policy::SLOW_BLOCK_SECONDS {
            return self.blocks < policy::FEWEST_SLOW_BLOCKS;
        }
        self.blocks < policy::TESTED_FROM as u32 || watched.seconds < policy::SOONEST_SECONDS
    }

    /// Whether to look at the samples after this block. Of comparisons at those that are set beforehand, or for a condition of the user's
    /// after every one; of medians, and of comparisons of several builds, at blocks that are 5 % apart: an interval costs a sort, and a
    /// long run of short commands should not spend its time on looking.
    fn looks_now(&mut self) -> bool {
        let rarely = self.pairs.is_empty() || self.has_builds;
        if !rarely && !self.counts && self.until.is_none() {
            return self.next_look < self.complete() && {
                // A block without a value leaves what is known as it was.
                self.next_look = self.complete();
                looks::is_look(self.most(), self.complete())
            };
        }
        if self.blocks < self.fewest() || (rarely && self.blocks < self.next_look) {
            return false;
        }
        self.next_look = self.blocks + (self.blocks / 20).max(1);
        true
    }

    /// Number of blocks without a missing value.
    fn complete(&self) -> u32 {
        self.values.first().map_or(0, Vec::len) as u32
    }

    fn most(&self) -> u32 {
        match self.plan.stop {
            StopRule::Fixed { blocks } => blocks,
            StopRule::Sequential { max_blocks, .. } => max_blocks,
        }
    }

    /// True when measuring on would not change what is said of any comparison, or without one, when every place's median is
    /// known to the threshold on either side. The medians share no error: each is decided by itself.
    fn is_answered(&mut self) -> bool {
        if self.pairs.is_empty() {
            return (0..self.values.len()).all(|place| self.is_precise(place));
        }
        let level = self.level();
        let (threshold, distribution) = (&self.plan.threshold, &mut self.distribution);
        self.pairs.iter().all(|pair| {
            pair.blocks.may_be_settled(threshold, level.interval, distribution) && {
                let found = pair.blocks.decide(threshold, level, self.better, distribution);
                let seen =
                    matches!(found.dependence(), Dependence::Noticed | Dependence::TooStrong);
                found.decision.is_settled() && !seen
            }
        })
    }

    /// Without comparisons: whether the intervals of all medians hardly got narrower since there were half as many blocks. Values that
    /// are correlated over long times are worth little more for being more, and a median that is not known better after twice the time
    /// will not be after ten times. The earlier look must have outlasted what disturbs for seconds and goes.
    fn has_diminished(&mut self, watched: Watched) -> bool {
        if self.blocks < policy::DIMINISHING_FROM || watched.seconds < policy::DIMINISHING_SECONDS {
            return false;
        }
        let width = |place| self.median_interval(place).map_or(f64::INFINITY, |i| i.half_width());
        let widths: Vec<f64> = (0..self.values.len()).map(width).collect();
        let before = self.widths.iter().rev().find(|(blocks, _)| blocks * 2 <= self.blocks);
        let diminished = before.is_some_and(|(_, before)| {
            widths.iter().zip(before).all(|(now, then)| *now >= policy::DIMINISHED * then)
        });
        self.widths.push((self.blocks, widths));
        diminished
    }

    fn is_precise(&self, place: usize) -> bool {
        let (Some(median), Some(interval)) = (self.median(place), self.median_interval(place))
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
            for place in 0..self.values.len() {
                let interval = self.median_interval(place).unwrap_or(Interval::UNBOUNDED);
                widths.push(relative(interval.half_width(), self.median(place)));
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
        looks::level(&self.plan, self.share(), self.complete() as usize, End::Any)
    }

    fn share(&self) -> f64 {
        (self.pairs.len().max(1) * self.family) as f64
    }

    /// The fewest blocks at which it can be answered.
    pub fn fewest(&self) -> u32 {
        match (self.counts, self.pairs.is_empty()) {
            (true, _) => 2,
            (_, true) => paired::fewest_blocks(self.plan.level()),
            _ => looks::fewest_blocks(&self.plan, self.share()),
        }
    }
}
