//! File descriptors that started programs inherit in addition to standard input, output and error,
//! and pipes that they open by name.

use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
use std::fs::File;
use std::io;
use std::path::Path;

/// Prevents programs started from now on from inheriting any descriptor that is currently open,
/// including those this process was started with. Must be called if commands are not trusted.
pub fn close_on_exec() {
    crate::sys::descriptors::close_on_exec();
}

/// Creates a named pipe, and opens it for reading and writing, so that a program does not wait for
/// another to open it. Reading does not wait either: on an empty pipe it fails with
/// [`io::ErrorKind::WouldBlock`].
///
/// # Errors
///
/// If it exists, or cannot be created.
pub fn named_pipe(path: &Path) -> io::Result<File> {
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?.into())
}
