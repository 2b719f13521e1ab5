//! Determines which benchmarks execute functions that changed between the trees of the sides. Each
//! benchmark is run once without timing, if its harness is for a language that can report what it
//! executes ([`Language`]).
//!
//! The functions of both trees are compared by their text. A benchmark that executes no changed
//! function is a control if nothing else differs between the trees. No conclusion is drawn if a
//! side does not report anything, or if it executes a copy of a changed file from elsewhere (an
//! installed package). Node.js is handled separately ([`scripts`]).

use super::functions::{Function, OUTSIDE, at, functions};
use super::go_modules::GoModules;
use super::reached::{Wording, reach};
use super::tree::{TreeContents, contents};
use super::{Asker, Catalogue, Side, scripts};
use crate::output;
use crate::run_error::RunError;
use assay_data::Finding;
use assay_harness::executed::{Language, SourceLine, executed_by_each};
use assay_harness::{Driver, Effort};
use assay_measure::code::Changed;
use assay_measure::git;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Extensions of files that state the versions of packages installed outside the tree.
const LOCKS: [&str; 1] = ["lock"];
/// Directories of installed packages. Files in them do not belong to the tree, unless they are
/// copies of sources.
const ENVIRONMENTS: [&str; 6] =
    ["site-packages", "dist-packages", "venv", ".venv", ".tox", ".bundle"];

/// What is known about the functions that the benchmarks execute.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// The finding about each side whose tree differs from that of the reference, by the index of
    /// the side.
    of_sides: BTreeMap<usize, Finding>,
    /// Digests of the code that a benchmark executes on a side, by benchmark and side.
    digests: BTreeMap<(usize, usize), String>,
    /// The changed functions that benchmarks of a side other than the reference execute, longest
    /// first for each side.
    pub(super) touched: Vec<Touched>,
    /// The tree of each side; `None` where executed functions cannot be reported.
    pub(super) trees: Vec<Option<Tree>>,
}

/// A changed function, and the benchmarks that execute it on a side.
#[derive(Debug)]
pub(super) struct Touched {
    /// Index of the side.
    pub side: usize,
    /// Displayed name.
    pub name: String,
    /// File and name of the function.
    pub key: Key,
    /// Indices of the benchmarks that execute the function.
    pub benchmarks: Vec<usize>,
}

/// The key of a function: its file, relative to the root of its tree, and its name.
pub(super) type Key = (String, String);

/// The source tree of a side.
#[derive(Debug)]
pub(super) struct Tree {
    pub root: PathBuf,
    pub language: Language,
    /// The functions of each source file, by the file's path relative to the root.
    pub files: BTreeMap<String, Vec<Function>>,
    /// Digests of all other files that may matter, by path.
    others: BTreeMap<String, u64>,
    modules: GoModules,
}

