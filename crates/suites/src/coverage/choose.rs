//! Selects the tests affected by a change, with the reasons. The only side effect is reading the
//! current contents of files.

use crate::coverage::blocks::{ABSENT, DIRECTORY, Sum};
use crate::coverage::extent::Extent;
use crate::coverage::language::Language;
use crate::coverage::map::{Map, TestRecord, Use, UseKind};
use crate::coverage::project::{FileState, Project};
use crate::coverage::rule::Rule;
use crate::coverage::rules;
use assay_data::test_results::TestStatus;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

/// The reason for running a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectionReason {
    /// The test failed in its last run.
    Failed,
    /// It was not recorded what the test uses.
    Unseen,
    /// Something that the test used has changed.
    Used {
        /// How the test used it.
        how: UseKind,
        /// The file or directory that changed.
        path: String,
        /// Name of the changed block, if known.
        block: Option<String>,
    },
    /// The test is in a file that changed outside its known tests and may now contain others.
    InFile(String),
    /// The test may use more than is known, for this reason.
    Maybe(String),
    /// The test imports the package whose directory contains a new source.
    Beside {
        /// The new source.
        source: String,
    },
    /// The file name of the test matches that of a new source.
    Called {
        /// The new source.
        source: String,
    },
    /// A user's rule applies.
    Ruled {
        /// The rule as written.
        rule: String,
        /// The changed file.
        source: String,
    },
    /// All tests run, for the reason in [`Choice::everything`].
    Everything,
}

/// A test selected to run.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedTest<'a> {
    /// Name of the test.
    pub name: &'a str,
    /// Known data of the test.
    pub known: &'a TestRecord,
    /// The reason for running it.
    pub why: SelectionReason,
}

/// The tests selected to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice<'a> {
    /// The reason if all tests run; `tests` then lists all known tests.
    pub everything: Option<String>,
    /// Known tests to run: those that failed first, then the fastest first.
    pub tests: Vec<SelectedTest<'a>>,
    /// Files that run as a whole because they may contain unknown tests; `tests` includes the known
    /// tests in these files.
    pub files: Vec<String>,
    /// Unaffected tests with their data. Everything that they used is unchanged.
    pub left: Vec<(&'a str, &'a TestRecord)>,
}

impl Choice<'_> {
    /// Returns true if there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.everything.is_none() && self.tests.is_empty() && self.files.is_empty()
    }
}

/// The current content of a path, for comparison.
struct CurrentContent {
    now: Rc<FileState>,
    sums: Option<HashSet<Sum>>,
}

/// The changes to consider.
#[derive(Clone, Copy, Debug)]
pub enum ChangedPaths<'a> {
    /// Only these paths, relative to the root directory of the project.
    Only(&'a [String]),
    /// Everything that differs from what the tests used, and these paths.
    With(&'a [String]),
}

/// Selects the tests to run. `rules` are the user's rules. O(tests · uses).
pub fn choose<'a>(
    map: &'a Map,
    project: &mut Project,
    changed: ChangedPaths<'_>,
    rules: &[Rule],
) -> Choice<'a> {
    if map.tests.is_empty() {
        let everything = "nothing is known yet of what its tests use".to_owned();
        return Choice { everything: Some(everything), ..Choice::default() };
    }
    let (all, is_only) = match changed {
        ChangedPaths::Only(paths) => (paths.to_vec(), true),
        ChangedPaths::With(paths) => {
            let used = map.paths().iter().filter(|path| !paths.contains(path));
            (paths.iter().chain(used).cloned().collect(), false)
        }
    };
    let asked = match changed {
        ChangedPaths::Only(paths) | ChangedPaths::With(paths) => paths.len(),
    };
    project.ahead(all.iter().filter(|path| map.number(path).is_some()).map(String::as_str));
    let (found, why) = Default::default();
    let mut choosing = Choosing { map, project, rules, found, why };
    let files = match choosing.look(&all, asked, is_only) {
        Ok(files) => files,
        Err(everything) => {
            let tests = map.tests.iter().map(|(name, known)| {
                let failed = known.status == TestStatus::Failed;
                let why =
                    if failed { SelectionReason::Failed } else { SelectionReason::Everything };
                SelectedTest { name: name.as_str(), known, why }
            });
            let tests = in_order(tests.collect());
            return Choice { everything: Some(everything), tests, ..Choice::default() };
        }
    };
    let why = choosing.why;
    let named = map.tests.iter().map(|(name, known)| (name.as_str(), known));
    let left = named.filter(|(name, _)| !why.contains_key(name)).collect();
    let tests = why
        .into_iter()
        .filter_map(|(name, why)| Some(SelectedTest { name, known: map.tests.get(name)?, why }));
    Choice { everything: None, tests: in_order(tests.collect()), files, left }
}

