//! The classic `ministat`, byte for byte: the input of users' scripts must not change because the
//! program behind it did.
//!
//! Two programs of that name are in use and disagree on half of all inputs: that of 2015 and that
//! of 2025 ([`Flavour`]). This crate reproduces the output of either, on standard output and
//! standard error, and its exit status, including its quirks; where the original is killed by a
//! signal it reports an error instead. It follows the observed behavior of both programs; the tests
//! compare it with their recorded output.
//!
//! It is self-contained: it does not use this project's samples or statistics, and nothing here may
//! be used where correct statistics are needed. It accesses neither terminal nor files itself: its
//! inputs are passed in ([`Surroundings`]), and its output goes to a writer.
//!
//! ```
//! use assay_ministat::{Flavour, Opened, Surroundings, run};
//!
//! let open = |_: assay_ministat::Source<'_>| {
//!     Ok(Opened { reader: Box::new(&b"1\n2\n6\n"[..]), is_regular: true })
//! };
//! let around = Surroundings::new(Flavour::Of2025, &open);
//! let mut printed = Vec::new();
//! let ending = run(&["-nq".into(), "times".into()], &around, &mut printed)?;
//! assert_eq!(ending.status, 0);
//! assert_eq!(printed, b"x   3             1             6             2             3     2.6457513\n");
//! # Ok::<(), std::io::Error>(())
//! ```
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

mod c_number;
mod comparison;
mod complaint;
mod dataset;
mod options;
mod percent_g;
mod plot;
mod reading;
mod sorting;
mod student;
mod table;

use complaint::Complaint;
use options::Options;
use plot::Plot;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};

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
    /// Returns the flavour of this year; `None` for any other text.
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
    /// Its bytes. A read error counts as the end, as in the original.
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
    /// Makes surroundings with no terminal and an empty environment.
    pub fn new(flavour: Flavour, open: Open<'a>) -> Self {
        Self { flavour, posixly_correct: false, terminal: None, open }
    }
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The bytes for standard error.
    pub stderr: Vec<u8>,
    /// The exit status: 0, 1 (the flavour of 2015 could not open a file) or 2 (any other error).
    pub status: u8,
}

/// Runs `ministat ARGS`; `args` excludes the program's name.
///
/// Nothing is written to `out` before everything has been read and checked. Memory is 8 bytes per
/// point; time is that of reading and sorting, and of printing: a plot has as many rows as its
/// fullest column has points.
///
/// # Errors
///
/// Only if writing to `out` fails.
pub fn run(args: &[OsString], around: &Surroundings, out: &mut dyn Write) -> io::Result<Ending> {
    let complained = |complaint: Complaint| Ending {
        stderr: complaint.text(around.flavour),
        status: complaint.status(around.flavour),
    };
    let options = match Options::read(args, around) {
        Ok(options) => options,
        Err(complaint) => return Ok(complained(complaint)),
    };
    let sets = match reading::read_all(&options, around) {
        Ok(sets) => sets,
        Err(complaint) => return Ok(complained(complaint)),
    };
    let plot = if options.no_plot || options.summary_only {
        None
    } else {
        match Plot::of(&sets, options.width, options.separate_bars) {
            Ok(plot) => Some(plot),
            Err(complaint) => return Ok(complained(complaint)),
        }
    };
    table::write(&sets, &options, plot.as_ref(), around.flavour, out)?;
    Ok(Ending { stderr: Vec::new(), status: 0 })
}
