//! What is said over the wire, in both directions; JSON by `serde`. Times are text in RFC 3339 (UTC). Unknown members are ignored, so that an
//! older server and a newer agent understand each other.

use crate::model::{Facts, Fault, Kind, Progress, Scope, State, VersionKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An error, as every path answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// What went wrong.
    pub error: Told,
}

/// What went wrong, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// One of the codes of docs/design/010-farm.md.
    pub code: String,
    /// What, where, and what to do.
    pub message: String,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// What to ask the next page with (`after=`), if there is one.
    pub next: Option<String>,
}

/// Who has projects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// Its number in the store.
    pub id: i64,
    /// Its name: letters, digits, `-`, `_` and `.`.
    pub name: String,
}

/// Where a project's versions come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewTarget {
    /// What people call it.
    pub name: String,
    /// What it is.
    pub facts: Facts,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Its number in the store.
    pub id: i64,
    /// [`crate::model::digest`] of its facts.
    pub digest: String,
    /// What was said of it.
    #[serde(flatten)]
    pub of: NewTarget,
}

/// A job that is to be queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Logged {
    /// Bytes that are kept: the next ones are to be sent from here.
    pub bytes: u64,
    /// Bytes beyond the limit, which are not kept.
    pub cut: u64,
}

/// A sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// That of the lease.
    pub nonce: String,
}

/// The answer to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beaten {
    /// When the lease ends now.
    pub until: String,
    /// Whether the job was taken back: it is to be ended.
    pub is_cancelled: bool,
}

/// What shows that tests ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The state.
    #[schemars(schema_with = "crate::model::state_schema")]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// `faster`, `slower`, `same`, `inconclusive`, in the words of the result's JSON.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// That of the lease.
    pub nonce: String,
    /// Made by the agent when it began: what is handed in twice is one build.
    pub key: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a version on a target, of an agent that found the version by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// What an A/A run of a node came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// In plain words.
    pub reason: String,
}

/// A token that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeToken {
    /// What can be told again.
    #[serde(flatten)]
    pub token: Token,
    /// The secret.
    pub secret: String,
}

/// One line of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// The latest first.
    pub versions: Vec<Version>,
    /// Those that have a build.
    pub targets: Vec<Target>,
    /// The last build of each, by the version's name and the target's digest.
    pub cells: BTreeMap<String, BTreeMap<String, Cell>>,
}

/// The last build of a version on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The build.
    pub build: i64,
    /// Its state.
    #[schemars(schema_with = "crate::model::state_schema")]
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
