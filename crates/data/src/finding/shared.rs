//! Findings that more than one reader or source creates. Each is defined once, so that the wording
//! is the same everywhere.
//!
//! The analysis defines its own findings; nothing is decided here.

use super::{Code, Finding, Severity};
use crate::advice::Action;

/// Returns the finding for a benchmark with missing values. `what` continues the sentence after the
/// name of the benchmark, as in `ended with an error: …`.
pub(crate) fn benchmark_error(name: &str, what: &str) -> Finding {
    benchmark_errors(&format!("`{name}` {what}"), 1).about(name)
}

/// Returns a single finding for several benchmarks with missing values; `benchmarks` is their
/// number.
pub(crate) fn benchmark_errors(message: &str, benchmarks: usize) -> Finding {
    Finding::new(crate::code::BENCHMARK_FAILED, message)
        .with("benchmarks", benchmarks as f64)
        .advise(Action::text("fix what failed and measure again; values may be missing"))
}

/// Returns the finding for benchmarks or tests that have no values without having failed; `message`
/// names them.
pub fn benchmarks_skipped(message: String, benchmarks: usize) -> Finding {
    Finding::new(crate::code::BENCHMARKS_MISSING, message).with("benchmarks", benchmarks as f64)
}

/// Returns the finding for recordings of a side that are identical byte for byte. Of `all`
/// recordings, `differ` distinct ones remain.
pub(crate) fn same_recording(side: &str, all: usize, differ: usize) -> Finding {
    let message = format!(
        "of {all} recordings of `{side}` only {differ} differ; the others are the same to the last byte, and count once"
    );
    Finding::new(crate::code::SAME_INPUT, message)
        .about(side)
        .with("recordings", all as f64)
        .with("differ", differ as f64)
}

/// Returns the finding for recordings of one side that were all made before those of the other.
pub(crate) fn recorded_apart(first: &str, second: &str) -> Finding {
    let message = format!(
        "all recordings of `{first}` were made before those of `{second}`: whatever changed on the machine in between looks like a difference"
    );
    Finding::new(crate::code::NOT_INTERLEAVED, message)
        .about(second)
        .advise(Action::text("record both sides alternately"))
}

/// Returns the finding for a subject whose output differs from that of its reference; `message`
/// describes the difference.
pub fn output_differs(subject: &str, message: impl Into<String>) -> Finding {
    Finding::new(crate::code::OUTPUT_DIFFERS, message).about(subject).advise(Action::text(
        "see which one is right: what does less work is faster for no good reason",
    ))
}

/// Returns the finding for output that differs from run to run of the same side, so that it cannot
/// be compared between sides. `what` names the output.
pub fn output_varies(what: &str) -> Finding {
    Finding::new(crate::code::OUTPUT_NOT_COMPARED, format!("{what}: not comparable"))
}

/// Name of the environment fact that states whether all commands had the same output.
pub const OUTPUTS: &str = "outputs";
/// Value of [`OUTPUTS`] if the outputs were the same.
pub const SAME_OUTPUTS: &str = "same";

/// Returns the finding for recordings of two sides that alternate in time.
pub(crate) fn recordings_alternate(reference: &str, other: &str) -> Finding {
    let message = format!(
        "the recordings of `{reference}` and `{other}` alternate in time, so that the spread between them includes the drift of the machine"
    );
    Finding::new(crate::code::RECORDINGS_ALTERNATE, message).about(other)
}

/// Returns the finding for a requested setting that could not be applied. `why` names the setting
/// and gives the reason.
pub fn not_controlled(why: &str) -> Finding {
    Finding::new(crate::code::NOT_CONTROLLED, format!("{why}: measured without"))
}

/// Returns the finding for lines without values; `lines` is their number. `what` describes the
/// lines, as in `without numbers`.
pub(crate) fn lines_skipped(what: &str, seen: &str, lines: u64) -> Finding {
    let message = format!("lines {what} were skipped: {seen}");
    Finding::new(crate::code::PARTLY_READ, message).with("lines", lines as f64)
}

/// Code of the finding that a file is truncated. For a sample file its evidence is `complete_bytes`
/// (the length of the uncompressed text up to the last complete record) and `lost_bytes`.
///
/// It concerns one reading of a file, not the run: it is ignored when read from a file, and never
/// written.
pub const TRUNCATED_FILE: &Code = crate::code::TRUNCATED_FILE;

/// Returns the finding for a file that is, or may be, truncated; `message` gives the position.
pub(crate) fn truncated_file(message: String) -> Finding {
    Finding::new(crate::code::TRUNCATED_FILE, message).advise(Action::text(
        "fetch the file again, unless the run was killed: then one record in flight was lost",
    ))
}

/// Returns the finding for events or instructions that could not be counted. `what` names them, and
/// `why` gives the reason.
pub fn not_counted(what: &str, why: &str) -> Finding {
    let message = format!("{what} can't be counted: {why}");
    Finding::new(crate::code::NOT_COUNTED, message)
}

/// Returns the finding for requesting more events than there are counters. `share` is the smallest
/// share of the time for which an event was counted.
pub fn multiplexed(share: f64) -> Finding {
    let message = format!(
        "events took turns on the counters: one was counted for only {:.0} % of the time, and its counts are scaled up",
        share * 100.0
    );
    Finding::new(crate::code::COUNTS_INCOMPLETE, message)
        .at(Severity::Warning)
        .with("least_share", share)
        .advise(Action::FewerEvents)
}

/// Returns the finding for failed requests or connections of a load test. `kinds` lists how many
/// there were of each kind, and `errors` is their total.
pub(crate) fn request_errors(kinds: &str, errors: f64) -> Finding {
    let message = format!("{errors} requests or connections failed: {kinds}");
    Finding::new(crate::code::REQUESTS_FAILED, message).at(Severity::Warning).with("errors", errors).advise(
        Action::text("fix what failed them, or send fewer requests; times may be of those that were answered alone"),
    )
}

/// Returns the finding for a load generator that waits for answers before it sends more requests;
/// `also` adds other facts about its latencies.
pub(crate) fn closed_loop(tool: &str, also: &str) -> Finding {
    let message = format!(
        "{tool} sends a request when an earlier one was answered: its latencies leave out how long requests would have waited while the server stood still{also}"
    );
    Finding::new(crate::code::CLOSED_LOOP, message).advise(Action::text(
        "for latencies under a given load, send by a schedule, whatever the server does",
    ))
}