impl Executed {
    /// Runs each benchmark once on the reference and on each side with a different tree. If that
    /// takes longer than `most_seconds`, only the digests of the benchmarks run until then are
    /// known. Calls `telling(done, total)` with the numbers of runs.
    ///
    /// # Errors
    /// Returns an error if the user interrupts, if a program cannot be started, or if a benchmark
    /// executes the same copy of a changed file on both sides. A failed run only yields no result.
    pub fn of(
        catalogue: &Catalogue,
        benchmarks: &[usize],
        (asker, most_seconds): (&mut Asker, f64),
        telling: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RunError> {
        let began = Instant::now();
        let mut found = Self::default();
        if benchmarks.is_empty() || !catalogue.isolates() {
            return Ok(found);
        }
        found.digests = scripts::digests(catalogue, benchmarks, (asker, most_seconds), telling)?;
        let trees = trees(catalogue);
        let Some(Some(reference)) = trees.first() else { return Ok(found) };
        let others: Vec<usize> = (1..trees.len())
            .filter(|&side| trees[side].as_ref().is_some_and(|own| own.differs(reference)))
            .collect();
        if others.is_empty() {
            return Ok(found);
        }
        let wanted = std::iter::once(0).chain(others.iter().copied());
        let mut traced = Vec::new();
        for side in wanted {
            let Some(tree) = &trees[side] else { continue };
            let Some(traceable) = Traceable::of(catalogue, side, tree, benchmarks, asker)? else {
                return Ok(found);
            };
            traced.push(traceable);
        }
        let mut executed: BTreeMap<(usize, usize), BTreeSet<Key>> = BTreeMap::new();
        let mut shared = SharedFiles::default();
        let mut done = 0;
        let all: Vec<(usize, usize)> = benchmarks
            .iter()
            .flat_map(|&benchmark| (0..traced.len()).map(move |own| (benchmark, own)))
            .collect();
        for &(benchmark, own) in &all {
            telling(done, all.len());
            if began.elapsed().as_secs_f64() > most_seconds {
                break;
            }
            done += 1;
            let side = traced[own].side;
            let Some(name) = &catalogue.benchmarks[benchmark].on[side] else { continue };
            let Some(places) = traced[own].places(name, asker)? else { continue };
            shared.add(name, side, traced[own].tree, &places);
            if let Some(keys) = traced[own].tree.keys(&places) {
                executed.insert((benchmark, side), keys);
            }
        }
        for side in others {
            let Some(tree) = &trees[side] else { continue };
            shared.refuse(side, reference, tree)?;
            let whose = match catalogue.sides.len() {
                2 => String::new(),
                _ => format!(" in {}", catalogue.sides[side].name),
            };
            found.add(benchmarks, &executed, (reference, tree), side, &whose);
        }
        // A finding covers all benchmarks, and so needs the run of every one.
        if done < all.len() {
            found.of_sides.clear();
            found.touched.clear();
        }
        drop(traced);
        found.trees = trees;
        Ok(found)
    }

    /// Adds what is known about a side.
    fn add(
        &mut self,
        benchmarks: &[usize],
        executed: &BTreeMap<(usize, usize), BTreeSet<Key>>,
        (old, new): (&Tree, &Tree),
        side: usize,
        whose: &str,
    ) {
        let changed = old.changed(new);
        let pairs: Vec<(usize, [&BTreeSet<Key>; 2])> = benchmarks
            .iter()
            .filter_map(|&benchmark| {
                let of = |side| executed.get(&(benchmark, side));
                Some((benchmark, [of(0)?, of(side)?]))
            })
            .collect();
        let is_in = |key: &Key, on: &[&BTreeSet<Key>; 2]| on.iter().any(|own| own.contains(key));
        // Every import executes the code of a file outside its functions, such as the definition of
        // its version.
        let is_function = |key: &&Key| key.1 != OUTSIDE;
        let executes =
            |on: &[&BTreeSet<Key>; 2]| changed.keys().filter(is_function).any(|key| is_in(key, on));
        let differ = pairs.iter().filter(|(_, on)| executes(on)).count();
        let named = |(file, name): &Key| match ambiguous(&changed, name) {
            true => format!("{name} of {file}"),
            false => name.clone(),
        };
        let mut functions: Vec<(&Key, Changed)> = changed
            .iter()
            .filter(|(key, _)| is_function(key))
            .map(|(key, lines)| {
                let is_reached = pairs.iter().any(|(_, on)| is_in(key, on));
                (key, Changed { name: named(key), bytes: *lines as u64, is_reached })
            })
            .collect();
        functions.sort_by(|(_, a), (_, b)| b.bytes.cmp(&a.bytes).then(a.name.cmp(&b.name)));
        for (key, own) in &functions {
            let executes = pairs.iter().filter(|(_, on)| on[1].contains(*key));
            let benchmarks: Vec<usize> = executes.map(|(benchmark, _)| *benchmark).collect();
            if !benchmarks.is_empty() {
                let (name, key) = (own.name.clone(), (*key).clone());
                self.touched.push(Touched { side, name, key, benchmarks });
            }
        }
        let functions: Vec<Changed> = functions.into_iter().map(|(_, own)| own).collect();
        if let Some(finding) = reach(&functions, (differ, pairs.len()), whose, Wording::Executes) {
            self.of_sides.insert(side, finding);
        }
        // Go's digests are taken from the machine code, which covers more.
        if old.language != Language::Go && old.others == new.others {
            for (benchmark, on) in &pairs {
                for (of, tree, keys) in [(0, old, on[0]), (side, new, on[1])] {
                    self.digests.insert((*benchmark, of), tree.digest(keys));
                }
            }
        }
    }

    /// Returns the digest of the code that a benchmark executes on a side, if it is known.
    pub fn digest(&self, benchmark: usize, side: usize) -> Option<String> {
        self.digests.get(&(benchmark, side)).cloned()
    }

    /// Returns the finding about a side, if it is known which of its benchmarks execute a change.
    pub fn finding(&self, side: usize) -> Option<&Finding> {
        self.of_sides.get(&side)
    }
}

/// Files outside the trees that benchmarks execute and that may be copies of sources. For each path
/// and side, contains a benchmark that executes the file, and the executed lines.
#[derive(Debug, Default)]
struct SharedFiles(BTreeMap<(PathBuf, usize), (String, BTreeSet<usize>)>);

impl SharedFiles {
    /// Adds the files that a benchmark executes on a side.
    fn add(&mut self, benchmark: &str, side: usize, tree: &Tree, places: &[SourceLine]) {
        for place in places {
            let path = Path::new(&place.file);
            // Only executed functions count, not what runs when the file is loaded.
            if tree.language != Language::Go
                && place.line > 0
                && tree.is_copy(&place.file)
                && tree.below(&place.file).is_none()
                && let Ok(path) = path.canonicalize()
            {
                let new = || (benchmark.to_owned(), BTreeSet::new());
                self.0.entry((path, side)).or_insert_with(new).1.insert(place.line);
            }
        }
    }

