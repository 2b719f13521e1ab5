//! Runs a command for the user, unmeasured, with the terminal and all other resources of `assay`
//! itself, as `doctor --fix` does. It does not outlive `assay`.

use assay_data::system_error::reason;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::command::{Command as Measured, CommandError};
use crate::interrupt;
use crate::resolve::ResolveError;
use crate::runner::Outcome;
use crate::sys::child;

/// Errors of running a command.
#[derive(Debug, thiserror::Error)]
pub enum ForegroundError {
    /// The command is empty or invalid.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The system refused.
    #[error("cannot run `{program}`: {reason}", reason = reason(source))]
    Start {
        /// The program as written.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}

/// Runs a program with its arguments and waits for its end. Signals from a terminal reach both the
/// program and this process; install [`interrupt`] first, so that they do not end this process
/// before the program. Without a terminal, signals are forwarded as SIGTERM.
///
/// # Errors
///
/// If there is no such program, or it can't be started.
pub fn run(argv: &[OsString]) -> Result<Outcome, ForegroundError> {
    let program = argv.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let path = Measured::new(argv.iter().cloned())?.resolve()?;
    let mut command = Command::new(path);
    command.arg0(&argv[0]).args(&argv[1..]);
    child::end_with_us(&mut command);
    let failed = |source: io::Error| ForegroundError::Start { program: program.clone(), source };
    let mut handed_on = interrupt::count();
    let started = command.spawn().map_err(failed)?;
    let process = Pid::from_child(&started);
    loop {
        // Also before the wait: a signal that arrived while the program was being started no longer
        // wakes us.
        let count = interrupt::count();
        if count > handed_on && !io::stdin().is_terminal() {
            // The program may have just ended.
            let _gone = kill_process(process, Signal::TERM);
        }
        handed_on = count;
        match waitpid(Some(process), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                return Ok(Outcome::of_status(status.as_raw()));
            }
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
}
