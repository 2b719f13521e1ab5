//! Starts threads and passes on the error if that fails. The system limits the number of threads
//! per user (`ulimit -u`, or a container's limit), and [`std::thread::spawn`] panics at the limit.

use crate::system_error::reason;
use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread.
///
/// # Errors
///
/// Returns an error that names the limit if the system refuses to start the thread.
pub fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().spawn(work).map_err(|error| refused(&error))
}

/// Starts a scoped thread.
///
/// # Errors
///
/// Returns an error in the same cases as [`start`].
pub fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| refused(&error))
}

fn refused(error: &io::Error) -> io::Error {
    let why = format!(
        "no thread can be started: {}; this user has as many processes and threads as allowed (`ulimit -u`)",
        reason(error)
    );
    io::Error::new(error.kind(), why)
}
