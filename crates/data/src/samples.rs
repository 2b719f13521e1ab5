//! Samples: subjects, metrics and observations, held in columns.
//!
//! One observation is one measured occasion with all its metrics together, so that they can be joined, and with its place in
//! its block. Observations are stored as columns, because an analysis walks one metric of one subject, and because ten
//! thousand runs must cost little memory. Nothing is interpreted here.

use crate::environment::Environment;
use crate::finding::Finding;
use crate::plan::{Plan, StopReason};
use crate::unit::Unit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

mod anonymous;
mod by_subject;
mod skip;
mod summary;

pub use by_subject::BySubject;
pub use summary::Summary;

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better: time, memory.
    #[default]
    Lower,
    /// More is better: requests per second.
    Higher,
}

/// What was measured: a name, a unit, and which direction is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Name, as in `wall`.
    pub name: String,
    /// Base unit of the values.
    pub unit: Unit,
    /// Which direction is better.
    #[serde(default)]
    pub better: Better,
    /// Whether it is a count that the same program on the same input repeats to the last digit (calls to `malloc`, simulated
    /// instructions): where every run of either side gave the same number, that number is known, not estimated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
}

impl Metric {
    /// A metric of which less is better.
    pub fn lower(name: &str, unit: Unit) -> Self {
        Self { name: name.to_owned(), unit, better: Better::Lower, exact: false }
    }

    /// A count that programs repeat to the last digit, of which less is better.
    pub fn exact(name: &str, unit: Unit) -> Self {
        Self { exact: true, ..Self::lower(name, unit) }
    }

    /// Whether it is of what is counted in runs of their own: an exact count, or one of a benchmark's iteration.
    pub fn is_count(&self) -> bool {
        let name = self.name.as_str();
        self.exact
            || name.ends_with(PER_ITERATION)
            || name == SIMULATED_INSTRUCTIONS
            || ALLOCATIONS.contains(&name)
    }

    /// Wall-clock time in seconds.
    pub fn wall() -> Self {
        Self::lower("wall", Unit::Second)
    }
}

/// Names of the metrics that every run of a command has: wall time and the kernel's account of the run.
pub const OF_EVERY_RUN: [&str; 11] = [
    "wall",
    "cpu",
    "user",
    "system",
    "max_rss",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "block_in",
    "block_out",
];

/// Name of the metric of the time that a hypervisor took from the whole machine during a run. It explains noise and is not
/// compared.
pub const STEAL: &str = "steal";

/// Name of the metric of how often a benchmark repeated its work within one observation, which its harness chose. It explains
/// what other values are worth and is not compared.
pub const ITERATIONS: &str = "iterations";

/// Names of the metrics of what a run allocates: calls of malloc and its kin that gave a block, resized one and gave one back, the
/// bytes asked for, and the most that were live at once in one process. They are counted in runs of their own.
pub const ALLOCATIONS: [&str; 5] =
    ["allocations", "reallocs", "frees", "allocated_bytes", "peak_heap"];

/// Name of the metric of the instructions that a run takes on a simulated processor. They are counted in runs of their own.
pub const SIMULATED_INSTRUCTIONS: &str = "simulated_instructions";

/// What stands behind the name of a count that is per iteration of a benchmark.
pub const PER_ITERATION: &str = "/iteration";

/// Metrics that explain others and are not compared themselves, unless one of them is named to decide.
pub const NOT_COMPARED: [&str; 2] = [STEAL, ITERATIONS];

/// What was measured: a command, a benchmark with its arguments, a file of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The name that people see; unique within the samples.
    pub name: String,
    /// The command line, for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True when the command went through a shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// Working directory given to the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables given to the command, beyond those inherited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// The file that the values came from, for imported samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// In a scan: what the command is called without its values, as in `sort {n}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Parameters of a scan with their values, in the order of the scan, as in `("n", "4")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// Index of the subject that this one is compared with; its own index marks a reference. `None`: the first subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<usize>,
    /// The benchmark that it measures, on one of several sides: what the sides are matched by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The side on which the benchmark was measured: a build, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// How many runs of it went on at once; `None`: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// What was set for its processes, as in `("fifo", "10")`, `("pin", "1")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<(String, String)>,
    /// The files that make the command, each with its digest, as in `("/usr/bin/sort", "sha256:…")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
}

