//! The parts of a project that the tests of a run used: the code they entered, the files they
//! opened, the programs they started.
//!
//! Lines, and paths relative to the project's root directory, are stored as the suite's processes
//! wrote them. `assay_suites::coverage` uses them to select the tests affected by a change.

use std::collections::BTreeMap;

/// Everything recorded in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteUsage {
    /// The recordings of each process.
    pub processes: Vec<ProcessUsage>,
}

impl SuiteUsage {
    /// Returns true if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }
}

/// The recording of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessUsage {
    /// Paths of source files, by the number that the process gave each of them.
    pub sources: BTreeMap<u32, String>,
    /// Names of the tests and the resources that each of them used, in the order in which the tests
    /// ended.
    pub tests: Vec<(String, Used)>,
    /// Resources used outside of tests.
    pub outside: Used,
    /// For each importing file, the numbers of the files that it imports. `None` if the language
    /// does not report imports.
    pub imports: Option<BTreeMap<u32, Vec<u32>>>,
}

/// A program that was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Working directory. `None` for the project's root directory.
    pub place: Option<String>,
    /// True if `words` is incomplete because the program had further or unknown arguments.
    pub is_cut: bool,
}

impl From<Vec<String>> for Started {
    fn from(words: Vec<String>) -> Self {
        Self { words, ..Self::default() }
    }
}

/// Resources used by a test, or by a process outside of tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// First lines of the functions and code blocks that were entered, by file number.
    pub blocks: BTreeMap<u32, Vec<u32>>,
    /// Numbers of the files that were loaded.
    pub loads: Vec<u32>,
    /// Files opened for reading, including nonexistent ones.
    pub opens: Vec<String>,
    /// Directories that were listed.
    pub lists: Vec<String>,
    /// Programs that were started.
    pub spawns: Vec<Started>,
    /// Files from which the program was built. Their entire contents matter. `a/**:!a/b/**` stands
    /// for all files below `a`, except those below `a/b`, and for their names.
    pub builds: Vec<String>,
    /// The reason why the record may be incomplete, if any.
    pub unseen: Option<String>,
}

impl Used {
    /// Adds everything that `other` contains.
    pub fn add(&mut self, other: &Self) {
        for (file, lines) in &other.blocks {
            let own = self.blocks.entry(*file).or_default();
            own.extend(lines);
            own.sort_unstable();
            own.dedup();
        }
        add(&mut self.loads, &other.loads);
        add(&mut self.opens, &other.opens);
        add(&mut self.lists, &other.lists);
        add(&mut self.spawns, &other.spawns);
        add(&mut self.builds, &other.builds);
        self.unseen = self.unseen.take().or_else(|| other.unseen.clone());
    }
}

fn add<T: Clone + PartialEq>(own: &mut Vec<T>, other: &[T]) {
    for item in other {
        if !own.contains(item) {
            own.push(item.clone());
        }
    }
}
