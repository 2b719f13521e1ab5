//! Messages about jobs: requesting, leasing, extending and ending them; and about the resulting
//! builds.

use super::{NewTarget, Project, Version};
use crate::model::{Facts, Fault, Kind, Progress, State};
use serde::{Deserialize, Serialize};

/// A job that is to be queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewJob {
    /// Of whose project.
    pub owner: String,
    /// Which.
    pub project: String,
    /// Which version.
    pub version: String,
    /// What is to be found out.
    pub kind: Kind,
    /// The version that a `bench` compares it with.
    #[serde(default)]
    pub base: Option<String>,
    /// On which target, by its digest; `None`: on one that meets `needs`.
    #[serde(default)]
    pub target: Option<String>,
    /// What a target must be.
    #[serde(default)]
    pub needs: Facts,
    /// The larger, the earlier.
    #[serde(default)]
    pub priority: i64,
    /// Which of several benchmarks of the same two versions on one target it is: more are queued by themselves where one could not decide.
    #[serde(default)]
    pub round: u32,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// Its number in the store.
    pub id: i64,
    /// What was asked for.
    #[serde(flatten)]
    pub of: NewJob,
    /// How far it is.
    pub progress: Progress,
    /// How often it was leased.
    pub attempts: u32,
    /// Who has it, or had it last.
    #[serde(default)]
    pub node: Option<String>,
    /// The build that ended it.
    #[serde(default)]
    pub build: Option<i64>,
}

/// What an agent says when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// What runs: `assay-farm 0.1.0`.
    pub tool: String,
    /// The targets that it can test on: one for each runtime that it has.
    pub targets: Vec<NewTarget>,
    /// What it can do.
    pub kinds: Vec<Kind>,
    /// A number drawn when the agent was started: two agents with one name are noticed.
    pub instance: String,
    /// Its clock.
    pub time: String,
}

/// What an agent is told when it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Welcome {
    /// Seconds of a lease.
    pub lease: u64,
    /// Seconds between heartbeats.
    pub heartbeat: u64,
    /// Seconds between questions for a lease, where there was none.
    pub ask: u64,
    /// Seconds that its clock is ahead of the server's; what it sends is not changed by it, only shown.
    pub clock_ahead: f64,
    /// Bytes of a log that are kept.
    pub log_limit: u64,
    /// Why it gets no leases, if it was drained.
    #[serde(default)]
    pub drained: Option<String>,
}

/// A question for a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asking {
    /// As in [`Hello`].
    pub instance: String,
    /// Targets, by their digests.
    pub targets: Vec<String>,
    /// What it can do.
    pub kinds: Vec<Kind>,
    /// A job that was placed here by an executor; no other is given.
    #[serde(default)]
    pub job: Option<i64>,
}

/// A job with all that is needed to do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leased {
    /// The job.
    pub job: Job,
    /// Its project.
    pub project: Project,
    /// Its version.
    pub version: Version,
    /// The base of a `bench`.
    #[serde(default)]
    pub base: Option<Version>,
    /// The digest of the target that it is done on.
    pub target: String,
    /// What only the holder knows.
    pub nonce: String,
    /// When the lease ends.
    pub until: String,
}

/// What there is of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Logged {
    /// Bytes that are kept: the next ones are to be sent from here.
    pub bytes: u64,
    /// Bytes beyond the limit, which are not kept.
    pub cut: u64,
}

/// A sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beat {
    /// That of the lease.
    pub nonce: String,
}

/// The answer to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beaten {
    /// When the lease ends now.
    pub until: String,
    /// Whether the job was taken back: it is to be ended.
    pub is_cancelled: bool,
}

/// What shows that tests ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// Which framework said so, and in which version.
    pub framework: Option<String>,
    /// Tests that ran.
    pub tests: u64,
    /// Of these failed.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
    /// Assertions, where the framework counts them.
    pub assertions: Option<u64>,
    /// The names of some that failed.
    pub failures: Vec<String>,
}

/// What came of a job, or of a version without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The state.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::model::state_schema"))]
    pub state: State,
    /// With [`State::Infrastructure`], what.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// One line: why this state.
    #[serde(default)]
    pub reason: String,
    /// When it was begun.
    pub began: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// What shows that tests ran.
    #[serde(default)]
    pub evidence: Evidence,
    /// A command that does the same again.
    #[serde(default)]
    pub repeat: String,
    /// Bytes of the log beyond the limit, which were not sent.
    #[serde(default)]
    pub log_cut: u64,
    /// Of a `bench`: what it came to.
    #[serde(default)]
    pub comparisons: Vec<Compared>,
}

/// What a benchmark of a version came to, against the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// `faster`, `slower`, `equivalent`, `inconclusive`: the words of the result's JSON.
    pub verdict: String,
    /// The version's value over the base's.
    pub ratio: f64,
    /// Bounds of its 95 % interval.
    pub lower: f64,
    /// The upper one.
    pub upper: f64,
    /// Observations a side.
    pub n: u64,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending {
    /// That of the lease.
    pub nonce: String,
    /// Made by the agent when it began: what is handed in twice is one build.
    pub key: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a version on a target, of an agent that found the version by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewBuild {
    /// Of whose project.
    pub owner: String,
    /// Which.
    pub project: String,
    /// Which version.
    pub version: String,
    /// The target's digest.
    pub target: String,
    /// Who did it.
    pub node: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Its number in the store.
    pub id: i64,
    /// What it was handed in with.
    pub key: String,
    /// The job that it ended.
    #[serde(default)]
    pub job: Option<i64>,
    /// When it was added.
    pub added: String,
    /// Bytes of its log.
    pub log_bytes: u64,
    /// Whether there are samples of it.
    pub has_samples: bool,
    /// Whether it ended no job: it came too late, or the job was queued again.
    #[serde(default)]
    pub is_evidence: bool,
    /// What was handed in.
    #[serde(flatten)]
    pub of: NewBuild,
}