/// How one observation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As planned.
    #[default]
    Ok,
    /// The program exited with this status, not zero, and the user said to go on.
    Exit(i32),
    /// The program was ended by this signal, and the user said to go on.
    Signal(i32),
    /// The run hit the time limit: its time is a lower bound.
    Timeout,
}

/// How the samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// In blocks: every subject once per block, in random order.
    Blocks,
    /// Recorded apart: drift between the recordings is not in the numbers.
    Unpaired,
    /// Only a summary survives.
    Summary,
}

/// One measured occasion, as it is handed over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Index of the subject.
    pub subject: usize,
    /// The block, counted from 0; `None` for what was not taken in blocks.
    pub block: Option<u32>,
    /// Place within the block, counted from 0.
    pub position: Option<u32>,
    /// Nesting as other tools record it (build, process, iteration), outermost first.
    pub level: Vec<u32>,
    /// Seconds since the run began.
    pub time: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// One value per metric of the samples, in their order; NaN where there is none.
    pub values: Vec<f64>,
}

/// The values of one metric of one subject, in the order in which they were taken; missing ones are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The values, finite, in base units.
    pub values: Vec<f64>,
    /// For each value the index of its observation.
    pub observations: Vec<usize>,
}

/// Values of one metric within one observation, where the program gave several; the observation holds what they come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inner {
    /// Index of the subject.
    pub subject: usize,
    /// Block of the observation.
    pub block: u32,
    /// Name of the metric.
    pub metric: String,
    /// The values in their order, finite, in the metric's base unit.
    pub values: Vec<f64>,
}

/// Everything that one run, or one import, holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// What was decided before measuring; `None` for imported numbers.
    pub plan: Option<Plan>,
    /// The machine; empty for imported numbers without facts.
    pub environment: Environment,
    /// What was measured; the first is the reference.
    pub subjects: Vec<Subject>,
    /// What was measured of it; the first is the primary one unless the plan says otherwise.
    pub metrics: Vec<Metric>,
    /// Why and when measuring stopped, if the file says so.
    pub stop: Option<StopReason>,
    /// What reading or measuring found on the way.
    pub findings: Vec<Finding>,
    /// When the run began, RFC 3339.
    pub started: Option<String>,
    /// The command line that measured.
    pub argv: Vec<String>,
    /// What programs gave several values of within one run.
    pub inner: Vec<Inner>,
    /// What survives where a tool kept no samples.
    pub summaries: Vec<Summary>,
    /// The tool and version that wrote the samples, as in `assay 0.1.0`.
    pub tool: Option<String>,
    observations: Columns,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Columns {
    subject: Vec<u32>,
    block: Sparse<u32>,
    position: Sparse<u32>,
    time: Sparse<f64>,
    outcome: Sparse<Outcome>,
    level: Sparse<Vec<u32>>,
    /// One column per metric.
    values: Vec<Vec<f64>>,
}

/// A column that is not there while no observation has anything to put into it, as of imported numbers: of ten million each byte
/// counts.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sparse<T>(Vec<T>);

impl<T: Clone + PartialEq> Sparse<T> {
    /// Appends a value to the `held` ones before it; `nothing` stands where there is none.
    fn push(&mut self, held: usize, value: T, nothing: T) {
        if !self.0.is_empty() || value != nothing {
            self.0.resize(held, nothing);
            self.0.push(value);
        }
    }

    /// Appends nothing. No vector is compared for it: that is half of the cost of a number.
    fn push_nothing(&mut self, nothing: T) {
        if !self.0.is_empty() {
            self.0.push(nothing);
        }
    }

    fn get(&self, index: usize, nothing: T) -> T {
        self.0.get(index).cloned().unwrap_or(nothing)
    }

