//! The files of a working tree that a search for benchmarks reads.

use assay_suites::coverage::rules::is_third_party;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of directories with build products or test data.
const FOREIGN: [&str; 6] = ["target", "build", "dist", "testdata", "fixtures", "__pycache__"];
/// Maximum size of a file to read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The files of a working tree that may be of interest.
pub(super) struct Tree {
    top: PathBuf,
    /// Paths relative to the root of the tree, sorted.
    pub files: Vec<String>,
}

impl Tree {
    /// Keeps all files except those in hidden, foreign and third-party directories.
    pub fn of(top: &Path, mut files: Vec<String>) -> Self {
        let is_own = |path: &String| {
            let mut directories = path.split('/').rev().skip(1);
            !directories.any(|name| {
                name.starts_with('.') || FOREIGN.contains(&name) || is_third_party(name)
            })
        };
        files.retain(is_own);
        files.sort();
        Self { top: top.to_owned(), files }
    }

    /// Returns the text of a file; `None` if it is absent, too large or not text.
    pub fn read(&self, path: &str) -> Option<String> {
        let path = self.top.join(path);
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        if size > MOST_BYTES { None } else { fs::read_to_string(path).ok() }
    }

    pub fn has(&self, path: &str) -> bool {
        self.files.binary_search_by(|own| own.as_str().cmp(path)).is_ok()
    }

    /// Returns the files with this name, starting with those nearest to the root.
    pub fn named<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let is_named = |path: &&String| path.rsplit('/').next() == Some(name);
        let mut found: Vec<&str> = self.files.iter().filter(is_named).map(String::as_str).collect();
        found.sort_by_key(|path| path.matches('/').count());
        found
    }

    /// Returns the files with one of these extensions.
    pub fn with_extension<'a>(&'a self, extensions: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.files.iter().map(String::as_str).filter(|path| {
            path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
        })
    }
}

/// Returns the directory of a path; empty for the root.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Joins a directory, which is empty for the root, and a path.
pub(super) fn within(directory: &str, path: &str) -> String {
    if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") }
}

/// Returns true if a pattern with `*` and `**` matches a directory.
pub(super) fn matches(pattern: &str, directory: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    let escaped = regex::escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*");
    regex::Regex::new(&format!("^{escaped}$")).is_ok_and(|own| own.is_match(directory))
}
