//! What each test of a project used when it ran last, by checksums: the map that tells which tests a change touches.
//!
//! It grows by what runs saw ([`Map::take`]), and is asked by [`choose`](crate::choose). It knows no moment but that at which a run began, and
//! no file but through [`Project`].

use crate::blocks::Sum;
use crate::project::{Kept, Project};
use crate::taking::Taking;
use assay_data::seen::Seen;
use assay_data::test_results::TestStatus;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// In which way something was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// A function or block of code was entered.
    Entered,
    /// The top of a file was executed, or may have been.
    Loaded,
    /// A file was opened.
    Opened,
    /// A directory was listed.
    Listed,
    /// A directory was listed outside of tests, as frameworks look for tests: of which files that are no sources count, since new sources are known
    /// as such.
    Searched,
    /// A program of the project was started, or got the file as an argument.
    Started,
    /// The program of the tests was built from it; a path that ends in `**` stands for the names of all files in a part of the project.
    Built,
}

impl How {
    /// All, as they are numbered in the store.
    pub(crate) const ALL: [Self; 7] = [
        Self::Entered,
        Self::Loaded,
        Self::Opened,
        Self::Listed,
        Self::Searched,
        Self::Started,
        Self::Built,
    ];
}

/// That something was used, with the content that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Use {
    /// Number of the path among those of the map.
    pub path: u32,
    /// In which way.
    pub how: How,
    /// Its checksum then.
    pub sum: Sum,
}

/// What is known of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The file in which it stands, from the top of the project.
    pub file: Option<String>,
    /// By what it is selected, where that is not its name.
    pub id: Option<String>,
    /// How long it took when it ran last, s.
    pub seconds: Option<f64>,
    /// What came of it.
    pub status: TestStatus,
    /// What it used, each once, in order; `None`: nobody saw it.
    pub uses: Option<Vec<Use>>,
    /// Why it is touched by every change, if it is, as a sentence: a program that it starts may read whatever it likes.
    pub always: Option<String>,
}

/// A test of a run, for the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// Its name.
    pub name: String,
    /// See [`Known`], as for the rest.
    pub file: Option<String>,
    /// See there.
    pub id: Option<String>,
    /// See there.
    pub seconds: Option<f64>,
    /// See there.
    pub status: TestStatus,
}

/// How things were when a run began.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// The project's files.
    pub files: BTreeMap<String, Kept>,
    /// The moment, s since 1970: by this one knows whether other files were written since.
    pub moment: f64,
}

/// The map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// All tests by name.
    pub tests: BTreeMap<String, Known>,
    /// The project's files as they were when its tests ran last.
    pub files: BTreeMap<String, Kept>,
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Names of blocks by their checksums, for people.
    names: HashMap<Sum, String>,
}

impl Map {
    /// The path of this number.
    pub fn path(&self, number: u32) -> &str {
        self.paths.get(number as usize).map_or("", String::as_str)
    }

    /// All paths, in the order of their numbers.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The number of a path, if a test used it.
    pub fn number(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    /// What a block is called that had this checksum.
    pub fn name(&self, sum: Sum) -> Option<&str> {
        self.names.get(&sum).map(String::as_str)
    }

    /// All names of blocks.
    pub fn names(&self) -> impl Iterator<Item = (Sum, &str)> {
        self.names.iter().map(|(sum, name)| (*sum, name.as_str()))
    }

    pub(crate) fn number_of(&mut self, path: &str) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(path.to_owned());
        self.numbers.insert(path.to_owned(), number);
        number
    }

    pub(crate) fn call(&mut self, sum: Sum, name: &str) {
        if !name.is_empty() && !self.names.contains_key(&sum) {
            self.names.insert(sum, name.to_owned());
        }
    }

    /// Takes what a run saw. What was written since it began was not seen in the state that it has now, and counts as unknown. Of tests that were
    /// in files that ran whole, and did not run, nothing is known any longer: `whole` names those files, or is `None` where all tests ran.
    pub fn take(
        &mut self,
        project: &mut Project,
        tests: &[Ended],
        seen: &Seen,
        before: Before,
        whole: Option<&[String]>,
    ) {
        let ran: BTreeSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        self.tests.retain(|name, known| {
            let is_gone = match (whole, &known.file) {
                (None, _) => true,
                (Some(whole), Some(file)) => whole.contains(file),
                (Some(_), None) => false,
            };
            ran.contains(name.as_str()) || !is_gone
        });
        // Also of those that did not run this time: frameworks load them all.
        let known = self.tests.values().filter_map(|known| known.file.clone());
        let files: BTreeSet<String> =
            known.chain(tests.iter().filter_map(|test| test.file.clone())).collect();
        let file_of: HashMap<&str, &str> = tests
            .iter()
            .filter_map(|test| Some((test, test.file.as_deref()?)))
            .map(|(test, file)| (test.name.as_str(), file))
            .collect();
        let mut used: HashMap<&str, (BTreeSet<Use>, Option<String>)> = HashMap::new();
        let sources = seen.processes.iter().flat_map(|process| process.sources.values());
        let sources: BTreeSet<&str> = sources.map(String::as_str).collect();
        project.ahead(sources);
        for process in &seen.processes {
            let mut taking = Taking::new(self, project, process, &before, &files);
            for (name, own) in &process.tests {
                let file = file_of.get(name.as_str()).copied();
                let (uses, always) = taking.test(own, file);
                let known = used.entry(name).or_default();
                known.0.extend(uses);
                known.1 = known.1.take().or(always);
            }
        }
        for test in tests {
            let own = used.remove(test.name.as_str());
            // One that was skipped, or of which nobody saw anything, is as unknown as one that never ran.
            let (uses, always) = own.map_or((None, None), |(uses, always)| (Some(uses), always));
            let before = self.tests.remove(&test.name).unwrap_or_default();
            let known = Known {
                file: test.file.clone().or(before.file),
                id: test.id.clone(),
                seconds: test.seconds.or(before.seconds),
                status: test.status,
                uses: uses.map(|uses| uses.into_iter().collect()),
                always,
            };
            self.tests.insert(test.name.clone(), known);
        }
        // What was written meanwhile differs from these, and is looked at the next time.
        self.files = before.files;
    }
}
