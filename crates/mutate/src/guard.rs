//! Ends running builds and tests when the time is up or the user interrupts the program, since they
//! may take much longer than the user wants to wait. The guard runs on its own thread because the
//! other threads wait for these runs.

use assay_data::threads;
use assay_measure::{AbortHandle, interrupt};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

/// Interval at which to check the clock.
const LOOK: Duration = Duration::from_millis(50);
/// Time after an interrupt at which the program is forced to exit.
const LAST: Duration = Duration::from_secs(4);
/// The exit status after a forced exit.
const INTERRUPTED: i32 = 130;

/// The error for a run that was ended because the time was up or the user interrupted it.
#[derive(Debug, thiserror::Error)]
#[error("the time was up")]
pub(crate) struct TimeIsUp;

/// Handle to the guard's thread and to the runs that it ends.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    shared: Arc<GuardState>,
}

#[derive(Default)]
struct GuardState {
    handles: Mutex<Vec<AbortHandle>>,
    lines: Mutex<Vec<UnixStream>>,
    until: Mutex<Option<Instant>>,
    is_over: AtomicBool,
}

impl std::fmt::Debug for GuardState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Guard {
    /// Starts a guard that ends all runs at `until`, or only after an interrupt if `until` is
    /// `None`.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    pub fn start(until: Option<Instant>) -> io::Result<Self> {
        let own = Self::default();
        *own.shared.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        let shared = Arc::clone(&own.shared);
        threads::start(move || watch(&shared))?;
        Ok(own)
    }

    /// Adds the runs of another runner.
    pub fn add(&self, handle: Option<AbortHandle>) {
        self.shared.handles.lock().unwrap_or_else(PoisonError::into_inner).extend(handle);
    }

    /// Adds a connection to a process that runs tests on request. Closing the connection ends the
    /// wait for an answer.
    pub fn add_line(&self, line: UnixStream) {
        self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// Returns the moment at which all runs are ended, if there is a time limit.
    pub fn until(&self) -> Option<Instant> {
        *self.shared.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if all runs should end now.
    pub fn is_over(&self) -> bool {
        interrupt::count() > 0 || self.until().is_some_and(|until| Instant::now() >= until)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

#[expect(clippy::exit, reason = "what is waited for may never end")]
fn watch(shared: &GuardState) {
    let mut interrupted: Option<Instant> = None;
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        if interrupt::count() > 0 {
            let since = *interrupted.get_or_insert_with(Instant::now);
            if since.elapsed() > LAST {
                // The journal contains the results so far, and the next run removes the copies.
                std::process::exit(INTERRUPTED);
            }
        }
        let until = *shared.until.lock().unwrap_or_else(PoisonError::into_inner);
        if interrupted.is_none() && until.is_none_or(|until| Instant::now() < until) {
            continue;
        }
        for handle in &*shared.handles.lock().unwrap_or_else(PoisonError::into_inner) {
            let _nothing_in_flight = handle.abort_in_flight();
        }
        for line in &*shared.lines.lock().unwrap_or_else(PoisonError::into_inner) {
            let _gone = line.shutdown(Shutdown::Both);
        }
    }
}
