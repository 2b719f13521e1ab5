//! The targets on which a version fails. If one build of a version passed and another failed on the
//! same target, a test is flaky and the target does not count as failing. Results that say nothing
//! about the version (faults of the machine, no evidence of a test) are counted separately, as are
//! builds that could not be installed or did not finish.

use super::affected::{self, AffectedTargets};
use super::since::{self, Since};
use super::{Affected, Project, State, TargetBuilds};
use std::collections::BTreeMap;

/// Results of the builds of a version, as ascending lists of target indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Builds {
    /// Targets on which the version passed and never failed.
    pub passed: Vec<usize>,
    /// Targets on which the version failed and never passed.
    pub failed: Vec<usize>,
    /// Targets on which the version both passed and failed.
    pub flaky: Vec<usize>,
    /// Targets on which no build passed or failed, by the state of the last build.
    pub others: BTreeMap<State, Vec<usize>>,
    /// Targets without a build, or on which the version was only measured.
    pub without: Vec<usize>,
    /// Failures, grouped by the version that introduced them.
    pub failing: Vec<Failing>,
}

impl Builds {
    /// Number of targets on which the tests ran.
    pub fn tested(&self) -> usize {
        self.passed.len() + self.failed.len() + self.flaky.len()
    }
}

/// Failures that may have a common cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Failing {
    /// The affected targets, and the versions in which they became affected.
    pub on: Affected,
    /// Number of failed builds on these targets since the first affected version.
    pub seen: u64,
}

/// The results of builds, by target and version.
pub(super) struct History<'a> {
    cells: BTreeMap<(usize, usize), &'a TargetBuilds>,
}

impl<'a> History<'a> {
    pub(super) fn of(project: &'a Project) -> Self {
        let at = |cell: &'a TargetBuilds| ((cell.target, cell.version), cell);
        Self { cells: project.cells.iter().map(at).collect() }
    }

    fn cell(&self, target: usize, version: usize) -> Option<&'a TargetBuilds> {
        self.cells.get(&(target, version)).copied()
    }

    /// Returns true if a version failed on a target; `None` if this is unknown or it both passed
    /// and failed.
    fn failed(&self, target: usize, version: usize) -> Option<bool> {
        match self.cell(target, version) {
            Some(TargetBuilds { passed: 0, failed: 1.., .. }) => Some(true),
            Some(TargetBuilds { passed: 1.., failed: 0, .. }) => Some(false),
            _ => None,
        }
    }
}

pub(super) fn judge(project: &Project, history: &History<'_>, version: usize) -> Builds {
    let mut builds = Builds::default();
    for target in 0..project.targets.len() {
        match history.cell(target, version) {
            None => builds.without.push(target),
            // The version was only measured on this target; its tests did not run.
            Some(TargetBuilds {
                passed: 0,
                failed: 0,
                last: State::Passed | State::Failed,
                ..
            }) => {
                builds.without.push(target);
            }
            Some(TargetBuilds { passed: 0, failed: 0, last, .. }) => {
                builds.others.entry(*last).or_default().push(target);
            }
            Some(TargetBuilds { passed: 0, .. }) => builds.failed.push(target),
            Some(TargetBuilds { failed: 0, .. }) => builds.passed.push(target),
            Some(_) => builds.flaky.push(target),
        }
    }
    builds.failing = failing(project, history, version, &builds);
    builds
}

fn failing(
    project: &Project,
    history: &History<'_>,
    version: usize,
    builds: &Builds,
) -> Vec<Failing> {
    let since = |&target: &usize| {
        (target, Since::back_from(version, None, |earlier| history.failed(target, earlier)))
    };
    let groups = since::grouped(builds.failed.iter().map(since).collect());
    let of_group = |(targets, since): (Vec<usize>, Since)| {
        let failed = targets.iter().flat_map(|&target| {
            (since.first..=version).filter_map(move |at| history.cell(target, at))
        });
        let seen = failed.map(|cell| cell.failed).sum();
        let place = if builds.failed.len() == builds.tested() && targets.len() == builds.tested() {
            AffectedTargets::Everywhere
        } else {
            affected::of(&project.targets, &targets, &builds.passed)
        };
        Failing { on: Affected { targets, of: builds.tested(), place, since }, seen }
    };
    groups.into_iter().map(of_group).collect()
}
