//! What is measured of a subject: metrics, and the names that all of the house knows some of them by. Values are not here.

use crate::unit::{self, Unit};
use serde::{Deserialize, Serialize};

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
    /// True if the unit has no direction; `better` is then only a convention.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undirected: bool,
    /// Whether it is a count that the same program on the same input repeats to the last digit (calls to `malloc`, simulated
    /// instructions): where every run of either side gave the same number, that number is known, not estimated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Whether that was said of it by whoever wrote it down (`assume=exact` of Go): then one value is enough to know it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed_exact: bool,
}

impl Metric {
    /// A metric of which less is better.
    pub fn lower(name: &str, unit: Unit) -> Self {
        let (name, better) = (name.to_owned(), Better::Lower);
        Self { name, unit, better, undirected: false, exact: false, assumed_exact: false }
    }

    /// A metric whose unit says which direction is better. Where it says nothing, [`undirected`](Self::undirected) holds that; but plain
    /// numbers and counts without more are taken to be better when they are smaller.
    pub fn of_unit(name: &str, unit: Unit) -> Self {
        let direction = unit::direction(&unit);
        let undirected = direction.is_none() && unit != Unit::One;
        let better = direction.unwrap_or_default();
        Self { better, undirected, ..Self::lower(name, unit) }
    }

    /// The same with the direction that somebody gave, if anybody did.
    #[must_use]
    pub fn directed(self, better: Option<Better>) -> Self {
        match better {
            Some(better) => Self { better, undirected: false, ..self },
            None => self,
        }
    }

    /// The same with values in another unit.
    #[must_use]
    pub fn in_unit(self, unit: &Unit) -> Self {
        Self { unit: unit.clone(), ..self }
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
            || name == VALGRIND_INSTRUCTIONS
            || ALLOCATIONS.contains(&name)
    }

    /// Returns true if the numbers may be rounded readings, whose steps hide a part of each: times, rates, and numbers about which a file says
    /// nothing. Counts and sizes are whole.
    pub fn may_be_rounded(&self) -> bool {
        let is_rounded = match self.unit {
            Unit::Second | Unit::PerSecond => true,
            Unit::One => self.name == "value",
            Unit::Byte | Unit::Other(_) => false,
        };
        is_rounded && !self.exact
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
pub const VALGRIND_INSTRUCTIONS: &str = "valgrind_instructions";

/// What stands behind the name of a count that is per iteration of a benchmark.
pub const PER_ITERATION: &str = "/iteration";

/// Name of the metric of a test's place in the order of its run, counted from 0.
pub const PLACE: &str = "test_place";

/// Name of the metric of when a test began, in seconds since its run did.
pub const BEGAN: &str = "test_began";

/// Name of the metric of when a test ended, likewise; missing where that is its beginning and its time together.
pub const ENDED: &str = "test_ended";

/// Name of the metric of the process that a test ran in, counted from 0; missing where that is the first.
pub const WORKER: &str = "test_worker";

/// Names of the metrics of what the processes of a suite do beside tests: kind (its place among the parts of the time), process, beginning
/// and end. One run gives several values of each.
pub const SPANS: [&str; 4] = ["span_part", "span_worker", "span_began", "span_ended"];

/// Name of the metric of what all tests of a suite took together, over all processes.
pub const TEST_TIME: &str = "test_time";

/// Name of the metric of how many processes ran the tests of a suite beside one another.
pub const WORKERS: &str = "test_workers";

/// Name of the metric of how often a test failed within a run before it passed, or failed for good, where its framework tries it again; missing
/// where it did not.
pub const RETRIES: &str = "test_retries";

/// Name of the row of a whole suite, beside those of its tests.
pub const WHOLE_SUITE: &str = "(whole suite)";

/// Metrics that explain others and are not compared themselves, unless one of them is named to decide.
pub const NOT_COMPARED: [&str; 12] = [
    STEAL, ITERATIONS, PLACE, WORKERS, BEGAN, ENDED, WORKER, RETRIES, SPANS[0], SPANS[1], SPANS[2],
    SPANS[3],
];
