//! A run in a history, without its samples. The store provides its contents.

use super::{Benchmark, Revision, RunSummary};
use crate::comparison::Effect;
use assay_data::{Finding, Metric};

/// Number of digits of a digest that are displayed.
const SHORT: usize = 10;

/// Returns the beginning of a digest, for display.
pub fn short_digest(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// A stored run, without its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Identifier of the run in the store.
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
    /// Number of results in the run.
    pub results: u64,
    /// The worst verdict of the run's comparisons, if any.
    pub verdict: Option<String>,
    /// Display name of the machine.
    pub machine: String,
    /// Fingerprint of the machine.
    pub fingerprint: String,
    /// The measured revision, if known.
    pub revision: Option<Revision>,
    /// Name of the deciding metric, if any.
    pub metric: Option<String>,
}

impl Run {
    /// Returns the beginning of the digest, for display.
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
    /// Summary of the metric in this run.
    pub summary: RunSummary,
}

/// A comparison in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name of the compared subject.
    pub subject: String,
    /// Name of the reference.
    pub reference: String,
    /// The verdict.
    pub verdict: String,
    /// Ratio of the subject to the reference.
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
    /// Number of runs that lack the benchmark, among the 20 most recent ones after `last`.
    pub runs: u64,
}