/// Sorts tests: those that failed come first, and within each group the fastest.
fn in_order(mut tests: Vec<SelectedTest<'_>>) -> Vec<SelectedTest<'_>> {
    tests.sort_by(|a, b| {
        let failed = |own: &SelectedTest<'_>| own.known.status != TestStatus::Failed;
        let seconds = |own: &SelectedTest<'_>| own.known.seconds.unwrap_or(f64::INFINITY);
        failed(a).cmp(&failed(b)).then(seconds(a).total_cmp(&seconds(b))).then(a.name.cmp(b.name))
    });
    tests
}

struct Choosing<'a, 'p> {
    map: &'a Map,
    project: &'p mut Project,
    rules: &'p [Rule],
    found: HashMap<u32, CurrentContent>,
    why: BTreeMap<&'a str, SelectionReason>,
}

impl<'a> Choosing<'a, '_> {
    /// Returns the files that run as a whole, or the reason for running everything.
    fn look(
        &mut self,
        paths: &[String],
        asked: usize,
        is_only: bool,
    ) -> Result<Vec<String>, String> {
        let changed: HashSet<u32> = paths.iter().filter_map(|path| self.map.number(path)).collect();
        let beside: BTreeSet<&str> =
            self.map.tests.values().filter_map(|known| known.file.as_deref()).collect();
        let mut files = BTreeSet::new();
        let mut is_touched = false;
        for path in &paths[..asked] {
            if rules::changes_everything(path) {
                return Err(format!("everything may depend on {path}, which changed"));
            }
            let is_ruled = self.by_rules(path, &beside, &mut files);
            is_touched |= is_ruled;
            // Other tests may have loaded a new test file when they ran.
            let is_new = rules::is_test(path) && !self.map.files.contains_key(path);
            let is_known = self.map.number(path).is_some();
            if is_known && (!is_new || beside.contains(path.as_str())) {
                continue;
            }
            is_touched = true;
            self.unknown(path, is_ruled, &beside, &mut files)?;
        }
        for (name, known) in &self.map.tests {
            if let Some(why) = self.of_test(known, &changed, is_only) {
                self.why.insert(name, why);
            }
        }
        // A test file that changed outside its individual tests may contain different tests than
        // before.
        for path in paths.iter().filter(|path| beside.contains(path.as_str())) {
            let number = self.map.number(path);
            if number.is_some_and(|number| self.may_have_others(path, number)) {
                is_touched = true;
                if self.project.now(path).content != ABSENT {
                    files.insert(path.clone());
                }
                self.in_file(path);
            }
        }
        is_touched |= !self.why.is_empty() || asked > 0;
        if is_touched {
            for (name, known) in &self.map.tests {
                if let Some(why) = &known.always {
                    self.why.entry(name).or_insert_with(|| SelectionReason::Maybe(why.clone()));
                }
            }
        }
        for (name, known) in &self.map.tests {
            if known.status == TestStatus::Failed {
                self.why.insert(name, SelectionReason::Failed);
            } else if known.uses.is_none() && known.status != TestStatus::Skipped {
                self.why.entry(name).or_insert(SelectionReason::Unseen);
            }
        }
        // Tests in deleted files can't be run.
        let project = &mut *self.project;
        let map = self.map;
        self.why.retain(|name, _| {
            let file = map.tests.get(*name).and_then(|known| known.file.as_deref());
            file.is_none_or(|file| project.now(file).content != ABSENT)
        });
        Ok(files.into_iter().collect())
    }

    /// Applies the user's rules to a changed path. Returns true if any rule applies.
    fn by_rules(
        &mut self,
        path: &str,
        beside: &BTreeSet<&str>,
        files: &mut BTreeSet<String>,
    ) -> bool {
        let mut is_ruled = false;
        for rule in self.rules.iter().filter(|rule| rule.is_about(path)) {
            is_ruled = true;
            for (name, known) in &self.map.tests {
                if known.file.as_deref().is_some_and(|file| rule.names(file)) {
                    let (rule, source) = (rule.text().to_owned(), path.to_owned());
                    self.why.entry(name).or_insert(SelectionReason::Ruled { rule, source });
                }
            }
            // Test files that never ran.
            let is_new = |file: &&str| rules::is_test(file) && !beside.contains(file);
            let new = self.project.below("").filter(is_new).filter(|file| rule.names(file));
            files.extend(new.map(str::to_owned));
        }
        is_ruled
    }

    /// Handles a path that no test used.
    fn unknown(
        &mut self,
        path: &str,
        is_ruled: bool,
        beside: &BTreeSet<&str>,
        files: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let is_there = self.project.now(path).content != ABSENT;
        if rules::is_test(path) {
            if is_there {
                files.insert(path.to_owned());
            }
            return Ok(());
        }
        let Some(language) = Language::of(Path::new(path)) else { return Ok(()) };
        // The path belongs to sources from which programs were built; the names of these files are
        // compared separately.
        let is_in = |own: &String| Extent::read(own).is_some_and(|own| own.holds(path));
        if self.map.paths().iter().any(is_in) {
            return Ok(());
        }
        if language == Language::Go && self.is_beside(path) {
            return Ok(());
        }
        let tests: Vec<&str> =
            beside.iter().copied().filter(|test| rules::belongs(test, path)).collect();
        if tests.is_empty() {
            if !is_there || is_ruled {
                return Ok(());
            }
            return Err(format!("it is not known what uses {path}"));
        }
        for (name, known) in &self.map.tests {
            if known.file.as_deref().is_some_and(|file| tests.contains(&file)) {
                self.why.insert(name, SelectionReason::Called { source: path.to_owned() });
            }
        }
        Ok(())
    }

    /// Selects the tests affected by a new Go source: those that use a file of its package. Returns
    /// true if any file of the package is known.
    fn is_beside(&mut self, path: &str) -> bool {
        let package =
            |path: &str| path.rsplit_once('/').map_or("", |(package, _)| package).to_owned();
        let own = package(path);
        let files = self.map.paths().iter().zip(0..);
        let files: HashSet<u32> = files
            .filter(|(file, _)| file.ends_with(".go") && package(file) == own)
            .map(|(_, number)| number)
            .collect();
        for (name, known) in &self.map.tests {
            if known.uses.iter().flatten().any(|own| files.contains(&own.path)) {
                let source = path.to_owned();
                self.why.entry(name).or_insert(SelectionReason::Beside { source });
            }
        }
        !files.is_empty()
    }

    fn in_file(&mut self, path: &str) {
        for (name, known) in &self.map.tests {
            if known.file.as_deref() == Some(path) {
                self.why.entry(name).or_insert_with(|| SelectionReason::InFile(path.to_owned()));
            }
        }
    }

    /// Returns the reason to run a test, which is the most specific one of its uses whose content
    /// has changed.
    fn of_test(
        &mut self,
        known: &TestRecord,
        changed: &HashSet<u32>,
        is_only: bool,
    ) -> Option<SelectionReason> {
        let uses = known.uses.as_ref()?;
        // Entering a block is more specific than loading a file.
        let mut other: Option<Use> = None;
        for own in uses {
            // A directory listing changes only through its entries, as does a directory that
            // appears or disappears, so its path need not be among the changed ones.
            let is_there = own.sum == ABSENT || own.sum == DIRECTORY;
            let is_asked =
                !is_only || is_there || self.is_of_names(own) || changed.contains(&own.path);
            if is_asked && self.is_other(own) && other.is_none_or(|known| own.how < known.how) {
                other = Some(*own);
            }
        }
        let own = other?;
        // If a file is tracked as a whole, it is unknown which of its blocks changed.
        let is_cut = own.how == UseKind::Entered && self.found(own.path).sums.is_some();
        let block = self.map.name(own.sum).filter(|_| is_cut);
        Some(SelectionReason::Used {
            how: own.how,
            path: self.map.path(own.path).to_owned(),
            block: block.map(str::to_owned),
        })
    }

    /// Returns true if a use depends on the names of files rather than on their contents.
    fn is_of_names(&self, own: &Use) -> bool {
        match own.how {
            UseKind::Listed | UseKind::Searched => true,
            UseKind::Built | UseKind::Started => Extent::read(self.map.path(own.path)).is_some(),
            _ => false,
        }
    }

    fn is_other(&mut self, own: &Use) -> bool {
        let path = self.map.path(own.path);
        if let UseKind::Listed | UseKind::Searched = own.how {
            return self.project.listing(path, own.how == UseKind::Listed) != own.sum;
        }
        let is_part = matches!(own.how, UseKind::Built | UseKind::Started);
        if let Some(extent) = Extent::read(path).filter(|_| is_part) {
            return self.project.extent(&extent) != own.sum;
        }
        let found = self.found(own.path);
        if found.now.content == own.sum {
            return false;
        }
        // A file tracked as a whole has no blocks to compare.
        let sums =
            found.sums.as_ref().filter(|_| matches!(own.how, UseKind::Entered | UseKind::Loaded));
        sums.is_none_or(|sums| !sums.contains(&own.sum))
    }

    fn may_have_others(&mut self, path: &str, number: u32) -> bool {
        let own = || self.map.tests.iter().filter(|(_, known)| known.file.as_deref() == Some(path));
        // If all known tests of the file already run because its content changed, it may contain
        // other tests.
        let is_of_file = |why: &SelectionReason| matches!(why, SelectionReason::Used { path: own, .. } if own == path);
        if own().all(|(name, _)| self.why.get(name.as_str()).is_some_and(is_of_file)) {
            return true;
        }
        let uses = self.map.tests.values().flat_map(|known| known.uses.iter().flatten());
        let known: HashSet<Sum> =
            uses.filter(|own| own.path == number).map(|own| own.sum).collect();
        let found = self.found(number);
        if known.contains(&found.now.content) {
            return false;
        }
        let blocks = found.now.blocks.as_ref();
        blocks.is_none_or(|blocks| !blocks.holders().all(|sum| known.contains(&sum)))
    }

    fn found(&mut self, path: u32) -> &CurrentContent {
        let (project, map) = (&mut *self.project, self.map);
        self.found.entry(path).or_insert_with(|| {
            let now = project.now(map.path(path));
            let sums = now.blocks.as_ref().map(|blocks| blocks.sums());
            CurrentContent { now, sums }
        })
    }
}
