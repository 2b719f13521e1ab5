//! Represents the working tree as a commit, so that it can be built like any other revision. Also
//! finds merge bases and the files that differ between commits.
//!
//! The commit is an object of the user's repository that no reference names, like those of `git
//! stash create`, so git will eventually remove it with other unused objects. The index, the
//! branches and the files stay as they are. The same files always give the same commit.

use super::{Repository, Revision, RevisionError, done};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Variables that make the commit depend only on the files and the parent commit.
const AUTHOR: [&str; 6] = [
    "GIT_AUTHOR_NAME=assay",
    "GIT_AUTHOR_EMAIL=assay@localhost",
    "GIT_AUTHOR_DATE=1000000000 +0000",
    "GIT_COMMITTER_NAME=assay",
    "GIT_COMMITTER_EMAIL=assay@localhost",
    "GIT_COMMITTER_DATE=1000000000 +0000",
];

impl Repository {
    /// Returns a commit with the current files of the working tree, including changed and new ones.
    /// Ignored files are left out, and submodules are represented only by their commits. If nothing
    /// was changed, this is the current commit. `None` before the first commit.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::SubmoduleChanged`], [`RevisionError::Git`],
    /// [`RevisionError::Cache`], [`RevisionError::Interrupted`] or [`RevisionError::Measure`].
    pub fn snapshot(&mut self) -> Result<Option<Revision>, RevisionError> {
        self.snapshot_without(&[])
    }

    /// Like [`Self::snapshot`], but leaves out the given files and directories if git does not
    /// track them. Their paths are relative to the root of the repository.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::snapshot`] does.
    pub fn snapshot_without(
        &mut self,
        untracked: &[PathBuf],
    ) -> Result<Option<Revision>, RevisionError> {
        let head = self.revision(".")?;
        let Some(parent) = head.commit.clone() else { return Ok(None) };
        let top = self.top.clone();
        self.require_committed_submodules(&top)?;
        let what = "record the files of the working tree";
        let index = self.home.join(format!("snapshot-{}.index", std::process::id()));
        let own = self.git(["rev-parse", "--git-path", "index"])?;
        // With a copy of the index, git need not read unchanged files. Without it, git reads all
        // files.
        if copy_with_time(&self.top.join(super::path_in(&own)), &index).is_err() {
            let _absent = fs::remove_file(&index);
        }
        let tree = self.tree_by(&index, untracked);
        let _stays = fs::remove_file(&index);
        let tree = tree?;
        if self.tree_of(&parent)?.as_deref() == Some(&tree) {
            return Ok(Some(Revision { is_working_tree: false, ..head }));
        }
        let words = ["commit-tree", &tree, "-p", &parent, "-m", "the working tree"];
        let author = AUTHOR.map(OsString::from);
        let top = self.top.clone();
        let made = self.subprocesses.git_of_user(&top, words, &author)?;
        let commit = done(made, what)?.text().trim().to_owned();
        Ok(Some(Revision { commit: Some(commit), is_working_tree: false, ..head }))
    }

    /// Returns the tree of all files except these untracked ones, built with a separate index
    /// instead of the user's.
    fn tree_by(&mut self, index: &Path, untracked: &[PathBuf]) -> Result<String, RevisionError> {
        let what = "record the files of the working tree";
        let top = self.top.clone();
        let own = [[OsString::from("GIT_INDEX_FILE="), index.into()].into_iter().collect()];
        // The configuration may reject line endings that can't be restored, but nothing is restored
        // here.
        let add = ["-c", "core.safecrlf=false", "add", "--all", "--"];
        let mut add: Vec<OsString> = add.map(OsString::from).into();
        for path in untracked {
            let path = path.as_os_str();
            let only: OsString = [OsStr::new(":(top,literal)"), path].into_iter().collect();
            if self.git([OsStr::new("ls-files"), OsStr::new("--"), &only])?.text().is_empty() {
                add.push([OsStr::new(":(top,literal,exclude)"), path].into_iter().collect());
            }
        }
        done(self.subprocesses.git_of_user(&top, add, &own)?, what)?;
        let written = self.subprocesses.git_of_user(&top, ["write-tree"], &own)?;
        Ok(done(written, what)?.text().trim().to_owned())
    }

    /// Returns the tree object of a commit, or `None` if the commit does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Interrupted`] or [`RevisionError::Measure`].
    pub fn tree_of(&mut self, commit: &str) -> Result<Option<String>, RevisionError> {
        let found =
            self.git(["rev-parse", "--verify", "--quiet", &format!("{commit}^{{tree}}")])?;
        Ok(found.success.then(|| found.text().trim().to_owned()))
    }

    /// Returns the directory of the user's hooks, which `core.hooksPath` names or which is in the
    /// repository.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Interrupted`] or [`RevisionError::Measure`].
    pub fn hooks(&mut self) -> Result<PathBuf, RevisionError> {
        // Our own calls set this variable so that no hook runs, so only the configuration files
        // count.
        let words = ["config", "--path", "--get-all", "core.hooksPath"];
        let found = self.git(words)?.text();
        // The last value counts.
        let mut named = found.lines().map(str::trim).rev();
        Ok(match named.find(|path| !path.is_empty() && *path != "/dev/null") {
            Some(path) => self.top.join(path),
            None => self.common.join("hooks"),
        })
    }

    /// Returns the best common ancestor of two commits, given by hash. `None` if there is none, or
    /// if the clone is too shallow to contain it.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Interrupted`] or [`RevisionError::Measure`].
    pub fn merge_base(&mut self, one: &str, other: &str) -> Result<Option<String>, RevisionError> {
        let found = self.git(["merge-base", one, other])?;
        let first = found.text().lines().next().map(str::to_owned);
        Ok(first.filter(|_| found.success))
    }

    /// Returns the files of a commit, without those of submodules, by their paths relative to the
    /// root directory.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Git`], [`RevisionError::Interrupted`] or
    /// [`RevisionError::Measure`].
    pub fn files(&mut self, commit: &str) -> Result<Vec<String>, RevisionError> {
        let words = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", commit];
        let found = done(self.git(words)?, "list the files of a commit")?;
        Ok(found.text().split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// Returns the files that differ between two commits, given by hash. Their paths are relative
    /// to the root directory.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Git`], [`RevisionError::Interrupted`] or
    /// [`RevisionError::Measure`].
    pub fn changed(&mut self, one: &str, other: &str) -> Result<Vec<String>, RevisionError> {
        let words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other];
        let found = done(self.git(words)?, "list the changed files")?;
        let text = found.text();
        Ok(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }
}

/// Copies a file and its modification time.
///
/// *Note:* git compares the modification time of its index with those of the files to determine
/// which files it must read (racy-git). A copy with a new time would hide changes made within a
/// second of the last commit.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(modified)
}
