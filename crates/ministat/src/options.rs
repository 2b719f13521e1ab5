//! Parses the command line as glibc's `getopt` does, with joined values, clustered flags, options
//! after operands, and `--`.
//!
//! Options are checked in order and the first error ends the run, so the order of the errors is
//! part of the behavior.

use crate::c_number::{atoi, cut_to_int, strtod, strtol};
use crate::complaint::{Complaint, OptionFault};
use crate::student::{DEFAULT_LEVEL, LEVELS};
use crate::{Flavour, Surroundings, Terminal};
use std::ffi::OsString;

/// Default number of columns of a plot.
const DEFAULT_WIDTH: i32 = 74;

/// Maximum number of data sets; each has its own symbol.
const MOST_SETS: usize = 7;

/// The parsed options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// `-A`: no plot.
    pub no_plot: bool,
    /// `-n`: neither plot nor comparison.
    pub summary_only: bool,
    /// `-q`: neither names nor header.
    pub quiet: bool,
    /// `-s`: a separate line of bars for each set.
    pub separate_bars: bool,
    /// `-C`: the column to read, counting from 1.
    pub column: usize,
    /// `-c`: the index of the confidence level in [`LEVELS`].
    pub level: usize,
    /// `-d`: the delimiters; each byte is one.
    pub delimiters: Vec<u8>,
    /// `-w`: the number of columns of the plot. It can be negative only if it comes from the
    /// terminal or `COLUMNS`.
    pub width: i32,
    /// Names of the files to read; empty for standard input.
    pub operands: Vec<OsString>,
}

fn wrong(problem: &'static str) -> Complaint {
    Complaint::Usage { about_option: None, problem }
}

fn wrong_option(fault: OptionFault) -> Complaint {
    Complaint::Usage { about_option: Some(fault), problem: "Unknown option" }
}

fn width_of(terminal: Option<&Terminal>) -> i32 {
    let Some(terminal) = terminal else { return DEFAULT_WIDTH };
    match (&terminal.columns_variable, terminal.columns) {
        (Some(text), _) if !text.is_empty() => atoi(text.as_encoded_bytes()),
        (_, 0) => DEFAULT_WIDTH,
        (_, columns) => i32::from(columns) - 2,
    }
}

impl Options {
    /// Parses the arguments.
    pub(crate) fn read(args: &[OsString], around: &Surroundings) -> Result<Self, Complaint> {
        let mut options = Self {
            no_plot: false,
            summary_only: false,
            quiet: false,
            separate_bars: false,
            column: 1,
            level: DEFAULT_LEVEL,
            delimiters: b" \t".to_vec(),
            width: width_of(around.terminal.as_ref()),
            operands: Vec::new(),
        };
        let mut level = None;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let bytes = arg.as_encoded_bytes();
            if bytes == b"--" {
                break;
            }
            if bytes.len() < 2 || bytes[0] != b'-' {
                options.operands.push(arg.clone());
                if around.posixly_correct {
                    break;
                }
                continue;
            }
            let mut cluster = &bytes[1..];
            while let Some((&option, rest)) = cluster.split_first() {
                cluster = rest;
                if options.set_flag(option, around.flavour) {
                    continue;
                }
                if !b"Ccdw".contains(&option) {
                    return Err(wrong_option(OptionFault::Unknown(option)));
                }
                let value = if rest.is_empty() {
                    let next =
                        args.next().ok_or(wrong_option(OptionFault::ValueMissing(option)))?;
                    next.as_encoded_bytes()
                } else {
                    rest
                };
                options.set_value(option, value, &mut level)?;
                break;
            }
        }
        options.operands.extend(args.cloned());
        if options.operands.len() > MOST_SETS {
            return Err(wrong("Too many datasets."));
        }
        options.level = level.unwrap_or(DEFAULT_LEVEL);
        Ok(options)
    }

    /// Sets a flag. Returns false if the option is not a flag.
    fn set_flag(&mut self, option: u8, flavour: Flavour) -> bool {
        match option {
            b'A' => self.no_plot = true,
            b'n' => self.summary_only = true,
            b's' => self.separate_bars = true,
            b'q' if flavour == Flavour::Of2025 => self.quiet = true,
            _ => return false,
        }
        true
    }

    fn set_value(
        &mut self,
        option: u8,
        value: &[u8],
        level: &mut Option<usize>,
    ) -> Result<(), Complaint> {
        match option {
            b'C' => {
                let (number, taken) = strtol(value);
                if taken < value.len() {
                    return Err(wrong("Invalid column number."));
                }
                let column = usize::try_from(cut_to_int(number)).ok().filter(|column| *column > 0);
                self.column = column.ok_or(wrong("Column number should be positive."))?;
            }
            b'c' => {
                let (percent, taken) = strtod(value);
                if taken < value.len() {
                    return Err(wrong("Not a floating point number"));
                }
                // An unknown level after a known one is ignored, because the original only checks
                // whether any level has been found so far.
                *level = LEVELS.iter().position(|known| *known == percent).or(*level);
                if level.is_none() {
                    return Err(wrong("No support for confidence level"));
                }
            }
            b'd' => {
                if value.is_empty() {
                    return Err(wrong("Can't use empty delimiter string"));
                }
                self.delimiters = value.to_vec();
            }
            _ => {
                let (number, taken) = strtol(value);
                if taken < value.len() {
                    return Err(wrong("Invalid width, not a number."));
                }
                self.width = cut_to_int(number);
                if self.width < 0 {
                    return Err(wrong("Unable to move beyond left margin."));
                }
            }
        }
        Ok(())
    }
}
