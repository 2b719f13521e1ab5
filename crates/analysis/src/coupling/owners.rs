//! Assigns test files to sources, by name or else by the functions that their tests use most.

use assay_data::mutation::{Mutation, MutationTest};
use std::collections::{BTreeMap, BTreeSet};

/// Test files, and the sources to which they belong. Where files are unknown, the enclosing part of
/// a test's name takes the place of its file.
#[derive(Debug)]
pub(super) struct Owners {
    names: Vec<String>,
    /// For each test, the index of its file.
    groups: Vec<usize>,
    /// For each test file, the index of the source to which it belongs.
    owners: Vec<Option<usize>>,
    sources: usize,
}

impl Owners {
    pub fn of(mutation: &Mutation) -> Self {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut names = Vec::new();
        let groups: Vec<usize> = mutation
            .tests
            .iter()
            .map(|test| {
                let name = name_of(test);
                *numbers.entry(name.clone()).or_insert_with(|| {
                    names.push(name);
                    names.len() - 1
                })
            })
            .collect();
        let paths: Vec<&str> = mutation.files.iter().map(|file| file.path.as_str()).collect();
        let has_files = mutation.tests.iter().any(|test| test.file.is_some());
        let mut own = Self { owners: Vec::new(), groups, names, sources: paths.len() };
        own.owners = (0..own.names.len())
            .map(|group| {
                let name = &own.names[group];
                by_name(name, has_files, &paths).or_else(|| own.by_use(group, mutation))
            })
            .collect();
        own
    }

    /// Returns the index of a test's file.
    pub fn group(&self, test: usize) -> Option<usize> {
        self.groups.get(test).copied()
    }

    /// Returns the source to which a test file belongs.
    pub fn owner(&self, group: usize) -> Option<usize> {
        self.owners.get(group).copied().flatten()
    }

    pub fn name(&self, group: usize) -> &str {
        self.names.get(group).map_or("", String::as_str)
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns true if a source's own tests can be distinguished from other tests. A single test
    /// file for several sources allows that only for the source to which it belongs.
    pub fn tell_apart(&self, source: usize) -> bool {
        self.names.len() > 1 || self.sources < 2 || self.owner(0) == Some(source)
    }

    /// Returns the source with more than half of the functions that the tests of a file use.
    fn by_use(&self, group: usize, mutation: &Mutation) -> Option<usize> {
        let mut used: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for own in &mutation.mutants {
            let tests = own.covered_by.iter().flatten();
            if tests.into_iter().any(|test| self.group(*test) == Some(group)) {
                let file = mutation.units.get(own.unit)?.file;
                used.entry(file).or_default().insert(own.unit);
            }
        }
        let all: usize = used.values().map(BTreeSet::len).sum();
        let (file, units) = used.iter().max_by_key(|(_, units)| units.len())?;
        (units.len() * 2 > all).then_some(*file)
    }
}

/// Returns the file of a test or, if unknown, the enclosing part of its name.
fn name_of(test: &MutationTest) -> String {
    if let Some(file) = &test.file {
        return file.trim_start_matches("./").to_owned();
    }
    let name = &test.name;
    let around = name.rsplit_once(": ").or_else(|| name.rsplit_once("::"));
    let around = around.or_else(|| name.rsplit_once('.')).map_or(name.as_str(), |own| own.0);
    around.to_owned()
}

/// Returns the source with the same name. If there are several, it is the one with the most
/// directories in common.
fn by_name(group: &str, is_file: bool, paths: &[&str]) -> Option<usize> {
    if is_file && let Some(own) = paths.iter().position(|path| *path == group) {
        return Some(own);
    }
    let own = bare(group, is_file);
    let directories = |path: &str| -> BTreeSet<String> {
        let above = path.rsplit_once('/').map_or("", |own| own.0);
        above.split('/').map(str::to_owned).collect()
    };
    let here = directories(group);
    let alike = paths.iter().enumerate().filter(|(_, path)| {
        // A Go package is a directory.
        let is_package = || !is_file && directory_of(path).is_some_and(|dir| spelt(dir) == own);
        !own.is_empty() && (bare(path, true) == own || is_package())
    });
    let common = |path: &str| directories(path).intersection(&here).count();
    alike.max_by_key(|(index, path)| (common(path), std::cmp::Reverse(*index))).map(|own| own.0)
}

fn directory_of(path: &str) -> Option<&str> {
    path.rsplit_once('/').and_then(|(above, _)| above.rsplit('/').next())
}

/// Strips the parts of a name that mark it as a test.
fn bare(name: &str, is_file: bool) -> String {
    let is_word = |part: &&str| !matches!(*part, "test" | "tests" | "spec");
    let last = if is_file {
        let file = name.rsplit('/').next().unwrap_or_default();
        file.split('.').next().unwrap_or_default()
    } else {
        // Rust's `stack::tests` belongs to the module `stack`.
        let mut parts = name.split(['.', ':', '/']).filter(|part| !part.is_empty());
        parts.rfind(is_word).unwrap_or_default()
    };
    let words = words(last);
    let is_own = |word: &&String| !matches!(word.as_str(), "test" | "tests" | "spec" | "specs");
    words.iter().filter(is_own).map(String::as_str).collect()
}

/// Splits a name into words in lower case. `StackTest` and `stack_test` have the same words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for own in name.chars() {
        if !own.is_alphanumeric() || (own.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = own.is_lowercase();
        if let Some(last) = words.last_mut().filter(|_| own.is_alphanumeric()) {
            last.extend(own.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn spelt(name: &str) -> String {
    words(name).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_file_is_that_of_the_source_of_its_name() {
        let paths = [
            "lib/stack.rb",
            "app/stack.py",
            "src/queue.js",
            "src/tax.rs",
            "pkg/list/list.go",
            "sums.py",
        ];
        for (group, is_file, source) in [
            ("spec/stack_spec.rb", true, Some(0)),
            ("app/test_stack.py", true, Some(1)),
            ("src/queue.test.js", true, Some(2)),
            ("test_stack_trace.py", true, None),
            ("test/queue-test.js", true, Some(2)),
            ("src/tax.rs", true, Some(3)),
            ("pkg/list/list_test.go", true, Some(4)),
            ("test_sums.py", true, Some(5)),
            ("tax::tests", false, Some(3)),
            ("QueueTest", false, Some(2)),
            ("example.org/pkg/list", false, Some(4)),
            ("test/all.rb", true, None),
            ("test/test.rb", true, None),
        ] {
            assert_eq!(by_name(group, is_file, &paths), source, "{group}");
        }
    }

    #[test]
    fn a_directory_is_the_last_one_above_a_file() {
        assert_eq!(directory_of("a/b/c.rs"), Some("b"));
        assert_eq!((directory_of("b/c.rs"), directory_of("c.rs")), (Some("b"), None));
        assert_eq!(spelt("HttpServer"), spelt("http_server"));
        assert!(!spelt("http_server").is_empty());
    }
}
