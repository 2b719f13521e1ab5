//! Errors of creating a sandbox, with advice.

use assay_data::system_error::reason;
use std::io;
use std::path::PathBuf;

/// Reasons why a command can't be run in a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A required program is missing.
    #[error("there is no {program} (on Debian: apt-get install {package})")]
    NoProgram {
        /// The program.
        program: &'static str,
        /// The package that contains it.
        package: &'static str,
    },
    /// The system does not permit a sandbox.
    #[error(
        "bubblewrap cannot create one here: {said}. Inside a container, it needs user namespaces (in Docker: --security-opt seccomp=unconfined); on Ubuntu, an AppArmor profile for bwrap"
    )]
    Refused {
        /// Message from bubblewrap.
        said: String,
    },
    /// The sandbox's user can't read a required file.
    #[error(
        "{} cannot be read by the sandbox user `{user}`: install it outside of home directories, or make it readable for others", .path.display()
    )]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Name of the sandbox's user.
        user: String,
    },
    /// A file can't be written or handed over.
    #[error("{}: {reason}", .path.display(), reason = reason(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl SandboxError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
