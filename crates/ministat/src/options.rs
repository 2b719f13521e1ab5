//! The command line as glibc's `getopt` takes it apart: joined values, clustered flags, options behind operands, `--`.
//!
//! Options are judged in their order and the first fault ends the run, so the order of the faults is part of the behaviour.

use crate::c_number::{atoi, cut_to_int, strtod, strtol};
use crate::complaint::{Complaint, OptionFault};
use crate::student::{DEFAULT_LEVEL, LEVELS};
use crate::{Flavour, Surroundings, Terminal};
use std::ffi::OsString;

/// Columns of a plot where nothing says otherwise.
const DEFAULT_WIDTH: i32 = 74;

/// Data sets at most; each has its own symbol.
const MOST_SETS: usize = 7;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// `-A`: no plot.
    pub no_plot: bool,
    /// `-n`: neither plot nor comparison.
    pub summary_only: bool,
    /// `-q`: neither names nor header.
    pub quiet: bool,
    /// `-s`: a line of bars for every set.
    pub separate_bars: bool,
    /// `-C`: the column to read, from 1.
    pub column: usize,
    /// `-c`: the place of the level among [`LEVELS`].
    pub level: usize,
    /// `-d`: every byte is a delimiter.
    pub delimiters: Vec<u8>,
    /// `-w`: columns of the plot; negative only where the terminal or `COLUMNS` is to blame.
    pub width: i32,
    /// Names of the files; none means standard input.
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
    /// Takes the arguments apart.
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

    /// True when this option is a flag; it is then set.
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
                // An unknown level behind a known one is passed over: the original only asks whether any was found so far.
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
