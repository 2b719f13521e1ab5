//! What is asked of a farm: whether a version still passes on every target, whether it still runs
//! as fast, and what the targets have in common on which it doesn't.
//!
//! A version is judged by what came of it on each target. Only builds that passed or failed say
//! something of the version; one that the machine spoilt is neither. Of speed a target knows the
//! ratio to the base with its interval, both sides measured there in one lease; all benchmarks on
//! all targets share the error that is allowed (Holm), since one alarm among them is an alarm of
//! the version. Over the targets each benchmark is pooled ([`assay_stats::meta_analysis`]), with
//! what targets differ by.
//!
//! Where it fails is told by facts ([`Place`]): the simplest condition that all affected targets
//! meet and no other one. It need not be the cause: what else tells them apart is named, too. Since
//! when ([`Since`]) is read from the versions before. Where builds are kept, and how they are
//! shown, is not known here.

mod builds;
mod findings;
mod place;
mod since;
mod speed;
pub mod words;

pub use builds::{Builds, Failing};
pub use place::{Condition, Place, Rule};
pub use since::Since;
pub use speed::{BenchmarkOnTargets, Moved, OnTarget, PooledEffect};

use crate::verdict::Verdict;
use crate::{Interval, policy};
pub use assay_data::farm::{Facts, State};
use assay_data::{Better, Finding};

/// A platform that versions are tried on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What people call it.
    pub name: String,
    /// What it is.
    pub facts: Facts,
}

/// What all builds of a version on a target came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The version's place in [`Project::versions`].
    pub version: usize,
    /// The target's place in [`Project::targets`].
    pub target: usize,
    /// The state of the last build.
    pub last: State,
    /// How many builds passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
}

/// A benchmark of a version on a target, against the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The version's place in [`Project::versions`].
    pub version: usize,
    /// The base's place there; `None`: it is older than all of them.
    pub base: Option<usize>,
    /// The target's place in [`Project::targets`].
    pub target: usize,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Which of its values are better.
    pub better: Better,
    /// What the run itself came to: where it knows of no direction, none is found here.
    pub verdict: Verdict,
    /// The version's value over the base's.
    pub ratio: f64,
    /// Its interval at 95 %.
    pub interval: Interval,
    /// Observations a side.
    pub n: u64,
}

/// What is known of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    /// The targets.
    pub targets: Vec<Target>,
    /// The versions' names, the oldest first.
    pub versions: Vec<String>,
    /// What builds came to: at most one cell of a version and a target.
    pub cells: Vec<Cell>,
    /// What was measured: at most one of a version, a target, a benchmark and a metric.
    pub measured: Vec<Measured>,
}

/// What is taken for a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Confidence of a version's verdict.
    pub confidence: f64,
    /// The smallest share by which a difference matters.
    pub threshold: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { confidence: policy::FARM_CONFIDENCE, threshold: policy::FARM_THRESHOLD }
    }
}

/// The same on several targets, since the same version.
#[derive(Clone, Debug, PartialEq)]
pub struct Affected {
    /// Which, by their places in [`Project::targets`], ascending.
    pub targets: Vec<usize>,
    /// How many targets say anything about it.
    pub of: usize,
    /// What they have in common.
    pub place: Place,
    /// Since when.
    pub since: Since,
}

/// A version over all targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Its place in [`Project::versions`].
    pub version: usize,
    /// What its builds came to.
    pub builds: Builds,
    /// What its benchmarks came to, those that got worse first.
    pub benchmarks: Vec<BenchmarkOnTargets>,
    /// What there is to say.
    pub findings: Vec<Finding>,
}

impl Judged {
    /// Whether it fails or is slower anywhere.
    pub fn is_alarm(&self) -> bool {
        !self.builds.failing.is_empty() || self.benchmarks.iter().any(|b| !b.worse.is_empty())
    }

    /// Targets on which a benchmark's difference is not known yet, so that more runs would tell;
    /// ascending.
    pub fn undecided(&self) -> Vec<usize> {
        let on = self.benchmarks.iter().flat_map(|benchmark| &benchmark.on);
        let undecided = on.filter(|on| on.decision.verdict == Verdict::Inconclusive);
        let mut targets: Vec<usize> = undecided.map(|on| on.target).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

/// Judges the versions with these places, as given. O(cells + measured, some times their logarithm;
/// targets that fail times all their facts).
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

/// The newest version of which anything is known.
pub fn newest(project: &Project) -> Option<usize> {
    let built = project.cells.iter().map(|cell| cell.version);
    built.chain(project.measured.iter().map(|measured| measured.version)).max()
}

#[cfg(test)]
mod tests;
