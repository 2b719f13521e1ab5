//! Ctrl-C and its like: counted, so that the first one lets the run in flight finish and the
//! second one ends it.
//!
//! Nothing is decided in a handler. A runner that is woken by the second signal kills what it has
//! in flight and returns [`crate::MeasureError::Interrupted`]; the caller looks at [`count`]
//! between runs. Run on the main thread: that is the one the kernel wakes. A process that asked for a signal to be ignored (`nohup`) is counted all the same.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::sys::signals;

/// From now on SIGINT, SIGTERM and SIGHUP are counted instead of ending the process. Calling it
/// again changes nothing.
///
/// # Errors
///
/// What the system says if it refuses a handler.
pub fn install() -> io::Result<()> {
    signals::install()
}

/// Whether the first signal is answered on standard error: that the run at hand is waited for, and that a second one ends it.
/// For a terminal; off until this is called.
pub fn answer_on_stderr(yes: bool) {
    signals::TELLS.store(yes, Ordering::SeqCst);
}

/// How many signals came since [`install`].
pub fn count() -> u32 {
    signals::COUNT.load(Ordering::SeqCst)
}

/// Returns true after SIGTERM or SIGHUP, which ask the process to end; Ctrl-C does not count.
pub fn is_asked_to_end() -> bool {
    signals::ENDS.load(Ordering::SeqCst)
}

/// Sleeps until one of these has something to be read, a signal comes, or so much time has passed. It does not sleep if a signal came since the
/// last sleep: whoever has looked at [`count`] before misses none.
///
/// # Errors
///
/// What the system says.
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

/// Has something to be read from a signal on, until [`quieten`] is called; `None` before [`install`].
pub(crate) fn waker() -> Option<BorrowedFd<'static>> {
    signals::waker()
}

/// Takes what the waker has, so that it wakes nobody again.
pub(crate) fn quieten() {
    if let Some(waker) = signals::waker() {
        // There may be nothing in it.
        let _counted = rustix::io::read(waker, &mut [0; 64]);
    }
}
