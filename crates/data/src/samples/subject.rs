//! What is measured: subjects, with all that a record says of each. What was measured of them is not here.

use serde::{Deserialize, Serialize};

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
