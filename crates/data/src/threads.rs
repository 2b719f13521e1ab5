//! Threads that may be refused: the system allows a user only so many (`ulimit -u`, or the limit of a container), and
//! [`std::thread::spawn`] ends the program there. Whoever needs a thread starts it here and hands the error on.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread.
///
/// # Errors
/// When the system refuses, with what limits it.
pub fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().spawn(work).map_err(|error| refused(&error))
}

/// Starts a thread that ends before its scope does.
///
/// # Errors
/// As of [`start`].
pub fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| refused(&error))
}

fn refused(error: &io::Error) -> io::Error {
    let why = format!(
        "no thread can be started: {error}; this user has as many processes and threads as allowed (`ulimit -u`)"
    );
    io::Error::new(error.kind(), why)
}
