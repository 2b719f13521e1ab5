//! Output of `assay bench` without comparison: the list of benchmarks, and the result of trying
//! each once.

use super::Head;
use serde::Serialize;

/// The benchmarks of every side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listing {
    /// Layout and verb.
    #[serde(flatten)]
    pub head: Head,
    /// Names of the sides.
    pub sides: Vec<String>,
    /// The harness of each of them.
    pub harnesses: Vec<String>,
    /// The benchmarks, in the order of the first side that has them.
    pub benchmarks: Vec<Listed>,
}

/// A benchmark.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The sides that have it.
    pub on: Vec<String>,
}

impl Listing {
    /// Of benchmarks that were listed.
    pub fn new(sides: Vec<String>, harnesses: Vec<String>, benchmarks: Vec<Listed>) -> Self {
        Self { head: Head::of("bench"), sides, harnesses, benchmarks }
    }
}

/// How the benchmarks fared, each run once on every side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SmokeTest {
    /// Layout and verb.
    #[serde(flatten)]
    pub head: Head,
    /// How many were run, those of every side counted.
    pub runs: usize,
    /// Those that are broken.
    pub failures: Vec<Failure>,
}

/// A benchmark that is broken.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Its name.
    pub benchmark: String,
    /// The side.
    pub side: String,
    /// What it did, in words.
    pub failure: String,
}

impl SmokeTest {
    /// Of benchmarks that were tried.
    pub fn new(runs: usize, failures: Vec<Failure>) -> Self {
        Self { head: Head::of("bench"), runs, failures }
    }
}
