//! A program whose work is known, and plain runs of commands for a span of time, whatever comes out: what is measured of a machine is
//! measured with these. What it shows is for the verbs to say.

use crate::commands::{self, CommandSession, Prepared, RunSettings};
use crate::meter::{Meter, Requested};
use crate::run_error::RunError;
use anyhow::Context;
use assay_data::{Plan, StopRule, Threshold};
use assay_measure::{Command, Output, workload};
use std::path::Path;

/// How long a run of the program takes, s: long enough to meet the machine's disturbances, short enough for thousands.
const RUN_SECONDS: f64 = 0.002;
/// A fixed seed, so that the same series gives the same numbers.
pub(crate) const SEED: u64 = 1;

/// The program, unpacked in this directory.
///
/// # Errors
/// When it can't be run from there, as where that is mounted `noexec`.
pub(crate) fn program(room: &Path) -> anyhow::Result<Command> {
    let failed = || {
        format!(
            "assay's own program can't be run from {}; let TMPDIR name a directory where programs may be run",
            room.display()
        )
    };
    let program = workload::unpack(room, "spin").with_context(failed)?;
    let steps = workload::iterations_for(&program, RUN_SECONDS).with_context(failed)?;
    let words = [program.into_os_string(), "spin".into(), steps.to_string().into()];
    let mut command = Command::new(words).with_context(failed)?;
    command.output = Output::Null;
    Ok(command)
}

/// Whether a recorded command line is that of the program.
pub(crate) fn is_own(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    Path::new(program).file_name().is_some_and(|name| name == "spin")
        && words.next() == Some("spin")
}

/// For so many seconds.
pub(crate) fn plan(seconds: f64) -> Plan {
    Plan {
        stop: StopRule::Fixed { blocks: u32::MAX },
        budget_seconds: Some(seconds),
        ..Plan::sequential(0.95, Threshold::default(), SEED)
    }
}

/// A session of commands of which nothing is read but what every run has.
///
/// # Errors
/// As for [`commands::session`].
pub(crate) fn session(commands: Vec<Prepared>) -> Result<CommandSession, RunError> {
    commands::session(commands, RunSettings::default(), |_| Meter::new(Requested::default()))
}
