//! `assay gate --branch`: determines which runs belong to a branch. A store contains commits but no
//! branches, so git is queried, which knows only the current position of a branch.

use anyhow::{Context, bail};
use assay_analysis::history::Revision;
use assay_measure::git;
use std::collections::HashSet;
use std::path::Path;

/// The commits that lead to a branch by first parents. A merged branch counts as one commit, the
/// merge commit.
pub(super) struct Branch {
    /// Name of the branch as the user typed it.
    pub name: String,
    commits: HashSet<String>,
}

impl Branch {
    /// Looks up a branch and lists its commits.
    ///
    /// # Errors
    /// Fails if the branch does not exist in this repository, or its history is incomplete.
    pub fn of(name: &str) -> anyhow::Result<Self> {
        let here = Path::new(".");
        let Some(place) = git::position(here, name) else {
            bail!(
                "--branch {name}: git knows no such revision here; a branch that was only fetched is `origin/{name}`"
            );
        };
        if git::is_shallow(here) {
            bail!(
                "--branch {name}: this clone has only the last commits, so git can't list its ancestors: git fetch --unshallow"
            );
        }
        let commits = git::first_parents(here, None, &place.commit)
            .with_context(|| format!("--branch {name}: git can't list its ancestors"))?;
        Ok(Self { name: name.to_owned(), commits: commits.into_iter().collect() })
    }

    /// Returns true if a measured revision is on the branch, and false if the revision is unknown.
    pub fn has(&self, revision: Option<&Revision>) -> bool {
        revision.is_some_and(|revision| self.commits.contains(&revision.commit))
    }
}
