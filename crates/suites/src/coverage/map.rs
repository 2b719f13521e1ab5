//! The checksums of what each test of a project used in its last run. This map determines the tests
//! affected by a change.
//!
//! It is updated with the observations of runs ([`Map::take`]) and queried by
//! [`choose`](crate::coverage::choose). It uses no clock except the start time of a run, and
//! accesses files only through [`Project`].

use crate::coverage::blocks::Sum;
use crate::coverage::project::{FileRecord, Project};
use crate::coverage::taking::ObservationConverter;
use assay_data::seen::SuiteUsage;
use assay_data::test_results::TestStatus;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How a test used a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseKind {
    /// A function or block of code was entered.
    Entered,
    /// The top level of a file was executed, or may have been.
    Loaded,
    /// A file was opened.
    Opened,
    /// A directory was listed.
    Listed,
    /// A directory was listed outside of tests, as frameworks do to find tests. Only files other
    /// than sources count, since new sources are detected separately.
    Searched,
    /// A program of the project was started, or received the file as an argument.
    Started,
    /// The test program was built from the file. A path that ends in `**` stands for the names of
    /// all files in a part of the project.
    Built,
}

impl UseKind {
    /// All kinds, in the order of their numbers in the store.
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

/// A use of a file or directory, with the checksum of the content at the time of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Use {
    /// Number of the path in the map ([`Map::path`]).
    pub path: u32,
    /// Kind of use.
    pub how: UseKind,
    /// Checksum of the content at the time of use.
    pub sum: Sum,
}

/// What is known about a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestRecord {
    /// The file that contains the test, relative to the root directory of the project.
    pub file: Option<String>,
    /// Identifier by which the test is selected, if different from its name.
    pub id: Option<String>,
    /// Duration of the test's last run, in seconds.
    pub seconds: Option<f64>,
    /// Result of the test's last run.
    pub status: TestStatus,
    /// What the test used, distinct and sorted; `None` if it was not recorded.
    pub uses: Option<Vec<Use>>,
    /// A sentence explaining why every change affects the test, for example because it starts a
    /// program that may read anything; `None` if that is not so.
    pub always: Option<String>,
}

/// A test of a completed run, as input for the map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompletedTest {
    /// Name of the test.
    pub name: String,
    /// See [`TestRecord::file`].
    pub file: Option<String>,
    /// See [`TestRecord::id`].
    pub id: Option<String>,
    /// See [`TestRecord::seconds`].
    pub seconds: Option<f64>,
    /// See [`TestRecord::status`].
    pub status: TestStatus,
}

/// State of a project at the start of a run.
#[derive(Clone, Debug, Default)]
pub struct ProjectSnapshot {
    /// The project's files, by path.
    pub files: BTreeMap<String, FileRecord>,
    /// Start of the run, in seconds since 1970. Used to detect whether files that are not in
    /// `files` were written since then.
    pub moment: f64,
}

/// The uses of all tests of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// All tests by name.
    pub tests: BTreeMap<String, TestRecord>,
    /// The project's files, by path, at the time of the last run of its tests.
    pub files: BTreeMap<String, FileRecord>,
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Display names of blocks by checksum.
    names: HashMap<Sum, String>,
}

impl Map {
    /// Returns the path with this number.
    pub fn path(&self, number: u32) -> &str {
        self.paths.get(number as usize).map_or("", String::as_str)
    }

    /// Returns all paths, in the order of their numbers.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Returns the number of a path, or `None` if no test used the path.
    pub fn number(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    /// Returns the name of the block that had this checksum.
    pub fn name(&self, sum: Sum) -> Option<&str> {
        self.names.get(&sum).map(String::as_str)
    }

    /// Returns all names of blocks.
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

    /// Adds the observations of a run.
    ///
    /// Files written since the start of the run may have been seen in a different state, so they
    /// count as unknown. If a file ran as a whole, data of those of its tests that did not run are
    /// removed. `whole` names these files, or is `None` if all tests ran.
    pub fn take(
        &mut self,
        project: &mut Project,
        tests: &[CompletedTest],
        seen: &SuiteUsage,
        before: ProjectSnapshot,
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
        // Includes tests that did not run this time, because frameworks load all test files.
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
            let mut taking = ObservationConverter::new(self, project, process, &before, &files);
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
            // A test that was skipped or not observed is as unknown as one that has never run.
            let (uses, always) = own.map_or((None, None), |(uses, always)| (Some(uses), always));
            let before = self.tests.remove(&test.name).unwrap_or_default();
            let known = TestRecord {
                file: test.file.clone().or(before.file),
                id: test.id.clone(),
                seconds: test.seconds.or(before.seconds),
                status: test.status,
                uses: uses.map(|uses| uses.into_iter().collect()),
                always,
            };
            self.tests.insert(test.name.clone(), known);
        }
        // Files written during the run differ from this record, so they are checked the next time.
        self.files = before.files;
    }
}
