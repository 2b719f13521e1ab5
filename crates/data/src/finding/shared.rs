//! Findings that more than one reader or source has: each code is made in one place, in the same words, whoever found it.
//!
//! What the analysis finds stands in the analysis; nothing here decides.

use super::{Finding, Severity};
use crate::advice::Action;

/// The code of benchmarks without usable values.
pub const BENCHMARK_ERROR: &str = "BENCHMARK_ERROR";

/// A benchmark that has no values, or not all; `what` goes on after its name: `ended with an error: …`.
pub(crate) fn benchmark_error(name: &str, what: &str) -> Finding {
    benchmark_errors(&format!("`{name}` {what}"), 1).about(name)
}

/// Several benchmarks that have no values, or not all, in one sentence.
pub(crate) fn benchmark_errors(message: &str, benchmarks: usize) -> Finding {
    Finding::new(BENCHMARK_ERROR, Severity::Warning, message)
        .with("benchmarks", benchmarks as f64)
        .advise(Action::text("fix what failed and measure again; values may be missing"))
}

/// Benchmarks, or tests, without values that are no failure; `message` says which.
pub fn benchmarks_skipped(message: String, benchmarks: usize) -> Finding {
    Finding::new("BENCHMARK_SKIPPED", Severity::Note, message).with("benchmarks", benchmarks as f64)
}

/// Recordings of a side that are the same to the last byte; `differ` of `all` are left.
pub(crate) fn same_recording(side: &str, all: usize, differ: usize) -> Finding {
    let message = format!(
        "of {all} recordings of `{side}` only {differ} differ; the others are the same to the last byte, and count once"
    );
    Finding::new("SAME_RECORDING", Severity::Warning, message)
        .about(side)
        .with("recordings", all as f64)
        .with("differ", differ as f64)
}

/// Recordings of one side that were all made before those of the other.
pub(crate) fn recorded_apart(first: &str, second: &str) -> Finding {
    let message = format!(
        "all recordings of `{first}` were made before those of `{second}`: whatever changed on the machine in between looks like a difference"
    );
    Finding::new("RECORDED_APART", Severity::Warning, message)
        .about(second)
        .advise(Action::text("record both sides alternately"))
}

/// Code of the finding that the recordings of two sides alternate.
pub const RECORDINGS_ALTERNATE: &str = "RECORDINGS_ALTERNATE";

/// Recordings of two sides that alternate in time.
pub(crate) fn recordings_alternate(reference: &str, other: &str) -> Finding {
    let message = format!(
        "the recordings of `{reference}` and `{other}` alternate in time, so that the spread between them includes the drift of the machine"
    );
    Finding::new(RECORDINGS_ALTERNATE, Severity::Note, message).about(other)
}

/// A setting that was asked for and could not be had; `why` names it.
pub fn not_controlled(why: &str) -> Finding {
    Finding::new("NOT_CONTROLLED", Severity::Warning, format!("{why}: measured without"))
}

/// Lines of a file that hold no values; `what` says which lines: `without numbers`.
pub(crate) fn lines_skipped(what: &str, seen: &str, lines: u64) -> Finding {
    let message = format!("lines {what} were skipped: {seen}");
    Finding::new("LINES_SKIPPED", Severity::Note, message).with("lines", lines as f64)
}

/// Code of the finding that a file broke off. Of a sample file its evidence is `complete_bytes` (the length of the uncompressed text up to
/// the last complete record) and `lost_bytes`.
///
/// It is about one reading of a file, not about the run: one that stands in a file is passed over, and none is written.
pub const TRUNCATED_FILE: &str = "TRUNCATED_FILE";

/// A file that breaks off, or may; `message` says where.
pub(crate) fn truncated_file(message: String) -> Finding {
    Finding::new(TRUNCATED_FILE, Severity::Warning, message).advise(Action::text(
        "fetch the file again, unless the run was killed: then one record in flight was lost",
    ))
}

/// Events, or the instructions of commands, that could not be counted, and the reason.
pub fn not_counted(what: &str, why: &str) -> Finding {
    let message = format!("{what} can't be counted: {why}");
    Finding::new("NOT_COUNTED", Severity::Warning, message)
}

/// More events than counters; `share` is the least share of the time that one of them was counted.
pub fn multiplexed(share: f64) -> Finding {
    let message = format!(
        "events took turns on the counters: one was counted for only {:.0} % of the time, and its counts are scaled up",
        share * 100.0
    );
    Finding::new("MULTIPLEXED", Severity::Warning, message)
        .with("least_share", share)
        .advise(Action::FewerEvents)
}

/// Requests, or connections, of a load test that were not answered well; `kinds` says how many of each kind.
pub(crate) fn request_errors(kinds: &str, errors: f64) -> Finding {
    let message = format!("{errors} requests or connections failed: {kinds}");
    Finding::new("REQUEST_ERRORS", Severity::Warning, message).with("errors", errors).advise(
        Action::text("fix what failed them, or send fewer requests; times may be of those that were answered alone"),
    )
}

/// A load generator that waits for answers before it sends on; `also` goes on: what else is known of its latencies.
pub(crate) fn closed_loop(tool: &str, also: &str) -> Finding {
    let message = format!(
        "{tool} sends a request when an earlier one was answered: its latencies leave out how long requests would have waited while the server stood still{also}"
    );
    Finding::new("CLOSED_LOOP", Severity::Note, message).advise(Action::text(
        "for latencies under a given load, send by a schedule, whatever the server does",
    ))
}
