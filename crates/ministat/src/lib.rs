//! The classic `ministat`, to the byte: what people's scripts read must not change because the program behind it did.
//!
//! Two programs of that name are in use and disagree on half of all inputs: that of 2015 and that of 2025 ([`Flavour`]). This crate
//! gives what either prints, on standard output and on standard error, and its exit status, quirks included; where the original dies
//! of a signal it gives an error instead. It follows the observed behaviour of both programs; the tests hold it to what they printed.
//!
//! It stands alone: it knows nothing of this project's samples or statistics, and nothing here may be used where the truth is
//! wanted. It touches neither terminal nor files by itself: what it may read is handed in ([`Surroundings`]), and what it prints goes
//! to a writer.
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

/// Which of the two programs is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// The program of 2015: Debian up to 13 and Ubuntu up to 25.10.
    Of2015,
    /// The program of 2025: FreeBSD, Debian sid, Ubuntu from 26.04.
    #[default]
    Of2025,
}

impl Flavour {
    /// The flavour that is called by this year; `None` for any other text.
    pub fn from_year(year: &OsStr) -> Option<Self> {
        match year.to_str() {
            Some("2015") => Some(Self::Of2015),
            Some("2025") => Some(Self::Of2025),
            _ => None,
        }
    }
}

/// What is to be opened.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Standard input; asked for at most once.
    StandardInput,
    /// The file of this name.
    File(&'a OsStr),
}

/// Something that was opened.
pub struct Opened {
    /// Its bytes. An error while reading counts as the end, as it does for the original.
    pub reader: Box<dyn Read + Send>,
    /// True for a plain file on a disk: such files are read at the same time, everything else one after another.
    pub is_regular: bool,
}

/// The terminal that standard output is.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    /// What the environment variable `COLUMNS` holds.
    pub columns_variable: Option<OsString>,
    /// Columns as the terminal itself gives them; 0 where it does not know.
    pub columns: u16,
}

/// How something is opened.
pub type Open<'a> = &'a dyn Fn(Source<'_>) -> io::Result<Opened>;

/// Everything outside of the arguments that decides about the output.
pub struct Surroundings<'a> {
    /// Which program to be.
    pub flavour: Flavour,
    /// Whether the environment has `POSIXLY_CORRECT`: the first operand then ends the options.
    pub posixly_correct: bool,
    /// The terminal, where standard output is one.
    pub terminal: Option<Terminal>,
    /// Opens files and standard input.
    pub open: Open<'a>,
}

impl<'a> Surroundings<'a> {
    /// No terminal and an empty environment.
    pub fn new(flavour: Flavour, open: Open<'a>) -> Self {
        Self { flavour, posixly_correct: false, terminal: None, open }
    }
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What belongs on standard error.
    pub stderr: Vec<u8>,
    /// The exit status: 0, 1 (the flavour of 2015 could not open a file) or 2 (any other error).
    pub status: u8,
}

/// Does what `ministat ARGS` does; `args` without the program's name.
///
/// Nothing is written to `out` before everything was read and is known to be good. Memory is 8 bytes a point; time is that of reading
/// and sorting, and that of printing: a plot has as many rows as its fullest column has points.
///
/// # Errors
///
/// Only when `out` can't be written to.
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
