//! The end of a run, whatever was measured: its record is closed, and the exit status says how it went.

use crate::record::Record;
use crate::run_error::RunError;
use crate::{Ending, output};
use assay_data::{Environment, Source, StopReason};
use assay_experiment::Session;

/// Closes a session after all was measured that could be. Facts that were known only now go to its record.
pub(crate) fn close<S: Source>(
    session: &mut Session<'_, S, Record>,
    measured: &Result<StopReason, RunError>,
    late_facts: Environment,
) {
    let reason = match measured {
        Ok(reason) => *reason,
        Err(RunError::Interrupted(_)) => StopReason::Interrupted,
        Err(_) => StopReason::Failed,
    };
    session.close(reason, late_facts);
    let not_saved = session.recorder.as_ref().and_then(Record::not_saved);
    session.samples.findings.extend(not_saved);
}

/// The exit status of a run that was measured like this and has this verdict. A record that the user named has to be written.
pub(crate) fn ending(
    measured: Result<StopReason, RunError>,
    verdict: Ending,
    named_record: Option<&Record>,
) -> Ending {
    let unsaved = named_record.and_then(|record| record.failure.as_ref());
    if let Some(failure) = unsaved {
        output::error(&anyhow::anyhow!("the samples could not be saved: {failure}"));
    }
    match measured {
        Ok(_) if unsaved.is_some() => Ending::InputError,
        Ok(StopReason::Interrupted) => Ending::Interrupted,
        Ok(_) => verdict,
        Err(error) => {
            let ending = error.ending();
            output::error(&error.into());
            ending
        }
    }
}
