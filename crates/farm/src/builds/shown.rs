//! Contents of the pages and screens of a farm: the store reads them, and renderers get them whole.
//! The JSON of pages consists of these types as well.

use crate::builds::model::{Fault, Kind, Progress, State};
use crate::builds::wire::{Build, Calibration, Job, Node, Project, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of items in each state; states without items are omitted.
pub type States = BTreeMap<State, u64>;

/// A build in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildLine {
    /// ID of the build in the store.
    pub id: i64,
    /// Owner of the project.
    pub owner: String,
    /// Name of the project.
    pub project: String,
    /// Name of the version.
    pub version: String,
    /// Digest of the target.
    pub target: String,
    /// Display name of the target.
    pub target_name: String,
    /// The node that ran the build.
    pub node: String,
    /// The kind of job.
    pub kind: Kind,
    /// The state.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::builds::model::state_schema"))]
    pub state: State,
    /// The fault, if the state is `infrastructure`.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The reason for the state, in one line.
    pub reason: String,
    /// Time at which it was added.
    pub added: String,
    /// Duration, s.
    pub seconds: f64,
    /// Number of tests that ran.
    pub tests: u64,
    /// Number of tests that failed.
    pub failed: u64,
    /// True if it ended no job, because it came too late or because the job was queued again.
    #[serde(default)]
    pub is_evidence: bool,
}

/// A version in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionLine {
    /// ID of the version in the store.
    pub id: i64,
    /// Name of the version.
    pub name: String,
    /// Time of publication; if unknown, time at which it was added.
    pub time: String,
    /// True if it no longer exists at its origin.
    pub is_gone: bool,
    /// Number of targets by the state of the last build on them.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub states: States,
}

/// A project in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectLine {
    /// ID of the project in the store.
    pub id: i64,
    /// Name of the owner.
    pub owner: String,
    /// Name of the project.
    pub name: String,
    /// Number of builds, by state.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// The newest tested version.
    #[serde(default)]
    pub newest: Option<VersionLine>,
    /// The last build.
    #[serde(default)]
    pub last: Option<BuildLine>,
}

/// The amount of queued work. Counting stops at [`Queue::MOST`], which means "or more".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// Number of jobs waiting for a node.
    pub queued: u64,
    /// Number of jobs leased to a node.
    pub leased: u64,
}

impl Queue {
    /// The number at which counting stops.
    pub const MOST: u64 = 1_000;
}

/// The home page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Home {
    /// Number of builds, by state.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// The queued work.
    pub queue: Queue,
    /// The projects, most recent build first.
    pub projects: Vec<ProjectLine>,
    /// Cursor for more projects.
    pub next: Option<String>,
    /// The latest builds of all projects.
    pub latest: Vec<BuildLine>,
}

/// The page of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectPage {
    /// The project.
    pub project: Project,
    /// Number of builds, by state.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// Versions, newest first.
    pub versions: Vec<VersionLine>,
    /// Cursor for older versions.
    pub next: Option<String>,
    /// The latest builds of the project.
    pub latest: Vec<BuildLine>,
    /// Unfinished jobs of the newest versions.
    pub jobs: Vec<Job>,
}

/// A lease of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseLine {
    /// ID of the lease in the store, which identifies its log.
    pub id: i64,
    /// The node that got the job.
    pub node: String,
    /// Start of the lease.
    pub began: String,
    /// End of the lease; `None` while it is active.
    pub ended: Option<String>,
    /// How it ended: `handed_in`, `expired`, `cancelled`.
    pub how: Option<String>,
}

/// The page of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildPage {
    /// The build.
    pub build: Build,
    /// A summary of the build, with the target's name.
    pub line: BuildLine,
    /// The facts of the target.
    pub facts: crate::builds::model::Facts,
    /// The version.
    pub version: Version,
    /// The base version of a `bench`.
    #[serde(default)]
    pub base: Option<String>,
    /// Leases of the job, oldest first.
    pub leases: Vec<LeaseLine>,
    /// Other builds of this version on this target, latest first.
    pub others: Vec<BuildLine>,
}

/// The page of an unfinished job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPage {
    /// The job.
    pub job: Job,
    /// Progress of the job.
    pub progress: Progress,
    /// Leases of the job, oldest first.
    pub leases: Vec<LeaseLine>,
}

/// The page of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodePage {
    /// The node.
    pub node: Node,
    /// Display names of the node's targets, by digest.
    pub targets: BTreeMap<String, String>,
    /// Calibrations of the node, latest first.
    pub calibrations: Vec<Calibration>,
    /// The latest builds of the node.
    pub latest: Vec<BuildLine>,
}

/// Builds in order of arrival, latest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waterfall {
    /// The builds.
    pub builds: Vec<BuildLine>,
    /// Cursor for earlier builds.
    pub next: Option<String>,
}

/// Benchmark results of a version on a target, from which verdicts over targets are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Benched"))]
pub struct TargetBenchmarks {
    /// The build.
    pub build: i64,
    /// The version.
    pub version: String,
    /// The base.
    pub base: String,
    /// Digest of the target.
    pub target: String,
    /// The node that measured it.
    pub node: String,
    /// The result of each benchmark.
    pub comparisons: Vec<crate::builds::wire::BenchmarkComparison>,
}
