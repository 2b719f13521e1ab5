//! The experiment: selects the next measurement, and decides when to stop.
//!
//! Every comparison by measurement is an instance of this experiment: units with places, blocks in
//! random order, and a stopping rule. A run or a scan is one unit whose places are all its
//! subjects; a suite has one unit per benchmark. The experiment takes values, and returns the next
//! turn or the reason to stop. It uses neither clocks nor processes: the caller supplies the
//! elapsed time, and all randomness comes from the plan's seed, so the same seed gives the same
//! order.
//!
//! Several units are measured in rounds. A round visits every open unit once, in a new random
//! order, and takes one block of each. A disturbance of the machine then affects a few blocks of
//! many units instead of all blocks of one, and decided units take no more time. Each row stops
//! separately; a unit continues while any of its rows is open.
//!
//! A plan's `until` replaces the question "is the answer clear?" without loss of certainty. Without
//! it, results are evaluated at predetermined blocks ([`looks`]). With it, every interval is at the
//! plan's look level, which is chosen so that measuring may stop after any block for any reason.
//!
//! ```
//! use assay_analysis::{Experiment, Step};
//! use assay_data::{Plan, StopReason, Threshold};
//!
//! let plan = Plan::sequential(0.95, Threshold::default(), 7);
//! let mut experiment = Experiment::new(plan, 2);
//! let (mut reason, mut elapsed) = (None, 0.0);
//! while let Some(turn) = experiment.next_turn() {
//!     let seconds = if turn.place == 0 { 1.02 } else { 2.04 };
//!     elapsed += seconds;
//!     if let Step::Stop(why) = experiment.observe(turn, &[seconds], elapsed) {
//!         reason = Some(why);
//!     }
//! }
//! assert_eq!((reason, experiment.blocks()), (Some(StopReason::Clear), 10));
//! ```

use crate::bisect::Search;
use crate::verdict::Decision;
use assay_data::source::{Purpose, Turn, Unit};
use assay_data::{Better, Metric, Plan, StopReason};
use assay_stats::Interval;
use builds::Builds;
use rand_core::{Rng, SeedableRng};
use random::{Random, below, shuffle};
use row::{RowState, Watched};
use searching::Searching;
use std::collections::BTreeSet;

mod builds;
pub mod looks;
mod random;
mod replay;
mod row;
mod searching;

pub use replay::ReplayError;

/// XORed with a unit's seed to give the seed of its build order. The unit's seed itself is used for
/// the order of places and for padding.
const OF_BUILDS: u64 = 0x6275_696c;

/// Exclusive upper bound of the environment's padding, in bytes. Beyond a page, the stack's layout
/// repeats.
const PADDING_BELOW: u32 = 4096;

/// The result of an observation: continue, or stop for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Take the next turn.
    Continue,
    /// Stop for this reason.
    Stop(StopReason),
}

/// A running experiment.
#[derive(Debug)]
pub struct Experiment {
    plan: Plan,
    purpose: Purpose,
    /// Seconds after which measuring stops even with too few blocks; at least the plan's budget.
    ceiling_seconds: f64,
    units: Vec<UnitState>,
    /// True if runs may report rows that no unit declares.
    discovers: bool,
    /// Indices in the samples of the rows that runs reported but no unit declares.
    discovered: BTreeSet<usize>,
    /// Number of rows that share the error rate; 0 if it is not shared.
    sharing: usize,
    /// Units still to be visited in this round, the next one last.
    to_go: Vec<usize>,
    /// Start of the current block, in seconds on a clock that continues across resumed runs.
    began_seconds: f64,
    /// Seconds taken by the recorded run that was resumed.
    replayed_seconds: f64,
    /// Draws the order of the units, if there are several.
    random: Random,
}

/// Number of blocks and the time they took.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    blocks: u32,
    seconds: f64,
}

impl Spent {
    /// Returns the mean duration of a block; 0 before the first.
    fn block_seconds(self) -> f64 {
        self.seconds / f64::from(self.blocks.max(1))
    }
}

/// One unit: the order of its places, and the state of its rows.
#[derive(Debug)]
struct UnitState {
    /// For each place, the subjects that one run measures.
    places: Vec<Vec<usize>>,
    random: Random,
    order: Vec<usize>,
    /// Selects the next build of each place.
    builds: Builds,
    position: usize,
    rows: Vec<RowState>,
    /// State of the search, if the unit is searched for a step.
    search: Option<Searching>,
    given_up: bool,
    /// Number of finished blocks, and the seconds they took.
    spent: Spent,
    /// The part of `spent` that was replayed from a recording, which the elapsed time does not
    /// include.
    replayed: Spent,
}

