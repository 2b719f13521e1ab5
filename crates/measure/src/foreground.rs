//! Runs a command for the user, unmeasured, with the terminal and all other resources of `assay`
//! itself, as `doctor --fix` does. It does not outlive `assay`.

use assay_data::system_error::reason;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, waitid, waitpid,
};

use crate::command::{Command as Measured, CommandError};
use crate::interrupt;
use crate::resolve::ResolveError;
use crate::runner::Outcome;
use crate::sys::child;

/// Reasons why running a command failed.
#[derive(Debug, thiserror::Error)]
pub enum ForegroundError {
    /// The command is empty or invalid.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The program could not be started, or waiting for it failed.
    #[error("cannot run `{program}`: {reason}", reason = reason(source))]
    Start {
        /// The program as written.
        program: String,
        /// The system's error.
        source: io::Error,
    },
}

/// Runs a program with its arguments and waits until it ends. Signals from a terminal reach both
/// the program and this process, so install [`interrupt`] first to keep them from ending this
/// process before the program. Without a terminal, signals are forwarded as SIGTERM.
///
/// # Errors
///
/// Returns an error if the program can't be found or started, or if waiting for it fails.
pub fn run(argv: &[OsString]) -> Result<Outcome, ForegroundError> {
    let program = argv.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let path = Measured::new(argv.iter().cloned())?.resolve()?;
    let mut command = Command::new(path);
    command.arg0(&argv[0]).args(&argv[1..]);
    child::end_with_us(&mut command);
    let failed = |source: io::Error| ForegroundError::Start { program: program.clone(), source };
    let handed_on = interrupt::count();
    let (ended, ends) = io::pipe().map_err(failed)?;
    let process = Pid::from_child(&command.spawn().map_err(failed)?);
    let outcome = std::thread::scope(|scope| {
        // A signal that arrives between checking the count and waiting for the program would not
        // end that wait. This thread therefore waits for signals and for the end of a pipe, which
        // another thread closes when the program ends.
        let close_at_its_end = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while waitid(WaitId::Pid(process), options).is_err_and(|error| error == Errno::INTR) {}
            drop(ends);
        };
        let waits = std::thread::Builder::new().spawn_scoped(scope, close_at_its_end);
        let outcome = waits.and_then(|_| forward(process, handed_on, ended.as_fd()));
        if outcome.is_err() {
            // A failed kill is ignored, because `outcome` already has an error.
            let _gone = kill_process(process, Signal::KILL);
        }
        outcome
    });
    outcome.map_err(failed)
}

/// Forwards signals until the program has ended, which makes `ended` readable, and returns its
/// outcome.
fn forward(process: Pid, mut handed_on: u32, ended: BorrowedFd<'_>) -> io::Result<Outcome> {
    loop {
        let count = interrupt::count();
        if count > handed_on && !io::stdin().is_terminal() {
            // The program may have ended in the meantime.
            let _gone = kill_process(process, Signal::TERM);
        }
        handed_on = count;
        if let Some((_, status)) = waitpid(Some(process), WaitOptions::NOHANG)? {
            return Ok(Outcome::of_status(status.as_raw()));
        }
        interrupt::sleep_until(&[ended], None)?;
    }
}
