//! The build of a copy whose functions contain their mutants behind a switch.

use assay_mutate::mutants::switch::BODIES;
use assay_suites::programs::Program;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Names of the programs that reached each function, by the function's number.
pub(crate) type ReachingPrograms = HashMap<usize, BTreeSet<String>>;

/// The build of a copy.
pub(crate) struct CopyBuild {
    /// The stages that are run one after the other; empty means the user's command is run.
    pub stages: Vec<Stage>,
    /// The directory in which recorded programs are kept.
    pub kept: PathBuf,
    /// Duration of the user's command, s.
    pub seconds: f64,
    /// True if a run may end at the first failed test.
    pub stops: bool,
    /// The programs that reach each function.
    pub reached: ReachingPrograms,
    /// The functions that single tests of these programs reach.
    pub singly: SingleTestReach,
    /// Total time of all tests, in seconds, if a driver runs them; the programs are test files in
    /// that case. `None` if there is no driver.
    pub driven: Option<f64>,
}

/// The kind of programs in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Test programs that report their tests.
    Telling,
    /// Programs of single tests that report only their exit status.
    Silent,
    /// Commands that compile the programs of single tests, run them, and report the tests.
    Compiling,
}

/// A mutant behind the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SwitchedMutant {
    /// Number of the mutant in the build.
    pub number: usize,
    /// The number of its function.
    pub unit: usize,
}

/// Programs that are run together.
pub(crate) struct Stage {
    pub kind: Kind,
    pub programs: Vec<Program>,
    /// Duration of all of them together, s.
    pub seconds: f64,
    /// Number of tests that each program reports without a change, by the prefix of their names;
    /// empty if unknown.
    pub reported: HashMap<String, usize>,
}

impl Stage {
    /// Returns the number of tests that some of its programs report together; `None` if it is not
    /// known for all of them.
    pub fn tests_of(&self, programs: &[&Program]) -> Option<usize> {
        let one = |own: &&Program| {
            let is_own = !own.tests.is_empty() && own.only.is_empty();
            let others = self.programs.iter().filter(|other| other.tests == own.tests).count();
            self.reported.get(&own.tests).filter(|_| is_own && others == 1).copied()
        };
        programs.iter().map(one).sum()
    }
}

/// The paths of a copy's switch and of the files that belong to it.
pub(crate) struct SwitchPaths {
    pub switch: PathBuf,
    /// The file in which reached functions are recorded.
    pub reached: PathBuf,
    /// The directory of bodies that are in files of their own.
    pub bodies: PathBuf,
}

impl SwitchPaths {
    /// Returns the paths for the copy at `top`.
    pub fn of(top: &Path) -> Self {
        let own = top.join(".assay");
        let (switch, reached) = (own.join("switch"), own.join("reached"));
        Self { switch, reached, bodies: top.join(BODIES) }
    }
}

/// The functions that single tests reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct SingleTestReach {
    /// The programs that were examined, by the prefix of their tests' names.
    pub programs: HashSet<String>,
    /// The tests that reach each function, by the function's number.
    pub tests: HashMap<usize, Vec<usize>>,
}

impl SingleTestReach {
    /// Creates the table from the tests of each function, without reference to programs.
    pub fn of(tests: HashMap<usize, Vec<usize>>) -> Self {
        Self { programs: HashSet::new(), tests }
    }

    /// Returns the tests that reach each function, by the function's number.
    pub fn tests(&self) -> &HashMap<usize, Vec<usize>> {
        &self.tests
    }
}
