//! Selects the revisions of a backfill, oldest first: a range of commits by first parents,
//! individual revisions, or both.

use crate::revisions::{named, told};
use anyhow::bail;
use assay_measure::git;
use assay_measure::revisions::{Repository, Revision};

/// Number of hex digits of a commit hash that are shown.
const SHORT: usize = 12;

/// A revision to be measured.
pub(super) struct Chosen {
    pub revision: Revision,
    /// Full hash of the commit.
    pub commit: String,
    /// The name shown to the user.
    pub name: String,
}

/// Returns all requested revisions, without duplicates.
///
/// # Errors
///
/// Returns an error if a revision does not exist.
pub(super) fn chosen(
    repository: &mut Repository,
    range: Option<&str>,
    every: u32,
    at: &[String],
) -> anyhow::Result<Vec<Chosen>> {
    let mut all: Vec<Chosen> = match range {
        Some(range) => in_range(repository, range, every)?,
        None => Vec::new(),
    };
    let commits = all.len();
    for written in at {
        let revision = repository.revision(written).map_err(told)?;
        let Some(commit) = revision.commit.clone().filter(|_| !revision.is_working_tree) else {
            bail!(
                "--at {written}: the working tree is not a past revision; keep runs of it with `--keep`"
            );
        };
        if all.iter().any(|other| other.commit == commit) {
            continue;
        }
        all.push(Chosen { name: named(&revision), commit, revision });
    }
    if all.len() > commits {
        let mut places = git::CommitPositions::of(repository.top());
        all.sort_by_cached_key(|of| {
            let place = places.position(&of.commit);
            (place.as_ref().and_then(|place| place.ordinal), place.map(|place| place.time))
        });
    }
    Ok(all)
}

fn in_range(repository: &mut Repository, range: &str, every: u32) -> anyhow::Result<Vec<Chosen>> {
    let (from, to) = range.split_once("..").unwrap_or((range, "HEAD"));
    let to = if to.is_empty() { "HEAD" } else { to };
    if from == "." || to == "." || to.starts_with('.') {
        bail!("{range}: write two revisions with two dots between them, as in v1.0..main");
    }
    let mut commit = |written: &str| -> anyhow::Result<Option<String>> {
        Ok(repository.revision(written).map_err(told)?.commit)
    };
    let (Some(first), Some(last)) = (commit(if from.is_empty() { to } else { from })?, commit(to)?)
    else {
        bail!("{range}: the repository has no commits yet");
    };
    let after = (!from.is_empty()).then_some(first.as_str());
    let Some(mut commits) = git::first_parents(repository.top(), after, &last) else {
        bail!("{range}: git can't list its commits");
    };
    if let Some(first) = after {
        if first != last && git::leads_to(repository.top(), first, &last) != Some(true) {
            bail!("{range}: `{from}` is not an ancestor of `{to}`");
        }
        commits.insert(0, first.to_owned());
    }
    let length = commits.len();
    let is_chosen =
        |index: usize| index == 0 || (length - 1 - index).is_multiple_of(every as usize);
    let chosen = commits.into_iter().enumerate().filter(|&(index, _)| is_chosen(index));
    Ok(chosen
        .map(|(_, commit)| {
            let written = commit.get(..SHORT).unwrap_or(&commit).to_owned();
            let commit_name = Some(commit.clone());
            let revision =
                Revision { written: written.clone(), commit: commit_name, is_working_tree: false };
            Chosen { revision, commit, name: written }
        })
        .collect())
}
