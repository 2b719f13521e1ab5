//! Errors, with the original's wording and exit status. For inputs that crash the original, the
//! wording is our own.
//!
//! Names consist of arbitrary bytes, so a message does too.

use crate::Flavour;

/// The reason for a missing result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// An option is unknown, or its value is missing or invalid.
    Usage { about_option: Option<OptionFault>, problem: &'static str },
    /// A file cannot be opened; `reason` is the system's message.
    CannotOpen { name: Vec<u8>, reason: String },
    /// A set has fewer than three points.
    TooFew { name: Vec<u8> },
    /// A field is not a number.
    NoNumber { name: Vec<u8>, line: u64 },
    /// A number is infinite or NaN, which is an error only for the flavor of 2025.
    NotFinite { name: Vec<u8>, line: u64 },
    /// The original crashes on this plot; the text is the reason.
    NoPlot(String),
}

/// A fault of an option itself, which is given as a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionFault {
    Unknown(u8),
    ValueMissing(u8),
}

/// Usage lines about options that both flavors print. The flavor of 2025 adds a line for `-q`.
const ABOUT_OPTIONS: [&str; 6] = [
    "\tconfidence = {80%, 90%, 95%, 98%, 99%, 99.5%}\n",
    "\t-A : print statistics only. suppress the graph.\n",
    "\t-C : column number to extract (starts and defaults to 1)\n",
    "\t-d : delimiter(s) string, default to \" \\t\"\n",
    "\t-n : print summary statistics only, no graph/test\n",
    "\t-s : print avg/median/stddev bars on separate lines\n",
];

fn usage(flavour: Flavour) -> String {
    let first = match flavour {
        Flavour::Of2015 => {
            "Usage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-Ans] [-w width] [file [file ...]]\n"
        }
        // The extra bracket is the original's.
        Flavour::Of2025 => {
            "Usage: ministat [-Anqs] [-C column] [-c confidence] [-d delimiter(s)] [-w width] [file ...]]\n"
        }
    };
    let mut text = first.to_owned();
    for (place, line) in ABOUT_OPTIONS.iter().enumerate() {
        if place == ABOUT_OPTIONS.len() - 1 && flavour == Flavour::Of2025 {
            text.push_str(
                "\t-q : suppress printing summary-statistics headers and data-set names\n",
            );
        }
        text.push_str(line);
    }
    text + "\t-w : width of graph/test output (default 74 or terminal width)\n"
}

impl Complaint {
    /// Returns the text for standard error.
    pub(crate) fn text(&self, flavour: Flavour) -> Vec<u8> {
        let of_file = |before: &str, name: &[u8], after: &str| {
            [before.as_bytes(), name, after.as_bytes(), b"\n"].concat()
        };
        match self {
            Self::Usage { about_option, problem } => {
                let mut text = Vec::new();
                if let Some(fault) = about_option {
                    let (words, option) = match *fault {
                        OptionFault::Unknown(option) => ("invalid option", option),
                        OptionFault::ValueMissing(option) => {
                            ("option requires an argument", option)
                        }
                    };
                    text.extend_from_slice(format!("ministat: {words} -- '").as_bytes());
                    text.extend_from_slice(&[option, b'\'', b'\n']);
                }
                text.extend_from_slice(format!("{problem}\n{}", usage(flavour)).as_bytes());
                text
            }
            Self::CannotOpen { name, reason } => {
                of_file("ministat: Cannot open ", name, &format!(": {reason}"))
            }
            Self::TooFew { name } => {
                of_file("Dataset ", name, " must contain at least 3 data points")
            }
            Self::NoNumber { name, line } => {
                of_file(&format!("ministat: Invalid data on line {line} in "), name, "")
            }
            Self::NotFinite { name, line } => {
                of_file(&format!("ministat: inf or nan data on line {line} in "), name, "")
            }
            Self::NoPlot(why) => format!("ministat: no plot can be drawn: {why}\n").into_bytes(),
        }
    }

    /// Returns the exit status.
    pub(crate) fn status(&self, flavour: Flavour) -> u8 {
        let is_open_fault = matches!(self, Self::CannotOpen { .. });
        if is_open_fault && flavour == Flavour::Of2015 { 1 } else { 2 }
    }
}
