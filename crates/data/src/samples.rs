//! Samples: subjects, metrics and observations, stored in columns.
//!
//! An observation is one measurement of a subject. It has the values of all metrics together, so
//! that they can be related to each other, and a position in its block. Observations are stored in
//! columns because an analysis walks one metric of one subject, and because ten thousand runs must
//! use little memory. Nothing is interpreted here.

use crate::environment::Environment;
use crate::finding::Finding;
use crate::limits::most_values;
use crate::plan::{Plan, StopReason};
use columns::{Columns, NO_TIME, NOWHERE, retain};
use serde::{Deserialize, Serialize};

mod anonymous;
pub use anonymous::without_secrets;
mod blocks;
mod by_subject;
mod columns;
mod keys;
mod metric;
mod outcome;
mod parameter;
mod pass;
mod series;
mod skip;
mod slices;
mod subject;
mod summary;

pub use crate::unit::Better;
pub use blocks::BlockRow;
pub use by_subject::BySubject;
pub(crate) use keys::free_name;
pub use metric::{
    ALLOCATIONS, BEGAN, ENDED, ITERATIONS, Metric, NOT_COMPARED, OF_EVERY_RUN, PER_ITERATION,
    PLACE, RETRIES, SPANS, STEAL, TEST_TIME, VALGRIND_INSTRUCTIONS, WHOLE_SUITE, WORKER, WORKERS,
};
pub use outcome::Outcome;
pub use parameter::ParameterValue;
pub use pass::{InPass, Pass};
pub use series::Series;
pub use slices::{Buckets, Counts};
pub use subject::{Recorded, Row, Side, Subject};
pub use summary::Summary;

/// The design by which the samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// In blocks. Every subject was measured once per block, in random order.
    Blocks,
    /// Recorded separately, so that the numbers do not show how much drift there was between
    /// recordings.
    Unpaired,
    /// Only a summary is available.
    Summary,
}

/// One measurement of a subject, with the values of all metrics, as passed to [`Samples::push`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Index of the subject.
    pub subject: usize,
    /// The counting pass to which the observation belongs, or `None` for a measurement.
    pub pass: Option<Pass>,
    /// The block, counted from 0 within its pass. `None` if the observation was not made in a
    /// block.
    pub block: Option<u32>,
    /// Position within the block, counted from 0. `None` if unknown.
    pub position: Option<u32>,
    /// Nesting as recorded by other tools (build, process, iteration), outermost level first.
    pub level: Vec<u32>,
    /// Time since the start of the run, in seconds.
    pub time: Option<f64>,
    /// Outcome of the observation.
    pub outcome: Outcome,
    /// One value per metric of the samples, in the same order. NaN if missing.
    pub values: Vec<f64>,
}

/// Values of one metric within one observation, if the program reported several. The observation
/// itself has the value to which they are reduced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inner {
    /// Index of the subject.
    pub subject: usize,
    /// Block of the observation.
    pub block: u32,
    /// Name of the metric.
    pub metric: String,
    /// The values in order, finite, in the metric's base unit.
    pub values: Vec<f64>,
}

/// The complete contents of one run or one import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The plan made before measuring. `None` for imported numbers.
    pub plan: Option<Plan>,
    /// Facts about the machine. Empty for imported numbers that come without any.
    pub environment: Environment,
    /// The sides that are compared, starting with the reference.
    pub sides: Vec<Side>,
    /// The rows on which sides are compared. There is a single row without a name if only commands
    /// were measured.
    pub rows: Vec<Row>,
    /// The measured subjects. Each is a row on a side, at certain values of the parameters.
    pub subjects: Vec<Subject>,
    /// The metrics. The first one is primary unless the plan names another.
    pub metrics: Vec<Metric>,
    /// The reason why measuring stopped. `None` if the file does not state it.
    pub stop: Option<StopReason>,
    /// Findings made while reading or measuring.
    pub findings: Vec<Finding>,
    /// Start time of the run, in RFC 3339 format.
    pub started: Option<String>,
    /// The command line of the measuring program.
    pub argv: Vec<String>,
    /// Values of metrics for which a program reported several values within one run.
    pub inner: Vec<Inner>,
    /// Histograms of the slices of a load test.
    pub histograms: Vec<Buckets>,
    /// Counts of the slices of a load test.
    pub counts: Vec<Counts>,
    /// Summaries of series for which a tool kept no samples.
    pub summaries: Vec<Summary>,
    /// The tool and version that wrote the samples, as in `assay 0.1.0`.
    pub tool: Option<String>,
    observations: Columns,
}

