//! Output of `assay bench` without comparison: the list of benchmarks, and the result of trying
//! each once.

use super::Head;
use serde::Serialize;

/// The benchmarks of every side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listing {
    /// Layout version and verb.
    #[serde(flatten)]
    pub head: Head,
    /// Names of the sides.
    pub sides: Vec<String>,
    /// The harness of each side.
    pub harnesses: Vec<String>,
    /// The benchmarks, in the order of the first side that has them.
    pub benchmarks: Vec<Listed>,
}

/// A benchmark.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listed {
    /// Name of the benchmark.
    pub name: String,
    /// Names of the sides that have it.
    pub on: Vec<String>,
}

impl Listing {
    /// Returns the listing of these benchmarks.
    pub fn new(sides: Vec<String>, harnesses: Vec<String>, benchmarks: Vec<Listed>) -> Self {
        Self { head: Head::of("bench"), sides, harnesses, benchmarks }
    }
}

/// Results of running each benchmark once on every side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SmokeTest {
    /// Layout version and verb.
    #[serde(flatten)]
    pub head: Head,
    /// Number of runs, over all sides.
    pub runs: usize,
    /// The benchmarks that failed.
    pub failures: Vec<Failure>,
}

/// A benchmark that failed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Name of the benchmark.
    pub benchmark: String,
    /// The side.
    pub side: String,
    /// The failure, in words.
    pub failure: String,
}

impl SmokeTest {
    /// Returns the results of these runs.
    pub fn new(runs: usize, failures: Vec<Failure>) -> Self {
        Self { head: Head::of("bench"), runs, failures }
    }
}