    fn reserve_exact(&mut self, more: usize) {
        if !self.0.is_empty() {
            self.0.reserve_exact(more);
        }
    }
}

impl Columns {
    /// Columns grow by a quarter instead of to the double: a long run has many of them, and half of each would stand empty.
    fn make_room(&mut self) {
        let held = self.subject.len();
        if held < self.subject.capacity() {
            return;
        }
        let more = (held / 4).max(64);
        self.subject.reserve_exact(more);
        self.block.reserve_exact(more);
        self.position.reserve_exact(more);
        self.time.reserve_exact(more);
        self.outcome.reserve_exact(more);
        self.values.iter_mut().for_each(|column| column.reserve_exact(more));
    }
}

/// Stands for "not in a block" in the columns.
const NOWHERE: u32 = u32::MAX;

/// Stands for "no time", in the columns.
const NO_TIME: f64 = f64::NEG_INFINITY;

impl Samples {
    /// Empty samples of these metrics.
    pub fn new(metrics: Vec<Metric>) -> Self {
        let values = vec![Vec::new(); metrics.len()];
        Self { metrics, observations: Columns { values, ..Columns::default() }, ..Self::default() }
    }

    /// Adds a subject of this name and returns its index. A name that is taken gets a number behind it.
    pub fn add_subject(&mut self, name: &str) -> usize {
        self.add(Subject { name: name.to_owned(), ..Subject::default() })
    }

    /// Adds a subject and returns its index. A name that is taken gets a number behind it: ` #2`, ` #3`.
    pub fn add(&mut self, mut subject: Subject) -> usize {
        let taken = |name: &str| self.subjects.iter().any(|s| s.name == name);
        if taken(&subject.name) {
            let free = (2..).map(|i| format!("{} #{i}", subject.name)).find(|name| !taken(name));
            subject.name = free.expect("one of endlessly many names is free");
        }
        self.subjects.push(subject);
        self.subjects.len() - 1
    }

    /// Adds a metric, missing in all observations so far, and returns its index; one of the same name is reused.
    pub fn add_metric(&mut self, metric: Metric) -> usize {
        if let Some(index) = self.metric_index(&metric.name) {
            return index;
        }
        self.metrics.push(metric);
        self.observations.values.push(vec![f64::NAN; self.len()]);
        self.metrics.len() - 1
    }

    /// Fills the column of the metric `into` with the values of `metric` divided by those of `by`. Quotients that are not finite
    /// are missing.
    pub(crate) fn divide(&mut self, into: usize, metric: usize, by: usize) {
        let columns = &mut self.observations.values;
        for index in 0..columns[into].len() {
            let quotient = columns[metric][index] / columns[by][index];
            columns[into][index] = if quotient.is_finite() { quotient } else { f64::NAN };
        }
    }