    /// Refuses to compare a side with the reference if both execute the same copy of a file that
    /// differs between their trees, such as that of the working tree: its change would seem to have
    /// no effect. A copy that has the text of neither, because it is older or newer, is refused
    /// only if a changed function is executed in it.
    fn refuse(&self, side: usize, old: &Tree, new: &Tree) -> Result<(), RunError> {
        let changed = old.changed(new);
        let of_reference = self.0.iter().filter(|((_, of), _)| *of == 0);
        for ((path, _), (benchmark, lines)) in of_reference {
            if !self.0.contains_key(&(path.clone(), side)) {
                continue;
            }
            let text = path.to_string_lossy();
            let original = old.original(&text).or_else(|| new.original(&text));
            let is_changed = match original {
                Some(own) => changed.keys().any(|(file, _)| file == own),
                None => {
                    let copy = fs::read_to_string(path).unwrap_or_default();
                    let copy = functions(new.language, &copy);
                    let executed: BTreeSet<&str> = lines
                        .iter()
                        .filter_map(|&line| at(&copy, line).filter(|name| *name != OUTSIDE))
                        .collect();
                    changed.keys().any(|(file, name)| {
                        in_package(file) == in_package(&text) && executed.contains(name.as_str())
                    })
                }
            };
            if is_changed {
                return Err(RunError::Reading(format!(
                    "{benchmark} executes {text} on both sides, so it would not show what changed there; let each \
                     side import its own files: by PYTHONPATH, by -I, or by a build line that installs them"
                )));
            }
        }
        Ok(())
    }
}

/// Returns true if the trees of all sides have the same functions, apart from comments, and the
/// same other files. Programs that were built from them in the same way do the same.
pub(crate) fn has_same_sources(catalogue: &Catalogue) -> bool {
    let trees = trees(catalogue);
    let Some((Some(reference), others)) = trees.split_first() else { return false };
    let is_same = |own: &Option<Tree>| own.as_ref().is_some_and(|own| own.is_same(reference));
    !others.is_empty() && others.iter().all(is_same)
}

/// Returns true if functions of this name changed in several files.
fn ambiguous(changed: &BTreeMap<Key, usize>, name: &str) -> bool {
    changed.keys().filter(|(_, own)| own == name).count() > 1
}

/// Returns the tree of each side; `None` for a side whose language cannot report what it executes.
fn trees(catalogue: &Catalogue) -> Vec<Option<Tree>> {
    let sides = catalogue.sides.iter().zip(&catalogue.drivers);
    let places: Vec<Option<(Language, PathBuf, PathBuf)>> = sides
        .map(|(side, driver)| {
            let cwd = side.command.cwd.clone()?.canonicalize().ok()?;
            let top = git::top(&cwd).unwrap_or_else(|| cwd.clone());
            Some((driver.executes()?, top, cwd))
        })
        .collect();
    let first = places.first().cloned().flatten();
    let of = |(index, place): (usize, &Option<(Language, PathBuf, PathBuf)>)| {
        let (language, top, cwd) = place.clone()?;
        let (_, first_top, _) = first.as_ref()?;
        // Trees inside one repository are distinguished by their own directories.
        let shares = index > 0 && top == *first_top;
        Tree::read(language, if shares { cwd } else { top })
    };
    places.iter().enumerate().map(of).collect()
}

impl Tree {
    /// Reads the sources below a directory; `None` if there are too many, or none.
    fn read(language: Language, root: PathBuf) -> Option<Self> {
        let ending = match language {
            Language::Python => "py",
            Language::Ruby => "rb",
            Language::Go => "go",
        };
        let TreeContents { sources, others } = contents(&root, &[ending], &LOCKS)?;
        let mut files = BTreeMap::new();
        for below in sources {
            let text = fs::read(root.join(&below)).ok()?;
            let text = String::from_utf8_lossy(&text);
            files.insert(below, functions(language, &text));
        }
        let is_empty = files.is_empty();
        let modules = GoModules::of(&root, &others);
        (!is_empty).then_some(Self { root, language, files, others, modules })
    }

