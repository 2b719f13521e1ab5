//! Submodules of the user's repository: their commits, which may be in no other repository, and
//! their changes, which no commit of the repository represents.

use super::{Repository, RevisionError, done, path_in};
use std::path::{Component, Path};

impl Repository {
    /// Checks out the submodules of a tree from the user's own repositories of them, which may have
    /// commits that their remotes lack. A submodule is left out if the user has no repository of
    /// it, or one without the required commit. `top` and `common` are the user's working tree and
    /// git directory.
    pub(super) fn borrow_submodules(
        &mut self,
        top: &Path,
        common: &Path,
        tree: &Path,
        what: &str,
    ) -> Result<(), RevisionError> {
        for (name, path) in self.submodules(tree)? {
            // If a path is a submodule of this commit, it leads through no symbolic link.
            let listed = ["ls-tree", "HEAD", "--", &path];
            let listed = self.subprocesses.git(tree, listed)?.text();
            let commit =
                listed.strip_prefix("160000 commit ").and_then(|rest| rest.split_once('\t'));
            let Some((commit, _)) = commit else { continue };
            let (own, kept) = (top.join(&path), common.join("modules").join(&name));
            let lender = match own.join(".git").exists() {
                true => {
                    let words = ["rev-parse", "--git-common-dir"];
                    let found = self.subprocesses.git_of_user(&own, words, &[])?;
                    own.join(path_in(&found))
                }
                false => kept,
            };
            // The working tree of the lending repository may be gone.
            let has = ["--work-tree=.", "cat-file", "-e", &format!("{commit}^{{commit}}")];
            if !lender.join("objects").is_dir() || !self.subprocesses.git(&lender, has)?.success {
                continue;
            }
            let below = tree.join(&path);
            self.borrow(&own, &lender, commit, &below, what)?;
            self.borrow_submodules(&own, &lender, &below, what)?;
        }
        Ok(())
    }

    /// Returns the names and paths of the submodules that a working tree declares.
    fn submodules(&mut self, tree: &Path) -> Result<Vec<(String, String)>, RevisionError> {
        if !tree.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let paths = ["--get-regexp", r"^submodule\..*\.path$"];
        let words = ["config", "--file", ".gitmodules", "-z"].into_iter().chain(paths);
        let found = self.subprocesses.git(tree, words)?.text();
        let is_below = |text: &str| {
            Path::new(text).components().all(|part| matches!(part, Component::Normal(_)))
        };
        let of = |entry: &str| {
            let (key, path) = entry.split_once('\n')?;
            let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
            (is_below(name) && is_below(path)).then(|| (name.to_owned(), path.to_owned()))
        };
        Ok(found.split('\0').filter_map(of).collect())
    }

    /// Returns an error if a tracked file of a submodule of this directory was changed since the
    /// submodule's commit.
    pub(super) fn require_committed_submodules(
        &mut self,
        directory: &Path,
    ) -> Result<(), RevisionError> {
        for (_, path) in self.submodules(directory)? {
            let own = directory.join(path);
            if !own.join(".git").exists() {
                continue;
            }
            let words =
                ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
            let found = self.subprocesses.git_of_user(&own, words, &[])?;
            if !done(found, "see what was changed in a submodule")?.output.is_empty() {
                let path = own.strip_prefix(&self.top).unwrap_or(&own).display().to_string();
                return Err(RevisionError::SubmoduleChanged { path });
            }
            self.require_committed_submodules(&own)?;
        }
        Ok(())
    }
}
