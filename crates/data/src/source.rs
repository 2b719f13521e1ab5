//! The interface between the engine, which chooses the next run, and everything that produces
//! numbers (commands, benchmark programs, samplers, counters, the replay of a file, a user's
//! program).
//!
//! A *unit* consists of the things that one run measures together: a command, a benchmark, or a
//! program whose benchmarks cannot be run separately. It has *places*, which are compared with each
//! other (sides; in a scan, the commands with each value), and *rows*: a run of a place gives a
//! value for each. The engine requests one place of one unit at a time. Nothing here decides or
//! measures.
//!
//! *Note:* a turn names a place of its unit, not a side: a benchmark may be missing on a side, and
//! in a scan one side has many places, which stay in one unit because curves need complete blocks.

use crate::samples::{Buckets, Counts};
use crate::{Finding, Metric, Outcome, Pass, Row, Samples, Side, Subject};

/// Purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Precedes the experiment and is not recorded.
    WarmUp,
    /// Part of the experiment.
    Measure,
    /// Counts events that cannot be counted while time is measured.
    Count(Pass),
}

/// The next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index of the unit.
    pub unit: usize,
    /// Index of the place within the unit.
    pub place: usize,
    /// Block of the unit, counted from 0.
    pub block: u32,
    /// Position in the order of the block, counted from 0.
    pub position: u32,
    /// Number of padding bytes for the environment, below 4096, so that the effect of one memory
    /// layout is not taken for an effect of the code. Sources that start no process may derive
    /// other variations from it.
    pub padding: u16,
    /// Index of the build of the place that is run, from 0.
    pub build: u32,
    /// Purpose of the run.
    pub purpose: Purpose,
}

/// The things that one run measures together, and the comparisons within it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// For every place, the indices of the subjects that its run measures, one per row; all places
    /// have the same rows.
    pub places: Vec<Vec<usize>>,
    /// For every place, the place that it is compared with; `None` marks a reference.
    pub references: Vec<Option<usize>>,
    /// True if runs may produce rows that the layout does not contain ([`OfRow::Discovered`]), such
    /// as tests or functions. Only the rows of the layout decide when to stop, so a unit that
    /// discovers rows has a total as its own row, such as the whole suite. The places of the unit
    /// differ in their sides or parameters.
    pub discovers: bool,
    /// Number of builds of each place. Builds alternate: in one block, one build of every place is
    /// run. Empty means one each.
    pub builds: Vec<u32>,
    /// True if the unit is a search for a single step: the places are in order, the first one
    /// before the step and the last one after it. Each block then measures only some of them, and
    /// only a place that fails is left out. Such a unit has one row.
    pub search: bool,
}

impl Unit {
    /// Makes a unit of these places in which the first is the reference of all others.
    pub fn against_the_first(places: Vec<Vec<usize>>) -> Self {
        let references = (0..places.len()).map(|place| (place > 0).then_some(0)).collect();
        Self { places, references, ..Self::default() }
    }

    /// Makes a unit with one row whose places are the subjects `0..references.len()`, each compared
    /// with its entry in `references`.
    pub fn of_subjects(references: &[Option<usize>]) -> Self {
        let places = (0..references.len()).map(|subject| vec![subject]).collect();
        Self { places, references: references.to_vec(), ..Self::default() }
    }

    /// Marks the unit as one whose runs may produce rows that the layout does not contain.
    #[must_use]
    pub fn discovering(self) -> Self {
        Self { discovers: true, ..self }
    }

    /// Returns the number of rows that every place has in the layout.
    pub fn rows(&self) -> usize {
        self.places.first().map_or(0, Vec::len)
    }
}

/// Everything that a source measures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The sides that are compared.
    pub sides: Vec<Side>,
    /// The rows on which sides are compared.
    pub rows: Vec<Row>,
    /// All subjects that get values: rows on sides.
    pub subjects: Vec<Subject>,
    /// The units in which they are measured.
    pub units: Vec<Unit>,
}