    /// Index of the metric of this name.
    pub fn metric_index(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|m| m.name == name)
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.observations.subject.len()
    }

    /// True when nothing was observed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an observation. Values beyond the known metrics are dropped, those that are lacking are missing.
    pub fn push(&mut self, observation: Observation) {
        self.observations.make_room();
        let o = &mut self.observations;
        let held = o.subject.len();
        o.subject.push(observation.subject as u32);
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

    /// Appends a value of the first metric, taken in no block. Allocates only when the columns grow: importers of a million
    /// numbers call it.
    pub fn push_value(&mut self, subject: usize, value: f64) {
        let o = &mut self.observations;
        o.subject.push(subject as u32);
        o.block.push_nothing(NOWHERE);
        o.position.push_nothing(NOWHERE);
        o.time.push_nothing(NO_TIME);
        o.outcome.push_nothing(Outcome::Ok);
        o.level.push_nothing(Vec::new());
        for (index, column) in o.values.iter_mut().enumerate() {
            column.push(if index == 0 { value } else { f64::NAN });
        }
    }

    /// Appends all observations of other samples, outside of blocks, with their subjects and metrics renumbered: `subjects` and
    /// `metrics` tell for each of theirs which of these it is. A column that can be taken over whole is not copied.
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
        own.subject.reserve_exact(more);
        let renumbered = |s: &u32| subjects.get(*s as usize).copied().unwrap_or_default() as u32;
        own.subject.extend(other.observations.subject.iter().map(renumbered));
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

    /// True when observations are nothing but a subject and values.
    fn has_only_values(&self) -> bool {
        let o = &self.observations;
        let sparse = [o.block.0.is_empty(), o.position.0.is_empty(), o.time.0.is_empty()];
        sparse.into_iter().all(|empty| empty) && o.outcome.0.is_empty() && o.level.0.is_empty()
    }

    /// The observation at `index`, in the order in which they were taken; `None` past the end.
    pub fn observation(&self, index: usize) -> Option<Observation> {
        let o = &self.observations;
        let known = |v: u32| (v != NOWHERE).then_some(v);
        Some(Observation {
            subject: *o.subject.get(index)? as usize,
            block: known(o.block.get(index, NOWHERE)),
            position: known(o.position.get(index, NOWHERE)),
            level: o.level.get(index, Vec::new()),
            time: Some(o.time.get(index, NO_TIME)).filter(|time| *time != NO_TIME),
            outcome: o.outcome.get(index, Outcome::Ok),
            values: o.values.iter().map(|column| column[index]).collect(),
        })
    }

    /// Keeps the observations of subjects that have a number in `subjects`, with the metrics that have one in `metrics`; a value that
    /// `table` (by subject and metric, as they were) does not want is missing from now on. Subjects and metrics themselves are left to
    /// the caller.
    pub(crate) fn keep_observations(
        &mut self,
        table: &[Vec<bool>],
        subjects: &[Option<usize>],
        metrics: &[Option<usize>],
    ) {
        let o = &mut self.observations;
        let number = |subject: u32| subjects.get(subject as usize).copied().flatten();
        let stays: Vec<bool> = o.subject.iter().map(|&subject| number(subject).is_some()).collect();
        for (metric, column) in o.values.iter_mut().enumerate() {
            for (value, &subject) in column.iter_mut().zip(&o.subject) {
                let is_wanted = |row: &Vec<bool>| row.get(metric).copied().unwrap_or(false);
                if !table.get(subject as usize).is_some_and(is_wanted) {
                    *value = f64::NAN;
                }
            }
            retain(column, &stays);
        }
        retain(&mut o.block.0, &stays);
        retain(&mut o.position.0, &stays);
        retain(&mut o.time.0, &stays);
        retain(&mut o.outcome.0, &stays);
        retain(&mut o.level.0, &stays);
        retain(&mut o.subject, &stays);
        o.subject.iter_mut().for_each(|s| *s = number(*s).unwrap_or_default() as u32);
        let mut kept = metrics.iter().map(Option::is_some);
        o.values.retain(|_| kept.next().unwrap_or(false));
    }

    /// Index of the subject that a subject is compared with; `None` for a reference, and where the file names none that is.
    pub fn reference_of(&self, subject: usize) -> Option<usize> {
        let against = self.subjects.get(subject)?.against.unwrap_or(0);
        (against != subject && against < self.subjects.len()).then_some(against)
    }

    /// All observations, in the order in which they were taken.
    pub fn observations(&self) -> impl Iterator<Item = Observation> + '_ {
        (0..self.len()).filter_map(|index| self.observation(index))
    }

    /// The series of one metric of one subject; values that are missing or not finite are left out. O(observations).
    pub fn series(&self, subject: usize, metric: usize) -> Series {
        let mut series = Series::default();
        let Some(column) = self.observations.values.get(metric) else { return series };
        for (index, (&value, &owner)) in column.iter().zip(&self.observations.subject).enumerate() {
            if owner as usize == subject && value.is_finite() {
                series.values.push(value);
                series.observations.push(index);
            }
        }
        series
    }

    /// The values of [`series`](Self::series) alone.
    pub fn values(&self, subject: usize, metric: usize) -> Vec<f64> {
        let Some(column) = self.observations.values.get(metric) else { return Vec::new() };
        let owners = column.iter().zip(&self.observations.subject);
        let own = owners.filter(|(value, owner)| **owner as usize == subject && value.is_finite());
        // Counted first: of a long recording what grows would stand half empty.
        let mut values = Vec::with_capacity(own.clone().count());
        values.extend(own.map(|(value, _)| *value));
        values
    }

    /// The number of the last block that an observation is in. O(observations).
    pub fn last_block(&self) -> Option<u32> {
        let blocks = self.observations.block.0.iter().copied();
        blocks.filter(|&block| block != NOWHERE).max()
    }

    /// The values of one metric block by block: one row per *complete* block (every subject has a finite value), in block
    /// order, one column per subject, beside each row the position that every subject had. Observations outside blocks are
    /// left out. O(observations).
    pub fn complete_blocks(&self, metric: usize) -> Vec<BlockRow> {
        let subjects = self.subjects.len();
        let o = &self.observations;
        let Some(column) = o.values.get(metric) else { return Vec::new() };
        let blocks =
            o.block.0.iter().filter(|&&b| b != NOWHERE).max().map_or(0, |&b| b as usize + 1);
        // A file may claim any block number; more blocks than observations cannot be complete.
        if blocks > self.len() {
            return self.compact_blocks(column);
        }
        let mut rows = vec![BlockRow::empty(subjects); blocks];
        for (index, &value) in column.iter().enumerate() {
            let block = o.block.get(index, NOWHERE);
            if block != NOWHERE {
                let row = &mut rows[block as usize];
                row.set(o.subject[index], value, o.position.get(index, NOWHERE));
            }
        }
        rows.retain(|row| row.values.iter().all(|v| v.is_finite()));
        rows
    }

    fn compact_blocks(&self, column: &[f64]) -> Vec<BlockRow> {
        let o = &self.observations;
        let mut rows = std::collections::BTreeMap::new();
        for (index, &value) in column.iter().enumerate() {
            let block = o.block.get(index, NOWHERE);
            if block != NOWHERE {
                rows.entry(block).or_insert_with(|| BlockRow::empty(self.subjects.len())).set(
                    o.subject[index],
                    value,
                    o.position.get(index, NOWHERE),
                );
            }
        }
        rows.into_values()
            .filter(|row: &BlockRow| row.values.iter().all(|v| v.is_finite()))
            .collect()
    }

    /// The blocks that were taken to count: they hold exact counts and counts per iteration, and nothing that comes of timing.
    pub fn counting_blocks(&self) -> BTreeSet<u32> {
        let o = &self.observations;
        if !self.metrics.iter().any(Metric::is_count) {
            return BTreeSet::new();
        }
        let timed: Vec<&Vec<f64>> = (self.metrics.iter().zip(&o.values))
            .filter(|(metric, _)| !metric.is_count())
            .map(|(_, column)| column)
            .collect();
        if timed.is_empty() {
            return BTreeSet::new();
        }
        let blocks = |index: usize| o.block.get(index, NOWHERE);
        let has = |index: usize| timed.iter().any(|column| column[index].is_finite());
        let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
        for index in 0..self.len() {
            // A run that failed may have no value at all.
            let counts = o.values.iter().any(|column| column[index].is_finite());
            match has(index) {
                true => with.insert(blocks(index)),
                false if counts => without.insert(blocks(index)),
                false => false,
            };
        }
        without.into_iter().filter(|block| *block != NOWHERE && !with.contains(block)).collect()
    }

    /// The blocks whose observations hold values of these metrics, and of nothing else.
    pub fn counting_blocks_of(&self, names: &[&str]) -> BTreeSet<u32> {
        let o = &self.observations;
        let counts = |metric: &Metric| names.contains(&metric.name.as_str());
        if !self.metrics.iter().any(counts) {
            return BTreeSet::new();
        }
        let has = |index: usize, counting: bool| {
            let mut columns = self.metrics.iter().zip(&o.values);
            columns.any(|(metric, column)| counts(metric) == counting && column[index].is_finite())
        };
        let alone = (0..self.len()).filter(|&index| has(index, true) && !has(index, false));
        alone.map(|index| o.block.get(index, NOWHERE)).filter(|&block| block != NOWHERE).collect()
    }

    /// How many observations of a subject ended in a way that satisfies the condition.
    pub fn count_outcomes(&self, subject: usize, condition: impl Fn(Outcome) -> bool) -> usize {
        let o = &self.observations;
        let own = o.subject.iter().enumerate().filter(|(_, owner)| **owner as usize == subject);
        own.filter(|(index, _)| condition(o.outcome.get(*index, Outcome::Ok))).count()
    }

    /// How the samples were taken: in blocks when there are several subjects and every observation has its block; a summary when
    /// that is all there is.
    pub fn design(&self) -> Design {
        if self.is_empty() && !self.summaries.is_empty() {
            return Design::Summary;
        }
        let blocks = &self.observations.block.0;
        let in_blocks = !blocks.is_empty() && blocks.iter().all(|&b| b != NOWHERE);
        if in_blocks { Design::Blocks } else { Design::Unpaired }
    }
}

