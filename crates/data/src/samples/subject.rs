//! What is measured, by its keys: a subject is one row on one side at certain values of the parameters. All that a record says of sides,
//! rows and subjects is here; what was measured of them is not. Nothing may be concluded from names, which are for people.

use super::ParameterValue;
use serde::{Deserialize, Serialize};

/// What is compared: a command, a build, a revision, a server, a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// The name that people see; unique within the samples.
    pub name: String,
    /// The command line as it was typed, with `{n}` where the value of a parameter comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file that the values came from, for imported samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The builds of one source that were run by turns, as their files; the outermost level of an observation is the index of its
    /// build. Empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<String>,
    /// The recordings that were put together, in their order; the outermost level of an observation is the index of its recording. Empty
    /// where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recorded>,
}

/// One of several recordings of a side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Its file.
    pub file: String,
    /// When it began, as it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
}

/// What sides are compared on: a benchmark, a test, a function, a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its full name, by which sides are matched; unique within the samples. Empty where commands are all that there is.
    #[serde(default)]
    pub name: String,
    /// Its name without parameters, where the tool says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What such a row is called, in the singular, as in `function`; `None`: a benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noun: Option<String>,
    /// What it stands in, the outermost first, as in its file and its class, or its package. Empty where the tool tells of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
}

/// What was measured: one row on one side, at certain values of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Index of the side.
    pub side: usize,
    /// Index of the row.
    pub row: usize,
    /// Parameters with their values, in the order of the scan, as in `("n", 4)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, ParameterValue)>,
    /// The name that people see, made of its keys; unique within the samples.
    pub name: String,
    /// The command line that was run, for commands.
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
    /// Index of the subject that this one is compared with; its own index marks a reference. `None`: the first subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<usize>,
    /// How many runs of it went on at once; `None`: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// What was set for its processes, as in `("fifo", "10")`, `("pin", "1")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<(String, String)>,
    /// The files that make the command, each with its digest, as in `("/usr/bin/sort", "sha256:…")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// A digest of the machine code that is measured, and of all that it calls, wherever they were placed; `None` where that is not
    /// known. Two builds with the same digest differ by placement at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Subject {
    /// The value of a parameter; `None` for one that it does not have.
    pub fn parameter(&self, name: &str) -> Option<&ParameterValue> {
        self.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}
