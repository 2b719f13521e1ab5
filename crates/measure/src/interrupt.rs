//! Ctrl-C and similar signals: they are counted, so that the first one lets the current run finish
//! and the second one ends it.
//!
//! Nothing is decided in a handler. A runner that is woken by the second signal kills its current
//! run and returns [`crate::MeasureError::Interrupted`]; the caller checks [`count`] between runs.
//! Measurements must run on the main thread, because that is the one that the kernel wakes. Signals
//! are counted even if the process was started with them ignored (`nohup`).

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::sys::signals;

/// Counts SIGINT, SIGTERM and SIGHUP from now on, instead of ending the process. Repeated calls
/// have no effect.
///
/// # Errors
///
/// If the system refuses a handler.
pub fn install() -> io::Result<()> {
    signals::install()
}

/// Sets whether the first signal is acknowledged on standard error, with a note that the current
/// run will finish and that a second signal ends it. For a terminal; off by default.
pub fn answer_on_stderr(yes: bool) {
    signals::TELLS.store(yes, Ordering::SeqCst);
}

/// Returns the number of signals since [`install`].
pub fn count() -> u32 {
    signals::COUNT.load(Ordering::SeqCst)
}

/// Returns true after SIGTERM or SIGHUP, which request the process to end; Ctrl-C does not count.
pub fn is_asked_to_end() -> bool {
    signals::ENDS.load(Ordering::SeqCst)
}

/// Sleeps until one of these descriptors is readable, a signal arrives, or the time limit is
/// reached. It does not sleep if a signal arrived since the last sleep: a caller that checks
/// [`count`] before sleeping misses none.
///
/// # Errors
///
/// The system's error.
pub fn sleep_until(readable: &[BorrowedFd<'_>], most: Option<Duration>) -> io::Result<()> {
    let waker = signals::waker();
    let mut polled: Vec<PollFd<'_>> = waker
        .into_iter()
        .chain(readable.iter().copied())
        .map(|own| PollFd::from_borrowed_fd(own, PollFlags::IN))
        .collect();
    let most = most.map(|most| Timespec::try_from(most).map_err(io::Error::other)).transpose()?;
    match poll(&mut polled, most.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    quieten();
    Ok(())
}

/// Returns a descriptor that is readable after a signal, until [`quieten`] is called; `None` before
/// [`install`].
pub(crate) fn waker() -> Option<BorrowedFd<'static>> {
    signals::waker()
}

/// Drains the waker, so that it does not wake anyone again.
pub(crate) fn quieten() {
    if let Some(waker) = signals::waker() {
        // The waker may be empty.
        let _counted = rustix::io::read(waker, &mut [0; 64]);
    }
}
