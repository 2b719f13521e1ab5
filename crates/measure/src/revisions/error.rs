//! Why a revision cannot be had, in words for whoever asked for it.

use crate::error::MeasureError;
use crate::resolve::ResolveError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a revision cannot be had.
#[derive(Debug, Error)]
pub enum RevisionError {
    /// There is no git.
    #[error("revisions are taken out of the repository by git, which is not there: {0}")]
    NoGit(ResolveError),
    /// The directory is in no repository, or in one without working trees.
    #[error("there are no revisions in `{}`; git said:\n{said}", directory.display())]
    NoRepository {
        /// The directory.
        directory: PathBuf,
        /// What git said.
        said: String,
    },
    /// No commit goes by that name.
    #[error(
        "`{revision}` is no revision of `{}`; git said:\n{said}\n`git fetch` it first, if it is \
         somewhere else.", repository.display()
    )]
    Unknown {
        /// The name as it was written.
        revision: String,
        /// The top of the repository.
        repository: PathBuf,
        /// What git said.
        said: String,
    },
    /// Git did not do what it was asked for.
    #[error("cannot {what}; git said:\n{said}")]
    Git {
        /// What it was asked for, as a verb with its object.
        what: String,
        /// What git said.
        said: String,
    },
    /// The build line failed.
    #[error(
        "`{revision}`: the build line `{line}` {how}.{}\nAll that it said is in {}", ending_of(end), log.display()
    )]
    Build {
        /// The revision as it was written.
        revision: String,
        /// The line.
        line: String,
        /// How it ended, in words that end a sentence.
        how: String,
        /// The last lines of its output; may be empty.
        end: String,
        /// The file that holds all of it.
        log: PathBuf,
    },
    /// What was run in the tree of a revision failed.
    #[error("it {how}.{}\nAll that it said is in {}", ending_of(end), log.display())]
    Run {
        /// How it ended, in words that end a sentence.
        how: String,
        /// The last lines of its output; may be empty.
        end: String,
        /// The file that holds all of it, until the next program runs.
        log: PathBuf,
    },
    /// The place for built revisions cannot be used.
    #[error(
        "cannot keep built revisions in `{}`: {source}.\nXDG_CACHE_HOME names the directory to \
         keep them in.", path.display()
    )]
    Cache {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The user stopped it. What was being built is built anew next time.
    #[error("interrupted")]
    Interrupted,
    /// Nothing can be started, or the program that starts it was killed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
}

fn ending_of(end: &str) -> String {
    if end.is_empty() { String::new() } else { format!(" The end of its output:\n{end}") }
}