impl UnitState {
    fn new(plan: &Plan, unit: &Unit, seed: u64) -> Self {
        let places = unit.references.len().max(1);
        let mut references = unit.references.clone();
        references.resize(places, None);
        Self {
            places: unit.places.clone(),
            random: Random::seed_from_u64(seed),
            order: (0..places).collect(),
            builds: Builds::new(&unit.builds, places, Random::seed_from_u64(seed ^ OF_BUILDS)),
            position: 0,
            rows: (0..unit.rows().max(1))
                .map(|_| RowState::new(plan, &references, &unit.builds))
                .collect(),
            search: unit.search.then(|| Searching::new(plan, places)),
            given_up: false,
            spent: Spent::default(),
            replayed: Spent::default(),
        }
    }

    /// Returns the mean duration of a block since the run was started or resumed.
    fn block_seconds_now(&self) -> f64 {
        let Spent { blocks, seconds } = self.replayed;
        let since =
            Spent { blocks: self.spent.blocks - blocks, seconds: self.spent.seconds - seconds };
        since.block_seconds()
    }

    /// Returns the number of places, including those that the current block of a search omits.
    fn places(&self) -> usize {
        if self.search.is_some() { self.places.len() } else { self.order.len() }
    }

    fn is_open(&self) -> bool {
        !self.given_up && self.rows.iter().any(|row| row.stopped.is_none())
    }

    /// Returns the unit's next turn. Draws a new order at the start of each block.
    fn next_turn(&mut self, unit: usize, purpose: Purpose) -> Turn {
        if self.position == 0 {
            if let Some(search) = &self.search {
                // Note: the values so far determine which places a search measures, and only their
                // order is random. A resumed recording therefore continues like an uninterrupted
                // one.
                self.order = search.order(self.places.len());
            }
            // Note: the order is random, never alternating, because alternation can synchronize
            // with the machine's timer tick.
            shuffle(&mut self.order, &mut self.random);
            self.builds.begin(self.spent.blocks);
        }
        let place = self.order[self.position];
        Turn {
            unit,
            place,
            build: self.builds.now[place],
            block: self.spent.blocks,
            position: self.position as u32,
            padding: below(&mut self.random, PADDING_BELOW) as u16,
            purpose,
        }
    }
}

impl Experiment {
    /// Creates an experiment on `places` places (at least one). The first is the reference of all
    /// others.
    pub fn new(plan: Plan, places: usize) -> Self {
        Self::against(plan, &against_the_first(places.max(1)))
    }

    /// Creates an experiment on places, given for each the index of the place that it is compared
    /// with. `None` marks a reference, as does the index of the place itself or an index out of
    /// range. If there are no comparisons, every place is measured until its median is precise.
    ///
    /// If the plan has an `until`, it must be a valid [`crate::until::Condition`]: one that can't
    /// be parsed never becomes true, and the run continues until its budget ends. Callers must
    /// report parse errors beforehand.
    pub fn against(plan: Plan, references: &[Option<usize>]) -> Self {
        Self::of_units(plan, &[Unit::of_subjects(references)])
    }

    /// Creates an experiment on these units, which share one budget. The order within a single unit
    /// is drawn from the plan's seed itself. Several units have separate streams derived from that
    /// seed.
    pub fn of_units(plan: Plan, units: &[Unit]) -> Self {
        let mut random = Random::seed_from_u64(plan.seed);
        let states = units.iter().map(|unit| {
            let seed = if units.len() == 1 { plan.seed } else { random.next_u64() >> 11 };
            UnitState::new(&plan, unit, seed)
        });
        Self {
            units: states.collect(),
            discovers: units.iter().any(|unit| unit.discovers),
            discovered: BTreeSet::new(),
            sharing: 0,
            purpose: Purpose::Measure,
            ceiling_seconds: plan.budget_seconds.unwrap_or(f64::INFINITY),
            to_go: Vec::new(),
            began_seconds: 0.0,
            replayed_seconds: 0.0,
            random,
            plan,
        }
    }

    /// Sets the purpose of the turns (default: measuring).
    #[must_use]
    pub fn with_purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// Extends the budget to this many seconds while there are too few blocks for any verdict.
    #[must_use]
    pub fn stretching_to(mut self, seconds: f64) -> Self {
        self.ceiling_seconds = self.ceiling_seconds.max(seconds);
        self
    }

    /// Sets which direction of the deciding metric is better (default: less).
    #[must_use]
    pub fn preferring(mut self, better: Better) -> Self {
        self.rows().for_each(|row| row.set_better(better));
        self
    }

    /// Lets `rows` rows, plus those that are discovered later, share the error rate. Each row is
    /// judged at its share. With 0, each row has an error rate of its own.
    #[must_use]
    pub fn among(mut self, rows: usize) -> Self {
        self.sharing = rows;
        self.rows().for_each(|row| row.set_family(rows));
        self
    }

