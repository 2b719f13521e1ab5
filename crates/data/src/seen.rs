//! What the tests of a run were seen to use of their project: which code they entered, which files they opened, which programs they started.
//!
//! It is as the processes of the suite wrote it down, by lines and paths from the top of the project. What it means for a change is the
//! business of the crate `coverage`.

use std::collections::BTreeMap;

/// All that was seen in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// What was seen in each process.
    pub processes: Vec<ProcessSeen>,
}

impl Seen {
    /// Whether nobody looked.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }
}

/// What was seen in one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessSeen {
    /// The files that hold code, by the numbers that the process gave them.
    pub sources: BTreeMap<u32, String>,
    /// What each test used, by its name, in the order in which tests ended.
    pub tests: Vec<(String, Used)>,
    /// What was used outside of tests.
    pub outside: Used,
    /// Who imports whom; `None` where the language does not say.
    pub imports: Option<BTreeMap<u32, Vec<u32>>>,
}

/// A program that was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// Its words, the program first.
    pub words: Vec<String>,
    /// The directory in which it ran; `None`: the top of the project.
    pub place: Option<String>,
    /// True if it had further or unknown arguments.
    pub is_cut: bool,
}

impl From<Vec<String>> for Started {
    fn from(words: Vec<String>) -> Self {
        Self { words, ..Self::default() }
    }
}

/// What a test used, or a process outside of tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// By number of a file the lines on which functions and blocks of code begin that were entered.
    pub blocks: BTreeMap<u32, Vec<u32>>,
    /// Numbers of the files that were loaded.
    pub loads: Vec<u32>,
    /// Files that were opened for reading, also those that were not there.
    pub opens: Vec<String>,
    /// Directories that were listed.
    pub lists: Vec<String>,
    /// Programs that were started.
    pub spawns: Vec<Started>,
    /// Files that the program was built from, of which all that they hold counts. `a/**:!a/b/**` are all files below `a` but for those below `a/b`, and
    /// their names.
    pub builds: Vec<String>,
    /// Why there may be more, if there may.
    pub unseen: Option<String>,
}

impl Used {
    /// Adds what another one used.
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
