//! Setting a farm up on a machine, again and again with the same result: each step looks at what is there, changes what differs, and says which
//! of both it was.
//!
//! What is done there is done by small scripts for `sh`, here or behind `ssh`; nothing but a shell and coreutils is needed on the other side.

pub mod host;
pub mod steps;
pub mod unit;

use thiserror::Error;

/// What a step came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Something differed, and was changed.
    Changed,
    /// Nothing had to be done.
    AsItWas,
    /// It does not apply there, for this reason.
    LeftOut(String),
}

/// Why a step did not come to its end.
#[derive(Debug, Error)]
pub enum DeployError {
    /// The shell, here or there, can't be started.
    #[error("`{program}` can't be started: {source}; it has to be on PATH here")]
    Start {
        /// What was to be started.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The host can't be reached.
    #[error("{host} can't be reached: {said}")]
    Unreachable {
        /// The host.
        host: String,
        /// What ssh said.
        said: String,
    },
    /// What was to be done there failed.
    #[error("on {host}: {said}")]
    Failed {
        /// The host.
        host: String,
        /// What was said.
        said: String,
    },
    /// A file here can't be read.
    #[error("{file}: {source}")]
    File {
        /// Which.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The two machines are not of one kind.
    #[error(
        "{host} is {there}, this program is built for {here}: name a directory with programs that are built for it by --programs"
    )]
    OtherKind {
        /// The host.
        host: String,
        /// What it is.
        there: String,
        /// What this is.
        here: String,
    },
}