    /// Registers a row that a run reported but no unit declares, by its index in the samples. The
    /// row does not decide when to stop, but takes its part of a shared error rate, so that answers
    /// stay the same when all rows are decided together.
    pub fn discover(&mut self, row: usize) {
        if self.discovered.insert(row) && self.sharing > 0 {
            let family = self.sharing + self.discovered.len();
            self.rows().for_each(|row| row.set_family(family));
        }
    }

    /// Sets the deciding metric. If it is exact, equal values count as certainly equal.
    #[must_use]
    pub fn of_metric(mut self, metric: &Metric) -> Self {
        self.rows().for_each(|row| row.set_metric(metric));
        self
    }

    fn rows(&mut self) -> impl Iterator<Item = &mut RowState> {
        self.units.iter_mut().flat_map(|unit| {
            unit.rows.iter_mut().chain(unit.search.iter_mut().map(|search| &mut search.ends))
        })
    }

    /// Returns whether the ends of a searched unit are known to differ, and the state of its
    /// search. `None` if the unit is not searched.
    pub fn search(&self, unit: usize) -> Option<(bool, &Search)> {
        let searching = self.units.get(unit)?.search.as_ref()?;
        Some((searching.has_begun(), &searching.search))
    }

    /// Returns the current difference between the ends of a searched unit; `None` before the first
    /// complete block.
    pub fn ends(&mut self, unit: usize) -> Option<Decision> {
        self.units.get_mut(unit)?.search.as_mut()?.ends.estimate(1)
    }

    /// Returns the plan of the experiment.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the purpose of the turns.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Returns the largest number of finished blocks of any unit.
    pub fn blocks(&self) -> usize {
        self.units.iter().map(|unit| unit.spent.blocks as usize).max().unwrap_or(0)
    }

    /// Returns the number of finished blocks of a unit.
    pub fn blocks_of(&self, unit: usize) -> usize {
        self.units.get(unit).map_or(0, |unit| unit.spent.blocks as usize)
    }

    /// Returns the number of rows and the number of places of each unit.
    pub fn shape(&self) -> impl Iterator<Item = (usize, usize)> {
        self.units.iter().map(|unit| (unit.rows.len(), unit.places()))
    }

    /// Returns true if a row is still undecided.
    pub fn is_open(&self, unit: usize, row: usize) -> bool {
        let unit = self.units.get(unit).filter(|unit| !unit.given_up);
        unit.and_then(|unit| unit.rows.get(row)).is_some_and(|row| row.stopped.is_none())
    }

    /// Returns what to measure next, in a new random order for every block and every round; `None`
    /// if nothing is open.
    pub fn next_turn(&mut self) -> Option<Turn> {
        let unit = self.next_unit()?;
        Some(self.units[unit].next_turn(unit, self.purpose))
    }

    /// Records the values of the deciding metric, one for each of the unit's rows, and returns
    /// whether to go on. A NaN or missing value makes a row's block incomplete: it counts towards
    /// the number of blocks, not towards the verdict.
    pub fn observe(&mut self, turn: Turn, values: &[f64], elapsed_seconds: f64) -> Step {
        let unit = &mut self.units[turn.unit];
        let value = |row: usize| values.get(row).copied().unwrap_or(f64::NAN);
        match &mut unit.search {
            Some(search) => search.observe(turn.place, value(0)),
            None => unit.rows.iter_mut().enumerate().for_each(|(index, row)| {
                row.observe(turn.place, value(index), turn.build);
            }),
        }
        unit.position += 1;
        self.after_turn(turn.unit, elapsed_seconds)
    }

    /// Records that a run failed. Its unit is skipped from now on, or only its place if the unit is
    /// searched for a step. Earlier results are kept.
    pub fn fail(&mut self, turn: Turn, elapsed_seconds: f64) -> Step {
        let unit = &mut self.units[turn.unit];
        let places = unit.places.len();
        let Some(search) = &mut unit.search else {
            return self.give_up(turn.unit, elapsed_seconds);
        };
        if let Some(reason) = search.skip(turn.place, places) {
            unit.rows.iter_mut().for_each(|row| row.stopped = Some(reason));
            return Step::Stop(reason);
        }
        // The remaining places of the block are still measured.
        unit.order.remove(unit.position);
        self.after_turn(turn.unit, elapsed_seconds)
    }

