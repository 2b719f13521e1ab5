//! Sets up a farm on a machine; repeating it gives the same result. Each step compares the current
//! state with the desired one, changes what differs, and reports whether it changed anything.
//!
//! All actions on the machine are small `sh` scripts, run locally or through `ssh`; the machine
//! needs only a shell and coreutils.

pub mod host;
pub mod steps;
pub mod unit;

use assay_data::system_error::reason;
use thiserror::Error;

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Something differed and was changed.
    Changed,
    /// Nothing had to be done.
    AsItWas,
    /// The step does not apply to this machine, for the given reason.
    LeftOut(String),
}

/// The reason why a step failed.
#[derive(Debug, Error)]
pub enum DeployError {
    /// The local shell or ssh cannot be started.
    #[error(
        "`{program}` can't be started: {reason}; it must be on PATH on this machine",
        reason = reason(source)
    )]
    Start {
        /// The program that was to be started.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The host cannot be reached.
    #[error("{host} can't be reached: {said}")]
    Unreachable {
        /// The host.
        host: String,
        /// The output of ssh.
        said: String,
    },
    /// A script failed.
    #[error("on {host}: {said}")]
    Failed {
        /// The host.
        host: String,
        /// Output of the script.
        said: String,
    },
    /// A local file cannot be read.
    #[error("{file}: {reason}", reason = reason(source))]
    File {
        /// The file.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The machines have different architectures.
    #[error(
        "{host} is {there}, but this program is built for {here}: use --programs to name a directory with programs built for it"
    )]
    OtherKind {
        /// The host.
        host: String,
        /// The host's architecture.
        there: String,
        /// The architecture of this program.
        here: String,
    },
}
