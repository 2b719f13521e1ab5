//! Operating system services other than measuring: kinds of files, and replacing this process with
//! another program. Systems that are not Unix-like have a separate file.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Returns true for a named pipe. Opening one waits for the other end.
pub(crate) fn is_pipe(found: &Metadata) -> bool {
    found.file_type().is_fifo()
}

/// Returns true if a file can be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Replaces this process with a program. Returns only if that fails, with the reason.
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    command.exec()
}