    fn after_turn(&mut self, unit: usize, elapsed_seconds: f64) -> Step {
        let unit = &mut self.units[unit];
        if unit.position < unit.order.len() {
            return Step::Continue;
        }
        unit.position = 0;
        unit.spent.blocks += 1;
        let seconds = self.replayed_seconds + elapsed_seconds;
        unit.spent.seconds += (seconds - self.began_seconds).max(0.0);
        let watched = Watched { seconds, block_seconds: unit.spent.block_seconds() };
        match &mut unit.search {
            Some(search) => {
                let stopped = search.end_block(unit.spent.blocks, elapsed_seconds, watched);
                unit.rows.iter_mut().for_each(|row| {
                    (row.blocks, row.stopped) = (unit.spent.blocks, stopped);
                });
            }
            None => unit.rows.iter_mut().for_each(|row| row.end_block(elapsed_seconds, watched)),
        }
        self.to_go.pop();
        self.after_block(elapsed_seconds)
    }

    /// Skips a unit from now on because one of its runs failed. Earlier results are kept.
    pub fn give_up(&mut self, unit: usize, elapsed_seconds: f64) -> Step {
        self.units[unit].given_up = true;
        self.to_go.retain(|&other| other != unit);
        self.after_block(elapsed_seconds)
    }

    /// Returns the current difference between a place of a row and its reference, at the level of a
    /// look; `None` for a reference, and before the first complete block.
    pub fn estimate(&mut self, unit: usize, row: usize, place: usize) -> Option<Decision> {
        self.units.get_mut(unit)?.rows.get_mut(row)?.estimate(place)
    }

    /// Returns the median of a place of a row over the complete blocks.
    pub fn median(&self, unit: usize, row: usize, place: usize) -> Option<f64> {
        self.units.get(unit)?.rows.get(row)?.median(place)
    }

    /// Returns the interval for the median of a place of a row, at the level of a look. O(n log n).
    pub fn median_interval(&self, unit: usize, row: usize, place: usize) -> Option<Interval> {
        self.units.get(unit)?.rows.get(row)?.median_interval(place)
    }

    fn after_block(&mut self, elapsed_seconds: f64) -> Step {
        self.began_seconds = self.replayed_seconds + elapsed_seconds;
        let Some(next) = self.next_unit() else {
            let reasons: Vec<StopReason> = self.rows().filter_map(|row| row.stopped).collect();
            // Reasons without an answer take precedence, however many rows have answers.
            let unanswered = [StopReason::Blocks, StopReason::Diminishing];
            let told = unanswered.into_iter().find(|reason| reasons.contains(reason));
            let first = reasons.first().copied().unwrap_or(StopReason::Clear);
            return Step::Stop(told.unwrap_or(first));
        };
        let mut open = self.units.iter().filter(|unit| unit.is_open()).flat_map(|unit| &unit.rows);
        let limit = if open.any(|row| row.stopped.is_none() && row.blocks < row.fewest()) {
            self.ceiling_seconds
        } else {
            self.plan.budget_seconds.unwrap_or(f64::INFINITY)
        };
        // A block that would end beyond the limit is not started.
        let after_next = elapsed_seconds + self.units[next].block_seconds_now();
        if after_next > limit { Step::Stop(StopReason::Budget) } else { Step::Continue }
    }

    /// Returns the unit of the next block, starting a new round if the last one is finished.
    fn next_unit(&mut self) -> Option<usize> {
        if self.to_go.is_empty() {
            let open = |unit: &usize| self.units[*unit].is_open();
            let mut round: Vec<usize> = (0..self.units.len()).filter(open).collect();
            shuffle(&mut round, &mut self.random);
            self.to_go = round;
        }
        self.to_go.last().copied()
    }
}

/// Returns the minimum number of blocks for a plan to reach a verdict on one of `comparisons`
/// comparisons (at least 1) that share the error rate.
pub fn fewest_blocks(plan: &Plan, comparisons: usize) -> u32 {
    looks::fewest_blocks(plan, comparisons.max(1) as f64)
}

/// Number of blocks that fit in the available time, and number needed for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// Number of blocks that fit, at least 1.
    pub blocks: u32,
    /// Number of blocks needed for a verdict.
    pub needed: u32,
}

/// Returns the counts if `span_seconds` is too short for a verdict of a plan that stops by itself,
/// given the duration of a block. A plan with a user-defined condition is never too short, because
/// the condition may become true at any time.
pub fn too_few_fit(
    plan: &Plan,
    block_seconds: f64,
    span_seconds: f64,
    comparisons: usize,
) -> Option<TooFew> {
    let needed = fewest_blocks(plan, comparisons);
    let fits = block_seconds * f64::from(needed) <= span_seconds;
    if !plan.is_sequential() || plan.until.is_some() || fits {
        return None;
    }
    Some(TooFew { blocks: ((span_seconds / block_seconds) as u32).max(1), needed })
}

/// Returns the references for the simple case in which all subjects are compared with the first.
pub fn against_the_first(subjects: usize) -> Vec<Option<usize>> {
    (0..subjects).map(|subject| (subject > 0).then_some(0)).collect()
}

#[cfg(test)]
mod tests;
