//! What is asked of the operating system beside measuring, where that is not like Unix: files have no mark that they can be run, and a program
//! takes over by being waited for.

use std::fs::Metadata;
use std::path::Path;
use std::process::Command;

/// Named pipes are no files here.
pub(crate) fn is_pipe(_found: &Metadata) -> bool {
    false
}

/// Whether a file can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Runs a program in the place of this process, and ends as it does. Gives back, with the reason, only if that can't be.
#[expect(clippy::exit, reason = "the process is that program's")]
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
