//! Contents of the pages and screens of a farm: the store reads them, and renderers get them whole.
//! The JSON of pages consists of these types as well.

use crate::model::{Fault, Kind, Progress, State};
use crate::wire::{Build, Calibration, Job, Node, Project, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many there are of each state; those that there are none of are left out.
pub type States = BTreeMap<State, u64>;

/// One build among many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildLine {
    /// Its number in the store.
    pub id: i64,
    /// Of whose project.
    pub owner: String,
    /// Which.
    pub project: String,
    /// Which version.
    pub version: String,
    /// The target's digest.
    pub target: String,
    /// What people call the target.
    pub target_name: String,
    /// Who did it.
    pub node: String,
    /// What was to be found out.
    pub kind: Kind,
    /// The state.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::model::state_schema"))]
    pub state: State,
    /// With [`State::Infrastructure`], what.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// One line: why this state.
    pub reason: String,
    /// When it was added.
    pub added: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Tests that ran.
    pub tests: u64,
    /// Of these failed.
    pub failed: u64,
    /// Whether it ended no job: it came too late, or the job was queued again.
    #[serde(default)]
    pub is_evidence: bool,
}

/// One version among many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionLine {
    /// Its number in the store.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// When it was published, or else added.
    pub time: String,
    /// Whether it is gone where it came from.
    pub is_gone: bool,
    /// Targets by the state of the last build on them.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub states: States,
}

/// One project among many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectLine {
    /// Its number in the store.
    pub id: i64,
    /// Whose it is.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Builds of it in all.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// The newest version that was tested.
    #[serde(default)]
    pub newest: Option<VersionLine>,
    /// The last build.
    #[serde(default)]
    pub last: Option<BuildLine>,
}

/// How much there is to do. Counting ends at [`Queue::MOST`], which stands for "or more".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// Jobs that nobody has.
    pub queued: u64,
    /// Jobs that a node has.
    pub leased: u64,
}

impl Queue {
    /// Where counting ends.
    pub const MOST: u64 = 1_000;
}

/// The first page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Home {
    /// Builds in all.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// What there is to do.
    pub queue: Queue,
    /// Projects, that with the last build first.
    pub projects: Vec<ProjectLine>,
    /// What to ask for more projects with.
    pub next: Option<String>,
    /// The last builds of all projects.
    pub latest: Vec<BuildLine>,
}

/// The page of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectPage {
    /// The project.
    pub project: Project,
    /// Builds of it in all.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u64>"))]
    pub builds: States,
    /// Its versions, the newest first.
    pub versions: Vec<VersionLine>,
    /// What to ask for older versions with.
    pub next: Option<String>,
    /// Its last builds.
    pub latest: Vec<BuildLine>,
    /// Jobs of its newest versions that have not ended.
    pub jobs: Vec<Job>,
}

/// One time that a job was given to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseLine {
    /// Its number in the store, by which its log is found.
    pub id: i64,
    /// To whom.
    pub node: String,
    /// When.
    pub began: String,
    /// When it ended; `None`: it runs.
    pub ended: Option<String>,
    /// How: `handed_in`, `expired`, `cancelled`.
    pub how: Option<String>,
}

/// The page of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildPage {
    /// The build.
    pub build: Build,
    /// The same in short, with the target's name.
    pub line: BuildLine,
    /// What the target is.
    pub facts: crate::model::Facts,
    /// The version.
    pub version: Version,
    /// The version that a `bench` compared it with.
    #[serde(default)]
    pub base: Option<String>,
    /// How often its job was tried, the first time first.
    pub leases: Vec<LeaseLine>,
    /// Other builds of this version on this target, the last first.
    pub others: Vec<BuildLine>,
}

/// The page of a job that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPage {
    /// The job.
    pub job: Job,
    /// How far it is.
    pub progress: Progress,
    /// How often it was tried, the first time first.
    pub leases: Vec<LeaseLine>,
}

/// The page of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodePage {
    /// The node.
    pub node: Node,
    /// What people call its targets, by digest.
    pub targets: BTreeMap<String, String>,
    /// Its calibrations, the last first.
    pub calibrations: Vec<Calibration>,
    /// Its last builds.
    pub latest: Vec<BuildLine>,
}

/// Builds as they came, the last first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waterfall {
    /// The builds.
    pub builds: Vec<BuildLine>,
    /// What to ask for earlier ones with.
    pub next: Option<String>,
}

/// All that benchmarks of a version came to on a target: what a verdict over targets is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Benched {
    /// The build.
    pub build: i64,
    /// The version.
    pub version: String,
    /// The base.
    pub base: String,
    /// The target's digest.
    pub target: String,
    /// Who measured it.
    pub node: String,
    /// What each benchmark came to.
    pub comparisons: Vec<crate::wire::Compared>,
}
