//! The experiment: what is measured next, and whether to go on.
//!
//! Every comparison by measurement is this one experiment: units with places, blocks in random order, a stopping rule. A run or a
//! scan is one unit, whose places are all its subjects; a suite has a unit for each benchmark. It is fed values and answers with
//! the next turn, or with why it stopped. It knows neither clocks nor processes: the caller says how much time has passed, and
//! everything random comes from the plan's seed, so that the same seed gives the same order.
//!
//! Several units are taken in rounds: a round goes once through every unit that is open, in a new
//! random order, and takes one block of each. So a disturbance of the machine falls on few blocks
//! of many units, not on all of one, and what is answered costs no more time. Each row stops by
//! itself; a unit goes on as long as one of its rows is open.
//!
//! A plan's `until` takes the place of "is the answer clear?". That costs no certainty: without it the answer is looked for at blocks
//! that are set beforehand ([`looks`]), with it every interval is at the plan's look level, which was chosen so that one may look after
//! every block and stop at any of them, for whatever reason.
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
use rand_pcg::Pcg64Mcg;
use row::{RowState, Watched};
use searching::Searching;
use std::collections::BTreeSet;

mod builds;
pub mod looks;
mod replay;
mod row;
mod searching;

pub use replay::ReplayError;

/// What everything random is drawn from.
type Random = Pcg64Mcg;

/// Makes a seed that of another stream than those of orders and paddings, which come from the seed as it is.
const OF_BUILDS: u64 = 0x6275_696c;

/// Longest padding of the environment, in bytes: beyond a page the stack's layout repeats.
const PADDING_BELOW: u32 = 4096;

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
    purpose: Purpose,
    /// Seconds after which even too few blocks must do; at least the plan's budget.
    ceiling_seconds: f64,
    units: Vec<UnitState>,
    /// Whether runs may give rows that no unit knows.
    discovers: bool,
    /// Rows that runs gave and no unit knows, by their indices in the samples.
    discovered: BTreeSet<usize>,
    /// How many rows of the units share the error; 0: each has its own.
    sharing: usize,
    /// Units that this round has still to go through, the next one last.
    to_go: Vec<usize>,
    /// When the block at hand began, on the clock that goes on where a recorded run was taken up again.
    began_seconds: f64,
    /// Seconds that a recorded run took which was taken up again.
    replayed_seconds: f64,
    /// Draws the order of the units, where there are several.
    random: Random,
}

/// Blocks, and how long they took.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    blocks: u32,
    seconds: f64,
}

impl Spent {
    /// What a block takes on average; 0 before the first.
    fn block_seconds(self) -> f64 {
        self.seconds / f64::from(self.blocks.max(1))
    }
}

/// One unit: the order of its places, and what is known of its rows.
#[derive(Debug)]
struct UnitState {
    /// By place the subjects that its run measures.
    places: Vec<Vec<usize>>,
    random: Random,
    order: Vec<usize>,
    /// Whose turn it is among the builds of each place.
    builds: Builds,
    position: usize,
    rows: Vec<RowState>,
    /// What is known of the place of a step, in a unit that is searched for one.
    search: Option<Searching>,
    given_up: bool,
    /// How many blocks are complete, and the seconds that they took.
    spent: Spent,
    /// The part of it that was recorded when the run was taken up again: the elapsed time is not theirs.
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

    /// What a block of it took on average since the run was begun or taken up again.
    fn block_seconds_now(&self) -> f64 {
        let Spent { blocks, seconds } = self.replayed;
        let since =
            Spent { blocks: self.spent.blocks - blocks, seconds: self.spent.seconds - seconds };
        since.block_seconds()
    }

    /// How many places it has.
    fn places(&self) -> usize {
        if self.search.is_some() { self.places.len() } else { self.order.len() }
    }

    fn is_open(&self) -> bool {
        !self.given_up && self.rows.iter().any(|row| row.stopped.is_none())
    }

