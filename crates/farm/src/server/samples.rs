//! Handlers for files of samples. These are stored in the history like any other run, under the
//! name OWNER/PROJECT, and are served from there.

use super::answer::{Answer, Failure};
use super::request::{ApiRequest, Context};
use assay_analysis::history::Revision;
use assay_data::{Samples, assay_file};
use assay_farm::builds::wire::{Job, Version};
use assay_farm::builds::{FarmError, Store, history_project};
use assay_history::{NewRun, StoreError};
use serde::Serialize;
use std::io::Cursor;

/// Names of the sides that an agent measures: the base version and the version itself.
const SIDES: [&str; 2] = ["base", "version"];

/// The place in the history where samples are stored.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Kept"))]
pub(crate) struct SampleLocation {
    /// Digest of the run in the history.
    run: String,
    /// Name of the project in the history.
    project: String,
}

pub(crate) fn add(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let nonce = asked.word("nonce").unwrap_or_default();
    let (node, id) = (asked.node()?, asked.number("id")?);
    let lease = store.lease_of(node, id, nonce)?;
    let job = store.job(id)?;
    let (of, samples) = (&job.of, read(asked)?);
    let of_sides = of_sides(store, &job, &samples)?;
    let kept =
        keep(store, (&of.owner, &of.project), (node, &of.version), &samples, asked, of_sides)?;
    // The lease is checked again because it may have been lost while the samples were read.
    store.lease_of(node, id, nonce)?;
    store.has_samples(lease, &kept.run)?;
    Answer::json(200, &kept)
}

pub(crate) fn add_of_build(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let id = store.build_without_job(asked.part("build"), asked.node().ok())?;
    let of = store.build(id)?.of;
    asked.is_owner(&of.owner)?;
    let samples = read(asked)?;
    let whose = (of.node.as_str(), of.version.as_str());
    let kept = keep(store, (&of.owner, &of.project), whose, &samples, asked, Vec::new())?;
    store.samples_of_build(id, &kept.run)?;
    Answer::json(200, &kept)
}

fn read(asked: &ApiRequest) -> Result<Samples, Failure> {
    let samples = assay_file::read_from(Cursor::new(asked.body.clone()), "samples");
    samples.map_err(|error| Failure::bad(format!("the samples: {error}")))
}

/// Returns, for each side of a job's samples, the commit that was measured and the version it
/// corresponds to. The agent measures versions as commits of a repository of its own, whose ids
/// have no meaning elsewhere.
fn of_sides(
    store: &Store,
    job: &Job,
    samples: &Samples,
) -> Result<Vec<(String, Revision)>, Failure> {
    let of = &job.of;
    let mut sides = Vec::new();
    for (side, name) in SIDES.into_iter().zip([of.base.as_ref(), Some(&of.version)]) {
        let commit = samples.environment.text(&format!("git_commit@{side}"));
        if let Some((commit, name)) = commit.zip(name) {
            let version = store.version_of(&of.owner, &of.project, name)?;
            sides.push((commit.to_owned(), revision(&version)));
        }
    }
    Ok(sides)
}

/// Returns a version as a revision of the history.
fn revision(version: &Version) -> Revision {
    let published = version.of.published.as_deref().and_then(|time| time.parse().ok());
    Revision {
        commit: version.name.clone(),
        parent: None,
        ordinal: version.of.ordinal.and_then(|ordinal| u64::try_from(ordinal).ok()),
        time: published.map(|time: jiff::Timestamp| time.as_second()),
    }
}

fn keep(
    store: &mut Store,
    (owner, project): (&str, &str),
    (node, version): (&str, &str),
    samples: &Samples,
    asked: &ApiRequest,
    of_sides: Vec<(String, Revision)>,
) -> Result<SampleLocation, Failure> {
    let project = history_project(owner, project);
    let new = NewRun {
        project: &project,
        samples,
        machine: Some(node),
        revision: None,
        of_sides,
        changed: false,
        started: started(samples).unwrap_or(asked.now),
        added: asked.now,
        source: version,
    };
    let added = store.history().add(&new).map_err(|error| match error {
        StoreError::Nothing => Failure::bad("the samples: no benchmark has a value"),
        error => FarmError::Store(error).into(),
    })?;
    Ok(SampleLocation { run: added.run().digest.clone(), project })
}

/// Returns the time at which the measurement started, as stated in the file, in ms since the Unix
/// epoch.
fn started(samples: &Samples) -> Option<i64> {
    let time: jiff::Timestamp = samples.started.as_deref()?.parse().ok()?;
    Some(time.as_millisecond())
}

pub(crate) fn of_build(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let (project, digest) = store.samples_of(asked.number("build")?)?;
    let history = store.history();
    let run = history.find(&project, &digest).map_err(FarmError::Store)?;
    let text = history.text(&run).map_err(FarmError::Store)?;
    let answer = Answer::bytes("application/octet-stream", text);
    Ok(answer.with("content-disposition", "attachment; filename=\"samples.assay\"".to_owned()))
}
