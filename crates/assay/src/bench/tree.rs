//! The files of the tree that a side runs in.

use super::Side;
use assay_measure::{git, revisions};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Names of directories without sources of the project.
const LEFT_OUT: [&str; 7] =
    ["__pycache__", "node_modules", "site-packages", "venv", "testdata", "target", "build"];
/// Extensions of files that no benchmark executes.
const NO_CODE: [&str; 4] = ["md", "rst", "txt", "adoc"];
/// Maximum number of files of a tree.
const MOST_FILES: usize = 20_000;

/// The files below a directory.
pub(super) struct TreeContents {
    /// Paths of the sources, relative to the directory.
    pub sources: Vec<String>,
    /// Digests of all other files that may matter.
    pub others: BTreeMap<String, u64>,
}

/// Returns the files below a directory: sources, whose extension is in `endings`, and all others
/// except those with an extension in `left_out`. In the tree of a built revision, only tracked
/// files count as others. `None` if there are too many files.
pub(super) fn contents(root: &Path, endings: &[&str], left_out: &[&str]) -> Option<TreeContents> {
    let mut found = TreeContents { sources: Vec::new(), others: BTreeMap::new() };
    let mut directories = vec![root.to_owned()];
    let mut count = 0;
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).ok()?.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().ok()?;
            if name.starts_with('.') || LEFT_OUT.contains(&name.as_str()) {
                continue;
            }
            if kind.is_dir() {
                directories.push(path);
                continue;
            }
            count += 1;
            if count > MOST_FILES {
                return None;
            }
            let below = path.strip_prefix(root).ok()?.to_string_lossy().into_owned();
            let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            let is_one = |endings: &[&str]| endings.contains(&extension.as_str());
            if is_one(endings) {
                found.sources.push(below);
            } else if kind.is_file() && !is_one(&NO_CODE) && !is_one(left_out) {
                let mut hasher = DefaultHasher::new();
                fs::read(&path).ok()?.hash(&mut hasher);
                found.others.insert(below, hasher.finish());
            }
        }
    }
    // Build products follow from the tracked files, but may contain the directory or the time of
    // the build.
    if revisions::is_built(root)
        && let Some(tracked) = git::tracked(root)
    {
        found.others.retain(|file, _| tracked.contains(file));
    }
    Some(found)
}

/// Returns the root of the tree that a side runs in, if the side has a directory.
pub(super) fn root_of(side: &Side) -> Option<PathBuf> {
    let cwd = side.command.cwd.clone()?.canonicalize().ok()?;
    Some(git::top(&cwd).unwrap_or(cwd))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_the_build_of_a_revision_made_is_left_out() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap().join("own");
        fs::create_dir(&root).unwrap();
        for name in ["a.py", "data.json", "fast.so"] {
            fs::write(root.join(name), name).unwrap();
        }
        let git = |words: &[&str]| {
            assert!(Command::new("git").args(words).current_dir(&root).status().unwrap().success());
        };
        git(&["init", "-q"]);
        git(&["add", "a.py", "data.json"]);
        let others = || -> Vec<String> {
            contents(&root, &["py"], &[]).unwrap().others.into_keys().collect()
        };
        assert_eq!(others(), ["data.json", "fast.so"]);
        fs::write(room.path().join("own.built"), "").unwrap();
        assert_eq!(others(), ["data.json"]);
    }
}
