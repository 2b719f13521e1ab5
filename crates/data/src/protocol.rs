//! The sample protocol, version 1: how a program that is being measured gives numbers of its own.
//!
//! The program finds a place to write in the variable [`VARIABLE`] and appends JSON Lines: values, and regions between two
//! readings of the monotonic clock. `docs/reference/sample-protocol.md` specifies it for those who write such programs. The
//! lines were written by programs that may crash, fork, or be wrong, so reading never fails: good lines count, and every
//! other is a problem with its number. Nothing is guessed: where a start or a stop is missing, no value comes of the pair.

mod collect;
mod line;
#[cfg(test)]
mod tests;

use crate::Metric;
use crate::reading::{Reading, ReadingError, Take, reading};
use collect::Collector;

/// The variable that tells a program where to write: `fd:N` or `path:FILE`.
pub const VARIABLE: &str = "ASSAY_SAMPLES";

/// Longest line in bytes, its ending left out.
pub const MAX_LINE: usize = 1024 * 1024;
/// Most bytes of one run that are read; what is beyond is a problem.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Most metrics and regions of one run.
pub const MAX_METRICS: usize = 1000;
/// Longest name of a metric or region in characters.
pub const MAX_NAME: usize = 100;
/// Most problems that are kept; the others are only counted.
pub const MAX_PROBLEMS: usize = 20;

/// What a program gave of one metric in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The metric, in its base unit. Without a unit from the program it is a plain number; a region is in seconds.
    pub metric: Metric,
    /// What the run comes to: as the program says, else the median of values and the sum of regions.
    pub take: Take,
    /// The values in the order of their lines, at least one; finite, in the base unit.
    pub values: Vec<f64>,
}

impl Given {
    /// What the run comes to.
    ///
    /// # Errors
    /// When the values are so large that their sum is not finite.
    pub fn reading(&self) -> Result<Reading, ReadingError> {
        reading(self.values.clone(), self.take)
    }
}

/// What one run gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Metrics and regions with values, in the order in which they first appear.
    pub given: Vec<Given>,
    /// The first problems, in the order of their finding: at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// How many problems there are beyond those.
    pub more_problems: usize,
}

/// A line that does not count, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Problem {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong, and what to do. One line of text without control characters.
    pub what: String,
}

/// Reads what one run wrote. O(bytes); a million lines take about a second.
pub fn parse(bytes: &[u8]) -> Report {
    let mut collector = Collector::default();
    let read = &bytes[..bytes.len().min(MAX_BYTES)];
    let mut number = 0;
    let mut rest = read;
    while !rest.is_empty() {
        number += 1;
        let end = memchr::memchr(b'\n', rest);
        let (line, next) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = next;
        if end.is_none() && read.len() < bytes.len() {
            // The rest of this line lies beyond the limit.
            break;
        }
        collector.line(number, line, end.is_some());
    }
    if read.len() < bytes.len() {
        let what = "there are more than 64 MiB of lines; what follows here is left out. Let the program give one \
                    value of many, or fewer of them";
        collector.problem(number, what.to_owned());
    }
    collector.finish()
}
