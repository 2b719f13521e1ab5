//! Messages on the wire, in both directions, as JSON by `serde`. Times are text in RFC 3339 (UTC).
//! Unknown members are ignored, so that an older server and a newer agent understand each other.

mod jobs;

pub use jobs::{
    BenchmarkComparison, Build, Ending, Evidence, Heartbeat, HeartbeatAnswer, Hello, Job,
    LeaseRequest, LeasedJob, LogExtent, NewBuild, NewJob, Outcome, Welcome,
};

use crate::builds::model::{Facts, Scope, State, VersionKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An error, as returned by every path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// The error.
    pub error: ErrorBody,
}

/// An error, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Told"))]
pub struct ErrorBody {
    /// The code: one of those in docs/reference/farm-api.md.
    pub code: String,
    /// The message: what happened, where, and what to do.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Cursor for the next page (`after=`), if there is one.
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

/// Origins of a project's versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// Branches and tags of a git repository.
    Git {
        /// URL of the repository.
        url: String,
    },
    /// A Ruby gem in an index.
    Gem {
        /// Name of the gem.
        name: String,
        /// The index [default: rubygems.org].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// A Python distribution in an index.
    PyPi {
        /// Name of the distribution.
        name: String,
        /// The index [default: pypi.org].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// The output of a command: one version per line, `VERSION [ADDRESS]`.
    Command {
        /// The shell command that lists the versions.
        list: String,
        /// The command that fetches a version into its working directory. VERSION and ADDRESS are
        /// in its environment.
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
    /// True if the tests may use the network. Installing always may.
    pub network: bool,
    /// Time limit of the whole job, s [default: 1,800].
    pub timeout: Option<u64>,
    /// Memory limit of all processes of the job, B [default: 2 GiB].
    pub memory: Option<u64>,
    /// Maximum number of concurrent processes [default: 512].
    pub processes: Option<u64>,
}

/// A project to add. Adding an existing project again replaces its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewProject {
    /// The origin of its versions; `None` if they are added by hand.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// How to build each version.
    #[serde(default)]
    pub recipe: Recipe,
    /// Facts that a target must have for the project's versions to be tested there, as prefixes of
    /// the values. If empty, every target is suitable.
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
    /// Time of publication or commit.
    #[serde(default)]
    pub published: Option<String>,
    /// Position among the project's versions, if that is not the order in time.
    #[serde(default)]
    pub ordinal: Option<i64>,
    /// The address to fetch it from.
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
    /// Name of the version: a number, or the commit.
    pub name: String,
    /// True if it no longer exists at its origin; its results are kept.
    #[serde(default)]
    pub is_gone: bool,
    /// Data of the version, as added.
    #[serde(flatten)]
    pub of: NewVersion,
}

/// A target to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewTarget {
    /// Display name.
    pub name: String,
    /// Facts of the target.
    pub facts: Facts,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// ID of the target in the store.
    pub id: i64,
    /// Digest of the facts.
    pub digest: String,
    /// Data of the target, as added.
    #[serde(flatten)]
    pub of: NewTarget,
}

/// Result of an A/A run on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// Time of the run.
    pub time: String,
    /// Share of A/A comparisons that found a difference.
    pub false_alarms: f64,
    /// Number of comparisons.
    pub comparisons: u64,
    /// The smallest effect that the node detects with the usual number of runs, as a ratio above 1.
    pub detects: f64,
    /// True if results of the node count.
    pub is_fit: bool,
    /// The reason, if they do not.
    #[serde(default)]
    pub reason: String,
}

/// A machine that takes jobs.
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
    /// Time of last contact.
    pub seen: String,
    /// Number of seconds by which the node's clock is ahead of the server's.
    pub clock_ahead: f64,
    /// The reason for draining the node, if it is drained.
    #[serde(default)]
    pub drained: Option<String>,
    /// Jobs leased to the node.
    pub jobs: Vec<i64>,
    /// The last calibration.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

/// A reason for draining a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The reason in words.
    pub reason: String,
}

/// A token to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewToken {
    /// Name of the token.
    pub name: String,
    /// Scope of the token.
    pub scope: Scope,
    /// Name of the node, if the scope is `agent`.
    #[serde(default)]
    pub node: Option<String>,
    /// The owner whose projects the token may change; `None` for all.
    #[serde(default)]
    pub owner: Option<String>,
    /// Time of expiry.
    #[serde(default)]
    pub until: Option<String>,
}

/// A token as listed, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token {
    /// ID of the token in the store.
    pub id: i64,
    /// Data of the token, as added.
    #[serde(flatten)]
    pub of: NewToken,
    /// Time of creation.
    pub made: String,
    /// Time of last use.
    #[serde(default)]
    pub used: Option<String>,
}

/// A new token. Its secret is shown only this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MadeToken {
    /// The token as listed.
    #[serde(flatten)]
    pub token: Token,
    /// The secret.
    pub secret: String,
}

/// One entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Audited"))]
pub struct AuditEntry {
    /// ID of the entry.
    pub id: i64,
    /// Time of the request.
    pub time: String,
    /// Name of the token.
    pub who: String,
    /// Method and path of the request.
    pub what: String,
    /// Status code of the response.
    pub status: u16,
}

/// The versions and targets of a project as a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The versions, latest first.
    pub versions: Vec<Version>,
    /// The targets with builds.
    pub targets: Vec<Target>,
    /// The last build of each, by the version's name and the target's digest.
    pub cells: BTreeMap<String, BTreeMap<String, MatrixCell>>,
}

/// The last build of a version on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Cell"))]
pub struct MatrixCell {
    /// The build.
    pub build: i64,
    /// State of the build.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::builds::model::state_schema"))]
    pub state: State,
    /// Number of builds of the version on the target.
    pub builds: u64,
    /// Number of builds that passed. If some passed and some failed, the version is flaky on the
    /// target.
    #[serde(default)]
    pub passed: u64,
    /// Number of builds that failed.
    #[serde(default)]
    pub failed: u64,
    /// The base version of the last benchmarks.
    #[serde(default)]
    pub base: Option<String>,
    /// Results of the last benchmarks.
    #[serde(default)]
    pub comparisons: Vec<BenchmarkComparison>,
}
