//! Counts Ctrl-C and similar signals, so that the first one lets the current run finish and the
//! second one ends it.
//!
//! Signal handlers decide nothing. A runner that is woken by the second signal kills its current
//! run and returns [`crate::MeasureError::Interrupted`]; the caller checks [`count`] between runs.
//! Measurements must run on the main thread, because that is the thread that the kernel wakes.
//! Signals are counted even if the process was started with them ignored (`nohup`).

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::sys::signals;

/// Makes SIGINT, SIGTERM and SIGHUP be counted from now on instead of ending the process. Repeated
/// calls have no effect.
///
/// # Errors
///
/// Returns an error if the signal handlers can't be installed.
pub fn install() -> io::Result<()> {
    signals::install()
}

/// Sets whether the first signal is acknowledged on standard error, with a note that the current
/// run will finish and that a second signal ends it. Meant for terminals; off by default.
pub fn answer_on_stderr(yes: bool) {
    signals::TELLS.store(yes, Ordering::SeqCst);
}

/// Returns the number of signals since [`install`].
pub fn count() -> u32 {
    signals::COUNT.load(Ordering::SeqCst)
}

/// Returns true if SIGTERM or SIGHUP has asked the process to end. Ctrl-C does not count.
pub fn is_asked_to_end() -> bool {
    signals::ENDS.load(Ordering::SeqCst)
}

/// Sleeps until one of the descriptors is readable, a signal arrives, or the time limit `most` is
/// reached. Returns immediately if a signal has arrived since the last sleep, so a caller that
/// checks [`count`] before sleeping misses none.
///
/// # Errors
///
/// Returns the system's error if the descriptors can't be polled.
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

/// Returns a descriptor that becomes readable when a signal arrives and stays readable until
/// [`quieten`] is called. `None` before [`install`].
pub(crate) fn waker() -> Option<BorrowedFd<'static>> {
    signals::waker()
}

/// Drains the waker, so that it is no longer readable.
pub(crate) fn quieten() {
    if let Some(waker) = signals::waker() {
        // Reading fails if the waker is already empty.
        let _counted = rustix::io::read(waker, &mut [0; 64]);
    }
}
