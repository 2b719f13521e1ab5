//! Messages about jobs: requesting, leasing, extending and ending them; and about the resulting
//! builds.

use super::{NewTarget, Project, Version};
use crate::builds::model::{Facts, Fault, Kind, Progress, State};
use serde::{Deserialize, Serialize};

/// A job to queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewJob {
    /// Owner of the project.
    pub owner: String,
    /// Name of the project.
    pub project: String,
    /// Name of the version.
    pub version: String,
    /// The kind of job.
    pub kind: Kind,
    /// The base version of a `bench`.
    #[serde(default)]
    pub base: Option<String>,
    /// Digest of the target; `None` for any target that meets `needs`.
    #[serde(default)]
    pub target: Option<String>,
    /// Facts that a target must have.
    #[serde(default)]
    pub needs: Facts,
    /// Priority; jobs with larger numbers are leased first.
    #[serde(default)]
    pub priority: i64,
    /// Number of the round, for several benchmarks of the same two versions on one target. More
    /// rounds are queued automatically if one was inconclusive.
    #[serde(default)]
    pub round: u32,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// ID of the job in the store.
    pub id: i64,
    /// Data of the job, as queued.
    #[serde(flatten)]
    pub of: NewJob,
    /// Progress of the job.
    pub progress: Progress,
    /// Number of leases so far.
    pub attempts: u32,
    /// The node that has leased the job, or that leased it last.
    #[serde(default)]
    pub node: Option<String>,
    /// The build that ended it.
    #[serde(default)]
    pub build: Option<i64>,
}

/// The first message of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// Name and version of the agent's program, such as `assay-farm 0.1.0`.
    pub tool: String,
    /// The targets on which it can test: one for each runtime.
    pub targets: Vec<NewTarget>,
    /// The kinds of jobs that it can do.
    pub kinds: Vec<Kind>,
    /// A number drawn when the agent was started, to detect two agents with the same name.
    pub instance: String,
    /// Time on the agent's clock.
    pub time: String,
}

/// The server's answer to an agent's first message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Welcome {
    /// Duration of a lease, s.
    pub lease: u64,
    /// Time between heartbeats, s.
    pub heartbeat: u64,
    /// Time between lease requests if there is no job, s.
    pub ask: u64,
    /// Number of seconds by which the node's clock is ahead of the server's. This is only
    /// displayed; the node's times are not corrected.
    pub clock_ahead: f64,
    /// Maximum number of bytes of a log that are kept.
    pub log_limit: u64,
    /// The reason for draining the node, if it is drained.
    #[serde(default)]
    pub drained: Option<String>,
}

/// A lease request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Asking"))]
pub struct LeaseRequest {
    /// As in [`Hello`].
    pub instance: String,
    /// Digests of the agent's targets.
    pub targets: Vec<String>,
    /// The kinds of jobs that it can do.
    pub kinds: Vec<Kind>,
    /// A job placed here by an executor; no other job is leased.
    #[serde(default)]
    pub job: Option<i64>,
}

/// A leased job with everything needed to do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Leased"))]
pub struct LeasedJob {
    /// The job.
    pub job: Job,
    /// The job's project.
    pub project: Project,
    /// The job's version.
    pub version: Version,
    /// The base version of a `bench`.
    #[serde(default)]
    pub base: Option<Version>,
    /// Digest of the target.
    pub target: String,
    /// A secret that only the holder of the lease knows.
    pub nonce: String,
    /// End of the lease.
    pub until: String,
}

/// The stored part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Logged"))]
pub struct LogExtent {
    /// Number of stored bytes; the next part starts here.
    pub bytes: u64,
    /// Number of bytes beyond the limit, which are not stored.
    pub cut: u64,
}

/// A heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Beat"))]
pub struct Heartbeat {
    /// The nonce of the lease.
    pub nonce: String,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Beaten"))]
pub struct HeartbeatAnswer {
    /// New end of the lease.
    pub until: String,
    /// True if the job was cancelled and must be stopped.
    pub is_cancelled: bool,
}

/// Evidence that tests ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// Name and version of the framework that reported it.
    pub framework: Option<String>,
    /// Number of tests that ran.
    pub tests: u64,
    /// Number of tests that failed.
    pub failed: u64,
    /// Number of skipped tests.
    pub skipped: u64,
    /// Number of assertions, if the framework counts them.
    pub assertions: Option<u64>,
    /// Names of some failed tests.
    pub failures: Vec<String>,
}

/// Result of a job, or of a version without a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The state.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::builds::model::state_schema"))]
    pub state: State,
    /// The fault, if the state is `infrastructure`.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The reason for the state, in one line.
    #[serde(default)]
    pub reason: String,
    /// Start of the job.
    pub began: String,
    /// Duration, s.
    pub seconds: f64,
    /// Evidence that tests ran.
    #[serde(default)]
    pub evidence: Evidence,
    /// A command that repeats the job.
    #[serde(default)]
    pub repeat: String,
    /// Number of bytes of the log beyond the limit, which were not sent.
    #[serde(default)]
    pub log_cut: u64,
    /// Comparisons of a `bench`.
    #[serde(default)]
    pub comparisons: Vec<BenchmarkComparison>,
}

/// Comparison of a version's benchmark with the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Compared"))]
pub struct BenchmarkComparison {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// `faster`, `slower`, `equivalent` or `inconclusive`, as in the result's JSON.
    pub verdict: String,
    /// The version's value / the base's value.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval.
    pub lower: f64,
    /// Upper end of the ratio's 95 % interval.
    pub upper: f64,
    /// Number of observations per side.
    pub n: u64,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending {
    /// The nonce of the lease.
    pub nonce: String,
    /// A key created by the agent at the start of the job, so that a result submitted twice is
    /// stored as one build.
    pub key: String,
    /// The result.
    pub outcome: Outcome,
}

/// Result of a version on a target, from an agent that found the version by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewBuild {
    /// Owner of the project.
    pub owner: String,
    /// Name of the project.
    pub project: String,
    /// Name of the version.
    pub version: String,
    /// Digest of the target.
    pub target: String,
    /// The node that ran the build.
    pub node: String,
    /// The result.
    pub outcome: Outcome,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// ID of the build in the store.
    pub id: i64,
    /// The key with which it was submitted.
    pub key: String,
    /// The job that it ended.
    #[serde(default)]
    pub job: Option<i64>,
    /// Time at which it was added.
    pub added: String,
    /// Size of the log in bytes.
    pub log_bytes: u64,
    /// True if samples are stored for it.
    pub has_samples: bool,
    /// True if it ended no job, because it came too late or because the job was queued again.
    #[serde(default)]
    pub is_evidence: bool,
    /// The submitted data.
    #[serde(flatten)]
    pub of: NewBuild,
}
