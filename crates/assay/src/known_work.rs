//! A program with a known amount of work, and sessions that run commands for a fixed time, whatever
//! the result. They serve to measure the machine itself. The callers decide what to show.

use crate::commands::{self, CommandSession, Prepared, RunSettings};
use crate::meter::{Meter, Requested};
use crate::run_error::RunError;
use anyhow::Context;
use assay_data::{Plan, StopRule, Threshold};
use assay_measure::{Command, Output, workload};
use std::path::Path;

/// Duration of one run of the program, in seconds: long enough to meet the machine's disturbances,
/// short enough for thousands of runs.
const RUN_SECONDS: f64 = 0.002;
/// A fixed seed, so that the same series gives the same numbers.
pub(crate) const SEED: u64 = 1;

/// Unpacks the program into a directory.
///
/// # Errors
///
/// Fails if the program cannot be run from there, for example because the file system is mounted
/// `noexec`.
pub(crate) fn program(room: &Path) -> anyhow::Result<Command> {
    let failed = || {
        format!(
            "assay's own program can't be run from {}; set TMPDIR to a directory where programs may be run",
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

/// Returns true if a recorded command line runs this program.
pub(crate) fn is_own(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    Path::new(program).file_name().is_some_and(|name| name == "spin")
        && words.next() == Some("spin")
}

/// Returns a plan that measures for `seconds`.
pub(crate) fn plan(seconds: f64) -> Plan {
    Plan {
        stop: StopRule::Fixed { blocks: u32::MAX },
        budget_seconds: Some(seconds),
        ..Plan::sequential(0.95, Threshold::default(), SEED)
    }
}

/// Starts a session that measures commands by those metrics that every run has.
///
/// # Errors
///
/// Fails under the conditions of [`commands::session`].
pub(crate) fn session(commands: Vec<Prepared>) -> Result<CommandSession, RunError> {
    let runner = commands::runner()?;
    commands::session(
        runner,
        commands,
        RunSettings::default(),
        |_| Meter::new(Requested::default()),
    )
}
