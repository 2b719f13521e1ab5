//! The sample protocol, version 1: how a program under measurement reports its own numbers.
//!
//! The program finds a place to write in the variable [`VARIABLE`] and appends JSON Lines: values,
//! and regions between two readings of the monotonic clock. `docs/reference/sample-protocol.md`
//! specifies it for authors of such programs. The lines come from programs that may crash, fork, or
//! be wrong, so reading never fails: good lines count, and every other line is a problem with its
//! line number. Nothing is guessed: a start without a stop, or the reverse, gives no value.

mod collect;
mod line;
#[cfg(test)]
mod tests;

use crate::Metric;
use crate::reading::{Reading, ReadingError, Take, reading};
use collect::Collector;

/// Environment variable that tells a program where to write: `fd:N` or `path:FILE`.
pub const VARIABLE: &str = "ASSAY_SAMPLES";

/// Maximum length of a line, in bytes, without its ending.
pub const MAX_LINE: usize = 1024 * 1024;
/// Maximum number of bytes read of one run; anything beyond is a problem.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of metrics and regions of one run.
pub const MAX_METRICS: usize = 1000;
/// Maximum length of the name of a metric or region, in characters.
pub const MAX_NAME: usize = 100;
/// Maximum number of problems kept; the others are only counted.
pub const MAX_PROBLEMS: usize = 20;

/// Values of one metric from one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The metric, in its base unit. If the program states no unit it is a plain number; a region
    /// is in seconds.
    pub metric: Metric,
    /// How the values are reduced to one for the run: as the program says, otherwise the median of
    /// values and the sum of regions.
    pub take: Take,
    /// The values in the order of their lines, at least one; finite, in the base unit.
    pub values: Vec<f64>,
}

impl Given {
    /// Returns the value of the run.
    ///
    /// # Errors
    /// If the values are so large that their sum is not finite.
    pub fn reading(&self) -> Result<Reading, ReadingError> {
        reading(self.values.clone(), self.take)
    }
}

/// Everything that one run reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Metrics and regions with values, in order of first appearance.
    pub given: Vec<Given>,
    /// The first problems, in the order found: at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// Number of problems beyond those.
    pub more_problems: usize,
}

/// A line that is not counted, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Problem {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong and what to do about it. One line of text without control characters.
    pub what: String,
}

/// Parses the output of one run. O(bytes); a million lines take about a second.
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
            // The rest of this line is beyond the limit.
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
