//! Determines which files are not watched: those that git ignores, internal files of version
//! control and tools, and temporary copies that editors make while saving.

use crate::store::state_directory;
use anyhow::Context;
use assay_measure::directories::cache_directory;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Directories that contain no files to edit, even if git does not ignore them.
const DIRECTORIES: [&str; 16] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".bzr",
    "_darcs",
    "CVS",
    ".bundle",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
];

/// The file that marks a directory as a cache.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Prefixes of the names of editors' temporary files and of our own temporary directories.
const BEGINNINGS: [&str; 4] = [".#", ".goutputstream-", ".~lock.", "assay-room-"];
/// Suffixes of the names of editors' temporary files and of compiled Python files.
const ENDS: [&str; 8] =
    ["~", ".swp", ".swo", ".swx", ".swpx", "___jb_tmp___", "___jb_old___", ".pyc"];

/// Decides which files are ignored.
pub(crate) struct Ignored {
    /// The directory up to which `.gitignore` files are read: the root of the repository, or the
    /// watched directory if there is no repository.
    from: PathBuf,
    /// The patterns of `--ignore`.
    wanted: Gitignore,
    /// The user's global ignore patterns for git, and those in the repository's
    /// `.git/info/exclude`.
    everywhere: Vec<Gitignore>,
    /// The patterns in each directory's `.gitignore`, read on demand.
    of: HashMap<PathBuf, Option<Gitignore>>,
    /// Directories with files of assay itself.
    own: Vec<PathBuf>,
}

impl Ignored {
    /// Prepares to ignore files below this directory, by git's patterns and by `patterns`, which
    /// are in `.gitignore` syntax.
    ///
    /// # Errors
    /// Returns an error if a pattern is invalid.
    pub fn below(top: &Path, patterns: &[String]) -> anyhow::Result<Self> {
        let mut wanted = GitignoreBuilder::new(top);
        for pattern in patterns {
            wanted.add_line(None, pattern).with_context(|| format!("--ignore {pattern}"))?;
        }
        let repository = top.ancestors().find(|above| above.join(".git").exists());
        let (global, _unreadable) = GitignoreBuilder::new(top).build_global();
        let mut everywhere = vec![global];
        if let Some(repository) = repository {
            let mut own = GitignoreBuilder::new(repository);
            let _none = own.add(repository.join(".git/info/exclude"));
            everywhere.extend(own.build());
        }
        Ok(Self {
            from: repository.unwrap_or(top).to_owned(),
            wanted: wanted.build()?,
            everywhere,
            of: HashMap::new(),
            own: state_directory().into_iter().chain(cache_directory()).collect(),
        })
    }

    /// Returns true if a path is ignored, and with it everything below.
    pub fn skips(&mut self, path: &Path, is_directory: bool) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_directory && DIRECTORIES.contains(&name.as_ref()) || is_a_copy(&name) {
            return true;
        }
        if is_directory
            && (path.join(CACHE_TAG).is_file() || self.own.iter().any(|own| own == path))
        {
            return true;
        }
        if !is_directory && name == ".gitignore" {
            // The file may have changed, so its patterns are read again when they are needed.
            self.of.remove(path.parent().unwrap_or(path));
        }
        match self.wanted.matched(path, is_directory) {
            Match::None => {}
            told => return told.is_ignore(),
        }
        for directory in path.ancestors().skip(1) {
            if let Some(own) = self.in_directory(directory) {
                match own.matched(path, is_directory) {
                    Match::None => {}
                    told => return told.is_ignore(),
                }
            }
            if directory == self.from {
                break;
            }
        }
        self.everywhere.iter().any(|own| own.matched(path, is_directory).is_ignore())
    }

    fn in_directory(&mut self, directory: &Path) -> Option<&Gitignore> {
        if !self.of.contains_key(directory) {
            let file = directory.join(".gitignore");
            let own = file.is_file().then(|| Gitignore::new(&file).0);
            self.of.insert(directory.to_owned(), own);
        }
        self.of.get(directory)?.as_ref()
    }
}

fn is_a_copy(name: &str) -> bool {
    // Vim creates a file of this name to test whether the directory is writable.
    name == "4913"
        || name.starts_with('#') && name.ends_with('#')
        || BEGINNINGS.iter().any(|own| name.starts_with(own))
        || ENDS.iter().any(|own| name.ends_with(own) && name.len() > own.len())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use std::fs;

    #[test]
    fn what_git_ignores_is_ignored_with_exceptions_at_every_depth() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().join("repository/part");
        fs::create_dir_all(top.join("deep")).unwrap();
        fs::create_dir_all(room.path().join("repository/.git/info")).unwrap();
        fs::write(room.path().join("repository/.gitignore"), "*.log\n/part/tmp/\n").unwrap();
        fs::write(room.path().join("repository/.git/info/exclude"), "private\n").unwrap();
        fs::write(top.join("deep/.gitignore"), "!kept.log\n").unwrap();
        let mut ignored = Ignored::below(&top, &["*.out".to_owned()]).unwrap();
        let mut skips =
            |name: &str| ignored.skips(&top.join(name.trim_end_matches('/')), name.ends_with('/'));
        for name in [
            "a.log",
            "deep/b.log",
            "tmp/",
            "private",
            "x.out",
            "deep/node_modules/",
            ".a.swp",
            "a~",
        ] {
            assert!(skips(name), "{name}");
        }
        for name in ["a.rb", "deep/kept.log", "deep/tmp/", "~", "deep/"] {
            assert!(!skips(name), "{name}");
        }
        // The patterns of this directory may change later.
        fs::write(top.join("deep/.gitignore"), "").unwrap();
        assert!(!skips("deep/.gitignore"));
        assert!(skips("deep/kept.log"));
        fs::write(top.join("deep/CACHEDIR.TAG"), "").unwrap();
        assert!(skips("deep/"));
        assert!(Ignored::below(&top, &["a{".to_owned()]).is_err());
    }
}
