//! Messages on the wire, in both directions, as JSON by `serde`. Times are text in RFC 3339 (UTC).
//! Unknown members are ignored, so that an older server and a newer agent understand each other.

mod jobs;

pub use jobs::{
    Asking, Beat, Beaten, Build, Compared, Ending, Evidence, Hello, Job, Leased, Logged, NewBuild,
    NewJob, Outcome, Welcome,
};

use crate::model::{Facts, Scope, State, VersionKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An error, as every path answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// What went wrong.
    pub error: Told,
}

/// What went wrong, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told {
    /// One of the codes of docs/reference/farm-api.md.
    pub code: String,
    /// What, where, and what to do.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// What to ask the next page with (`after=`), if there is one.
    pub next: Option<String>,
}

/// Who has projects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Owner {
    /// Its number in the store.
    pub id: i64,
    /// Its name: letters, digits, `-`, `_` and `.`.
    pub name: String,
}

/// Where a project's versions come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// Branches and tags of a repository.
    Git {
        /// Its address.
        url: String,
    },
    /// A gem, of an index.
    Gem {
        /// Its name there.
        name: String,
        /// The index; that of rubygems.org without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// A distribution of Python, of an index.
    PyPi {
        /// Its name there.
        name: String,
        /// The index; that of pypi.org without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<String>,
    },
    /// What a command prints: one version a line, `VERSION [ADDRESS]`.
    Command {
        /// The command, for a shell.
        list: String,
        /// The command that gets a version into the directory in which it is run; VERSION and ADDRESS are in its environment.
        get: String,
    },
}

/// What is done with a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Recipe {
    /// Commands that install what it needs, one after the other. With none, what its files ask for.
    pub install: Vec<String>,
    /// The command of its tests, as one gives it to `assay tests --`. With none, what its files suggest.
    pub test: Option<String>,
    /// What is measured of it, as one gives it to `assay bench`.
    pub bench: Option<String>,
    /// Whether it has the network while its tests run (while it is installed, it has).
    pub network: bool,
    /// Seconds that all of it may take; 1,800 without.
    pub timeout: Option<u64>,
    /// Bytes of memory that all its processes may use; 2 GiB without.
    pub memory: Option<u64>,
    /// Processes at a time; 512 without.
    pub processes: Option<u64>,
}

/// A project that is to be added. A second time, with other words, it is changed to these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewProject {
    /// Where its versions come from; `None`: they are added by hand.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// What is done with each.
    #[serde(default)]
    pub recipe: Recipe,
    /// What a target must be for its versions to be tested there: facts with the beginning of their values; with none, every target.
    #[serde(default)]
    pub needs: Facts,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Project {
    /// Its number in the store.
    pub id: i64,
    /// Whose it is.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// What was said of it.
    #[serde(flatten)]
    pub of: NewProject,
}

/// A version that is to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewVersion {
    /// A release or a commit.
    pub kind: VersionKind,
    /// When it was published or committed.
    #[serde(default)]
    pub published: Option<String>,
    /// Its place among the project's versions, where that is not the order in time.
    #[serde(default)]
    pub ordinal: Option<i64>,
    /// Where it can be fetched.
    #[serde(default)]
    pub address: Option<String>,
    /// SHA-256 of what is fetched, in hexadecimal digits.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Version {
    /// Its number in the store.
    pub id: i64,
    /// Whose.
    pub owner: String,
    /// Of which project.
    pub project: String,
    /// Its name: a number, or the commit.
    pub name: String,
    /// Whether it is gone where it came from; what was found of it stays.
    #[serde(default)]
    pub is_gone: bool,
    /// What was said of it.
    #[serde(flatten)]
    pub of: NewVersion,
}

/// A target that is to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewTarget {
    /// What people call it.
    pub name: String,
    /// What it is.
    pub facts: Facts,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// Its number in the store.
    pub id: i64,
    /// [`crate::model::digest`] of its facts.
    pub digest: String,
    /// What was said of it.
    #[serde(flatten)]
    pub of: NewTarget,
}

/// What an A/A run of a node came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// When.
    pub time: String,
    /// Share of A/A comparisons that were called different.
    pub false_alarms: f64,
    /// How many.
    pub comparisons: u64,
    /// The smallest effect that it would see with the usual number of runs, as a ratio above 1.
    pub detects: f64,
    /// Whether it may vote.
    pub is_fit: bool,
    /// Why not.
    #[serde(default)]
    pub reason: String,
}

/// A machine that asks for jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Its number in the store.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// What runs there.
    pub tool: String,
    /// Digests of its targets.
    pub targets: Vec<String>,
    /// When it was last heard of.
    pub seen: String,
    /// Seconds that its clock is ahead.
    pub clock_ahead: f64,
    /// Why it gets no leases.
    #[serde(default)]
    pub drained: Option<String>,
    /// What it has leased.
    pub jobs: Vec<i64>,
    /// Its last calibration.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

/// A reason, of draining.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// In plain words.
    pub reason: String,
}

/// A token that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// With [`Scope::Agent`]: the node's name.
    #[serde(default)]
    pub node: Option<String>,
    /// The owner whose projects it may change; `None`: all.
    #[serde(default)]
    pub owner: Option<String>,
    /// When it ends.
    #[serde(default)]
    pub until: Option<String>,
}

/// A token as it is listed: never its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token {
    /// Its number in the store.
    pub id: i64,
    /// What was said of it.
    #[serde(flatten)]
    pub of: NewToken,
    /// When it was made.
    pub made: String,
    /// When it was last used.
    #[serde(default)]
    pub used: Option<String>,
}

/// A token that was just made: the only time that its secret is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MadeToken {
    /// What can be told again.
    #[serde(flatten)]
    pub token: Token,
    /// The secret.
    pub secret: String,
}

/// One line of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audited {
    /// Its number.
    pub id: i64,
    /// When.
    pub time: String,
    /// Whose token, by its name.
    pub who: String,
    /// What: method and path.
    pub what: String,
    /// What it was answered with.
    pub status: u16,
}

/// Versions × targets of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The latest first.
    pub versions: Vec<Version>,
    /// Those that have a build.
    pub targets: Vec<Target>,
    /// The last build of each, by the version's name and the target's digest.
    pub cells: BTreeMap<String, BTreeMap<String, Cell>>,
}

/// The last build of a version on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The build.
    pub build: i64,
    /// Its state.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::model::state_schema"))]
    pub state: State,
    /// Builds of it in all.
    pub builds: u64,
    /// Of these passed: where some passed and some failed, it is now this, now that.
    #[serde(default)]
    pub passed: u64,
    /// Of these failed.
    #[serde(default)]
    pub failed: u64,
    /// The version that its last benchmarks compared it with.
    #[serde(default)]
    pub base: Option<String>,
    /// What its last benchmarks came to.
    #[serde(default)]
    pub comparisons: Vec<Compared>,
}
