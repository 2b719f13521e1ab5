//! Why there is no result: everything that can go wrong here, in words for the user.
//!
//! An error says what was wrong, where, and what to do. A command that fails is none: that is an
//! [`crate::Outcome`].

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::command::CommandError;
use crate::control::Setting;
use crate::resolve::ResolveError;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The text is not a command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A path or variable that cannot be handed over.
    #[error(
        "a path or a variable of `{program}` holds a zero byte, or there are too many: no program \
         can be started with that"
    )]
    NotPassable {
        /// The program as it was written.
        program: String,
    },
    /// The input file cannot be opened.
    #[error("cannot read the input `{}` of `{program}`: {source}", path.display())]
    Input {
        /// The program as it was written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The output file cannot be opened.
    #[error("cannot write the output of `{program}` to `{}`: {source}", path.display())]
    Output {
        /// The program as it was written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The directory cannot be entered.
    #[error("cannot run `{program}` in `{}`: {source}", path.display())]
    Directory {
        /// The program as it was written.
        program: String,
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A setting is refused, or has a value that it cannot have.
    #[error("cannot set {setting} for `{program}`: {source}.\nIt takes {needs}.")]
    Control {
        /// The program as it was written.
        program: String,
        /// What was to be set.
        setting: Setting,
        /// What the system says.
        source: io::Error,
        /// What would make it possible.
        needs: &'static str,
    },
    /// There is no place for the file that a command writes its samples to.
    #[error(
        "cannot make a file for the samples of `{program}` at `{}`: {source}.\nXDG_RUNTIME_DIR or \
         TMPDIR names the directory to make it in.",
        path.display()
    )]
    Samples {
        /// The program as it was written.
        program: String,
        /// The file, or the directory in which it was to be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What the run wrote cannot be read.
    #[error("cannot read what `{program}` wrote: {source}")]
    Reading {
        /// The program as it was written.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be guarded, and so must not be changed.
    #[error("nothing would put `{}` back as it was, so it is left alone: {source}", path.display())]
    Unguarded {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Files that were changed do not have their old values again.
    #[error("not everything could be restored as it was. Do it by hand:{}", by_hand(files))]
    NotRestored {
        /// The files and their old values.
        files: Vec<(PathBuf, String)>,
    },
    /// The system cannot start the program, for a reason that is not the file's.
    #[error("cannot start `{program}` ({}): {source}{hint}", path.display())]
    Start {
        /// The program as it was written.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
        /// What to do, on a line of its own; may be empty.
        hint: &'static str,
    },
    /// The launcher could not be started.
    #[error(
        "cannot start the launcher, the small program that runs the commands: {source}.\nIt is \
         started from memory or from the directory for temporary files: one must allow programs, and \
         the limits on open files and on the length of files (ulimit -n, -f) must not be tiny."
    )]
    Launcher {
        /// What the system says.
        source: io::Error,
    },
    /// The system allows no further thread.
    #[error(transparent)]
    Thread {
        /// Which says so.
        source: io::Error,
    },
    /// A kind of runner that this system does not have.
    #[error("ASSAY_RUNNER=`{named}`: there is no such runner here; there is {offered}")]
    UnknownRunner {
        /// As it was named.
        named: String,
        /// Those that there are.
        offered: String,
    },
    /// The launcher was killed; the run it had in flight was ended and is lost. A new launcher is
    /// at work: the caller takes the run again.
    #[error(
        "somebody killed the launcher while it ran `{program}`; that run is lost, and its \
         processes were ended. Measure it again."
    )]
    LostRun {
        /// The program as it was written.
        program: String,
    },
    /// The launcher was killed once more; the runner is of no use any more.
    #[error(
        "the launcher was killed a second time; what it had in flight was ended. Find out who \
         kills it (out of memory? see the kernel's log) before measuring again."
    )]
    LauncherGone,
    /// A second interrupt, or [`crate::AbortHandle::abort_in_flight`], ended the run.
    #[error("interrupted: the run in flight was ended")]
    Interrupted,
    /// A fault of `assay`, not of anything outside.
    #[error("internal error: {what}. Please report it.")]
    Internal {
        /// What was found.
        what: String,
    },
}

fn by_hand(files: &[(PathBuf, String)]) -> String {
    let line = |(path, value): &(PathBuf, String)| {
        format!("\n  write `{}` into {}", value.trim_end(), path.display())
    };
    files.iter().map(line).collect()
}
