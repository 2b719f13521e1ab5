//! Ends a run of any kind: closes its record and determines the exit status.

use crate::record::Record;
use crate::run_error::RunError;
use crate::{Ending, output};
use assay_analysis::engine::Session;
use assay_data::{Environment, Source, StopReason};

/// Closes a session after measuring, and adds facts to its record that became known late.
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

/// Returns the exit status of a measured run with this verdict. Failure to write a record that the
/// user named is an error.
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
