//! On which targets a version fails. A build that passed and one that failed of the same version on
//! the same target are a flaky test, and no failure of the target; what says nothing about the
//! version (the machine's faults, no evidence of a test) is counted apart, and so is what could not
//! be installed or run to its end.

use super::place::{self, Place};
use super::since::{self, Since};
use super::{Affected, Cell, Project, State};
use std::collections::BTreeMap;

/// What builds of a version came to, by places of targets, each list ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Builds {
    /// On these it passed, and never failed.
    pub passed: Vec<usize>,
    /// On these it failed, and never passed.
    pub failed: Vec<usize>,
    /// On these it did both.
    pub flaky: Vec<usize>,
    /// Those whose last build says nothing about tests, by its state.
    pub others: BTreeMap<State, Vec<usize>>,
    /// Those without a build of it.
    pub without: Vec<usize>,
    /// The failures, by the version that they came with.
    pub failing: Vec<Failing>,
}

impl Builds {
    /// Targets on which its tests ran.
    pub fn tested(&self) -> usize {
        self.passed.len() + self.failed.len() + self.flaky.len()
    }
}

/// Failures that may have one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Failing {
    /// Where, and since when.
    pub on: Affected,
    /// How many builds failed on these targets, from the first version on.
    pub seen: u64,
}

/// What is known of each target at each version: the cells by place.
pub(super) struct History<'a> {
    cells: BTreeMap<(usize, usize), &'a Cell>,
}

impl<'a> History<'a> {
    pub(super) fn of(project: &'a Project) -> Self {
        let at = |cell: &'a Cell| ((cell.target, cell.version), cell);
        Self { cells: project.cells.iter().map(at).collect() }
    }

    fn cell(&self, target: usize, version: usize) -> Option<&'a Cell> {
        self.cells.get(&(target, version)).copied()
    }

    /// Whether it failed; `None` where nobody knows, or where it did both.
    fn failed(&self, target: usize, version: usize) -> Option<bool> {
        match self.cell(target, version) {
            Some(Cell { passed: 0, failed: 1.., .. }) => Some(true),
            Some(Cell { passed: 1.., failed: 0, .. }) => Some(false),
            _ => None,
        }
    }
}

pub(super) fn judge(project: &Project, history: &History<'_>, version: usize) -> Builds {
    let mut builds = Builds::default();
    for target in 0..project.targets.len() {
        match history.cell(target, version) {
            None => builds.without.push(target),
            // Only measured: its tests did not run there.
            Some(Cell { passed: 0, failed: 0, last: State::Passed | State::Failed, .. }) => {
                builds.without.push(target);
            }
            Some(Cell { passed: 0, failed: 0, last, .. }) => {
                builds.others.entry(*last).or_default().push(target);
            }
            Some(Cell { passed: 0, .. }) => builds.failed.push(target),
            Some(Cell { failed: 0, .. }) => builds.passed.push(target),
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
            Place::Everywhere
        } else {
            place::of(&project.targets, &targets, &builds.passed)
        };
        Failing { on: Affected { targets, of: builds.tested(), place, since }, seen }
    };
    groups.into_iter().map(of_group).collect()
}