impl Layout {
    /// Makes a single unit of subjects with these names, each on its own side; the first is the
    /// reference.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut samples = Samples::default();
        names.into_iter().for_each(|name| {
            samples.add_subject(name);
        });
        Self::one_unit(samples)
    }

    /// Makes a single unit of the subjects of these samples, compared as stated by
    /// [`Subject::against`].
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

/// The row that a result of a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfRow {
    /// A row of the layout, by index within the unit.
    Known(usize),
    /// A row outside the layout, of a unit that discovers rows. It is identified by its name; the
    /// engine knows whether it occurred before.
    Discovered(Row),
}

impl Default for OfRow {
    fn default() -> Self {
        Self::Known(0)
    }
}

/// Result of one run for one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowResult {
    /// The row. A second result of a run for the same row is ignored.
    pub row: OfRow,
    /// One value per metric of the source, in order; NaN or absent if missing.
    pub values: Vec<f64>,
    /// Metrics, by name, for which the run gave several values; `values` holds the value they are
    /// reduced to.
    pub inner: Vec<(String, Vec<f64>)>,
    /// Histograms in addition to the values; the engine fills in subject and block.
    pub histograms: Vec<Buckets>,
    /// Counts in addition to the values; the engine fills in subject and block.
    pub counts: Vec<Counts>,
    /// Outcome of the run.
    pub ended: Outcome,
}

/// Result of one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Results by row. If a pass cannot count something, it gives no result.
    pub rows: Vec<RowResult>,
    /// A row that failed, and how. The unit is not measured again; its earlier measurements are
    /// kept.
    pub failed: Option<(usize, String)>,
    /// Start of the run in seconds, on any clock that the source uses consistently; `None` to use
    /// the engine's clock.
    pub started_seconds: Option<f64>,
}

impl Measured {
    /// Returns the result of a single row with these values and a normal end.
    pub fn values(values: Vec<f64>) -> Self {
        Self { rows: vec![RowResult { values, ..RowResult::default() }], ..Self::default() }
    }

    /// Returns the result for the failed row `row`.
    pub fn failed(row: usize, how: String) -> Self {
        Self { failed: Some((row, how)), ..Self::default() }
    }
}

/// Reasons why a turn had no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle<E> {
    /// The run was lost for a reason unrelated to the measured program, and the source is ready to
    /// repeat the turn.
    Lost,
    /// The user stopped the session during the run.
    Interrupted,
    /// The time budget does not suffice for the run.
    OutOfTime,
    /// Nothing more can be measured.
    Broken(E),
}

impl<E> From<E> for Obstacle<E> {
    fn from(error: E) -> Self {
        Self::Broken(error)
    }
}

/// A row that failed while being measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The turn at which it failed.
    pub turn: Turn,
    /// Index of the row within the turn's unit.
    pub row: usize,
    /// Description of the failure, as the end of a sentence.
    pub how: String,
    /// Number of complete blocks of the unit measured before.
    pub blocks: usize,
}

/// A source of measurements.
pub trait Source {
    /// Error that ends a session.
    type Error;

    /// Returns the things to measure. Called once, before the first turn.
    fn layout(&self) -> Layout;

    /// Returns all metrics known so far. Runs may add metrics; none is removed or moved.
    fn metrics(&self) -> &[Metric];

    /// Prepares the turn before its time is measured; sources that build on demand do it here.
    /// Returns a message if the row cannot be measured. The time this takes does not count as
    /// measuring time.
    ///
    /// # Errors
    /// If the session cannot continue.
    fn ready(&mut self, _turn: &Turn) -> Result<Option<String>, Obstacle<Self::Error>> {
        Ok(None)
    }

    /// Runs one turn.
    ///
    /// # Errors
    /// If the turn gives no result. A failed row is not an error.
    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<Self::Error>>;

    /// Concludes a turn after it has been recorded.
    ///
    /// # Errors
    /// If the session cannot continue.
    fn conclude(&mut self, _turn: &Turn) -> Result<(), Obstacle<Self::Error>> {
        Ok(())
    }

    /// Returns the source's findings about the measurement when it has ended.
    fn findings(&self, _samples: &Samples, _failures: &[Failure]) -> Vec<Finding> {
        Vec::new()
    }
}
