//! A session that is recorded: what every verb that measures does with it in the same way. It begins, in a file of its own or in the one that it
//! goes on with, is measured, closed, shown, kept in the history, and comes to an exit status. What is measured, and what is said meanwhile, is the
//! verb's own.

use crate::args::KeepArgs;
use crate::ending::{close, ending};
use crate::record::Record;
use crate::resume::{self, RecordArgs, ResumeArgs};
use crate::run_error::RunError;
use crate::{Ending, history, output};
use assay_data::{Environment, Plan, Samples, Source, StopReason, assay_file};
use assay_experiment::{Limits, Session, Standing};
use assay_measure::interrupt;
use jiff::Timestamp;
use std::path::Path;
use std::time::Instant;

/// Runs a verb: `measure` anew, or `resume` the file that was named. That the user stopped it before anything was measured is no error.
///
/// # Errors
/// When files can't be written or read, and what the verb's own steps can't go on from.
pub(crate) fn run(
    record: &RecordArgs,
    measure: impl FnOnce() -> anyhow::Result<Ending>,
    resume: impl FnOnce(&Path) -> anyhow::Result<Ending>,
) -> anyhow::Result<Ending> {
    record.check()?;
    interrupt::install()?;
    let ended = match &record.earlier.resume {
        None => measure(),
        Some(path) => resume(path),
    };
    let is_interruption = |error: &RunError| matches!(error, RunError::Interrupted(_));
    match ended {
        Err(error) if error.downcast_ref::<RunError>().is_some_and(is_interruption) => {
            output::error(&error);
            Ok(Ending::Interrupted)
        }
        other => other,
    }
}

/// A recorded run that is to be resumed, with the arguments that this verb began it with.
///
/// # Errors
/// When it can't be read, was begun by another verb, or lacks what measuring again takes.
pub(crate) fn begun<A: clap::Args>(
    record: &RecordArgs,
    path: &Path,
    verb: &str,
) -> anyhow::Result<(Samples, A)> {
    let recorded = assay_file::read(path)?;
    resume::check_given(&record.given, path)?;
    resume::check_complete(&recorded, path, "resumed", "measure again, in a file of its own")?;
    let first = resume::begun(&recorded, path, verb, "resumed")?;
    Ok((recorded, first))
}

/// A session that is recorded.
pub(crate) struct Recorded<'a, S: Source> {
    /// The session.
    pub session: Session<'a, S, Record>,
    began: Timestamp,
}

impl<S: Source<Error = RunError>> Recorded<'_, S> {
    /// A session of a source, that the user may stop. It begins now.
    pub fn new(source: S) -> Self {
        let (began, clock) = (Timestamp::now(), Instant::now());
        let session = Session::new(source, move || clock.elapsed().as_secs_f64());
        let mut session = session.interrupted_by(|| interrupt::count() > 0);
        session.samples.started = Some(began.to_string());
        Self { session, began }
    }

    /// Begins the experiment and its record, or brings both to where `recorded` stopped. Why it is over comes back where nothing is left to measure.
    ///
    /// # Errors
    /// When what was recorded is not the same experiment, or can't be gone on with.
    pub fn begin(
        &mut self,
        (keep, earlier): (&KeepArgs, &ResumeArgs),
        recorded: Option<&Samples>,
        (plan, deciding, limits): (&Plan, usize, Limits),
    ) -> anyhow::Result<Option<StopReason>> {
        let Self { session, began } = self;
        session.begin(plan, deciding, limits);
        let Some(recorded) = recorded else {
            session.recorder = Record::open(keep, began, &session.samples);
            return Ok(None);
        };
        let resumption = resume::check(earlier, recorded, &session.samples, false)?;
        Ok(resume::go_on(resumption, session, *began)?)
    }

    /// Measures to the end, unless that is reached.
    pub fn measure(
        &mut self,
        done: Option<StopReason>,
        mut telling: impl FnMut(Standing<'_>),
    ) -> Result<StopReason, RunError> {
        match done {
            Some(reason) => Ok(reason),
            None => self.session.measure(&mut telling).map(|phase| phase.reason),
        }
    }

    /// Closes the record, with facts that were known only now; shows what came of it, keeps it in the history if that was asked for, and says how it
    /// ended.
    ///
    /// # Errors
    /// What `show` and the history can't go on from.
    pub fn end(
        &mut self,
        args: &RecordArgs,
        measured: Result<StopReason, RunError>,
        late_facts: Environment,
        show: impl FnOnce(&mut Self) -> anyhow::Result<Ending>,
    ) -> anyhow::Result<Ending> {
        close(&mut self.session, &measured, late_facts);
        let verdict = show(self)?;
        let record = self.session.recorder.as_ref();
        history::keep(args, &self.session.samples, record)?;
        Ok(ending(measured, verdict, record.filter(|_| args.names_a_file())))
    }
}