    /// Rebuilds the program of a Go side; see [`GoModules::built_again`].
    pub fn built_again(&self, side: &Side, options: &[&str], program: PathBuf) -> Option<Side> {
        self.modules.built_again(&self.root, side, options, program)
    }

    fn differs(&self, reference: &Self) -> bool {
        self.language == reference.language
            && self.root != reference.root
            && !reference.changed(self).is_empty()
    }

    /// Returns true if another tree has the same text, apart from comments. Always false for Go,
    /// because not all of the text of a Go tree is known.
    fn is_same(&self, reference: &Self) -> bool {
        self.language == reference.language
            && self.language != Language::Go
            && self.root != reference.root
            && self.others == reference.others
            && reference.changed(self).is_empty()
    }

    /// Returns the functions that differ or that only one of the trees has, with their numbers of
    /// lines. Go tests are not instrumented, so nothing is known about them, and they are omitted.
    fn changed(&self, other: &Self) -> BTreeMap<Key, usize> {
        let of = |tree: &Self| -> BTreeMap<Key, Vec<String>> {
            let mut all: BTreeMap<Key, Vec<String>> = BTreeMap::new();
            for (file, functions) in &tree.files {
                let is_known = tree.language != Language::Go || !file.ends_with("_test.go");
                for own in functions.iter().filter(|_| is_known) {
                    let is_executed = own.name != OUTSIDE || tree.language != Language::Go;
                    if is_executed {
                        // Definitions with the same name in one file count as one.
                        let text = all.entry((file.clone(), own.name.clone())).or_default();
                        text.extend(own.text.iter().cloned());
                    }
                }
            }
            all
        };
        let (old, mut new) = (of(self), of(other));
        let mut changed = BTreeMap::new();
        for (key, text) in old {
            let now = new.remove(&key).unwrap_or_default();
            if text != now {
                changed.insert(key, text.len().max(now.len()));
            }
        }
        let added = new.into_iter().filter(|(_, text)| !text.is_empty());
        changed.extend(added.map(|(key, text)| (key, text.len())));
        changed
    }

    /// Returns the functions that contain these places; `None` if a place is in a file whose text
    /// does not match any source of this tree.
    fn keys(&self, places: &[SourceLine]) -> Option<BTreeSet<Key>> {
        let mut found = BTreeSet::new();
        for place in places {
            let file = match self.below(&place.file) {
                Some(file) if self.files.contains_key(&file) => file,
                // Ruby's own methods and evaluated text have names such as <internal:kernel>.
                Some(file) if !self.root.join(&file).is_file() => continue,
                Some(file) if is_in_environment(&file) && !self.is_copy(&file) => continue,
                // The file is a copy that the build installed, or is in a directory that may be
                // generated.
                Some(file) => self.original(&file)?.to_owned(),
                None if place.line > 0 && self.is_copy(&place.file) => {
                    self.original(&place.file)?.to_owned()
                }
                None => continue,
            };
            let own = self.files.get(&file).and_then(|own| at(own, place.line));
            found.extend(own.map(|name| (file, name.to_owned())));
        }
        Some(found)
    }

