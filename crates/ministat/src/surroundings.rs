//! The environment of a run: the program to reproduce, the terminal, and a function that opens
//! inputs.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};

/// One of the two programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// The program of 2015: Debian up to 13 and Ubuntu up to 25.10.
    Of2015,
    /// The program of 2025: FreeBSD, Debian sid, Ubuntu from 26.04.
    #[default]
    Of2025,
}

impl Flavour {
    /// Returns the flavor of a year, 2015 or 2025; `None` for any other text.
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
    /// Standard input, which is requested at most once.
    StandardInput,
    /// The file of this name.
    File(&'a OsStr),
}

/// An opened input.
pub struct Opened {
    /// The reader of the bytes. A read error is treated as the end, as in the original.
    pub reader: Box<dyn Read + Send>,
    /// True for a regular file. Regular files are read in parallel, everything else in order.
    pub is_regular: bool,
}

/// The terminal to which standard output is connected.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    /// The value of the environment variable `COLUMNS`; `None` if it is not set.
    pub columns_variable: Option<OsString>,
    /// The terminal's own number of columns; 0 if unknown.
    pub columns: u16,
}

/// A function that opens an input.
pub type Open<'a> = &'a dyn Fn(Source<'_>) -> io::Result<Opened>;

/// Everything other than the arguments that affects the output.
pub struct Surroundings<'a> {
    /// Which program to reproduce.
    pub flavour: Flavour,
    /// True if the environment variable `POSIXLY_CORRECT` is set, so that the first operand ends
    /// the options.
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
