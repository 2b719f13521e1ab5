//! What measures: the one interface between the engine, which decides whose turn it is, and everything that gives numbers (commands,
//! benchmark programs, samplers, counters, the replay of a file, a program of the user's own).
//!
//! A *unit* is what one run measures at once: a command; a benchmark; a program whose benchmarks can't be run apart. It has *places*,
//! what is compared within it (sides; in a scan the commands with each value), and *rows*, what a run of a place gives values of. The
//! engine asks for one place of one unit at a time. Nothing here decides, and nothing here measures.
//!
//! *Note:* a turn names a place of its unit, not a side: a benchmark may lack a side, and in a scan one side has many places, which
//! stay in one unit because curves need complete blocks.

use crate::samples::{Buckets, Counts};
use crate::{Finding, Metric, Outcome, Pass, Row, Samples, Side, Subject};

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It comes before the experiment, and is not recorded.
    WarmUp,
    /// It is part of the experiment.
    Measure,
    /// It counts what can't be counted while time is taken.
    Count(Pass),
}

/// What to run next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index of the unit.
    pub unit: usize,
    /// Index of the place within the unit.
    pub place: usize,
    /// The unit's block, counted from 0.
    pub block: u32,
    /// Place in the order of the block, counted from 0.
    pub position: u32,
    /// Bytes of padding for the environment, below 4096: one memory layout's luck must not pass for the code. Sources that start
    /// no process may draw what else they vary from it.
    pub padding: u16,
    /// Which of the builds of its place is run, counted from 0.
    pub build: u32,
    /// What the run is for.
    pub purpose: Purpose,
}

/// What one run measures at once, and what is compared within it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// For every place the indices of the subjects that its run measures, one for each row; all places have the same rows.
    pub places: Vec<Vec<usize>>,
    /// For every place the place that it is compared with; `None` marks a reference.
    pub references: Vec<Option<usize>>,
    /// Whether its runs may give rows that the layout does not know ([`OfRow::Discovered`]): tests, functions. Those of the layout alone
    /// decide when to stop, so that a unit which discovers names a total there, such as the whole suite. Its places differ in their
    /// sides or parameters.
    pub discovers: bool,
    /// Of how many builds each place is, which are run by turns: one block, one build of every place. Empty: of one each.
    pub builds: Vec<u32>,
    /// Whether its places stand in an order in which one step is searched for, the first before it and the last behind it: then each block
    /// measures only some of them, and a place that fails is left out by itself. It has one row.
    pub search: bool,
}

impl Unit {
    /// A unit of these places whose first is the reference of all others.
    pub fn against_the_first(places: Vec<Vec<usize>>) -> Self {
        let references = (0..places.len()).map(|place| (place > 0).then_some(0)).collect();
        Self { places, references, ..Self::default() }
    }

    /// A unit of one row whose places are the subjects `0..references.len()`, each compared as said.
    pub fn of_subjects(references: &[Option<usize>]) -> Self {
        let places = (0..references.len()).map(|subject| vec![subject]).collect();
        Self { places, references: references.to_vec(), ..Self::default() }
    }

    /// The same, whose runs may give rows that the layout does not know.
    #[must_use]
    pub fn discovering(self) -> Self {
        Self { discovers: true, ..self }
    }

    /// How many rows every place has in the layout.
    pub fn rows(&self) -> usize {
        self.places.first().map_or(0, Vec::len)
    }
}

/// What a source measures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// What is compared.
    pub sides: Vec<Side>,
    /// What sides are compared on.
    pub rows: Vec<Row>,
    /// Everything that gets values: rows on sides.
    pub subjects: Vec<Subject>,
    /// How it is measured.
    pub units: Vec<Unit>,
}

