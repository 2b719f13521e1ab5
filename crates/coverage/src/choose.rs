//! Which tests a change touches, and why; and of those that it does not touch, why not. Pure but for reading what files hold now.

use crate::blocks::{ABSENT, DIRECTORY, Sum};
use crate::extent::Extent;
use crate::language::Language;
use crate::map::{How, Known, Map, Use};
use crate::project::{Now, Project};
use crate::rule::Rule;
use crate::rules;
use assay_data::test_results::TestStatus;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

/// Why a test is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It failed when it ran last.
    Failed,
    /// Nobody saw what it uses.
    Unseen,
    /// It used something that is no longer what it was.
    Used {
        /// In which way.
        how: How,
        /// The file or directory.
        path: String,
        /// The name of the block, where it is one.
        block: Option<String>,
    },
    /// It stands in a file that changed beside its tests: what is in it now is not known.
    InFile(String),
    /// It may use more than is known, for this reason.
    Maybe(String),
    /// It imports the package in whose directory a source is that nobody knew.
    Beside {
        /// The source.
        source: String,
    },
    /// Its file is called like a source that nobody knew.
    Called {
        /// The source.
        source: String,
    },
    /// A rule of the user's says so.
    Ruled {
        /// The rule, as it was written.
        rule: String,
        /// The file that changed.
        source: String,
    },
    /// Everything runs.
    Everything,
}

/// A test that is to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is known of it.
    pub known: &'a Known,
    /// Why.
    pub why: Why,
}

/// What is to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice<'a> {
    /// Why everything runs, where it does; the tests below are then those that are known.
    pub everything: Option<String>,
    /// Tests that are known: those that failed first, then the quickest first.
    pub tests: Vec<Chosen<'a>>,
    /// Files that run as a whole, since there may be tests in them that nobody knows; those of `tests` that stand in them are among these.
    pub files: Vec<String>,
    /// Those that are left out, and what is known of them: they used nothing that is not as it was.
    pub left: Vec<(&'a str, &'a Known)>,
}

impl Choice<'_> {
    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.everything.is_none() && self.tests.is_empty() && self.files.is_empty()
    }
}

/// What a path holds now, for comparing.
struct Found {
    now: Rc<Now>,
    sums: Option<HashSet<Sum>>,
}

