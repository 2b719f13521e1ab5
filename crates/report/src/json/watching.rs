//! A run of `assay watch` as JSON: one object per line.

use super::Head;
use super::finding::Finding;
use super::values::view;
use crate::watching::{Came, Failed};

view! {
    /// The result of a run of `assay watch`: one object on its own line for every completed run.
    WatchedRun of (came: &Came) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("watch"),
        /// Number of the run, from 1.
        run: u64,
        /// Start of the run, UTC.
        began: String,
        /// The files saved before the run, relative to the watched directory.
        changed: Vec<String>,
        /// The reason for the run.
        why: String,
        /// True if all tests were to run.
        all: bool,
        /// `green`: all tests that ran passed; `red`: something failed; `broken`: a source file
        /// cannot be parsed, so nothing ran.
        state: String => came.light.name(),
        /// True if all tests have run and passed, without a change since.
        all_green: bool,
        /// Number of passed tests; `null` if a command was run instead of tests (`--any`).
        passed: Option<usize>,
        /// Number of skipped tests.
        skipped: usize,
        /// The failed tests.
        failed: Vec<FailedTest>,
        /// Duration of the run, s.
        seconds: f64,
        /// True if the run was a fork of a preloaded process (warm), false if it was started from
        /// scratch (cold).
        warm: bool,
        /// The reason for `red` other than failed tests, or the problem with the source file;
        /// otherwise `null`.
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
        /// Message of the failure; `null` if there is none.
        message: Option<String>,
    }
}
