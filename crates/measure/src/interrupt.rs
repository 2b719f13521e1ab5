//! Ctrl-C and its like: counted, so that the first one lets the run in flight finish and the
//! second one ends it.
//!
//! Nothing is decided in a handler. A runner that is woken by the second signal kills what it has
//! in flight and returns [`crate::MeasureError::Interrupted`]; the caller looks at [`count`]
//! between runs. Run on the main thread: that is the one the kernel wakes. A process that asked for a signal to be ignored (`nohup`) is counted all the same.

use std::io;
use std::sync::atomic::Ordering;

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