    /// Returns the source with the same package, name and text as another file, whose path is
    /// absolute or relative to the root.
    fn original(&self, copy: &str) -> Option<&str> {
        let text = fs::read(self.root.join(copy)).ok()?;
        let is_it = |own: &&String| {
            in_package(own) == in_package(copy)
                && fs::read(self.root.join(own)).is_ok_and(|own| own == text)
        };
        self.files.keys().find(is_it).map(String::as_str)
    }

    /// Returns the path of a file relative to the root; `None` if it is not below the root.
    fn below(&self, file: &str) -> Option<String> {
        if self.language == Language::Go {
            return self.modules.places(file).find(|own| self.files.contains_key(own));
        }
        let path = Path::new(file);
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Some(path.strip_prefix(&self.root).ok()?.to_string_lossy().into_owned())
    }

    /// Returns true if a file has the same package and name as one of the sources.
    fn is_copy(&self, file: &str) -> bool {
        let own = in_package(file);
        own.is_some() && self.files.keys().any(|known| in_package(known) == own)
    }

    /// Returns the digest of these functions, without lines that set a version.
    fn digest(&self, keys: &BTreeSet<Key>) -> String {
        let mut hasher = DefaultHasher::new();
        for (file, name) in keys {
            let functions = self.files.get(file).into_iter().flatten();
            for own in functions.filter(|own| own.name == *name) {
                let states = |line: &&String| name == OUTSIDE && is_version(line);
                let text: Vec<&String> = own.text.iter().filter(|line| !states(line)).collect();
                (file, name, text).hash(&mut hasher);
            }
        }
        format!("executed:{:016x}", hasher.finish())
    }
}

/// Returns the name of a file's directory and the name of the file; `None` for a path without a
/// directory.
fn in_package(path: &str) -> Option<(&str, &str)> {
    let (above, name) = path.rsplit_once('/')?;
    Some((above.rsplit('/').next().unwrap_or_default(), name))
}

/// Returns true if a file is in a directory of installed packages.
fn is_in_environment(file: &str) -> bool {
    file.split('/').rev().skip(1).any(|own| ENVIRONMENTS.contains(&own))
}

/// Returns true for a line that sets the version of a package.
fn is_version(line: &str) -> bool {
    let name = line.split('=').next().unwrap_or_default().trim().to_lowercase();
    line.contains('=') && ["__version__", "version", "__version_info__"].contains(&name.as_str())
}

/// A side that can report what its benchmarks execute.
struct Traceable<'a> {
    side: usize,
    tree: &'a Tree,
    driver: &'a dyn Driver,
    program: Side,
    /// The places that each benchmark executes, by the benchmark's name, if a single run reported
    /// them for several benchmarks.
    each: BTreeMap<String, Vec<SourceLine>>,
}

impl<'a> Traceable<'a> {
    /// Prepares a side's program. If there are several benchmarks and one run can report what each
    /// executes, makes that run. `None` if the program cannot be built.
    fn of(
        catalogue: &'a Catalogue,
        side: usize,
        tree: &'a Tree,
        benchmarks: &[usize],
        asker: &mut Asker,
    ) -> Result<Option<Self>, RunError> {
        let driver = &*catalogue.drivers[side];
        let Some(program) = instrumented(&catalogue.sides[side], tree, asker) else {
            return Ok(None);
        };
        let scratch = directory(asker)?;
        let mut each = BTreeMap::new();
        if benchmarks.len() > 1
            && let Some(request) = driver.run_each(&scratch)
        {
            asker.ask(&program, &tree.language.asking(request, &scratch), &scratch)?;
            each = executed_by_each(&scratch);
        }
        Ok(Some(Self { side, tree, driver, program, each }))
    }

