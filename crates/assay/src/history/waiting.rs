//! Runs that wait in the state directory because a server was unreachable when they were to be
//! stored. The next command that writes to the same store adds them.
//!
//! A file contains one run with all facts that the store needs, and the address of the store
//! without a password. Callers that write to a store decide when to try again.

use crate::{output, store};
use anyhow::Context;
use assay_analysis::history::Revision;
use assay_data::{assay_file, private};
use assay_history::{NewRun, Store, StoreError, StoreLocation};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A run that waits for its store, as saved in a file.
#[derive(Debug, Deserialize, Serialize)]
struct Waiting {
    store: String,
    project: String,
    machine: Option<String>,
    revision: Option<Parts>,
    /// Revisions of sides that were measured at one of their own, each with the commit as recorded.
    of_sides: Vec<(String, Parts)>,
    changed: bool,
    started: i64,
    added: i64,
    source: String,
    recording: String,
}

/// Commit, parent, ordinal and time of a revision.
type Parts = (String, Option<String>, Option<u64>, Option<i64>);

/// Saves a run that waits for a store, and returns the path of its file.
///
/// # Errors
///
/// Fails if there is no state directory, or if it cannot be written.
pub(super) fn put(place: &StoreLocation, new: &NewRun<'_>) -> anyhow::Result<PathBuf> {
    let mut text = Vec::new();
    assay_file::write(new.samples, &mut text)?;
    let waiting = Waiting {
        store: place.to_string(),
        project: new.project.to_owned(),
        machine: new.machine.map(str::to_owned),
        revision: new.revision.clone().map(parts),
        of_sides: new.of_sides.iter().cloned().map(|(said, own)| (said, parts(own))).collect(),
        changed: new.changed,
        started: new.started,
        added: new.added,
        source: new.source.to_owned(),
        recording: String::from_utf8(text).context("a recording is a text")?,
    };
    let directory = directory().context("neither XDG_STATE_HOME nor HOME names a directory")?;
    private::directory(&directory).with_context(|| directory.display().to_string())?;
    let free =
        (0..).map(|n| directory.join(format!("{}-{}-{n}.json", new.added, std::process::id())));
    let path = free.into_iter().find(|path| !path.exists()).context("some number is free")?;
    private::replace(&path, &serde_json::to_vec(&waiting)?)
        .with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Adds all runs that wait for this store, oldest first, and prints how many there were.
///
/// # Errors
///
/// Fails if the store rejects a run for any reason other than an unreachable server.
pub(super) fn add(store: &mut Store) -> anyhow::Result<()> {
    let own = store.place().to_string();
    let mut count = 0;
    for path in files() {
        let Some(waiting) = read(&path).filter(|waiting| waiting.store == own) else { continue };
        let samples = assay_file::read_from(Cursor::new(waiting.recording), &waiting.source)?;
        let new = NewRun {
            project: &waiting.project,
            samples: &samples,
            machine: waiting.machine.as_deref(),
            revision: waiting.revision.map(revision),
            of_sides: waiting
                .of_sides
                .into_iter()
                .map(|(said, own)| (said, revision(own)))
                .collect(),
            changed: waiting.changed,
            started: waiting.started,
            added: waiting.added,
            source: &waiting.source,
        };
        match store.add(&new) {
            Ok(_) | Err(StoreError::Nothing) => count += 1,
            Err(error) if error.is_gone() => break,
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
        // Another program may have added the run first; adding it twice stores it only once.
        let _gone = fs::remove_file(&path);
    }
    match count {
        0 => {}
        1 => output::say(&format!("1 run that waited for {own} is kept now")),
        runs => output::say(&format!("{runs} runs that waited for {own} are kept now")),
    }
    Ok(())
}

fn directory() -> Option<PathBuf> {
    Some(store::state_directory()?.join("waiting"))
}

/// Returns the paths of the waiting runs, oldest first, because their names begin with the time.
fn files() -> Vec<PathBuf> {
    let entries = directory().and_then(|directory| fs::read_dir(directory).ok());
    let paths = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files
}

/// Reads a file; `None` if it does not contain a waiting run.
fn read(path: &Path) -> Option<Waiting> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn parts(revision: Revision) -> Parts {
    (revision.commit, revision.parent, revision.ordinal, revision.time)
}

fn revision((commit, parent, ordinal, time): Parts) -> Revision {
    Revision { commit, parent, ordinal, time }
}
