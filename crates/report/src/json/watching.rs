//! A run of `assay watch` as JSON: one object per line.

use super::Head;
use super::finding::Finding;
use super::values::view;
use crate::watching::{Came, Failed};

view! {
    /// What came of a run of `assay watch`: one object on a line by itself for every run that got through.
    WatchedRun of (came: &Came) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("watch"),
        /// Which run it was, from 1.
        run: u64 = came.run,
        /// When it began, in UTC.
        began: String = came.began.clone(),
        /// The files that were saved before it, from the directory that is watched.
        changed: Vec<String> = came.changed.clone(),
        /// Why it ran.
        why: String = came.why.clone(),
        /// Whether all tests were to run.
        all: bool = came.all,
        /// `green`: all that ran passed; `red`: something failed; `broken`: a source can't be read, so nothing ran.
        state: String = came.light.name().to_owned(),
        /// Whether all tests ran and passed, with nothing since.
        all_green: bool = came.all_green,
        /// How many tests passed; `null` where no tests were run, but a command (`--any`).
        passed: Option<usize> = came.passed,
        /// How many were skipped.
        skipped: usize = came.skipped,
        /// Those that failed.
        failed: Vec<FailedTest> = came.failed.iter().map(FailedTest::of).collect(),
        /// How long it took, s.
        seconds: f64 = came.seconds,
        /// Whether it was a fork of a preloaded process (warm), not one that was started anew (cold).
        warm: bool = came.warm,
        /// Why it is red, where that is no failed test, or what is wrong with the source; `null`: nothing.
        trouble: Option<String> = came.trouble.clone(),
        /// What the command wrote last, to standard output and error (`--any`); `null`: not kept.
        said: Option<String> = came.said.clone(),
        /// What was found over the runs of days.
        findings: Vec<Finding> = came.findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// A test that failed.
    FailedTest of (test: &Failed) {
        /// Its name.
        name: String = test.name.clone(),
        /// Its file; `null`: not known.
        file: Option<String> = test.file.clone(),
        /// Where it stands there; `null`: not known.
        line: Option<u32> = test.line,
        /// What it said; `null`: nothing.
        message: Option<String> = test.message.clone(),
    }
}