impl Samples {
    /// Makes empty samples with these metrics.
    pub fn new(metrics: Vec<Metric>) -> Self {
        let values = vec![Vec::new(); metrics.len()];
        Self { metrics, observations: Columns { values, ..Columns::default() }, ..Self::default() }
    }

    /// Like [`Self::new`], but for untrusted files. Values beyond the limit are not stored, which
    /// makes [`Self::unbounded`] return `None`.
    pub(crate) fn bounded(metrics: Vec<Metric>) -> Self {
        let mut samples = Self::new(metrics);
        samples.observations.most = Some(most_values());
        samples
    }

    /// Removes the limit once the file has been read. Returns `None` if the file exceeded it.
    pub(crate) fn unbounded(mut self) -> Option<Self> {
        self.observations.most = None;
        (!self.observations.overflowed).then_some(self)
    }

    /// Adds a metric with missing values in all observations so far, and returns its index. Returns
    /// the index of an existing metric if the name is the same.
    pub fn add_metric(&mut self, metric: Metric) -> usize {
        if let Some(index) = self.metric_index(&metric.name) {
            return index;
        }
        self.metrics.push(metric);
        self.observations.values.push(vec![f64::NAN; self.len()]);
        self.metrics.len() - 1
    }

    /// Fills the column of the metric `into` with the quotients of the values of `metric` and `by`.
    /// Quotients that are not finite become missing values.
    pub(crate) fn divide(&mut self, into: usize, metric: usize, by: usize) {
        let columns = &mut self.observations.values;
        for index in 0..columns[into].len() {
            let quotient = columns[metric][index] / columns[by][index];
            columns[into][index] = if quotient.is_finite() { quotient } else { f64::NAN };
        }
    }

