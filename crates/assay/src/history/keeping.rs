//! Adds measurements to the history if `--keep` is given.

use super::{Adding, RunDestination, StoreArgs};
use crate::args::KeepInHistoryArgs;
use crate::output;
use crate::record::Record;
use crate::resume::RecordArgs;
use anyhow::Context;
use assay_data::{Samples, StopReason, assay_file};
use assay_history::{Access, StoreError};

impl KeepInHistoryArgs {
    /// Returns the store to write to; `None` without `--keep`.
    fn of_store(&self) -> Option<StoreArgs> {
        let project = self.keep.as_ref()?;
        let project = Some(project.clone()).filter(|project| !project.is_empty());
        Some(StoreArgs { store: self.store.clone(), project })
    }

    /// Checks, before anything is measured, that the run can be kept.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened for writing.
    pub fn check(&self) -> anyhow::Result<()> {
        let Some(of) = self.of_store() else { return Ok(()) };
        of.open(Access::Write).map(drop).context("--keep")
    }
}

/// Adds the measurements to the history if requested. They are read from the recorded file, so that
/// adding the file later would give the same run.
///
/// # Errors
///
/// Fails if the run cannot be kept.
pub(crate) fn keep(
    args: &RecordArgs,
    samples: &Samples,
    record: Option<&Record>,
) -> anyhow::Result<()> {
    let Some(of) = args.history.of_store() else { return Ok(()) };
    let file = record.filter(|record| record.failure.is_none()).map(|record| &record.path);
    if matches!(samples.stop, Some(StopReason::Interrupted | StopReason::Failed))
        || samples.is_empty()
    {
        output::say("the run was not completed, so it is not kept in the history");
        return Ok(());
    }
    let read = file.map(|file| assay_file::read(file)).transpose()?;
    let source = file.map_or_else(|| "not recorded".to_owned(), |file| file.display().to_string());
    let machine = args.history.machine.as_deref();
    let adding = Adding { machine, rev: None, source: &source, started: None };
    let project = of.project();
    let samples = read.as_ref().unwrap_or(samples);
    let place = of.place()?;
    let kept = match of.open(Access::Write) {
        Ok(mut store) => adding.add(&mut store, &project, samples),
        Err(error) => match error.downcast::<StoreError>() {
            Ok(gone) if gone.is_gone() => adding.wait(&place, &project, samples, &gone),
            Ok(error) => Err(error.into()),
            Err(error) => Err(error),
        },
    };
    let kept = kept.with_context(|| match file {
        Some(file) => {
            format!(
                "--keep: the measurements are in {}; add them with `assay history add`",
                file.display()
            )
        }
        None => "--keep".to_owned(),
    })?;
    match kept {
        RunDestination::InStore(added) if !args.show.quiet => {
            output::say(&format!("kept as {} of {project} in {place}", added.run().short()));
        }
        RunDestination::InStore(_) => {}
        RunDestination::Waits(why) => output::say(&why),
    }
    Ok(())
}