/// What changed.
#[derive(Clone, Copy, Debug)]
pub enum Changed<'a> {
    /// These paths, from the top of the project, and no others.
    Only(&'a [String]),
    /// Whatever is not as tests used it, and these paths.
    With(&'a [String]),
}

/// Chooses; `rules` are the user's. O(tests · uses).
pub fn choose<'a>(
    map: &'a Map,
    project: &mut Project,
    changed: Changed<'_>,
    rules: &[Rule],
) -> Choice<'a> {
    if map.tests.is_empty() {
        let everything = "nothing is known yet of what its tests use".to_owned();
        return Choice { everything: Some(everything), ..Choice::default() };
    }
    let (all, is_only) = match changed {
        Changed::Only(paths) => (paths.to_vec(), true),
        Changed::With(paths) => {
            let used = map.paths().iter().filter(|path| !paths.contains(path));
            (paths.iter().chain(used).cloned().collect(), false)
        }
    };
    let asked = match changed {
        Changed::Only(paths) | Changed::With(paths) => paths.len(),
    };
    project.ahead(all.iter().filter(|path| map.number(path).is_some()).map(String::as_str));
    let (found, why) = Default::default();
    let mut choosing = Choosing { map, project, rules, found, why };
    let files = match choosing.look(&all, asked, is_only) {
        Ok(files) => files,
        Err(everything) => {
            let tests = map.tests.iter().map(|(name, known)| {
                let failed = known.status == TestStatus::Failed;
                let why = if failed { Why::Failed } else { Why::Everything };
                Chosen { name: name.as_str(), known, why }
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
        .filter_map(|(name, why)| Some(Chosen { name, known: map.tests.get(name)?, why }));
    Choice { everything: None, tests: in_order(tests.collect()), files, left }
}

/// Those that failed first, then the quickest.
fn in_order(mut tests: Vec<Chosen<'_>>) -> Vec<Chosen<'_>> {
    tests.sort_by(|a, b| {
        let failed = |own: &Chosen<'_>| own.known.status != TestStatus::Failed;
        let seconds = |own: &Chosen<'_>| own.known.seconds.unwrap_or(f64::INFINITY);
        failed(a).cmp(&failed(b)).then(seconds(a).total_cmp(&seconds(b))).then(a.name.cmp(b.name))
    });
    tests
}

struct Choosing<'a, 'p> {
    map: &'a Map,
    project: &'p mut Project,
    rules: &'p [Rule],
    found: HashMap<u32, Found>,
    why: BTreeMap<&'a str, Why>,
}

impl<'a> Choosing<'a, '_> {
    /// The files that run as a whole, or why everything does.
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
                return Err(format!("{path} changed, on which everything may depend"));
            }
            let is_ruled = self.by_rules(path, &beside, &mut files);
            is_touched |= is_ruled;
            // A new file of tests may have been loaded when others ran.
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
        // A file of tests of which another part changed than single tests may have others than it had.
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
                    self.why.entry(name).or_insert_with(|| Why::Maybe(why.clone()));
                }
            }
        }
        for (name, known) in &self.map.tests {
            if known.status == TestStatus::Failed {
                self.why.insert(name, Why::Failed);
            } else if known.uses.is_none() && known.status != TestStatus::Skipped {
                self.why.entry(name).or_insert(Why::Unseen);
            }
        }
        // What is gone can't be run.
        let project = &mut *self.project;
        let map = self.map;
        self.why.retain(|name, _| {
            let file = map.tests.get(*name).and_then(|known| known.file.as_deref());
            file.is_none_or(|file| project.now(file).content != ABSENT)
        });
        Ok(files.into_iter().collect())
    }

    /// What the user's rules say of a path that changed; whether they say anything.
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
                    self.why.entry(name).or_insert(Why::Ruled { rule, source });
                }
            }
            // Files of tests that never ran.
            let is_new = |file: &&str| rules::is_test(file) && !beside.contains(file);
            let new = self.project.below("").filter(is_new).filter(|file| rule.names(file));
            files.extend(new.map(str::to_owned));
        }
        is_ruled
    }

    /// A path that no test used.
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
        // It is in what programs were built from as a whole, whose names of files are held against what they were.
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
            return Err(format!("nobody knows who uses {path}"));
        }
        for (name, known) in &self.map.tests {
            if known.file.as_deref().is_some_and(|file| tests.contains(&file)) {
                self.why.insert(name, Why::Called { source: path.to_owned() });
            }
        }
        Ok(())
    }

    /// A new source of a package of Go, which all are built with that use one of its files; whether there is one.
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
                self.why.entry(name).or_insert(Why::Beside { source });
            }
        }
        !files.is_empty()
    }

    fn in_file(&mut self, path: &str) {
        for (name, known) in &self.map.tests {
            if known.file.as_deref() == Some(path) {
                self.why.entry(name).or_insert_with(|| Why::InFile(path.to_owned()));
            }
        }
    }

    /// The first of what a test used that is something else now.
    fn of_test(&mut self, known: &Known, changed: &HashSet<u32>, is_only: bool) -> Option<Why> {
        let uses = known.uses.as_ref()?;
        // What was entered tells more than what was loaded.
        let mut other: Option<Use> = None;
        for own in uses {
            // A listing has no change of its own, but those of what is in it, and so has a directory that comes or goes.
            let is_there = own.sum == ABSENT || own.sum == DIRECTORY;
            let is_asked =
                !is_only || is_there || self.is_of_names(own) || changed.contains(&own.path);
            if is_asked && self.is_other(own) && other.is_none_or(|known| own.how < known.how) {
                other = Some(*own);
            }
        }
        let own = other?;
        // Of a file that is known as a whole nobody can say which block changed.
        let is_cut = own.how == How::Entered && self.found(own.path).sums.is_some();
        let block = self.map.name(own.sum).filter(|_| is_cut);
        Some(Why::Used {
            how: own.how,
            path: self.map.path(own.path).to_owned(),
            block: block.map(str::to_owned),
        })
    }

    /// Whether a use is one of names of files, and not of what they hold.
    fn is_of_names(&self, own: &Use) -> bool {
        match own.how {
            How::Listed | How::Searched => true,
            How::Built | How::Started => Extent::read(self.map.path(own.path)).is_some(),
            _ => false,
        }
    }

    fn is_other(&mut self, own: &Use) -> bool {
        let path = self.map.path(own.path);
        if let How::Listed | How::Searched = own.how {
            return self.project.listing(path, own.how == How::Listed) != own.sum;
        }
        let is_part = matches!(own.how, How::Built | How::Started);
        if let Some(extent) = Extent::read(path).filter(|_| is_part) {
            return self.project.extent(&extent) != own.sum;
        }
        let found = self.found(own.path);
        if found.now.content == own.sum {
            return false;
        }
        // One that was known as a whole has no blocks to compare.
        let sums = found.sums.as_ref().filter(|_| matches!(own.how, How::Entered | How::Loaded));
        sums.is_none_or(|sums| !sums.contains(&own.sum))
    }

    fn may_have_others(&mut self, path: &str, number: u32) -> bool {
        let own = || self.map.tests.iter().filter(|(_, known)| known.file.as_deref() == Some(path));
        // Where all that are known run because of what is in it.
        let is_of_file = |why: &Why| matches!(why, Why::Used { path: own, .. } if own == path);
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

    fn found(&mut self, path: u32) -> &Found {
        let (project, map) = (&mut *self.project, self.map);
        self.found.entry(path).or_insert_with(|| {
            let now = project.now(map.path(path));
            let sums = now.blocks.as_ref().map(|blocks| blocks.sums());
            Found { now, sums }
        })
    }
}
