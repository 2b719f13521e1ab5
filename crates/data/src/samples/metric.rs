//! Metrics, and the names of those used throughout assay. Values are not here.

use crate::unit::{self, Better, Unit};
use serde::{Deserialize, Serialize};

/// A measured quantity: its name, its unit, and the direction in which it improves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Name, such as `wall`.
    pub name: String,
    /// Base unit of the values.
    pub unit: Unit,
    /// The direction in which the metric improves.
    #[serde(default)]
    pub better: Better,
    /// True if the unit implies no direction, so that `better` is only a convention.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undirected: bool,
    /// True for a count that the same program reproduces exactly on the same input (calls to
    /// `malloc`, simulated instructions). If all runs of a side give the same number, that number
    /// is exact and not an estimate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// True if the recording tool declared the metric exact (Go's `assume=exact`), so that one
    /// value is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed_exact: bool,
}

impl Metric {
    /// Returns a metric for which less is better.
    pub fn lower(name: &str, unit: Unit) -> Self {
        let (name, better) = (name.to_owned(), Better::Lower);
        Self { name, unit, better, undirected: false, exact: false, assumed_exact: false }
    }

    /// Returns a metric with the direction implied by its unit or, for plain numbers, by its name
    /// if that is a unit (`req/s`). If neither implies a direction, less is assumed to be better,
    /// and [`undirected`](Self::undirected) is set unless the numbers are plain.
    pub fn of_unit(name: &str, unit: Unit) -> Self {
        let is_plain = unit == Unit::One;
        let direction = match is_plain {
            true => unit::direction_of_symbol(name),
            false => unit::direction(&unit),
        };
        let undirected = direction.is_none() && !is_plain;
        let better = direction.unwrap_or_default();
        Self { better, undirected, ..Self::lower(name, unit) }
    }

    /// Returns a metric of which only the name is known, as chosen by the author of a benchmark. It
    /// is undirected unless the name is a unit that implies a direction (`fps`, `hits/s`).
    pub fn of_name(name: &str) -> Self {
        let undirected = unit::direction_of_symbol(name).is_none();
        Self { undirected, ..Self::of_unit(name, Unit::One) }
    }

    /// Returns the metric with this direction; unchanged for `None`.
    #[must_use]
    pub fn directed(self, better: Option<Better>) -> Self {
        match better {
            Some(better) => Self { better, undirected: false, ..self },
            None => self,
        }
    }

    /// Returns the metric with another unit.
    #[must_use]
    pub fn in_unit(self, unit: &Unit) -> Self {
        Self { unit: unit.clone(), ..self }
    }

    /// Returns an exact count for which less is better.
    pub fn exact(name: &str, unit: Unit) -> Self {
        Self { exact: true, ..Self::lower(name, unit) }
    }

    /// Returns true if the metric is counted in separate runs, which applies to exact counts and
    /// counts per iteration of a benchmark.
    pub fn is_count(&self) -> bool {
        let name = self.name.as_str();
        self.exact
            || name.ends_with(PER_ITERATION)
            || name == VALGRIND_INSTRUCTIONS
            || ALLOCATIONS.contains(&name)
    }

    /// Returns true if the numbers may have been rounded and so lost precision. This applies to
    /// times, rates, and numbers that a file does not describe. Counts and sizes are whole.
    pub fn may_be_rounded(&self) -> bool {
        let is_rounded = match self.unit {
            Unit::Second | Unit::PerSecond => true,
            Unit::One => self.name == "value",
            Unit::Byte | Unit::Other(_) => false,
        };
        is_rounded && !self.exact
    }

    /// Returns the metric of wall-clock time in seconds.
    pub fn wall() -> Self {
        Self::lower("wall", Unit::Second)
    }
}

/// Names of the metrics that every run of a command has: wall-clock time and the kernel's resource
/// usage.
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

/// Name of the metric for the time that a hypervisor took from the whole machine during a run. It
/// explains noise and is not compared.
pub const STEAL: &str = "steal";

/// Name of the metric for the number of iterations within one observation, which the harness chose.
/// It indicates the precision of other values and is not compared.
pub const ITERATIONS: &str = "iterations";

/// Names of the metrics for allocations: calls to malloc and related functions that allocated,
/// resized and freed a block, the number of bytes requested, and the maximum number of bytes live
/// at the same time in one process. Counted in separate runs.
pub const ALLOCATIONS: [&str; 5] =
    ["allocations", "reallocs", "frees", "allocated_bytes", "peak_heap"];

/// Name of the metric for the number of instructions on a simulated processor. Counted in separate
/// runs.
pub const VALGRIND_INSTRUCTIONS: &str = "valgrind_instructions";

/// Suffix of the name of a count per iteration of a benchmark.
pub const PER_ITERATION: &str = "/iteration";

/// Name of the metric for the position of a test in the order in which its run executed the tests,
/// counted from 0.
pub const PLACE: &str = "test_place";

/// Name of the metric for the start of a test, in seconds since the start of its run.
pub const BEGAN: &str = "test_began";

/// Name of the metric for the end of a test, in seconds since the start of its run. Missing if
/// equal to the start of the test plus its time.
pub const ENDED: &str = "test_ended";

/// Name of the metric for the process in which a test ran, counted from 0. Missing for the first
/// process.
pub const WORKER: &str = "test_worker";

/// Names of the metrics for the activities of a suite's processes outside of tests: kind (an index
/// into the parts of the time), process, start and end. A run gives several values for each.
pub const SPANS: [&str; 4] = ["span_part", "span_worker", "span_began", "span_ended"];

/// Name of the metric for the total time of all tests of a suite, over all processes.
pub const TEST_TIME: &str = "test_time";

/// Name of the metric for the number of processes that ran the tests of a suite in parallel.
pub const WORKERS: &str = "test_workers";

/// Name of the metric for the number of times that a test failed within a run before it passed or
/// finally failed, if its framework retries tests. Missing if it did not fail.
pub const RETRIES: &str = "test_retries";

/// Name of the row for a whole suite, in addition to those of its tests.
pub const WHOLE_SUITE: &str = "(whole suite)";

/// Metrics that explain others and are not compared themselves, unless one of them is chosen to
/// decide the verdict.
pub const NOT_COMPARED: [&str; 12] = [
    STEAL, ITERATIONS, PLACE, WORKERS, BEGAN, ENDED, WORKER, RETRIES, SPANS[0], SPANS[1], SPANS[2],
    SPANS[3],
];
