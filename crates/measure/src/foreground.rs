//! Runs a command for the user, unmeasured, with the terminal and everything else that `assay` itself has: what `doctor --fix`
//! does. It does not outlive `assay`.

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

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ForegroundError {
    /// There is nothing to run.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The system refuses.
    #[error("cannot run `{program}`: {source}")]
    Start {
        /// The program as it was written.
        program: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Runs a program with its arguments and waits for its end. Signals from a terminal reach it as well as this process; install
/// [`interrupt`] before, so that they do not end this one first. Without a terminal they are handed on as SIGTERM.
///
/// # Errors
///
/// When there is no such program, or it cannot be started.
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
        // Before the wait, too: one that came while the program was being started wakes nobody any more.
        let count = interrupt::count();
        if count > handed_on && !io::stdin().is_terminal() {
            // It may have ended at this very moment; then there is nobody to tell.
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
