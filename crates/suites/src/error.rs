//! What can be wrong with the run of a suite, in words that end a sentence about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run told nothing that can be used.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The command is of no framework that is known.
    #[error(
        "`{command}`: no test framework that assay knows; known are {known}. Name it with --framework, or have it print TAP, or write JUnit XML: --framework junit:FILE"
    )]
    Unknown {
        /// The command as typed.
        command: String,
        /// The frameworks.
        known: String,
    },
    /// No framework has this name.
    #[error("--framework {name}: there are {known}")]
    NoSuchFramework {
        /// The name.
        name: String,
        /// The frameworks.
        known: String,
    },
    /// The framework can't do what was asked for.
    #[error("{framework} {what}")]
    Unable {
        /// Its name.
        framework: &'static str,
        /// What it can't, and what to do: words behind its name.
        what: String,
    },
    /// The framework is too old.
    #[error("{framework} {needed} or later is needed: {said}")]
    TooOld {
        /// Its name.
        framework: &'static str,
        /// The first version that can.
        needed: &'static str,
        /// What it said.
        said: String,
    },
    /// It has no tests.
    #[error("it ran no test{}", .said.as_deref().map_or(String::new(), |said| format!("; it said: {said}")))]
    NoTests {
        /// What it said.
        said: Option<String>,
    },
    /// There is no report.
    #[error("it left no report{}", .said.as_deref().map_or(String::new(), |said| format!("; it said: {said}")))]
    NoReport {
        /// What it said.
        said: Option<String>,
    },
    /// A report can't be read.
    #[error("its report {what} can't be read: {why}")]
    Garbage {
        /// The file.
        what: String,
        /// What is wrong.
        why: String,
    },
    /// The system lets a file not be read.
    #[error("{}: {source}", .path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

impl SuiteError {
    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}

/// The line that tells most of what a command said, quoted: the first that speaks of an error, else the last; at most 200 characters.
pub(crate) fn said(errors: &[u8], output: &[u8]) -> Option<String> {
    let tells = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.contains("error") && !line.contains("errors: 0") && !line.contains(" 0 error")
    };
    let of = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let line = lines.clone().find(|line| tells(line)).or_else(|| lines.next_back())?;
        Some(format!("`{}`", line.chars().take(200).collect::<String>()))
    };
    of(errors).or_else(|| of(output))
}
