//! Operating system services other than measuring, for systems that are not Unix-like. Files have
//! no executable bit, and a program that should replace this process runs as a child instead.

use std::fs::Metadata;
use std::path::Path;
use std::process::Command;

/// Always returns false, because named pipes are not files on these systems.
pub(crate) fn is_pipe(_found: &Metadata) -> bool {
    false
}

/// Returns true if a file can be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Runs a program in place of this process, and exits with its status. Returns only if that fails,
/// with the reason.
#[expect(clippy::exit, reason = "the process is that program's")]
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
