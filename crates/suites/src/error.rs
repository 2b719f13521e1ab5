//! What can be wrong with the run of a suite, in words that end a sentence about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why a run told nothing that can be used.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The command is of no framework that is known, and printed no report.
    #[error(
        "it printed no results of tests (it said: {said}), and is no test framework that assay knows; known are {known}. Name it with --framework, or have it print TAP, or write JUnit XML: --framework junit:FILE"
    )]
    Unknown {
        /// What it said.
        said: String,
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

/// The line that tells most of what a command said, quoted: one that names an exception, one that begins with `error:`, one that speaks of an error,
/// else the last; at most 200 characters.
pub(crate) fn said(errors: &[u8], output: &[u8]) -> Option<String> {
    let names_exception = |line: &str| {
        let name = line.split(':').next().unwrap_or_default().trim_start_matches("E ").trim();
        line.contains(':')
            && !name.contains(' ')
            && (name.ends_with("Error") || name.ends_with("Exception"))
    };
    let begins = |line: &str| line.to_ascii_lowercase().starts_with("error");
    let speaks =
        |line: &str| line.to_ascii_lowercase().contains("error") && !line.starts_with("==");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (errors, output) = (text(errors), text(output));
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let (errors, output) = (lines(&errors), lines(&output));
    let all = || errors.iter().chain(&output);
    let line = all()
        .find(|line| names_exception(line))
        .or_else(|| all().find(|line| begins(line)))
        .or_else(|| all().find(|line| speaks(line)))
        .or_else(|| errors.last())
        .or_else(|| output.last())?;
    let line = line.trim_start_matches("E ").trim();
    Some(format!("`{}`", line.chars().take(200).collect::<String>()))
}