    /// Returns the places that a benchmark executes, running it if they are not known yet; `None`
    /// if the run does not report them.
    fn places(
        &mut self,
        name: &str,
        asker: &mut Asker,
    ) -> Result<Option<Vec<SourceLine>>, RunError> {
        if let Some(places) = self.each.remove(name) {
            return Ok(Some(places));
        }
        let scratch = directory(asker)?;
        let request = self.driver.measure(name, Effort::Once, &scratch);
        let request = self.tree.language.asking(request, &scratch);
        let ran = asker.ask(&self.program, &request, &scratch)?;
        let did_run = ran.reading(self.driver, name).is_some();
        Ok(self.tree.language.executed(&scratch).filter(|_| did_run))
    }
}

/// Returns a new directory for a request.
fn directory(asker: &mut Asker) -> Result<PathBuf, RunError> {
    asker.directory().map_err(|error| RunError::Reading(output::told(&error)))
}

/// Returns the side with a program that can report what it executes. For Go, the package is rebuilt
/// with coverage. `None` if that fails.
fn instrumented(side: &Side, tree: &Tree, asker: &mut Asker) -> Option<Side> {
    if tree.language != Language::Go {
        return Some(side.clone());
    }
    let covered = format!("-coverpkg={}", tree.modules.everything());
    tree.built_again(side, &["-cover", &covered], asker.directory().ok()?.join("executed.test"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn tree(root: &Path, text: &str) -> Tree {
        fs::create_dir_all(root.join("pkg")).unwrap();
        fs::write(root.join("pkg/a.py"), text).unwrap();
        Tree::read(Language::Python, root.to_owned()).unwrap()
    }

    #[test]
    fn sides_that_execute_the_same_copy_of_a_changed_file_are_refused() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let text = "def fast():\n    return 1\n";
        let changed = text.replace('1', "2");
        let old = tree(&root.join("old"), text);
        let new = tree(&root.join("new"), &changed);
        let refusal = |text: &str, old: &Tree, new: &Tree, sides: &[usize], line| {
            let copy = tree(&root.join("work"), text).root.join("pkg/a.py");
            let place = SourceLine { file: copy.display().to_string(), line };
            let mut shared = SharedFiles::default();
            for &side in sides {
                let tree = if side == 0 { old } else { new };
                shared.add("test_a", side, tree, std::slice::from_ref(&place));
            }
            shared.refuse(1, old, new).err().map(|error| error.to_string())
        };
        let both = &[0, 1][..];
        // The copy has the text of the working tree, or of an installed base.
        for text in [text, &changed] {
            let why = refusal(text, &old, &new, both, 1).unwrap();
            assert!(
                why.contains("test_a executes ") && why.contains("work/pkg/a.py on both"),
                "{why}"
            );
        }
        // The copy has an older or newer version of a function that changed.
        for text in ["def fast():\n    return 7\n", "# 1.0\ndef fast():\n    return 1, 2\n"] {
            assert!(refusal(text, &old, &new, both, 2).is_some(), "{text}");
        }
        let two = "def fast():\n    return 7\n\n\ndef other():\n    pass\n";
        assert_eq!(refusal(two, &old, &new, both, 6), None);
        // Not refused: a copy on one side only, one that is only loaded, one without the changed
        // function, and trees without changes.
        assert_eq!(refusal(text, &old, &new, &[0], 1), None);
        assert_eq!(refusal(text, &old, &new, &[1], 1), None);
        assert_eq!(refusal(text, &old, &new, both, 0), None);
        assert_eq!(refusal("def other(): pass\n", &old, &new, both, 1), None);
        let same = tree(&root.join("same"), text);
        assert_eq!(refusal(text, &old, &same, both, 1), None);
        // The files of the sides themselves are not copies.
        let own = SourceLine { file: new.root.join("pkg/a.py").display().to_string(), line: 1 };
        let mut shared = SharedFiles::default();
        shared.add("test_a", 1, &new, &[own]);
        assert_eq!(shared.0.len(), 0);
    }

    #[test]
    fn a_benchmark_executes_a_change_where_its_function_is_executed() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let text = "def fast():\n    return 1\n\ndef parse():\n    return 2\n";
        let old = tree(&root.join("old"), text);
        let new = tree(&root.join("new"), &text.replace("return 2", "return 3\n    return 2"));
        let changed = old.changed(&new);
        assert_eq!(
            changed.keys().collect::<Vec<_>>(),
            [&("pkg/a.py".to_owned(), "parse".to_owned())]
        );
        let place = |tree: &Tree, line| SourceLine {
            file: tree.root.join("pkg/a.py").display().to_string(),
            line,
        };
        let of = |tree: &Tree, lines: &[usize]| {
            tree.keys(&lines.iter().map(|&line| place(tree, line)).collect::<Vec<_>>()).unwrap()
        };
        let executed = BTreeMap::from([
            ((0, 0), of(&old, &[1])),
            ((0, 1), of(&new, &[1])),
            ((1, 0), of(&old, &[1, 4])),
            ((1, 1), of(&new, &[1, 4])),
        ]);
        let mut found = Executed::default();
        found.add(&[0, 1], &executed, (&old, &new), 1, "");
        let finding = found.finding(1).unwrap();
        assert_eq!(finding.message, "1 of 2 benchmarks executes code that changed");
        assert_eq!(found.digest(0, 0), found.digest(0, 1));
        assert_ne!(found.digest(1, 0), found.digest(1, 1));
        // The code of a loaded file outside its functions counts, except for its version.
        let loaded = |text: &str| {
            let own = tree(&root.join("loaded"), text);
            own.digest(&of(&own, &[0, 2]))
        };
        let first = loaded("LIMIT = 3\ndef fast():\n    return LIMIT\n");
        assert_ne!(first, loaded("LIMIT = 4\ndef fast():\n    return LIMIT\n"));
        let with = loaded("LIMIT = 3\ndef fast():\n    return LIMIT\n__version__ = '1.1'\n");
        assert_eq!(first, with);
        // Comments are not code.
        let commented = tree(&root.join("commented"), &format!("# A comment.\n\n{text}"));
        assert!(commented.is_same(&old) && !new.is_same(&old) && !old.is_same(&old));
        // A copy elsewhere is not the code that was built.
        let copy = SourceLine { file: "/lib/site-packages/pkg/a.py".to_owned(), line: 4 };
        assert_eq!(new.keys(&[copy]), None);
        // A copy that was installed inside the tree is, unless its text differs.
        let in_tree = |file: &str, text: &str| {
            let path = new.root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            SourceLine { file: path.display().to_string(), line: 4 }
        };
        let own = fs::read_to_string(new.root.join("pkg/a.py")).unwrap();
        let installed = in_tree(".assay/site/pkg/a.py", &own);
        assert_eq!(new.keys(&[installed]), Some(of(&new, &[4])));
        assert_eq!(new.keys(&[in_tree(".assay/site/pkg/a.py", text)]), None);
        // A directory that is usually generated may be a package.
        assert_eq!(new.keys(&[in_tree("src/build/a.py", text)]), None);
        let internal = new.root.join("<internal:kernel>").display().to_string();
        assert_eq!(new.keys(&[SourceLine { file: internal, line: 4 }]), Some(BTreeSet::new()));
        let package = in_tree("env/lib/python3.11/site-packages/other/a.py", text);
        assert_eq!(new.keys(&[package]), Some(BTreeSet::new()));
        // An environment may also contain the package of the tree.
        let installed = in_tree(".venv/lib/python3.11/site-packages/pkg/a.py", &own);
        assert_eq!(new.keys(&[installed]), Some(of(&new, &[4])));
        let older = in_tree(".venv/lib/python3.12/site-packages/pkg/a.py", text);
        assert_eq!(new.keys(std::slice::from_ref(&older)), None);
        // Elsewhere, the text decides, too.
        let elsewhere =
            SourceLine { file: new.root.join("pkg/a.py").display().to_string(), line: 4 };
        assert_eq!(old.keys(&[elsewhere]), None);
        assert_eq!(old.keys(&[older]), Some(of(&old, &[4])));
        // A file that is not a source may change the behavior of a function.
        fs::write(new.root.join("pkg/native.so"), "x").unwrap();
        let with = Tree::read(Language::Python, new.root.clone()).unwrap();
        let mut found = Executed::default();
        found.add(&[0, 1], &executed, (&old, &with), 1, "");
        assert_eq!(found.digest(0, 0), None);
        fs::write(commented.root.join("pkg/native.so"), "x").unwrap();
        let with = Tree::read(Language::Python, commented.root.clone()).unwrap();
        assert!(!with.is_same(&old));
    }
}
