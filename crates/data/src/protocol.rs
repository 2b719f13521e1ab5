//! The sample protocol, version 1, by which a program under measurement reports its own numbers.
//!
//! The variable [`VARIABLE`] tells the program where to write. The program appends JSON Lines that
//! contain values, or regions between two readings of the monotonic clock.
//! `docs/reference/sample-protocol.md` specifies the protocol for authors of such programs. Because
//! these programs may crash, fork or be wrong, reading never fails: valid lines count, and every
//! other line is a problem with its line number. Nothing is guessed: a start without a stop, or the
//! reverse, gives no value.

mod collect;
mod line;
mod report;
#[cfg(test)]
mod tests;

use collect::Collector;
pub use report::{MAX_LINE, MAX_METRICS, MAX_NAME, MAX_PROBLEMS, Problem, Report, ReportedMetric};

/// Environment variable that tells a program where to write: `fd:N` or `path:FILE`.
pub const VARIABLE: &str = "ASSAY_SAMPLES";

/// Maximum number of bytes read of one run; anything beyond is a problem.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

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
            // The remainder of this line is beyond the limit.
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
