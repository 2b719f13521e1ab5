//! The classic `ministat`, byte for byte, so that replacing the program does not change the input
//! of users' scripts.
//!
//! Two programs of that name are in use, and they disagree on half of all inputs: those of 2015 and
//! 2025 ([`Flavour`]). This crate reproduces the output of either, on standard output and standard
//! error, and its exit status, including its quirks. Where the original is killed by a signal, it
//! reports an error. It follows the observed behavior of both programs, and the tests compare it
//! with their recorded output.
//!
//! The crate is self-contained. It does not use this project's samples or statistics, and nothing
//! in it may be used where correct statistics are needed. It does not access the terminal or files
//! itself: its inputs are passed in ([`Surroundings`]), and its output goes to a writer.
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
mod surroundings;
mod table;

use complaint::Complaint;
use options::Options;
use plot::Plot;
use std::ffi::OsString;
use std::io::{self, Write};
pub use surroundings::{Flavour, Open, Opened, Source, Surroundings, Terminal};

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The bytes for standard error.
    pub stderr: Vec<u8>,
    /// The exit status: 0 for success, 1 if the flavor of 2015 could not open a file, or 2 for any
    /// other error.
    pub status: u8,
}

/// Runs `ministat ARGS`; `args` excludes the program's name.
///
/// Nothing is written to `out` before all input has been read and checked. This takes 8 bytes of
/// memory per point. The time is spent on reading, sorting and printing: a plot has as many rows as
/// its fullest column has points.
///
/// # Errors
///
/// Returns an error only if writing to `out` fails.
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
