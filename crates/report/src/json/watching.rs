//! Runs of `assay watch` as JSON, with one object per line.

use super::Head;
use super::finding::Finding;
use super::values::view;
use crate::watching::{Came, Failed};

view! {
    /// The result of a run of `assay watch`. Every completed run writes one object on a line of its
    /// own.
    WatchedRun of (came: &Came) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("watch"),
        /// Number of the run, from 1.
        run: u64,
        /// Start of the run, in UTC.
        began: String,
        /// The files saved before the run, relative to the watched directory.
        changed: Vec<String>,
        /// What ran, and why.
        why: String,
        /// True if the run was meant to include all tests.
        all: bool,
        /// `green`: all tests that ran passed. `red`: something failed. `broken`: a source file
        /// cannot be parsed, so nothing ran.
        state: String => came.light.name(),
        /// True if all tests ran and passed, and nothing has changed since.
        all_green: bool,
        /// Number of passed tests; `null` if a command was run instead of tests (`--any`).
        passed: Option<usize>,
        /// Number of skipped tests.
        skipped: usize,
        /// The failed tests.
        failed: Vec<FailedTest>,
        /// Duration of the run, in seconds.
        seconds: f64,
        /// True if the run was a fork of a preloaded process (warm); false if it was started from
        /// scratch (cold).
        warm: bool,
        /// The reason why the state is `red` if no test failed, or the message about a source file
        /// that cannot be parsed; otherwise `null`.
        trouble: Option<String>,
        /// The end of the command's standard output and error (`--any`); `null` if it was not kept.
        said: Option<String>,
        /// Findings from the runs of the last days.
        findings: Vec<Finding>,
    }
}

view! {
    /// A test that failed.
    FailedTest of (test: &Failed) {
        /// Name of the test.
        name: String,
        /// File of the test; `null` if unknown.
        file: Option<String>,
        /// Line of the test in the file; `null` if unknown.
        line: Option<u32>,
        /// Failure message; `null` if there is none.
        message: Option<String>,
    }
}
