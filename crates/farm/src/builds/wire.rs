//! Messages of the API, in both directions, as JSON. Times are text as in RFC 3339 (UTC). Unknown
//! members are ignored, so that an older server and a newer agent understand each other.

mod jobs;

pub use jobs::{
    BenchmarkComparison, Build, Ending, Evidence, Heartbeat, HeartbeatAnswer, Hello, Job,
    LeaseRequest, LeasedJob, LogExtent, NewBuild, NewJob, Outcome, Welcome,
};

use crate::builds::model::{Facts, Scope, State, VersionKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Body of every answer that reports an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// The error.
    pub error: ErrorBody,
}

/// An error, with a code for programs and a message for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Told"))]
pub struct ErrorBody {
    /// Code of the error, one of those in docs/reference/farm-api.md.
    pub code: String,
    /// Message of the error: what happened, where, and what to do.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Value of `after=` that requests the next page; `None` on the last page.
    pub next: Option<String>,
}

/// An owner of projects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Owner {
    /// ID of the owner in the store.
    pub id: i64,
    /// Name of the owner: letters, digits, `-`, `_` and `.`.
    pub name: String,
}

/// Origin of a project's versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// Tags and branches of a git repository.
    Git {
        /// URL of the repository.
        url: String,
    },
    /// Releases of a Ruby gem in an index.
    Gem {
        /// Name of the gem.
        name: String,
        /// URL of the index [default: rubygems.org].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// Releases of a Python distribution in an index.
    PyPi {
        /// Name of the distribution.
        name: String,
        /// URL of the index [default: pypi.org].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// Versions that a command prints, one per line as `VERSION [ADDRESS]`.
    Command {
        /// The shell command that lists the versions.
        list: String,
        /// The shell command that fetches a version into its working directory. VERSION and ADDRESS
        /// are in its environment.
        get: String,
    },
}

/// Commands and limits for building a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Recipe {
    /// Commands that install the dependencies, in order [default: derived from the version's
    /// files].
    pub install: Vec<String>,
    /// The command that runs the tests, as for `assay tests --` [default: derived from the
    /// version's files].
    pub test: Option<String>,
    /// The benchmark to measure, as arguments of `assay bench`.
    pub bench: Option<String>,
    /// True if the tests may use the network. The installation of dependencies always may.
    pub network: bool,
    /// Time limit of the whole job, in seconds [default: 1,800].
    pub timeout: Option<u64>,
    /// Memory limit of all processes of the job together, in bytes [default: 2 GiB].
    pub memory: Option<u64>,
    /// Maximum number of processes of the job at the same time [default: 512].
    pub processes: Option<u64>,
}

/// A project to add, or new settings of an existing project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewProject {
    /// Origin of the project's versions; `None` if they are added by hand.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// Commands and limits for building each version.
    #[serde(default)]
    pub recipe: Recipe,
    /// Facts that a target must have for the project's versions to be tested on it. The value of a
    /// fact must start with the value given here. If empty, every target is suitable.
    #[serde(default)]
    pub needs: Facts,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Project {
    /// ID of the project in the store.
    pub id: i64,
    /// Name of the owner.
    pub owner: String,
    /// Name of the project.
    pub name: String,
    /// Settings of the project.
    #[serde(flatten)]
    pub of: NewProject,
}

/// A version to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewVersion {
    /// A release or a commit.
    pub kind: VersionKind,
    /// Time of publication or of the commit.
    #[serde(default)]
    pub published: Option<String>,
    /// Position among the project's versions, if they are not ordered by time.
    #[serde(default)]
    pub ordinal: Option<i64>,
    /// Address from which the version is fetched.
    #[serde(default)]
    pub address: Option<String>,
    /// SHA-256 of the fetched file, in hexadecimal digits.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Version {
    /// ID of the version in the store.
    pub id: i64,
    /// Owner of the project.
    pub owner: String,
    /// Name of the project.
    pub project: String,
    /// Name of the version: a release number or a commit.
    pub name: String,
    /// True if the version no longer exists at its origin. Its results are kept.
    #[serde(default)]
    pub is_gone: bool,
    /// Properties of the version, as they were given when it was added.
    #[serde(flatten)]
    pub of: NewVersion,
}

/// A target to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewTarget {
    /// Display name of the target.
    pub name: String,
    /// Facts of the target, such as its operating system and runtime.
    pub facts: Facts,
}