impl Layout {
    /// A single unit of subjects of these names, each a side of its own, the first the reference.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut samples = Samples::default();
        names.into_iter().for_each(|name| {
            samples.add_subject(name);
        });
        Self::one_unit(samples)
    }

    /// A single unit of the subjects of these samples, compared as they themselves say ([`Subject::against`]).
    pub fn one_unit(samples: Samples) -> Self {
        let Samples { sides, rows, subjects, .. } = samples;
        let of = |(own, subject): (usize, &Subject)| {
            let against = subject.against.unwrap_or(0);
            (against != own && against < subjects.len()).then_some(against)
        };
        let references: Vec<_> = subjects.iter().enumerate().map(of).collect();
        Self { units: vec![Unit::of_subjects(&references)], sides, rows, subjects }
    }
}

/// Which row a run gave something of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfRow {
    /// One of the layout: its index within the unit.
    Known(usize),
    /// One that the layout does not know, of a unit that discovers rows. It is found again by its name: whether it came before is the
    /// engine's to know.
    Discovered(Row),
}

impl Default for OfRow {
    fn default() -> Self {
        Self::Known(0)
    }
}

/// What one run gave of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowResult {
    /// The row. What a run gives a second time of one row is left out.
    pub row: OfRow,
    /// One value for each metric of the source, in their order; NaN or nothing where there is none.
    pub values: Vec<f64>,
    /// Metrics by name of which the run gave several values; `values` holds what they come to.
    pub inner: Vec<(String, Vec<f64>)>,
    /// Histograms beside the values; their subject and block are the engine's to fill in.
    pub histograms: Vec<Buckets>,
    /// Counts beside the values; likewise.
    pub counts: Vec<Counts>,
    /// How it ended.
    pub ended: Outcome,
}

/// What came of one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// What it gave, row by row. A pass that can't count something gives nothing.
    pub rows: Vec<RowResult>,
    /// A row that failed, and how. The unit is left out from now on; what was measured of it stays.
    pub failed: Option<(usize, String)>,
    /// When the run started, in seconds of any clock that the source always takes; `None`: the engine's clock says.
    pub started_seconds: Option<f64>,
}

impl Measured {
    /// One row with these values, ended well.
    pub fn values(values: Vec<f64>) -> Self {
        Self { rows: vec![RowResult { values, ..RowResult::default() }], ..Self::default() }
    }

    /// A row failed.
    pub fn failed(row: usize, how: String) -> Self {
        Self { failed: Some((row, how)), ..Self::default() }
    }
}

/// Why a turn came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle<E> {
    /// The run was lost through no fault of what is measured, and the source is ready for the same turn again.
    Lost,
    /// The user stopped it in the middle of the run.
    Interrupted,
    /// Nothing more can be measured.
    Broken(E),
}

impl<E> From<E> for Obstacle<E> {
    fn from(error: E) -> Self {
        Self::Broken(error)
    }
}

/// A row that failed while it was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The turn at which it failed.
    pub turn: Turn,
    /// Index of the row within the turn's unit.
    pub row: usize,
    /// How, in words that end a sentence.
    pub how: String,
    /// Complete blocks that were measured of its unit before.
    pub blocks: usize,
}

/// Something that can be measured.
pub trait Source {
    /// What ends a session.
    type Error;

    /// What is measured. It is asked once, before the first turn.
    fn layout(&self) -> Layout;

    /// All metrics known so far. Runs may add some; none goes, and none changes its place.
    fn metrics(&self) -> &[Metric];

    /// Makes ready what the turn runs, before its time is taken: whoever builds on demand does it here. Why its row can't be measured, if so.
    /// What this takes does not count as time of measuring.
    ///
    /// # Errors
    /// What ends the session.
    fn ready(&mut self, _turn: &Turn) -> Result<Option<String>, Obstacle<Self::Error>> {
        Ok(None)
    }

    /// Runs one turn.
    ///
    /// # Errors
    /// What keeps it from giving anything. That a row failed is no error.
    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<Self::Error>>;

    /// What has to be done after a turn, once it is recorded.
    ///
    /// # Errors
    /// What ends the session.
    fn conclude(&mut self, _turn: &Turn) -> Result<(), Obstacle<Self::Error>> {
        Ok(())
    }

    /// What it has to say in the end of the measuring itself.
    fn findings(&self, _samples: &Samples, _failures: &[Failure]) -> Vec<Finding> {
        Vec::new()
    }
}
