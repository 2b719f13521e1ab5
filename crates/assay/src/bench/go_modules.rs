//! The Go modules in a tree: maps paths in Go's coverage data to files of the tree, and rebuilds
//! the tests of a package with other options.

use super::Side;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The modules in a tree. Inner modules precede those that contain them.
#[derive(Debug)]
pub(super) struct GoModules(Vec<Module>);

#[derive(Debug)]
struct Module {
    path: String,
    /// Directory of the module, relative to the root of the tree, with a trailing slash; empty for
    /// the root.
    directory: String,
}

impl GoModules {
    /// Finds the modules among the files of a tree.
    pub fn of(root: &Path, files: &BTreeMap<String, u64>) -> Self {
        let of = |file: &String| {
            let directory = file.strip_suffix("go.mod")?;
            let text = fs::read_to_string(root.join(file)).ok()?;
            let is_one = directory.is_empty() || directory.ends_with('/');
            let (path, directory) = (module_path(&text)?.to_owned(), directory.to_owned());
            is_one.then_some(Module { path, directory })
        };
        let mut found: Vec<Module> = files.keys().filter_map(of).collect();
        found.sort_by_key(|own| std::cmp::Reverse(own.path.len()));
        Self(found)
    }

    /// Returns the candidate paths, relative to the root of the tree, for a file whose path begins
    /// with that of its module.
    pub fn places(&self, file: &str) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(move |own| {
            let file = file.strip_prefix(&own.path)?.strip_prefix('/')?;
            Some(format!("{}{file}", own.directory))
        })
    }

    /// Returns the pattern that matches the packages of all modules, in the form that `-coverpkg`
    /// takes.
    pub fn everything(&self) -> String {
        let all: Vec<String> = self.0.iter().map(|own| format!("{}/...", own.path)).collect();
        all.join(",")
    }

    /// Rebuilds the tests of the package that a side's program was built from, with the given
    /// options, from the sources below `root`. Returns `None` if that fails.
    pub fn built_again(
        &self,
        root: &Path,
        side: &Side,
        options: &[&str],
        program: PathBuf,
    ) -> Option<Side> {
        let built = side.command.resolve().ok()?;
        let facts = go(root, &["version", "-m", built.to_str()?])?;
        let path = facts.lines().find_map(|line| line.trim().strip_prefix("path\t"))?;
        let package = path.strip_suffix(".test")?;
        let module = self.0.iter().find(|own| own.holds(package))?;
        let to = ["-o", program.to_str()?, package];
        go(&root.join(&module.directory), &[&["test", "-c"], options, &to].concat())?;
        let mut own = side.clone();
        own.command.argv[0] = program.into_os_string();
        Some(own)
    }
}

impl Module {
    fn holds(&self, package: &str) -> bool {
        let rest = package.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Returns the path of the module that the text of a go.mod declares.
pub(crate) fn module_path(text: &str) -> Option<&str> {
    let mut directives =
        text.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    let (_, path) = directives.find(|(directive, _)| *directive == "module")?;
    Some(path.split("//").next()?.trim().trim_matches(['"', '`'])).filter(|path| !path.is_empty())
}

/// Runs Go in a directory, and returns its output; `None` if it fails.
fn go(directory: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("go");
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_modules_of_a_go_tree_are_those_of_all_its_directories() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("lib/go.mod", "// A comment.\nmodule example.org/lib // v1\n\ngo 1.22\n");
        write("lib/tools/go.mod", "module \"example.org/lib/tools\"\n");
        let files = ["lib/go.mod", "lib/tools/go.mod"].map(|file| (file.to_owned(), 0));
        let modules = GoModules::of(&root, &BTreeMap::from(files));
        let places = |file| modules.places(file).collect::<Vec<_>>();
        assert_eq!(places("example.org/lib/a/a.go"), ["lib/a/a.go"]);
        // Inner modules precede those that contain them.
        assert_eq!(places("example.org/lib/tools/b.go"), ["lib/tools/b.go", "lib/tools/b.go"]);
        assert!(places("example.org/library/a/a.go").is_empty());
        assert_eq!(modules.everything(), "example.org/lib/tools/...,example.org/lib/...");
        assert_eq!(module_path("modules x\nmodule\tm/v2\n"), Some("m/v2"));
        assert_eq!(module_path("go 1.22\n"), None);
    }
}
