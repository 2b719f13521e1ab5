//! Files of samples: they go into the history as any other run, under the name OWNER/PROJECT, and are given from there.

use super::answer::{Answer, Failure};
use super::asked::{Asked, Context};
use assay_builds::{FarmError, Store, history_project};
use assay_data::{Samples, assay_file};
use assay_history::{NewRun, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Cursor;

/// Where samples are kept.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Kept {
    /// The run of the history, by its digest.
    run: String,
    /// What the project is called there.
    project: String,
}

pub(crate) fn add(store: &mut Store, _: &Context, asked: &Asked) -> Result<Answer, Failure> {
    let nonce = asked.word("nonce").unwrap_or_default();
    let (node, id) = (asked.node()?, asked.number("id")?);
    let lease = store.lease_of(node, id, nonce)?;
    let of = store.job(id)?.of;
    let kept = keep(store, (&of.owner, &of.project), node, &of.version, asked)?;
    // It may have been lost while the samples were looked at.
    store.lease_of(node, id, nonce)?;
    store.has_samples(lease, &kept.run)?;
    Answer::json(200, &kept)
}

pub(crate) fn add_of_build(
    store: &mut Store,
    _: &Context,
    asked: &Asked,
) -> Result<Answer, Failure> {
    let id = store.build_without_job(asked.part("build"), asked.node().ok())?;
    let of = store.build(id)?.of;
    asked.is_owner(&of.owner)?;
    let kept = keep(store, (&of.owner, &of.project), &of.node, &of.version, asked)?;
    store.samples_of_build(id, &kept.run)?;
    Answer::json(200, &kept)
}

fn keep(
    store: &mut Store,
    (owner, project): (&str, &str),
    node: &str,
    version: &str,
    asked: &Asked,
) -> Result<Kept, Failure> {
    let samples = assay_file::read_from(Cursor::new(asked.body.clone()), "samples");
    let samples = samples.map_err(|error| Failure::bad(format!("the samples: {error}")))?;
    let project = history_project(owner, project);
    let new = NewRun {
        project: &project,
        samples: &samples,
        machine: Some(node),
        revision: None,
        of_sides: Vec::new(),
        changed: false,
        started: started(&samples).unwrap_or(asked.now),
        added: asked.now,
        source: version,
    };
    let added = store.history().add(&new).map_err(|error| match error {
        StoreError::Nothing => Failure::bad("the samples: no benchmark has a value"),
        error => FarmError::Store(error).into(),
    })?;
    Ok(Kept { run: added.run().digest.clone(), project })
}

/// When it was measured, as it says itself.
fn started(samples: &Samples) -> Option<i64> {
    let time: jiff::Timestamp = samples.started.as_deref()?.parse().ok()?;
    Some(time.as_millisecond())
}

pub(crate) fn of_build(store: &mut Store, _: &Context, asked: &Asked) -> Result<Answer, Failure> {
    let (project, digest) = store.samples_of(asked.number("build")?)?;
    let history = store.history();
    let run = history.find(&project, &digest).map_err(FarmError::Store)?;
    let text = history.text(&run).map_err(FarmError::Store)?;
    let answer = Answer::bytes("application/octet-stream", text);
    Ok(answer.with("content-disposition", "attachment; filename=\"samples.assay\"".to_owned()))
}