    /// Where a block is begun, its order is drawn again.
    fn next_turn(&mut self, unit: usize, purpose: Purpose) -> Turn {
        if self.position == 0 {
            if let Some(search) = &self.search {
                self.order = search.order(self.places.len());
            }
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
    /// An experiment by this plan on so many places (at least one); the first is the reference of all others.
    pub fn new(plan: Plan, places: usize) -> Self {
        Self::against(plan, &against_the_first(places.max(1)))
    }

    /// An experiment on places of which each names whom it is compared with; `None` marks a reference, and so does an index
    /// that is its own or no place's. Where nobody is compared, every place is measured until its median is precise.
    ///
    /// The plan's `until`, where it has one, must be a [`crate::until::Condition`]: one that can't be read never comes true, and
    /// the run goes on to its budget. Callers tell their users beforehand what its `parse` says of it.
    pub fn against(plan: Plan, references: &[Option<usize>]) -> Self {
        Self::of_units(plan, &[Unit::of_subjects(references)])
    }

    /// An experiment on these units, whose budget is that of all. The order within a single unit is drawn from the plan's seed
    /// itself; several have streams of their own, which come from it.
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

    /// Says what its turns are for; measuring, unless this is called.
    #[must_use]
    pub fn with_purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
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
        self.rows().for_each(|row| row.set_better(better));
        self
    }

    /// Makes its rows some of so many that share the error, with those that are discovered: each is answered at its part. 0: each has an
    /// error of its own.
    #[must_use]
    pub fn among(mut self, rows: usize) -> Self {
        self.sharing = rows;
        self.rows().for_each(|row| row.set_family(rows));
        self
    }

    /// Tells of a row that a run gave and no unit knows: its index in the samples. It decides nothing, but takes its part of an error that is
    /// shared, so that what is answered stays so when all rows are decided together.
    pub fn discover(&mut self, row: usize) {
        if self.discovered.insert(row) && self.sharing > 0 {
            let family = self.sharing + self.discovered.len();
            self.rows().for_each(|row| row.set_family(family));
        }
    }

    /// The same for values of this metric: of one that is exact, equal values are certain.
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

    /// How a unit that is searched stands: whether its ends are known to differ, and what is known of the places.
    pub fn search(&self, unit: usize) -> Option<(bool, &Search)> {
        let searching = self.units.get(unit)?.search.as_ref()?;
        Some((searching.has_begun(), &searching.search))
    }

    /// Difference of the ends of a unit that is searched, as it stands.
    pub fn ends(&mut self, unit: usize) -> Option<Decision> {
        self.units.get_mut(unit)?.search.as_mut()?.ends.estimate(1)
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What its turns are for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Number of complete blocks of the unit that has most.
    pub fn blocks(&self) -> usize {
        self.units.iter().map(|unit| unit.spent.blocks as usize).max().unwrap_or(0)
    }

    /// Number of complete blocks of a unit.
    pub fn blocks_of(&self, unit: usize) -> usize {
        self.units.get(unit).map_or(0, |unit| unit.spent.blocks as usize)
    }

    /// The units, each with its number of rows and of places.
    pub fn shape(&self) -> impl Iterator<Item = (usize, usize)> {
        self.units.iter().map(|unit| (unit.rows.len(), unit.places()))
    }

    /// Whether a row still waits for its answer.
    pub fn is_open(&self, unit: usize, row: usize) -> bool {
        let unit = self.units.get(unit).filter(|unit| !unit.given_up);
        unit.and_then(|unit| unit.rows.get(row)).is_some_and(|row| row.stopped.is_none())
    }

    /// What to measure next, in a new random order for every block and every round; `None` when
    /// nothing is open.
    pub fn next_turn(&mut self) -> Option<Turn> {
        let unit = self.next_unit()?;
        Some(self.units[unit].next_turn(unit, self.purpose))
    }

    /// Takes in the values of the metric that decides, one for each of the unit's rows, and says whether to go on. NaN, or none,
    /// makes a row's block incomplete: it counts towards the number of blocks, not towards the verdict.
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

    /// Takes in that a run failed: its unit is left out from now on, or where a step is searched for, its place. What is known stays.
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
        // The rest of the block is measured all the same.
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

    /// Leaves a unit out from now on: a run of it failed. What is known of it stays.
    pub fn give_up(&mut self, unit: usize, elapsed_seconds: f64) -> Step {
        self.units[unit].given_up = true;
        self.to_go.retain(|&other| other != unit);
        self.after_block(elapsed_seconds)
    }

    /// Difference of a place of a row against its reference as it stands, at the level of a look; `None` for a reference, and
    /// before the first complete block.
    pub fn estimate(&mut self, unit: usize, row: usize, place: usize) -> Option<Decision> {
        self.units.get_mut(unit)?.rows.get_mut(row)?.estimate(place)
    }

    /// Median of a place of a row over the complete blocks so far.
    pub fn median(&self, unit: usize, row: usize, place: usize) -> Option<f64> {
        self.units.get(unit)?.rows.get(row)?.median(place)
    }

    /// Interval of the median of a place of a row, at the level of a look. O(n log n).
    pub fn median_interval(&self, unit: usize, row: usize, place: usize) -> Option<Interval> {
        self.units.get(unit)?.rows.get(row)?.median_interval(place)
    }

    fn after_block(&mut self, elapsed_seconds: f64) -> Step {
        self.began_seconds = self.replayed_seconds + elapsed_seconds;
        let Some(next) = self.next_unit() else {
            let reasons: Vec<StopReason> = self.rows().filter_map(|row| row.stopped).collect();
            // What is not an answer is reported, however many others are.
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
        // A block that would end beyond the budget is not begun.
        let after_next = elapsed_seconds + self.units[next].block_seconds_now();
        if after_next > limit { Step::Stop(StopReason::Budget) } else { Step::Continue }
    }

    /// The unit whose block is next; a new round is begun where the last one is through.
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

/// Puts things into an order of which all are equally likely (Fisher and Yates).
fn shuffle(things: &mut [usize], random: &mut Random) {
    for i in (1..things.len()).rev() {
        let j = below(random, i as u32 + 1) as usize;
        things.swap(i, j);
    }
}

/// A number below `bound`, every one equally likely (Lemire 2019, with rejection).
fn below(random: &mut Random, bound: u32) -> u32 {
    let reject_below = bound.wrapping_neg() % bound;
    loop {
        let wide = u64::from(random.next_u32()) * u64::from(bound);
        if wide as u32 >= reject_below {
            return (wide >> 32) as u32;
        }
    }
}

/// The fewest blocks at which a plan can come to a verdict on one of so many comparisons that share the error (at least 1).
pub fn fewest_blocks(plan: &Plan, comparisons: usize) -> u32 {
    looks::fewest_blocks(plan, comparisons.max(1) as f64)
}

/// Blocks for which there is time, and those that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// How many there is time for, at least 1.
    pub blocks: u32,
    /// How many it takes for a verdict.
    pub needed: u32,
}

/// Whether a span has too little time for a verdict of a plan that stops by itself, when a block takes so long. A condition of the user's
/// may come true at any time.
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

/// The references of the plain case: all subjects are compared with the first.
pub fn against_the_first(subjects: usize) -> Vec<Option<usize>> {
    (0..subjects).map(|subject| (subject > 0).then_some(0)).collect()
}

#[cfg(test)]
mod tests;