/// A target: a kind of platform on which versions are tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// ID of the target in the store.
    pub id: i64,
    /// Digest of the facts.
    pub digest: String,
    /// Name and facts of the target, as they were given when it was added.
    #[serde(flatten)]
    pub of: NewTarget,
}

/// Result of the A/A runs of a node, which compare a program with itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// Time of the runs.
    pub time: String,
    /// Share of the A/A comparisons that reported a difference, from 0 to 1.
    pub false_alarms: f64,
    /// Number of A/A comparisons.
    pub comparisons: u64,
    /// Smallest ratio above 1 that the node detects with the usual number of runs.
    pub detects: f64,
    /// True if the node is fit to run benchmarks.
    pub is_fit: bool,
    /// The reason why the node is unfit; empty if it is fit.
    #[serde(default)]
    pub reason: String,
}

/// A node, which is a machine that runs jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// ID of the node in the store.
    pub id: i64,
    /// Name of the node.
    pub name: String,
    /// Name and version of the agent's program.
    pub tool: String,
    /// Digests of the node's targets.
    pub targets: Vec<String>,
    /// Time of the node's last contact with the server.
    pub seen: String,
    /// Difference between the node's clock and the server's, in seconds. Positive if the node's
    /// clock is ahead.
    pub clock_ahead: f64,
    /// The reason why the node is drained, that is, gets no new jobs. `None` if it is not drained.
    #[serde(default)]
    pub drained: Option<String>,
    /// Numbers of the jobs leased to the node.
    pub jobs: Vec<i64>,
    /// The node's last calibration, if there is one.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

/// Request to drain a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The reason for draining the node, in words.
    pub reason: String,
}

/// A token to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewToken {
    /// Name of the token, which appears in the audit log.
    pub name: String,
    /// Scope of the token, which determines the requests that it permits.
    pub scope: Scope,
    /// Name of the only node that may use the token. Required if and only if the scope is `agent`.
    #[serde(default)]
    pub node: Option<String>,
    /// The owner whose projects the token may change; `None` for all.
    #[serde(default)]
    pub owner: Option<String>,
    /// Time at which the token expires; `None` if it never expires.
    #[serde(default)]
    pub until: Option<String>,
}

/// A token as listed, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token {
    /// ID of the token in the store.
    pub id: i64,
    /// Properties of the token, as they were given when it was created.
    #[serde(flatten)]
    pub of: NewToken,
    /// Time at which the token was created.
    pub made: String,
    /// Time at which the token was last used; `None` if it never was.
    #[serde(default)]
    pub used: Option<String>,
}

/// A new token, with the secret that is not shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MadeToken {
    /// The token as listed.
    #[serde(flatten)]
    pub token: Token,
    /// Text of the token, which authenticates its holder.
    pub secret: String,
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Audited"))]
pub struct AuditEntry {
    /// ID of the entry.
    pub id: i64,
    /// Time of the request.
    pub time: String,
    /// Name of the token that was used.
    pub who: String,
    /// Method and path of the request.
    pub what: String,
    /// HTTP status of the answer.
    pub status: u16,
}

/// Results of a project, as a matrix of versions and targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The versions, newest first.
    pub versions: Vec<Version>,
    /// The targets on which these versions have builds.
    pub targets: Vec<Target>,
    /// Results by the version's name and then the target's digest. Combinations without builds are
    /// missing.
    pub cells: BTreeMap<String, BTreeMap<String, MatrixCell>>,
}

/// Results of a version on a target: a cell of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Cell"))]
pub struct MatrixCell {
    /// Number of the build that determines the state.
    pub build: i64,
    /// State of the version on the target.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::builds::model::state_schema"))]
    pub state: State,
    /// Number of builds of the version on the target.
    pub builds: u64,
    /// Number of builds in which the tests passed. If some passed and some failed, the version is
    /// flaky on the target.
    #[serde(default)]
    pub passed: u64,
    /// Number of builds in which the tests failed.
    #[serde(default)]
    pub failed: u64,
    /// Base version of the last benchmarks; `None` without benchmarks.
    #[serde(default)]
    pub base: Option<String>,
    /// Comparisons of the last benchmarks with their base version.
    #[serde(default)]
    pub comparisons: Vec<BenchmarkComparison>,
}
