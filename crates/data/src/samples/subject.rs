//! What measurements are about: a subject is a row on a side, at certain values of the parameters.
//!
//! This module has all recorded data about sides, rows and subjects, but no measurements. Names are
//! for people, and nothing may be inferred from them.

use super::ParameterValue;
use serde::{Deserialize, Serialize};

/// Something that is compared, such as a command, a build, a revision, a server or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Display name; unique within the samples.
    pub name: String,
    /// The command line as typed, with placeholders such as `{n}` for the values of parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file that the values come from, for imported samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The files of several builds of the same source that were run alternately. The outermost
    /// level of an observation is the index of its build. Empty if there is only one build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<String>,
    /// The recordings that were combined, in order. The outermost level of an observation is the
    /// index of its recording. Empty if there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recorded>,
}

/// One of several recordings of a side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// File of the recording.
    pub file: String,
    /// Start time, as stated in the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
}

/// Something for which sides are compared, such as a benchmark, a test, a function or a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Full name, by which the results of different sides are matched. Unique within the samples.
    /// Empty if there are only commands.
    #[serde(default)]
    pub name: String,
    /// Name without parameters, if the tool states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Singular noun for what the row is, such as `function`. `None` for a benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noun: Option<String>,
    /// Enclosing groups, outermost first, such as the file and class of a test, or its package.
    /// Empty if the tool states none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
}

/// A measured subject: one row on one side, at certain values of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Index of the side.
    pub side: usize,
    /// Index of the row.
    pub row: usize,
    /// Names and values of parameters, in the order of the scan, as in `("n", 4)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, ParameterValue)>,
    /// Display name, derived from side, row and parameters. Unique within the samples.
    pub name: String,
    /// The command line that was run, if the subject is a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the command was run by a shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// Working directory of the command. `None` if not specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Names and values of the variables set for the command, in addition to those inherited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Index of the subject with which this one is compared. A subject with its own index is a
    /// reference. `None` means the first subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<usize>,
    /// Index of the subject of which this one is a control: the same command, measured a second
    /// time. A control is its own reference, so it has no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<usize>,
    /// Number of parallel runs. `None` for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Settings of the command's processes, such as `("fifo", "10")` or `("pin", "1")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<(String, String)>,
    /// Paths and digests of the files that make up the command, as in `("/usr/bin/sort",
    /// "sha256:…")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// Digest of the measured machine code and of everything it calls, which does not depend on
    /// their placement. `None` if unknown. Two builds with the same digest differ at most in
    /// placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Subject {
    /// Returns the value of a parameter; `None` if the subject does not have it.
    pub fn parameter(&self, name: &str) -> Option<&ParameterValue> {
        self.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}
