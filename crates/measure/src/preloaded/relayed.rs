//! A run in a preloaded process with our own terminal: signals that we get are passed on to it, as it is a session of its own.

use super::{PreloadedError, Running, Waiting};
use crate::runner::Outcome;
use crate::sys::relay;
use std::time::Duration;

/// A signal wakes us anyway.
const PULSE: Duration = Duration::from_secs(60);

/// Waits for the end of a run, and passes on what we are sent meanwhile: interrupts, ends, stops, the window's size. To be called on the main thread.
///
/// # Errors
/// When the process that it was forked of dies: it is killed then; and what the system says if it refuses handlers.
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

/// Ends this process by a signal, as the run was: whoever waits for us sees the same. Comes back if the signal ends nothing.
pub fn end_by(signal: i32) {
    relay::die_of(signal);
}
