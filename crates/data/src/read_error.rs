//! Errors in files that are read, worded so that the user can fix them: they state the file, line,
//! column and expected contents.
//!
//! Shared by the `.assay` reader and the importers. Contains no rules of any format.

use crate::excerpt::visible;
use crate::system_error::reason;
use std::fmt;

/// A position in a file, printed as `file:line:column`, or as `file:line` without a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// The file as the user named it, or `stdin` for standard input.
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Byte within the line, counted from 1, if known.
    pub column: Option<u64>,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// Reasons why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file does not exist.
    #[error("`{file}` does not exist{}", suggestion(.similar))]
    Missing {
        /// The file as the user named it.
        file: String,
        /// Similar names in the same directory, closest first.
        similar: Vec<String>,
    },
    /// The path is a directory, but a file was expected.
    #[error("`{file}` is a directory; name a file in it")]
    Directory {
        /// The directory as the user named it.
        file: String,
    },
    /// The system reported an error while reading.
    #[error("cannot read `{file}`: {reason}", reason = reason(source))]
    Io {
        /// The file as the user named it.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The compressed data are damaged or truncated.
    #[error("`{file}` is compressed and {problem}; compress or fetch it again")]
    Compressed {
        /// The file as the user named it.
        file: String,
        /// Description of the problem.
        problem: String,
    },
    /// The file is empty.
    #[error("`{file}` is empty; expected {expected}")]
    Empty {
        /// The file as the user named it.
        file: String,
        /// The expected contents.
        expected: &'static str,
    },
    /// The first line is not the header of a sample file.
    #[error(
        "{place}: expected the header of a sample file, such as `{{\"assay\":1,\"kind\":\"run\",…}}`, but the line begins with `{seen}`"
    )]
    NoHeader {
        /// The position of the line.
        place: FilePosition,
        /// The beginning of the line.
        seen: String,
    },
    /// The file was written in an unknown, later version of the format.
    #[error(
        "`{file}` was written by a later assay (version {version}); this one reads version {known}: update assay to read it"
    )]
    Version {
        /// The file as the user named it.
        file: String,
        /// The version that the file declares.
        version: u64,
        /// The version that this program reads.
        known: u64,
    },
    /// A line has an error.
    #[error("{place}: {}", visible(.problem))]
    Line {
        /// The position of the error.
        place: FilePosition,
        /// Description of the problem and the expected contents.
        problem: String,
    },
}

fn suggestion(similar: &[String]) -> String {
    if similar.is_empty() {
        return String::new();
    }
    let names: Vec<_> = similar.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(" or "))
}

/// Returns the beginning of a text for quoting it in a message: at most 40 characters, with control
/// characters replaced.
pub(crate) fn quoted_start(text: &str) -> String {
    const SHOWN: usize = 40;
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.trim_end().chars().take(SHOWN).map(visible).collect();
    if text.trim_end().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
