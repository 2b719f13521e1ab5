//! One row of an experiment: its values, block by block, and whether it is decided.

use super::looks::{self, End};
use crate::dependence::Dependence;
use crate::describe::median_interval;
use crate::paired::{self, Level, Paired};
use crate::policy;
use crate::until::{Condition, State};
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Metric, Plan, StopReason, StopRule};
use assay_stats::{Interval, descriptive, signed_rank::SignedRankDistribution, signs};

/// The state of one row.
#[derive(Debug)]
pub(super) struct RowState {
    plan: Plan,
    better: Better,
    /// Number of blocks, including those with a missing value.
    pub blocks: u32,
    current: Vec<f64>,
    /// For each place, the build of its current value.
    current_builds: Vec<u32>,
    /// True if any place has several builds.
    has_builds: bool,
    pairs: Vec<Pair>,
    /// For each place, its values in the complete blocks.
    values: Vec<Vec<f64>>,
    until: Option<Condition>,
    next_look: u32,
    /// Without comparisons: the number of blocks and the half widths of all medians' intervals, for
    /// each look late enough to be a baseline for later ones.
    widths: Vec<(u32, Vec<f64>)>,
    /// Number of rows that share the error rate, including this one.
    family: usize,
    /// True if the row's values are exact counts.
    counts: bool,
    distribution: SignedRankDistribution,
    /// The reason why the row needs no more blocks; `None` while it is open.
    pub stopped: Option<StopReason>,
}

/// The time that a run has taken, including the part before it was resumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    /// Total seconds.
    pub seconds: f64,
    /// Mean duration of a block of the row's unit.
    pub block_seconds: f64,
}

/// A place and the place it is compared with.
#[derive(Debug)]
struct Pair {
    of: usize,
    against: usize,
    blocks: Paired,
}

impl RowState {
    /// Creates a row. A place whose reference is not the index of another place is itself a
    /// reference. `builds` gives the number of builds of each place; a missing number means one.
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

    /// Sets the metric of the values.
    pub fn set_metric(&mut self, metric: &Metric) {
        self.better = metric.better;
        self.pairs.iter_mut().for_each(|pair| pair.blocks = Paired::of_metric(metric));
        self.counts = metric.exact;
    }

    /// Sets which direction is better.
    pub fn set_better(&mut self, better: Better) {
        self.better = better;
    }

    /// Sets the number of rows that share the error rate.
    pub fn set_family(&mut self, rows: usize) {
        self.family = rows.max(1);
    }

    /// Records the value of a place in the current block; NaN makes the block incomplete.
    pub fn observe(&mut self, place: usize, value: f64, build: u32) {
        self.current[place] = value;
        self.current_builds[place] = build;
    }

    /// Ends the current block and checks whether the row has its answer. A row that had its answer
    /// keeps it.
    pub fn end_block(&mut self, elapsed_seconds: f64, watched: Watched) {
        self.blocks += 1;
        self.take_block();
        if self.stopped.is_none() {
            self.stopped = self.after_block(elapsed_seconds, watched);
        }
    }

    /// Returns the current difference between a place and its reference, at the level of a look;
    /// `None` for a reference, and before the first complete block.
    pub fn estimate(&mut self, place: usize) -> Option<Decision> {
        let level = self.level();
        let pair = self.pairs.iter().find(|pair| pair.of == place && !pair.blocks.is_empty())?;
        let found =
            pair.blocks.decide(&self.plan.threshold, level, self.better, &mut self.distribution);
        Some(found.decision)
    }

    /// Returns the median of a place over the complete blocks.
    pub fn median(&self, place: usize) -> Option<f64> {
        let values = self.values.get(place)?;
        (!values.is_empty()).then(|| descriptive::median(values))
    }

    /// Returns the interval for the median of a place, at the level of a look. O(n log n).
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

    /// Returns the reason why the row may stop: the user's condition, or a clear answer if there is
    /// no such condition. The condition is evaluated after every block because it may refer to
    /// blocks and seconds; quantities that depend on the samples are unknown between looks.
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
            // Note: only the noise of the blocks decides here, never the difference. The interval
            // over builds is therefore evaluated only once, at the level of the whole run.
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

    /// Returns true if a run that stops by itself has covered too little time: fewer blocks than
    /// are needed to detect a drifting difference, or less time than a slow disturbance lasts. Runs
    /// with slow blocks need fewer blocks. Exact counts have no such minimum.
    fn is_too_soon(&self, watched: Watched) -> bool {
        if self.counts {
            return false;
        }
        if watched.block_seconds > policy::SLOW_BLOCK_SECONDS {
            return self.blocks < policy::FEWEST_SLOW_BLOCKS;
        }
        self.blocks < policy::TESTED_FROM as u32 || watched.seconds < policy::SOONEST_SECONDS
    }

    /// Returns true if the samples are to be evaluated after this block. Comparisons are evaluated
    /// at the planned looks, or after every block if the values are exact counts or the user gave a
    /// condition. Medians, and comparisons of several builds, are evaluated at blocks 5 % apart,
    /// because each interval requires a sort, which would take most of the time of a long run of
    /// short commands.
    fn looks_now(&mut self) -> bool {
        let rarely = self.pairs.is_empty() || self.has_builds;
        if !rarely && !self.counts && self.until.is_none() {
            return self.next_look < self.complete() && {
                // A block with a missing value adds no data.
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

    /// Returns the number of blocks without missing values.
    fn complete(&self) -> u32 {
        self.values.first().map_or(0, Vec::len) as u32
    }

    fn most(&self) -> u32 {
        match self.plan.stop {
            StopRule::Fixed { blocks } => blocks,
            StopRule::Sequential { max_blocks, .. } => max_blocks,
        }
    }

    /// Returns true if further blocks would not change the verdict of any comparison. Without
    /// comparisons, returns true if the median of every place is known to within the threshold. The
    /// medians do not share the error rate, because each is decided separately.
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

    /// Without comparisons, returns true if the intervals of all medians have hardly narrowed since
    /// there were half as many blocks. Values with long-range correlation add little information,
    /// and a median that is not known more precisely after twice the time will not be after ten
    /// times. The earlier look must come late enough to outlast disturbances of a few seconds.
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

    /// Returns the half width of the widest interval, as a fraction of 1 for ratios, of the
    /// reference's median for differences, and of the median itself without comparisons. Infinite
    /// if any interval is missing.
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
        // A NaN width counts as infinite.
        widths.into_iter().map(|w| if w.is_nan() { f64::INFINITY } else { w }).fold(0.0, f64::max)
    }

    fn level(&self) -> Level {
        looks::level(&self.plan, self.share(), self.complete() as usize, End::Any)
    }

    fn share(&self) -> f64 {
        (self.pairs.len().max(1) * self.family) as f64
    }

    /// Returns the minimum number of blocks for an answer of the row.
    pub fn fewest(&self) -> u32 {
        match (self.counts, self.pairs.is_empty()) {
            (true, _) => 2,
            (_, true) => paired::fewest_blocks(self.plan.level()),
            _ => looks::fewest_blocks(&self.plan, self.share()),
        }
    }
}
