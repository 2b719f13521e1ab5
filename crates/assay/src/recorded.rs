//! A recorded session: the steps that are the same for every verb that measures. A session starts
//! in a new file or continues an existing one, measures, closes the record, shows the result, adds
//! it to the history, and returns an exit status. The verb decides what is measured and what is
//! shown during it.

use crate::args::KeepArgs;
use crate::ending::{close, ending};
use crate::record::Record;
use crate::resume::{self, RecordArgs, ResumeArgs};
use crate::run_error::RunError;
use crate::{Ending, history};
use assay_analysis::engine::{Limits, Session, Standing};
use assay_data::{Environment, Plan, Samples, Source, StopReason, assay_file};
use assay_measure::interrupt;
use assay_report::console::outputs::OutputFile;
use jiff::Timestamp;
use std::path::Path;
use std::time::Instant;

/// Runs a verb that writes the files `own` in addition to the usual ones: calls `measure`, or
/// `resume` with the path of the run to resume.
///
/// # Errors
/// Fails if a file cannot be written, or `measure` or `resume` fails.
pub(crate) fn run(
    record: &RecordArgs,
    own: &[OutputFile<'_>],
    measure: impl FnOnce() -> anyhow::Result<Ending>,
    resume: impl FnOnce(&Path) -> anyhow::Result<Ending>,
) -> anyhow::Result<Ending> {
    record.check(own)?;
    interrupt::install()?;
    match &record.earlier.resume {
        None => measure(),
        Some(path) => resume(path),
    }
}

/// Reads a recorded run that is to be resumed, and the arguments with which this verb started it.
///
/// # Errors
/// Fails if the file cannot be read, was recorded by another verb, or lacks what is needed to
/// continue.
pub(crate) fn begun<A: clap::Args>(
    record: &RecordArgs,
    path: &Path,
    verb: &str,
) -> anyhow::Result<(Samples, A)> {
    let recorded = assay_file::read(path)?;
    resume::check_given(&record.given, path)?;
    resume::check_complete(&recorded, path, "resumed", "measure again, in a new file")?;
    let first = resume::begun(&recorded, path, verb, "resumed")?;
    Ok((recorded, first))
}

/// A session whose observations are recorded.
pub(crate) struct Recorded<'a, S: Source> {
    /// The session that measures the source.
    pub session: Session<'a, S, Record>,
    began: Timestamp,
}

impl<S: Source<Error = RunError>> Recorded<'_, S> {
    /// Starts a session of a source, which the user can interrupt.
    pub fn new(source: S) -> Self {
        let (began, clock) = (Timestamp::now(), Instant::now());
        let session = Session::new(source, move || clock.elapsed().as_secs_f64());
        let mut session = session.interrupted_by(|| interrupt::count() > 0);
        session.samples.started = Some(began.to_string());
        Self { session, began }
    }

    /// Starts the experiment and its record, or restores both to where `recorded` stopped. Returns
    /// the stop reason if nothing is left to measure.
    ///
    /// # Errors
    /// Fails if the recording is of a different experiment, or cannot be continued.
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

    /// Measures until the experiment stops, unless it is already `done`.
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

    /// Closes the record with facts that have only now become known, shows the result, adds it to
    /// the history if requested, and returns the outcome of the run.
    ///
    /// # Errors
    /// Fails if `show` fails, or the result cannot be added to the history.
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
