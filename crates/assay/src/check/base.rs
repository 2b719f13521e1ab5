//! The commit to compare with: the point at which the current branch forked from its target branch.

use super::event::{self, Candidate};
use crate::revisions::told;
use anyhow::{Context, bail};
use assay_measure::git;
use assay_measure::revisions::{Repository, RevisionError};

/// Usual names of the default branch, in the order in which they are tried.
const DEFAULT: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// The commit to compare with.
#[derive(Debug)]
pub(crate) struct Base {
    /// Full hash of the commit.
    pub commit: String,
    /// The branch or revision from which the commit was determined, in a form that git understands.
    pub branch: String,
    /// Where the name of the branch comes from, as shown to users.
    pub source: &'static str,
}

/// Finds the merge base of `head` and a branch: the requested one, else that of the pull request,
/// else the default branch.
///
/// # Errors
///
/// Fails if the branch does not exist, or if this clone contains no common ancestor.
pub(crate) fn find(
    repository: &mut Repository,
    asked: Option<(&str, &'static str)>,
    head: &str,
) -> anyhow::Result<Base> {
    let named = asked.map(|(revision, source)| Candidate { revision: revision.to_owned(), source });
    let only = named.is_some();
    let default =
        DEFAULT.map(|name| Candidate { revision: name.to_owned(), source: "the default branch" });
    let candidates: Vec<Candidate> = match named {
        Some(named) => vec![named],
        None => event::candidates().into_iter().chain(default).collect(),
    };
    for Candidate { revision, source } in &candidates {
        let found = match repository.revision(revision) {
            Err(RevisionError::Unknown { .. }) if !only => continue,
            found => found.map_err(told).with_context(|| (*source).to_owned())?,
        };
        let Some(other) = found.commit else { continue };
        let merged = repository.merge_base(head, &other).map_err(told)?;
        let Some(commit) = merged else {
            let shallow = git::is_shallow(repository.top());
            let why = if shallow {
                ": this clone has only the last commits. Fetch the others: `git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout"
            } else {
                ""
            };
            bail!("HEAD and {revision} have no common ancestor here{why}");
        };
        return Ok(Base { commit, branch: revision.clone(), source });
    }
    let tried: Vec<&str> = candidates.iter().map(|tried| tried.revision.as_str()).collect();
    bail!(
        "there is nothing to compare with: git knows none of {}. Name the branch that this one will be merged into: --base BRANCH, or base = \"BRANCH\" in assay.toml",
        tried.join(", ")
    );
}
