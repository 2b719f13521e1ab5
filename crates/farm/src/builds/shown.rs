//! Contents of the pages and screens of a farm. The store fills in these types, and the HTML pages,
//! the terminal and the JSON pages are rendered from them.

use crate::builds::model::{Fault, Kind, Progress, State};
use crate::builds::wire::{Build, Calibration, Job, Node, Project, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of items in each state. States without items are omitted.
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
    /// The kind of the job.
    pub kind: Kind,
    /// State of the build.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::builds::model::state_schema"))]
    pub state: State,
    /// The fault, if the state is `infrastructure`.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The reason for the state, in one line.
    pub reason: String,
    /// Time at which the build was added.
    pub added: String,
    /// Duration of the build, in seconds.
    pub seconds: f64,
    /// Number of tests that ran.
    pub tests: u64,
    /// Number of tests that failed.
    pub failed: u64,
    /// True if the build did not end a job, because it arrived too late or because the job was
    /// queued again.
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
    /// Time of publication. If that is unknown, the time at which the version was added.
    pub time: String,
    /// True if the version no longer exists at its origin.
    pub is_gone: bool,
    /// Number of targets in each state. The state of a target is that of the version's last build
    /// on it.
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
    /// Number of the project's builds in each state.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// The newest version with results.
    #[serde(default)]
    pub newest: Option<VersionLine>,
    /// The last build of the project.
    #[serde(default)]
    pub last: Option<BuildLine>,
}

/// Number of unfinished jobs. Each count stops at [`Queue::MOST`], which then means "this many or
/// more".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// Number of jobs waiting for a node.
    pub queued: u64,
    /// Number of jobs leased to a node.
    pub leased: u64,
}

impl Queue {
    /// Number at which counting stops.
    pub const MOST: u64 = 1_000;
}

/// Contents of the home page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Home {
    /// Number of builds in each state.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// Number of queued and leased jobs.
    pub queue: Queue,
    /// The projects, sorted by their last build, latest first.
    pub projects: Vec<ProjectLine>,
    /// Cursor for the next page of projects; `None` on the last page.
    pub next: Option<String>,
    /// The latest builds of all projects.
    pub latest: Vec<BuildLine>,
}

/// Contents of a project's page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectPage {
    /// The project.
    pub project: Project,
    /// Number of the project's builds in each state.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// The versions, newest first.
    pub versions: Vec<VersionLine>,
    /// Cursor for older versions; `None` on the last page.
    pub next: Option<String>,
    /// The latest builds of the project.
    pub latest: Vec<BuildLine>,
    /// Unfinished jobs of the project, latest first.
    pub jobs: Vec<Job>,
}

/// A lease of a job, as shown in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseLine {
    /// ID of the lease in the store, which identifies its log.
    pub id: i64,
    /// The node that leased the job.
    pub node: String,
    /// Start time of the lease.
    pub began: String,
    /// End time of the lease; `None` while it is active.
    pub ended: Option<String>,
    /// The way in which the lease ended: `handed_in`, `expired` or `cancelled`. `None` while it is
    /// active.
    pub how: Option<String>,
}

/// Contents of a build's page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildPage {
    /// The build.
    pub build: Build,
    /// A summary of the build, with the target's name.
    pub line: BuildLine,
    /// The facts of the target.
    pub facts: crate::builds::model::Facts,
    /// The version that was built.
    pub version: Version,
    /// The base version of a `bench`.
    #[serde(default)]
    pub base: Option<String>,
    /// Leases of the job, oldest first.
    pub leases: Vec<LeaseLine>,
    /// Other builds of the same version on the same target, latest first.
    pub others: Vec<BuildLine>,
}

/// Contents of an unfinished job's page.
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

/// Contents of a node's page.
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

/// A page of builds in order of arrival, latest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waterfall {
    /// The builds.
    pub builds: Vec<BuildLine>,
    /// Cursor for earlier builds; `None` on the last page.
    pub next: Option<String>,
}

/// Benchmark results of one build of a version, from which verdicts across targets are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Benched"))]
pub struct TargetBenchmarks {
    /// Number of the build.
    pub build: i64,
    /// Name of the version that was measured.
    pub version: String,
    /// Name of the base version, with which the version was compared.
    pub base: String,
    /// Digest of the target.
    pub target: String,
    /// The node that measured the version.
    pub node: String,
    /// The result of each benchmark.
    pub comparisons: Vec<crate::builds::wire::BenchmarkComparison>,
}
