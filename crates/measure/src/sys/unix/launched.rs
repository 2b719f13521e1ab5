//! There is no launcher: it is a program of Linux.

use std::io;

use crate::runner::Engine;

/// None.
///
/// # Errors
///
/// Always.
pub(crate) fn launcher() -> io::Result<Box<dyn Engine>> {
    Err(io::ErrorKind::Unsupported.into())
}
