//! A run as a history keeps it, apart from its samples. What it holds is read from the store;
//! nothing is computed here.

use super::{Benchmark, Revision, RunSummary};
use crate::comparison::Effect;
use assay_data::{Finding, Metric};

/// The first digits of a digest, which people see.
const SHORT: usize = 10;

/// The beginning of a digest.
pub fn short_digest(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// A run that is kept, without what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number in its store.
    pub id: i64,
    /// The SHA-256 that it is known by.
    pub digest: String,
    /// When it was measured, ms since 1970.
    pub started: i64,
    /// Whether the tree had changes that are in no commit.
    pub changed: bool,
    /// The file that it was read from.
    pub source: String,
    /// The command line that measured.
    pub argv: Vec<String>,
    /// Tool and version that measured.
    pub tool: Option<String>,
    /// Number of results.
    pub results: u64,
    /// The worst verdict of its comparisons, where there are any.
    pub verdict: Option<String>,
    /// The machine, for people.
    pub machine: String,
    /// What the machine is known by.
    pub fingerprint: String,
    /// The revision that was measured.
    pub revision: Option<Revision>,
    /// The metric that decides.
    pub metric: Option<String>,
}

impl Run {
    /// The beginning of the digest.
    pub fn short(&self) -> &str {
        short_digest(&self.digest)
    }
}

/// One metric of one benchmark in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The benchmark, as it is called now.
    pub benchmark: Benchmark,
    /// The metric.
    pub metric: Metric,
    /// What it came to.
    pub summary: RunSummary,
}

/// A comparison in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What the verdict is about.
    pub subject: String,
    /// What it was compared with.
    pub reference: String,
    /// The verdict.
    pub verdict: String,
    /// Second / first.
    pub ratio: Option<Effect>,
}

/// What stands beside the samples of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// One for each metric of each benchmark.
    pub results: Vec<RunResult>,
    /// The comparisons of the metric that decides.
    pub comparisons: Vec<Compared>,
    /// The findings, without their evidence and advice.
    pub findings: Vec<Finding>,
}

/// A benchmark that is missing from later runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Vanished {
    /// The last run that had it.
    pub last: Run,
    /// How many runs after that one lack it; at most 20 are looked at.
    pub runs: u64,
}