    /// Returns one value per metric, as in an [`Observation`]. The values in `known` are given by
    /// metric index. All others are NaN.
    pub fn values_of(&self, known: &[(usize, f64)]) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.metrics.len()];
        known.iter().for_each(|&(metric, value)| values[metric] = value);
        values
    }

    /// Returns the index of the metric `name`.
    pub fn metric_index(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|m| m.name == name)
    }

    /// Returns the number of observations.
    pub fn len(&self) -> usize {
        self.observations.subject.len()
    }

    /// Returns true if there are no observations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an observation. Surplus values are dropped, and metrics without a value get a
    /// missing one.
    pub fn push(&mut self, observation: Observation) {
        if self.observations.refuses() {
            return;
        }
        self.observations.make_room();
        let o = &mut self.observations;
        let held = o.subject.len();
        o.subject.push(observation.subject as u32);
        o.pass.push(held, observation.pass, None);
        o.block.push(held, observation.block.unwrap_or(NOWHERE), NOWHERE);
        o.position.push(held, observation.position.unwrap_or(NOWHERE), NOWHERE);
        let time = observation.time.filter(|time| !time.is_nan());
        o.time.push(held, time.unwrap_or(NO_TIME), NO_TIME);
        o.outcome.push(held, observation.outcome, Outcome::Ok);
        o.level.push(held, observation.level, Vec::new());
        for (index, column) in o.values.iter_mut().enumerate() {
            column.push(observation.values.get(index).copied().unwrap_or(f64::NAN));
        }
    }

    /// Appends a value of the first metric, outside of blocks. Importers call this a million times,
    /// so it allocates only when the columns grow.
    pub fn push_value(&mut self, subject: usize, value: f64) {
        let o = &mut self.observations;
        if o.refuses() {
            return;
        }
        o.subject.push(subject as u32);
        o.pass.push_nothing(None);
        o.block.push_nothing(NOWHERE);
        o.position.push_nothing(NOWHERE);
        o.time.push_nothing(NO_TIME);
        o.outcome.push_nothing(Outcome::Ok);
        o.level.push_nothing(Vec::new());
        for (index, column) in o.values.iter_mut().enumerate() {
            column.push(if index == 0 { value } else { f64::NAN });
        }
    }

    /// Fills empty samples with observations of one subject, given as columns of equal length.
    pub(crate) fn take_columns(
        &mut self,
        subject: usize,
        count: usize,
        columns: Vec<(usize, Vec<f64>)>,
        outcome: impl Fn(usize) -> Outcome,
    ) {
        let o = &mut self.observations;
        let most = o.most.map_or(count, |most| most.div_ceil(o.values.len().max(1)));
        o.overflowed |= count > most;
        let count = count.min(most);
        o.subject = std::iter::repeat_n(subject as u32, count).collect();
        for (metric, values) in columns {
            o.values[metric] = values;
        }
        o.values.iter_mut().for_each(|column| column.resize(count, f64::NAN));
        (0..count).for_each(|index| o.outcome.push(index, outcome(index), Outcome::Ok));
    }

    /// Appends all observations of `other`, outside of blocks. `subjects` and `metrics` map the
    /// indices of `other` to those of `self`. A column that can be moved as a whole is not copied.
    pub(crate) fn append(&mut self, mut other: Samples, subjects: &[usize], metrics: &[usize]) {
        let is_plain =
            other.observations.level.0.is_empty() && other.observations.time.0.is_empty();
        if !is_plain || !other.observations.outcome.0.is_empty() || !self.has_only_values() {
            for observation in other.observations() {
                let mut values = vec![f64::NAN; self.metrics.len()];
                for (&metric, &value) in metrics.iter().zip(&observation.values) {
                    values[metric] = value;
                }
                let subject = subjects.get(observation.subject).copied().unwrap_or_default();
                self.push(Observation {
                    subject,
                    pass: None,
                    block: None,
                    position: None,
                    values,
                    ..observation
                });
            }
            return;
        }
        let (held, more) = (self.len(), other.len());
        let own = &mut self.observations;
        let renumbered = |s: u32| subjects.get(s as usize).copied().unwrap_or_default() as u32;
        let theirs = other.observations.subject.iter().map(renumbered);
        theirs.for_each(|owner| own.subject.push(owner));
        for (index, column) in own.values.iter_mut().enumerate() {
            let theirs = metrics.iter().position(|&metric| metric == index);
            match theirs.and_then(|place| other.observations.values.get_mut(place)) {
                Some(theirs) if held == 0 => *column = std::mem::take(theirs),
                Some(theirs) => {
                    column.reserve_exact(more);
                    column.append(theirs);
                }
                None => column.resize(held + more, f64::NAN),
            }
        }
    }

    /// Returns true if the observations have only a subject and values.
    fn has_only_values(&self) -> bool {
        let o = &self.observations;
        let sparse = [o.block.0.is_empty(), o.position.0.is_empty(), o.time.0.is_empty()];
        sparse.into_iter().all(|empty| empty) && o.outcome.0.is_empty() && o.level.0.is_empty()
    }

    /// Returns the observation at `index`, in the order of measuring. `None` if it is out of range.
    pub fn observation(&self, index: usize) -> Option<Observation> {
        let o = &self.observations;
        let known = |v: u32| (v != NOWHERE).then_some(v);
        Some(Observation {
            subject: (index < self.len()).then(|| o.subject.of(index) as usize)?,
            pass: o.pass.get(index, None),
            block: known(o.block.get(index, NOWHERE)),
            position: known(o.position.get(index, NOWHERE)),
            level: o.level.get(index, Vec::new()),
            time: Some(o.time.get(index, NO_TIME)).filter(|time| *time != NO_TIME),
            outcome: o.outcome.get(index, Outcome::Ok),
            values: o.values.iter().map(|column| column[index]).collect(),
        })
    }

    /// Keeps the observations of the subjects that have a new index in `subjects`, with the metrics
    /// that have one in `metrics`. A value that `table` excludes (indexed by old subject and
    /// metric) becomes missing. The caller must update the lists of subjects and metrics.
    pub(crate) fn keep_observations(
        &mut self,
        table: &[Vec<bool>],
        subjects: &[Option<usize>],
        metrics: &[Option<usize>],
    ) {
        let o = &mut self.observations;
        let number = |subject: u32| subjects.get(subject as usize).copied().flatten();
        let stays: Vec<bool> = o.subject.iter().map(|subject| number(subject).is_some()).collect();
        for (metric, column) in o.values.iter_mut().enumerate() {
            for (value, subject) in column.iter_mut().zip(o.subject.iter()) {
                let is_wanted = |row: &Vec<bool>| row.get(metric).copied().unwrap_or(false);
                if !table.get(subject as usize).is_some_and(is_wanted) {
                    *value = f64::NAN;
                }
            }
            retain(column, &stays);
        }
        retain(&mut o.pass.0, &stays);
        retain(&mut o.block.0, &stays);
        retain(&mut o.position.0, &stays);
        retain(&mut o.time.0, &stays);
        retain(&mut o.outcome.0, &stays);
        retain(&mut o.level.0, &stays);
        o.subject = o.subject.iter().filter_map(number).map(|subject| subject as u32).collect();
        let mut kept = metrics.iter().map(Option::is_some);
        o.values.retain(|_| kept.next().unwrap_or(false));
    }

    /// Returns the index of the subject with which `subject` is compared. `None` if it is a
    /// reference, or if the file names no valid reference.
    pub fn reference_of(&self, subject: usize) -> Option<usize> {
        let against = self.subjects.get(subject)?.against.unwrap_or(0);
        (against != subject && against < self.subjects.len()).then_some(against)
    }

    /// Returns all observations in the order of measuring.
    pub fn observations(&self) -> impl Iterator<Item = Observation> + '_ {
        (0..self.len()).filter_map(|index| self.observation(index))
    }

    /// Counts the observations of a subject whose outcome satisfies `condition`.
    pub fn count_outcomes(&self, subject: usize, condition: impl Fn(Outcome) -> bool) -> usize {
        let o = &self.observations;
        let own = o.subject.iter().enumerate().filter(|(_, owner)| *owner as usize == subject);
        own.filter(|(index, _)| condition(o.outcome.get(*index, Outcome::Ok))).count()
    }

    /// Returns the design by which the samples were taken: in blocks if every observation has a
    /// block, a summary if there are only summaries, and unpaired otherwise.
    pub fn design(&self) -> Design {
        if self.is_empty() && !self.summaries.is_empty() {
            return Design::Summary;
        }
        let blocks = &self.observations.block.0;
        let in_blocks = !blocks.is_empty() && blocks.iter().all(|&b| b != NOWHERE);
        if in_blocks { Design::Blocks } else { Design::Unpaired }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Unit;

    #[test]
    fn a_metric_that_comes_later_is_missing_before() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        samples.push_value(a, 1.0);
        let cpu = samples.add_metric(Metric::lower("cpu", Unit::Second));
        assert!(samples.series(a, cpu).values.is_empty());
        assert!(samples.observation(0).is_some_and(|o| o.values[cpu].is_nan()));
    }

    #[test]
    fn two_subjects_of_one_name_are_told_apart() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.add_subject("spin");
        let second = samples.add_subject("spin");
        assert_eq!(samples.subjects[second].name, "spin #2");
    }
}
