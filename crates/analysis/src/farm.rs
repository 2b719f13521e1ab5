//! Results of a farm: whether a version passes on every target, whether it is as fast as before,
//! and which facts the affected targets share.
//!
//! A version is judged by its results on each target. Only builds that passed or failed count, not
//! those spoiled by the machine. For speed, each target contributes the ratio to the base with its
//! interval. Both sides are measured on that target in one lease. All benchmarks on all targets
//! share the allowed error (Holm), since any alarm among them is an alarm for the version. Each
//! benchmark is pooled over the targets ([`assay_stats::meta_analysis`]), including the variation
//! between targets.
//!
//! Failures are located by facts ([`AffectedTargets`]): the simplest condition that all affected
//! targets meet and no others. It need not be the cause, so other facts that separate the same
//! targets are also named. The version that introduced a failure ([`Since`]) is determined from the
//! earlier versions. This module is independent of how builds are stored or shown.

mod affected;
mod builds;
mod findings;
mod since;
mod speed;
pub mod words;

pub use affected::{AffectedTargets, Condition, Rule};
pub use builds::{Builds, Failing};
pub use since::Since;
pub use speed::{BenchmarkOnTargets, Moved, OnTarget, PooledEffect};

use crate::verdict::Verdict;
use crate::{Interval, policy};
pub use assay_data::farm::{Facts, State};
use assay_data::{Better, Finding};

/// A platform on which versions are tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Display name of the target.
    pub name: String,
    /// Facts about the target.
    pub facts: Facts,
}

/// The results of all builds of a version on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetBuilds {
    /// Index of the version in [`Project::versions`].
    pub version: usize,
    /// Index of the target in [`Project::targets`].
    pub target: usize,
    /// The state of the last build.
    pub last: State,
    /// Number of builds that passed.
    pub passed: u64,
    /// Number of builds that failed.
    pub failed: u64,
}

/// A benchmark of a version on a target, compared with the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Index of the version in [`Project::versions`].
    pub version: usize,
    /// Index of the base in [`Project::versions`]; `None` if the base is older than all of them.
    pub base: Option<usize>,
    /// Index of the target in [`Project::targets`].
    pub target: usize,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// The direction in which the metric improves.
    pub better: Better,
    /// The verdict of the run itself. If it is inconclusive although the interval excludes 1, the
    /// run withheld its result, and the target has no result either.
    pub verdict: Verdict,
    /// The version's value divided by the base's.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: Interval,
    /// Number of observations per side.
    pub n: u64,
}

/// The results of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// The targets on which the project is tested.
    pub targets: Vec<Target>,
    /// Names of the versions, oldest first.
    pub versions: Vec<String>,
    /// Results of builds: at most one cell per version and target.
    pub cells: Vec<TargetBuilds>,
    /// Measurements: at most one per version, target, benchmark and metric.
    pub measured: Vec<Measured>,
}

/// Criteria for a difference in speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Confidence of the verdict on a version.
    pub confidence: f64,
    /// The smallest relative difference that matters.
    pub threshold: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: policy::FARM_CONFIDENCE, threshold: policy::FARM_THRESHOLD }
    }
}

/// A result that several targets share, in the same range of versions.
#[derive(Clone, Debug, PartialEq)]
pub struct Affected {
    /// The targets, as ascending indices into [`Project::targets`].
    pub targets: Vec<usize>,
    /// Number of targets with a result, affected or not.
    pub of: usize,
    /// The common facts of the affected targets.
    pub place: AffectedTargets,
    /// The range of versions in which the targets became affected.
    pub since: Since,
}

/// The results of a version over all targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Index of the version in [`Project::versions`].
    pub version: usize,
    /// Results of the version's builds.
    pub builds: Builds,
    /// Results of the version's benchmarks, those that got worse first.
    pub benchmarks: Vec<BenchmarkOnTargets>,
    /// Findings about the version.
    pub findings: Vec<Finding>,
}

impl Judged {
    /// Returns true if the version fails or is slower on any target.
    pub fn is_alarm(&self) -> bool {
        !self.builds.failing.is_empty() || self.benchmarks.iter().any(|b| !b.worse.is_empty())
    }

    /// Returns the targets, in ascending order, on which some benchmark is inconclusive, so that
    /// more runs would help.
    pub fn undecided(&self) -> Vec<usize> {
        let on = self.benchmarks.iter().flat_map(|benchmark| &benchmark.on);
        let undecided = on.filter(|on| on.decision.verdict == Verdict::Inconclusive);
        let mut targets: Vec<usize> = undecided.map(|on| on.target).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

/// Judges the versions with these indices. O(n log n) for n cells and measurements, plus failing
/// targets times all their facts.
pub fn judge(project: &Project, versions: &[usize], options: &Options) -> Vec<Judged> {
    let history = builds::History::of(project);
    let speeds = speed::decide(project, options);
    let judged = |&version: &usize| {
        let builds = builds::judge(project, &history, version);
        let benchmarks = speed::judge(project, &speeds, version, options);
        let findings = findings::of(project, version, &builds, &benchmarks);
        Judged { version, builds, benchmarks, findings }
    };
    versions.iter().map(judged).collect()
}

/// Returns the newest version with any results.
pub fn newest(project: &Project) -> Option<usize> {
    let built = project.cells.iter().map(|cell| cell.version);
    built.chain(project.measured.iter().map(|measured| measured.version)).max()
}

#[cfg(test)]
mod tests;
