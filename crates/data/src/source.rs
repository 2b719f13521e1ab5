//! The interface between the engine, which chooses the next run, and everything that produces
//! numbers (commands, benchmark programs, samplers, counters, the replay of a file, a user's
//! program).
//!
//! A *unit* consists of the things that one run measures together: a command, a benchmark, or a
//! program whose benchmarks cannot be run separately. A unit has *places*, which are compared with
//! each other (sides or, in a scan, the commands with each value), and *rows*: a run of a place
//! gives a value for each row. The engine requests one place of one unit at a time. Nothing here
//! decides or measures.
//!
//! *Note:* a turn names a place of its unit, not a side, because a benchmark may be missing on a
//! side. In a scan, one side has many places, which stay in one unit because curves need complete
//! blocks.

use crate::samples::{Buckets, Counts};
use crate::{Finding, Metric, Outcome, Pass, Row, Samples, Side, Subject};

/// Purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Warms up before the experiment. The run is not recorded.
    WarmUp,
    /// Measures as part of the experiment.
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
    /// Index of the block within the unit, counted from 0.
    pub block: u32,
    /// Position within the block, counted from 0.
    pub position: u32,
    /// Number of bytes, below 4096, that pad the environment, so that the effect of one memory
    /// layout is not mistaken for an effect of the code. Sources that start no process may derive
    /// other variations from it.
    pub padding: u16,
    /// Index of the build that is run, among the builds of the place.
    pub build: u32,
    /// Purpose of the run.
    pub purpose: Purpose,
}

/// The things that one run measures together, and the comparisons within it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// For each place, the indices of the subjects that a run of it measures, one per row. All
    /// places have the same rows.
    pub places: Vec<Vec<usize>>,
    /// For each place, the index of the place with which it is compared. `None` for a reference.
    pub references: Vec<Option<usize>>,
    /// True if runs may produce rows that the layout does not contain ([`OfRow::Discovered`]), such
    /// as tests or functions. Only the rows of the layout decide when to stop, so the layout of
    /// such a unit has a row for a total, such as the whole suite. The places of the unit differ in
    /// their sides or parameters.
    pub discovers: bool,
    /// Number of builds of each place. Builds alternate: each block runs one build of every place.
    /// Empty if every place has one build.
    pub builds: Vec<u32>,
    /// True if the unit is a search for a single step. The places are in order, from the first one
    /// before the step to the last one after it. Each block measures only some of them, and only a
    /// place that fails is left out. Such a unit has one row.
    pub search: bool,
}

impl Unit {
    /// Returns a unit with these places, in which the first place is the reference of all others.
    pub fn against_the_first(places: Vec<Vec<usize>>) -> Self {
        let references = (0..places.len()).map(|place| (place > 0).then_some(0)).collect();
        Self { places, references, ..Self::default() }
    }

    /// Returns a unit with one row whose places are the subjects `0..references.len()`, each
    /// compared with its entry in `references`.
    pub fn of_subjects(references: &[Option<usize>]) -> Self {
        let places = (0..references.len()).map(|subject| vec![subject]).collect();
        Self { places, references: references.to_vec(), ..Self::default() }
    }

    /// Marks the unit as one whose runs may produce rows that the layout does not contain.
    #[must_use]
    pub fn discovering(self) -> Self {
        Self { discovers: true, ..self }
    }

    /// Returns the number of rows in the layout, which is the same for all places.
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
    /// Returns a layout with a single unit of subjects with these names, each on a side of its own.
    /// The first one is the reference.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut samples = Samples::default();
        names.into_iter().for_each(|name| {
            samples.add_subject(name);
        });
        Self::one_unit(samples)
    }

    /// Returns a layout with a single unit of the subjects of `samples`, compared as stated by
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

/// The row to which a result belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfRow {
    /// A row of the layout, by its index within the unit.
    Known(usize),
    /// A row outside the layout, from a unit that discovers rows. It is identified by its name. The
    /// engine keeps track of whether the row is new.
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
    /// The row. Further results of the same run for this row are ignored.
    pub row: OfRow,
    /// One value per metric of the source, in the same order. Missing values are NaN or absent at
    /// the end.
    pub values: Vec<f64>,
    /// Names and values of metrics for which the run gave several values. They are reduced to the
    /// value in `values`.
    pub inner: Vec<(String, Vec<f64>)>,
    /// Histograms in addition to the values. The engine sets their subject and block.
    pub histograms: Vec<Buckets>,
    /// Counts in addition to the values. The engine sets their subject and block.
    pub counts: Vec<Counts>,
    /// Outcome of the run.
    pub ended: Outcome,
}

/// Result of one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Results by row. A pass that cannot count for a row gives no result for it.
    pub rows: Vec<RowResult>,
    /// Index of a row that failed, and a description of the failure. The unit is not measured
    /// again, but its earlier measurements are kept.
    pub failed: Option<(usize, String)>,
    /// Start of the run in seconds, on any clock that the source uses consistently. If `None`, the
    /// engine's clock is used.
    pub started_seconds: Option<f64>,
}

impl Measured {
    /// Returns the result of a unit with a single row that has these values and ended as planned.
    pub fn values(values: Vec<f64>) -> Self {
        Self { rows: vec![RowResult { values, ..RowResult::default() }], ..Self::default() }
    }

    /// Returns the result of a turn in which the row `row` failed.
    pub fn failed(row: usize, how: String) -> Self {
        Self { failed: Some((row, how)), ..Self::default() }
    }
}

/// Reasons why a turn had no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle<E> {
    /// The run was lost for a reason unrelated to the measured program. The turn can be repeated.
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
    /// Description of the failure, phrased as the end of a sentence.
    pub how: String,
    /// Number of complete blocks of the unit before the failure.
    pub blocks: usize,
}

/// A source of measurements.
pub trait Source {
    /// The error type of the source. An error ends the session.
    type Error;

    /// Returns the things to measure. Called once, before the first turn.
    fn layout(&self) -> Layout;

    /// Returns all metrics known so far. Runs may add metrics, but none is ever removed or moved.
    fn metrics(&self) -> &[Metric];

    /// Prepares a turn before its measurement. Sources that build on demand do so here. The time
    /// that this takes does not count as measuring time. Returns a message if the row cannot be
    /// measured.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot continue.
    fn ready(&mut self, _turn: &Turn) -> Result<Option<String>, Obstacle<Self::Error>> {
        Ok(None)
    }

    /// Runs one turn.
    ///
    /// # Errors
    ///
    /// Returns an error if the turn has no result. A failed row is not an error.
    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<Self::Error>>;

    /// Concludes a turn after its result has been recorded.
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot continue.
    fn conclude(&mut self, _turn: &Turn) -> Result<(), Obstacle<Self::Error>> {
        Ok(())
    }

    /// Returns the source's findings about the measurement when it has ended.
    fn findings(&self, _samples: &Samples, _failures: &[Failure]) -> Vec<Finding> {
        Vec::new()
    }
}