/// Keeps the items whose flag says so; a column that is not there stays so.
fn retain<T>(column: &mut Vec<T>, stays: &[bool]) {
    let mut flags = stays.iter();
    column.retain(|_| flags.next().copied().unwrap_or(false));
}

/// One complete block of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// The value of every subject.
    pub values: Vec<f64>,
    /// The place that every subject had in the block, counted from 0; `None` where the file does not say.
    pub positions: Vec<Option<u32>>,
}

impl BlockRow {
    fn empty(subjects: usize) -> Self {
        Self { values: vec![f64::NAN; subjects], positions: vec![None; subjects] }
    }

    fn set(&mut self, subject: u32, value: f64, position: u32) {
        if let Some(slot) = self.values.get_mut(subject as usize) {
            *slot = value;
            self.positions[subject as usize] = (position != NOWHERE).then_some(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observe(samples: &mut Samples, subject: usize, block: u32, value: f64) {
        samples.push(Observation {
            subject,
            block: Some(block),
            values: vec![value],
            ..Observation::default()
        });
    }

    #[test]
    fn a_block_that_lacks_a_subject_is_not_complete() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let (a, b) = (samples.add_subject("a"), samples.add_subject("b"));
        observe(&mut samples, a, 0, 1.0);
        observe(&mut samples, b, 0, 2.0);
        observe(&mut samples, b, 1, 3.0);
        let rows = samples.complete_blocks(0);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].values, [1.0, 2.0]);
        assert_eq!(samples.design(), Design::Blocks);
    }

    #[test]
    fn a_file_that_claims_block_four_billion_costs_no_memory() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        observe(&mut samples, a, u32::MAX - 1, 1.0);
        assert_eq!(samples.complete_blocks(0).len(), 1);
    }

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
    fn a_block_that_only_counts_allocations_is_known_by_its_values() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        observe(&mut samples, a, 0, 1.0);
        assert!(samples.counting_blocks().is_empty());
        samples.add_metric(Metric::lower("frees", Unit::One));
        samples.push(Observation {
            subject: a,
            block: Some(1),
            values: vec![f64::NAN, 7.0],
            ..Observation::default()
        });
        observe(&mut samples, a, 2, 1.0);
        // A run that gave nothing at all was no counting.
        observe(&mut samples, a, 3, f64::NAN);
        assert_eq!(samples.counting_blocks(), BTreeSet::from([1]));
        assert_eq!(samples.complete_blocks(0).len(), 2);
        assert_eq!(samples.complete_blocks(1).len(), 1);
    }

    #[test]
    fn two_subjects_of_one_name_are_told_apart() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.add_subject("spin");
        let second = samples.add_subject("spin");
        assert_eq!(samples.subjects[second].name, "spin #2");
    }
}
