//! Errors of this crate, in words for the user.
//!
//! An error states the fault, its location and a remedy. A command that fails is not an error but
//! an [`crate::Outcome`].

use assay_data::system_error::reason;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::command::CommandError;
use crate::control::Setting;
use crate::resolve::ResolveError;

/// Reasons for a missing result.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The text is not a valid command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A path or variable can't be passed to a program.
    #[error(
        "a path or a variable of `{program}` contains a NUL byte, or there are too many: the program cannot be started"
    )]
    NotPassable {
        /// The program as written.
        program: String,
    },
    /// The input file cannot be opened.
    #[error("cannot read the input `{}` of `{program}`: {reason}", path.display(), reason = reason(source))]
    Input {
        /// The program as written.
        program: String,
        /// Path of the input file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The output file cannot be opened.
    #[error(
        "cannot write the output of `{program}` to `{}`: {reason}",
        path.display(), reason = reason(source)
    )]
    Output {
        /// The program as written.
        program: String,
        /// Path of the output file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory can't be entered.
    #[error("cannot run `{program}` in `{}`: {reason}", path.display(), reason = reason(source))]
    Directory {
        /// The program as written.
        program: String,
        /// Path of the directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A setting was refused, or has an invalid value.
    #[error("cannot set {setting} for `{program}`: {reason}.\nIt needs {needs}.", reason = reason(source))]
    Control {
        /// The program as written.
        program: String,
        /// The setting.
        setting: Setting,
        /// The system's error.
        source: io::Error,
        /// Requirement of the system for the setting.
        needs: &'static str,
    },
    /// The file for a command's samples can't be created.
    #[error(
        "cannot create a file for the samples of `{program}` at `{}`: {reason}.\nSet XDG_RUNTIME_DIR or TMPDIR to another directory.",
        path.display(),
        reason = reason(source)
    )]
    Samples {
        /// The program as written.
        program: String,
        /// The file, or its intended directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The output of the run can't be read.
    #[error("cannot read what `{program}` wrote: {reason}", reason = reason(source))]
    Reading {
        /// The program as written.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// A file can't be guarded, and therefore must not be changed.
    #[error(
        "`{}` could not be restored afterwards, so it is not changed: {reason}",
        path.display(), reason = reason(source)
    )]
    Unguarded {
        /// Path of the file.
        path: PathBuf,
        /// The reason why the file cannot be guarded.
        source: io::Error,
    },
    /// Changed files could not be restored.
    #[error("some settings could not be restored. Restore them by hand:{}", by_hand(files))]
    NotRestored {
        /// The files and their old values.
        files: Vec<(PathBuf, String)>,
    },
    /// The system can't start the program, for a reason unrelated to the file.
    #[error("cannot start `{program}` ({}): {reason}{hint}", path.display(), reason = reason(source))]
    Start {
        /// The program as written.
        program: String,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
        /// Advice on a separate line; may be empty.
        hint: &'static str,
    },
    /// The launcher can't be started.
    #[error(
        "cannot start the launcher, the small program that runs the commands: {reason}.\nIt is started from memory or from the directory for temporary files: one of them must allow executing programs, and the limits on processes, open files and file size (ulimit -u, -n, -f) must not be tiny.",
        reason = reason(source)
    )]
    Launcher {
        /// The system's error.
        source: io::Error,
    },
    /// The system permits no further thread.
    #[error(transparent)]
    Thread {
        /// The system's error.
        source: io::Error,
    },
    /// The requested kind of runner does not exist on this system.
    #[error("ASSAY_RUNNER=`{named}`: no such runner on this system; available: {offered}")]
    UnknownRunner {
        /// The requested kind of runner.
        named: String,
        /// The kinds of runners that exist on this system.
        offered: String,
    },
    /// The launcher was killed. Its current run was ended and is lost. A new launcher has been
    /// started, so the caller can repeat the run.
    #[error(
        "the launcher was killed while it ran `{program}`; that run is lost, and its processes were killed. Measure it again."
    )]
    LostRun {
        /// The program as written.
        program: String,
    },
    /// The launcher was killed a second time; the runner can't be used any more.
    #[error(
        "the launcher was killed a second time; the run in progress was stopped. Find out what kills it (out of memory? see the kernel's log) before measuring again."
    )]
    LauncherGone,
    /// A second interrupt, or [`crate::AbortHandle::abort_in_flight`], ended the run.
    #[error("interrupted: the run in progress was stopped")]
    Interrupted,
    /// A bug in `assay`, not an external failure.
    #[error("internal error: {what}. Please report it.")]
    Internal {
        /// Description of the bug.
        what: String,
    },
}

fn by_hand(files: &[(PathBuf, String)]) -> String {
    let line = |(path, value): &(PathBuf, String)| {
        format!("\n  write `{}` into {}", value.trim_end(), path.display())
    };
    files.iter().map(line).collect()
}
