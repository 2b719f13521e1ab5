//! The launcher, which exists only on Linux.

use std::io;

use crate::runner::Engine;

/// Always fails.
///
/// # Errors
///
/// Always returns an error.
pub(crate) fn launcher() -> io::Result<Box<dyn Engine>> {
    Err(io::ErrorKind::Unsupported.into())
}
