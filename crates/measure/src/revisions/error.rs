//! Errors of preparing revisions, worded for the user.

use crate::error::MeasureError;
use crate::resolve::ResolveError;
use assay_data::system_error::reason;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Reasons why a revision is unavailable.
#[derive(Debug, Error)]
pub enum RevisionError {
    /// git is not installed.
    #[error("revisions are checked out with git, which cannot be run: {0}")]
    NoGit(ResolveError),
    /// The directory is not in a repository, or its repository has no working tree.
    #[error("there are no revisions in `{}`; git said:\n{said}", directory.display())]
    NoRepository {
        /// The directory.
        directory: PathBuf,
        /// Git's message.
        said: String,
    },
    /// The name does not refer to a commit.
    #[error(
        "`{revision}` is not a revision of `{}`; git said:\n{said}\nIf it is in another repository, `git fetch` it first.", repository.display()
    )]
    Unknown {
        /// The name as written.
        revision: String,
        /// Root directory of the repository's working tree.
        repository: PathBuf,
        /// Git's message.
        said: String,
    },
    /// A git command failed.
    #[error("cannot {what}; git said:\n{said}")]
    Git {
        /// What the command was to do, as a verb with its object.
        what: String,
        /// Git's message.
        said: String,
    },
    /// A submodule has uncommitted changes.
    #[error(
        "the submodule `{path}` has changes that are not committed in it, so they would not be measured: commit them there, or undo them"
    )]
    SubmoduleChanged {
        /// Path of the submodule, relative to the root directory.
        path: String,
    },
    /// The build line failed.
    #[error(
        "`{revision}`: the build line `{line}` {how}.{}\nIts whole output is in {}", ending_of(end), log.display()
    )]
    Build {
        /// The revision as written.
        revision: String,
        /// The build line.
        line: String,
        /// How the build line ended, in words that complete a sentence.
        how: String,
        /// The last lines of the build's output; may be empty.
        end: String,
        /// The file with the complete output.
        log: PathBuf,
    },
    /// A program run in the tree of a revision failed.
    #[error("it {how}.{}\nIts whole output is in {}", ending_of(end), log.display())]
    Run {
        /// How the program ended, in words that complete a sentence.
        how: String,
        /// The last lines of the program's output; may be empty.
        end: String,
        /// The file with the complete output, which the next program overwrites.
        log: PathBuf,
    },
    /// The location of built revisions can't be used.
    #[error(
        "cannot keep built revisions in `{}`: {reason}.\nSet XDG_CACHE_HOME to another directory.", path.display(),
        reason = reason(source)
    )]
    Cache {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The user interrupted the preparation. An unfinished build is restarted the next time.
    #[error("interrupted")]
    Interrupted,
    /// No process can be started, or the launcher was killed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
}

fn ending_of(end: &str) -> String {
    if end.is_empty() { String::new() } else { format!(" The end of its output:\n{end}") }
}
