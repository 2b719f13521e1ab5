//! The build of a copy in which every function contains its mutants behind a switch.

use assay_mutate::mutants::switch::BODIES;
use assay_suites::programs::Program;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Names of the programs that reached each function, by the function's number.
pub(crate) type ReachingPrograms = HashMap<usize, BTreeSet<String>>;

/// The build of a copy.
pub(crate) struct CopyBuild {
    /// The stages to run, in order. If this is empty, the user's command is run instead.
    pub stages: Vec<Stage>,
    /// The directory that holds the recorded programs.
    pub kept: PathBuf,
    /// Duration of the user's command, in seconds.
    pub seconds: f64,
    /// True if a run may end at the first failed test.
    pub stops: bool,
    /// Names of the programs that reach each function.
    pub reached: ReachingPrograms,
    /// The functions that single tests of these programs reach.
    pub singly: SingleTestReach,
    /// Total time of all tests, in seconds, if a driver runs them. The programs are test files in
    /// that case. `None` if there is no driver.
    pub driven: Option<f64>,
}

/// The kind of programs in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Test programs that report the results of their tests.
    Telling,
    /// Programs that consist of a single test and report only an exit status.
    Silent,
    /// Commands that compile programs with a single test each, run them, and report the tests.
    Compiling,
}

/// A mutant behind the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SwitchedMutant {
    /// Number of the mutant in the build.
    pub number: usize,
    /// Number of the function that contains the mutant.
    pub unit: usize,
}

/// Programs that are run together.
pub(crate) struct Stage {
    pub kind: Kind,
    pub programs: Vec<Program>,
    /// Total duration of the stage, in seconds.
    pub seconds: f64,
    /// Number of tests that each program reports without a change, by the prefix of the tests'
    /// names. Empty if unknown.
    pub reported: HashMap<String, usize>,
}

impl Stage {
    /// Returns the total number of tests that `programs` of this stage report, or `None` if the
    /// number is not known for each of them.
    pub fn tests_of(&self, programs: &[&Program]) -> Option<usize> {
        let one = |own: &&Program| {
            let is_own = !own.tests.is_empty() && own.only.is_empty();
            let others = self.programs.iter().filter(|other| other.tests == own.tests).count();
            self.reported.get(&own.tests).filter(|_| is_own && others == 1).copied()
        };
        programs.iter().map(one).sum()
    }
}

/// The paths of the switch in a copy, and of the files that belong to it.
pub(crate) struct SwitchPaths {
    pub switch: PathBuf,
    /// The file to which the numbers of reached functions are written.
    pub reached: PathBuf,
    /// The directory for function bodies that are stored in separate files.
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

/// The functions that each single test reaches.
#[derive(Clone, Debug, Default)]
pub(crate) struct SingleTestReach {
    /// The programs whose tests were examined one by one, by the prefix of the tests' names.
    pub programs: HashSet<String>,
    /// Indices of the tests that reach each function, by the function's number.
    pub tests: HashMap<usize, Vec<usize>>,
}

impl SingleTestReach {
    /// Creates the table from the tests that reach each function, with no programs.
    pub fn of(tests: HashMap<usize, Vec<usize>>) -> Self {
        Self { programs: HashSet::new(), tests }
    }

    /// Returns the tests that reach each function, by the function's number.
    pub fn tests(&self) -> &HashMap<usize, Vec<usize>> {
        &self.tests
    }
}
