//! A run in a preloaded process that uses our own terminal. We forward the signals that we receive
//! to the run, because it has its own session.

use super::{PreloadedError, Running, Waiting};
use crate::runner::Outcome;
use crate::sys::relay;
use std::time::Duration;

/// Longest sleep. Signals end a sleep earlier.
const PULSE: Duration = Duration::from_secs(60);

/// Waits for the end of a run. Until then, forwards signals that interrupt, end or stop it, or that
/// announce a change of the window size. Must be called on the main thread.
///
/// # Errors
///
/// Returns an error if the process that the run was forked from dies, in which case the run is
/// killed, or if the signal handlers can't be installed.
pub fn relayed(mut running: Running) -> Result<Outcome, PreloadedError> {
    let _passes = relay::to_group(running.group())?;
    let mut never = || false;
    let mut waiting = Waiting { every: PULSE, also: &[], stops: &mut never };
    loop {
        if let Some(outcome) = running.wait(None, &mut waiting)? {
            return Ok(outcome);
        }
    }
}

/// Ends this process by the same signal that ended the run, so that our parent sees the same
/// status. Returns if the signal does not end the process.
pub fn end_by(signal: i32) {
    relay::die_of(signal);
}
