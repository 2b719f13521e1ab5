//! The keys of measurements: a subject is one row on one side at certain values of the parameters.
//! This module has all recorded data about sides, rows and subjects, but no measurements. Names are
//! for people; nothing may be inferred from them.

use super::ParameterValue;
use serde::{Deserialize, Serialize};

/// A thing that is compared: a command, a build, a revision, a server, a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Display name; unique within the samples.
    pub name: String,
    /// The command line as typed, with `{n}` in place of the value of a parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file of the values, for imported samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The files of the builds of one source that were run alternately; the outermost level of an
    /// observation is the index of its build. Empty if there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<String>,
    /// The recordings that were combined, in order; the outermost level of an observation is the
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

/// A thing on which sides are compared: a benchmark, a test, a function, a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Full name, by which sides are matched; unique within the samples. Empty if there are only
    /// commands.
    #[serde(default)]
    pub name: String,
    /// Name without parameters, if the tool states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Singular noun for a row of this kind, as in `function`; `None` for a benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noun: Option<String>,
    /// Enclosing groups, outermost first, such as its file and its class, or its package. Empty if
    /// the tool states none.
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
    /// Parameters with their values, in the order of the scan, as in `("n", 4)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, ParameterValue)>,
    /// Display name, made from its keys; unique within the samples.
    pub name: String,
    /// The command line that was run, for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the command was run by a shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// Working directory of the command, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables set for the command, beyond those inherited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Index of the subject that this one is compared with; its own index marks a reference. `None`
    /// means the first subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<usize>,
    /// Index of the subject that this one repeats as a control: the same command, measured a second
    /// time. It is its own reference, so no verdict is about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<usize>,
    /// Number of runs in parallel; `None` for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Settings of the command's processes, as in `("fifo", "10")`, `("pin", "1")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<(String, String)>,
    /// The files that make up the command, each with its digest, as in
    /// `("/usr/bin/sort", "sha256:…")`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
    /// Digest of the measured machine code and of everything it calls, independent of placement;
    /// `None` if unknown. Two builds with the same digest differ at most by placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Subject {
    /// Returns the value of a parameter; `None` if the subject does not have it.
    pub fn parameter(&self, name: &str) -> Option<&ParameterValue> {
        self.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}
