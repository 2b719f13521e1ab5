//! A run in a history, without its samples. Its contents come from the store.

use super::{Benchmark, Revision, RunSummary};
use crate::comparison::Effect;
use assay_data::{Finding, Metric};

/// Number of digits of a digest that are displayed.
const SHORT: usize = 10;

/// The beginning of a digest.
pub fn short_digest(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// A stored run, without its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Number of the run in the store.
    pub id: i64,
    /// SHA-256 digest of the run.
    pub digest: String,
    /// Start of the run in milliseconds since 1970.
    pub started: i64,
    /// True if the working tree had uncommitted changes.
    pub changed: bool,
    /// The file that the run was imported from.
    pub source: String,
    /// The command line of the measurement.
    pub argv: Vec<String>,
    /// Name and version of the tool that measured the run, if known.
    pub tool: Option<String>,
    /// Number of results.
    pub results: u64,
    /// The worst verdict of the run's comparisons, if any.
    pub verdict: Option<String>,
    /// Display name of the machine.
    pub machine: String,
    /// Fingerprint of the machine.
    pub fingerprint: String,
    /// The measured revision.
    pub revision: Option<Revision>,
    /// The deciding metric.
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
    /// The benchmark, by its current name.
    pub benchmark: Benchmark,
    /// The metric.
    pub metric: Metric,
    /// The result.
    pub summary: RunSummary,
}

/// A comparison in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The subject of the verdict.
    pub subject: String,
    /// The reference.
    pub reference: String,
    /// The verdict.
    pub verdict: String,
    /// Second / first.
    pub ratio: Option<Effect>,
}

/// The contents of a run, without its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The results, one for each metric of each benchmark.
    pub results: Vec<RunResult>,
    /// The comparisons of the deciding metric.
    pub comparisons: Vec<Compared>,
    /// The findings, without their evidence and advice.
    pub findings: Vec<Finding>,
}

/// A benchmark that is missing from later runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Vanished {
    /// The last run that contained the benchmark.
    pub last: Run,
    /// Number of later runs without the benchmark, of at most 20.
    pub runs: u64,
}
