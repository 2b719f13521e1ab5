//! What is asked of the operating system beside measuring: kinds of files, and to become another program. Systems that are not like Unix have
//! a file of their own for it.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Whether it is a pipe with a name: to open one waits for the other side.
pub(crate) fn is_pipe(found: &Metadata) -> bool {
    found.file_type().is_fifo()
}

/// Whether a file can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Hands this process over to a program. Gives back, with the reason, only if that can't be.
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    command.exec()
}
