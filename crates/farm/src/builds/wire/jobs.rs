//! Messages about jobs and the builds that result from them. They add, lease, extend and end jobs.

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
    /// Kind of the job.
    pub kind: Kind,
    /// Name of the version with which a `bench` compares.
    #[serde(default)]
    pub base: Option<String>,
    /// Digest of the target; `None` for any target that meets `needs`.
    #[serde(default)]
    pub target: Option<String>,
    /// Facts that the target must have. The value of a fact must start with the value given here.
    #[serde(default)]
    pub needs: Facts,
    /// Priority of the job. Jobs with larger numbers are leased first.
    #[serde(default)]
    pub priority: i64,
    /// Number of the round, starting at 0, if the same two versions are benchmarked several times
    /// on one target. Further rounds are queued automatically while the comparison is inconclusive.
    #[serde(default)]
    pub round: u32,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// ID of the job in the store.
    pub id: i64,
    /// Properties of the job, as they were given when it was queued.
    #[serde(flatten)]
    pub of: NewJob,
    /// Progress of the job.
    pub progress: Progress,
    /// Number of times that the job has been leased so far.
    pub attempts: u32,
    /// Name of the node that leased the job last; `None` if it was never leased.
    #[serde(default)]
    pub node: Option<String>,
    /// Number of the build that ended the job.
    #[serde(default)]
    pub build: Option<i64>,
}

/// Message with which an agent registers its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// Name and version of the agent's program, such as `assay-farm 0.1.0`.
    pub tool: String,
    /// Targets that the agent offers, one for each runtime.
    pub targets: Vec<NewTarget>,
    /// Kinds of jobs that the agent can run.
    pub kinds: Vec<Kind>,
    /// Random word chosen when the agent starts. It reveals two agents with the same name.
    pub instance: String,
    /// Time on the agent's clock.
    pub time: String,
}

/// The server's answer to an agent's first message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Welcome {
    /// Duration of a lease without heartbeats, in seconds.
    pub lease: u64,
    /// Time between heartbeats, in seconds.
    pub heartbeat: u64,
    /// Time to wait between lease requests while there are no jobs, in seconds.
    pub ask: u64,
    /// Difference between the node's clock and the server's, in seconds. Positive if the node's
    /// clock is ahead. It is only displayed: times reported by the node are not corrected.
    pub clock_ahead: f64,
    /// Maximum size of a job's log on the server, in bytes. The rest is discarded.
    pub log_limit: u64,
    /// The reason why the node is drained, that is, gets no new jobs. `None` if it is not drained.
    #[serde(default)]
    pub drained: Option<String>,
}

/// Request of an agent for a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Asking"))]
pub struct LeaseRequest {
    /// Random word of the agent, as in [`Hello`].
    pub instance: String,
    /// Digests of the targets that the agent offers.
    pub targets: Vec<String>,
    /// Kinds of jobs that the agent can run.
    pub kinds: Vec<Kind>,
    /// Number of the only job that may be leased, if an executor started the agent for this job.
    #[serde(default)]
    pub job: Option<i64>,
}

/// A leased job, with everything needed to run it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Leased"))]
pub struct LeasedJob {
    /// The leased job.
    pub job: Job,
    /// The job's project.
    pub project: Project,
    /// The job's version.
    pub version: Version,
    /// The version with which a `bench` compares.
    #[serde(default)]
    pub base: Option<Version>,
    /// Digest of the target.
    pub target: String,
    /// Secret of the lease. Later requests about the job must contain it.
    pub nonce: String,
    /// Time at which the lease ends unless it is extended.
    pub until: String,
}

/// State of a log on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Logged"))]
pub struct LogExtent {
    /// Number of stored bytes, which is the offset of the next part.
    pub bytes: u64,
    /// Number of discarded bytes beyond the size limit.
    pub cut: u64,
}

/// Message with which an agent extends its lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Beat"))]
pub struct Heartbeat {
    /// The nonce of the lease.
    pub nonce: String,
}

/// Answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Beaten"))]
pub struct HeartbeatAnswer {
    /// Time at which the extended lease ends.
    pub until: String,
    /// True if the job was cancelled and the agent must stop it.
    pub is_cancelled: bool,
}

/// Evidence that tests actually ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// Name and version of the test framework that reported the numbers.
    pub framework: Option<String>,
    /// Number of tests that ran.
    pub tests: u64,
    /// Number of tests that failed.
    pub failed: u64,
    /// Number of tests that were skipped.
    pub skipped: u64,
    /// Number of assertions, if the framework counts them.
    pub assertions: Option<u64>,
    /// Names of failed tests. The list may be incomplete.
    pub failures: Vec<String>,
}

/// Result of a job, or of a build without a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// State of the build.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::builds::model::state_schema"))]
    pub state: State,
    /// The fault, if the state is `infrastructure`.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The reason for the state, in one line.
    #[serde(default)]
    pub reason: String,
    /// Time at which the job was started.
    pub began: String,
    /// Duration of the job, in seconds.
    pub seconds: f64,
    /// Evidence that tests ran.
    #[serde(default)]
    pub evidence: Evidence,
    /// Command that repeats the job.
    #[serde(default)]
    pub repeat: String,
    /// Number of bytes of the log beyond the size limit, which the agent did not send.
    #[serde(default)]
    pub log_cut: u64,
    /// Comparisons of a `bench` with its base version.
    #[serde(default)]
    pub comparisons: Vec<BenchmarkComparison>,
}

/// Comparison of one benchmark between a version and its base version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Compared"))]
pub struct BenchmarkComparison {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// Verdict of the comparison: `faster`, `slower`, `equivalent` or `inconclusive`, as in the
    /// JSON of `assay bench`.
    pub verdict: String,
    /// Value of the version divided by that of the base version.
    pub ratio: f64,
    /// Lower limit of the 95 % confidence interval of the ratio.
    pub lower: f64,
    /// Upper limit of the 95 % confidence interval of the ratio.
    pub upper: f64,
    /// Number of observations (measured values) of each version.
    pub n: u64,
}

/// Message with which an agent ends a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ending {
    /// The nonce of the lease.
    pub nonce: String,
    /// Key that the agent chooses when the job starts, so that a result submitted twice is stored
    /// as one build.
    pub key: String,
    /// Result of the job.
    pub outcome: Outcome,
}

/// Result of a version on a target that did not come from a queued job.
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
    /// Result of the build.
    pub outcome: Outcome,
}

/// A build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// ID of the build in the store.
    pub id: i64,
    /// Key with which the build was submitted.
    pub key: String,
    /// Number of the job for which the build was submitted; `None` for a build without a job.
    #[serde(default)]
    pub job: Option<i64>,
    /// Time at which the build was added.
    pub added: String,
    /// Size of the log, in bytes.
    pub log_bytes: u64,
    /// True if the store has samples of the build.
    pub has_samples: bool,
    /// True if the build did not end a job, because it arrived too late or because the job was
    /// queued again.
    #[serde(default)]
    pub is_evidence: bool,
    /// The build as it was submitted.
    #[serde(flatten)]
    pub of: NewBuild,
}
