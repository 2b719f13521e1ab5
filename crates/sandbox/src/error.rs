//! Why there is no sandbox, in words that say what to do.

use std::io;
use std::path::PathBuf;

/// Why a command can't be run in a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A program that it is made of is not there.
    #[error("there is no {program} (on Debian: apt-get install {package})")]
    NoProgram {
        /// The program.
        program: &'static str,
        /// The package that has it.
        package: &'static str,
    },
    /// The system does not let one be made.
    #[error(
        "bubblewrap can't make one here: {said}. Inside a container it needs user namespaces (in Docker: --security-opt seccomp=unconfined); on Ubuntu a profile of AppArmor for bwrap"
    )]
    Refused {
        /// What it said.
        said: String,
    },
    /// The user within can't read what is to be read.
    #[error(
        "{} can't be read by the user `{user}` of the sandbox: install it outside of home directories, or give others leave to read it", .path.display()
    )]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Who can't.
        user: String,
    },
    /// Files can't be written or handed over.
    #[error("{}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl SandboxError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
