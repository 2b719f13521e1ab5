//! The environment of a run: the program to reproduce, the terminal, and the way in which files are
//! opened.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};

/// Selects one of the two programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// The program of 2015: Debian up to 13 and Ubuntu up to 25.10.
    Of2015,
    /// The program of 2025: FreeBSD, Debian sid, Ubuntu from 26.04.
    #[default]
    Of2025,
}

impl Flavour {
    /// Returns the flavor of this year; `None` for any other text.
    pub fn from_year(year: &OsStr) -> Option<Self> {
        match year.to_str() {
            Some("2015") => Some(Self::Of2015),
            Some("2025") => Some(Self::Of2025),
            _ => None,
        }
    }
}

/// An input to open.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Standard input; requested at most once.
    StandardInput,
    /// The file of this name.
    File(&'a OsStr),
}

/// An opened input.
pub struct Opened {
    /// Source of the bytes. A read error counts as the end, as in the original.
    pub reader: Box<dyn Read + Send>,
    /// True for a regular file: such files are read in parallel, everything else sequentially.
    pub is_regular: bool,
}

/// The terminal on standard output.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    /// The value of the environment variable `COLUMNS`.
    pub columns_variable: Option<OsString>,
    /// The terminal's own number of columns; 0 if unknown.
    pub columns: u16,
}

/// Function that opens an input.
pub type Open<'a> = &'a dyn Fn(Source<'_>) -> io::Result<Opened>;

/// Everything other than the arguments that affects the output.
pub struct Surroundings<'a> {
    /// The program to reproduce.
    pub flavour: Flavour,
    /// True if the environment has `POSIXLY_CORRECT`: the first operand then ends the options.
    pub posixly_correct: bool,
    /// The terminal, if standard output is one.
    pub terminal: Option<Terminal>,
    /// Opens files and standard input.
    pub open: Open<'a>,
}

impl<'a> Surroundings<'a> {
    /// Creates surroundings with no terminal and an empty environment.
    pub fn new(flavour: Flavour, open: Open<'a>) -> Self {
        Self { flavour, posixly_correct: false, terminal: None, open }
    }
}
