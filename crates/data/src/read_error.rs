//! What can be wrong with a file that is read, said so that the reader of the message can mend it: file, line, column, what
//! was expected.
//!
//! Shared by the `.assay` reader and the importers. It holds no rule of any format.

use crate::excerpt::visible;
use std::fmt;

/// A place in a file, printed as `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it; `stdin` for standard input.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The byte within the line, counted from 1, where it is known.
    pub column: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file.
    #[error("`{file}` does not exist{}", suggestion(.similar))]
    Missing {
        /// The file as it was named.
        file: String,
        /// Files beside it whose names are close, the closest first.
        similar: Vec<String>,
    },
    /// A directory stands where a file was expected.
    #[error("`{file}` is a directory; name a file in it")]
    Directory {
        /// The directory as it was named.
        file: String,
    },
    /// The system refused to read.
    #[error("cannot read `{file}`: {source}")]
    Io {
        /// The file as it was named.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Compressed data are damaged or end too early.
    #[error("`{file}` is compressed and {problem}; compress or fetch it again")]
    Compressed {
        /// The file as it was named.
        file: String,
        /// What is wrong with the compressed data.
        problem: String,
    },
    /// There is not a single byte in it.
    #[error("`{file}` is empty; expected {expected}")]
    Empty {
        /// The file as it was named.
        file: String,
        /// What a file of this kind holds.
        expected: &'static str,
    },
    /// The first line is not the header of a sample file.
    #[error(
        "{place}: expected the header of a sample file, such as `{{\"assay\":1,\"kind\":\"run\",…}}`, but the line begins with `{seen}`"
    )]
    NoHeader {
        /// The line.
        place: Place,
        /// How it begins.
        seen: String,
    },
    /// The file was written in a version of the format that is not known here.
    #[error(
        "`{file}` was written by a later assay (version {version}); this one reads version {known}: update assay to read it"
    )]
    Version {
        /// The file as it was named.
        file: String,
        /// The version that it claims.
        version: u64,
        /// The version that is read here.
        known: u64,
    },
    /// One line is wrong.
    #[error("{place}: {}", visible(.problem))]
    Line {
        /// Where.
        place: Place,
        /// What is wrong with it and what was expected.
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

/// The beginning of a text as messages quote it: at most 40 characters, control characters replaced.
pub(crate) fn quoted_start(text: &str) -> String {
    const SHOWN: usize = 40;
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.trim_end().chars().take(SHOWN).map(visible).collect();
    if text.trim_end().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
