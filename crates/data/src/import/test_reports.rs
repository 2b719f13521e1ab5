//! Reports of test frameworks: the duration of every test, and whether it passed.
//!
//! A test is a row, and each of its runs is an observation of its wall time. A failed test has the
//! outcome of a failed command (status 1), so that failures can be counted. The time of a skipped
//! test is meaningless and is left out. Consecutive reports in one file are runs of the same suite.
//! This module has the common code of the formats and does not depend on any of them.

mod documents;
mod events;
mod go;
mod junit;
mod tap;

pub(super) use documents::{
    has_benchmark, read_jest, read_pytest, read_rspec, recognise_jest, recognise_pytest,
    recognise_rspec, short_paths,
};
pub(super) use events::{read_libtest, read_reportlog, recognise_libtest, recognise_reportlog};
pub(super) use go::{read as read_go, recognise as recognise_go};
pub(super) use junit::{read as read_junit, recognise as recognise_junit};
pub(super) use tap::{read as read_tap, recognise as recognise_tap};

use super::recorder::{MAX_JOINED_NAME, Recorder};
use super::troubles::Troubles;
use super::{Context, ImportError, Part};
use crate::finding::shared::{benchmark_errors, benchmarks_skipped};
use crate::samples::{Metric, Outcome};
use crate::test_results::{TestResult, TestResults, TestStatus as Status};
use std::cell::RefCell;
use std::collections::HashMap;

/// Gathers the runs of tests.
struct Tests<'a> {
    recorder: Recorder<'a>,
    kept: Option<&'a RefCell<TestResults>>,
    wall: usize,
    /// Number of occurrences of each name in the current run.
    names: HashMap<String, u32>,
    skipped: Troubles,
    untimed: Troubles,
    /// Failed tests without a time, which have no observation.
    failed: Troubles,
    /// Tests that began and never ended, and files that could not be loaded.
    broken: Troubles,
    /// Errors that apply to the report as a whole.
    faults: Vec<String>,
}

/// Maximum number of faults kept for a report.
const MOST_FAULTS: usize = 20;

impl<'a> Tests<'a> {
    fn new(context: &'a Context<'a>, tool: &str) -> Result<Self, ImportError> {
        let mut recorder = Recorder::new(context, tool);
        let wall = recorder.metric(&Metric::wall());
        let wall = wall.map_err(|problem| recorder.whole_file(problem))?;
        let [skipped, untimed, failed, broken] = std::array::from_fn(|_| Troubles::default());
        let (names, faults) = Default::default();
        Ok(Self {
            recorder,
            kept: context.tests,
            wall,
            names,
            skipped,
            untimed,
            failed,
            broken,
            faults,
        })
    }

    /// Begins another run of the suite, in which names may occur again. If tests are kept
    /// individually, all runs count as one, in which names are unique.
    fn begin_run(&mut self) {
        if self.kept.is_none() {
            self.names.clear();
        }
    }

    /// Records an error that applies to the report as a whole, which makes the suite fail even if
    /// all tests passed.
    fn fault(&mut self, fault: String) {
        if self.faults.len() < MOST_FAULTS && !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Returns true if the report as a whole has an error.
    fn has_fault(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Returns the time of a test. If the suite was run by assay itself, a time that cannot be
    /// parsed is ignored, because the outcome of the test matters more.
    ///
    /// # Errors
    /// Returns an error if the time cannot be parsed and the file was given for comparison.
    fn time(&self, read: Result<Option<f64>, String>) -> Result<Option<f64>, String> {
        match (self.kept, read) {
            (None, read) => read,
            (Some(_), read) => Ok(read.ok().flatten()),
        }
    }

    /// Adds a test to the current run. If several tests have the same name, the second and further
    /// ones are numbered, as in `name #2`.
    ///
    /// # Errors
    /// Returns an error if the name is too long, and in the same cases as [`Self::observe`].
    fn add(&mut self, name: &str, seconds: Option<f64>, status: Status) -> Result<(), String> {
        if name.len() > MAX_JOINED_NAME {
            return Err(format!("a name of {} bytes, its groups included", name.len()));
        }
        match self.names.get_mut(name) {
            None => {
                self.names.insert(name.to_owned(), 1);
                self.observe(name, seconds, status)
            }
            Some(times) => {
                *times += 1;
                let numbered = format!("{name} #{times}");
                self.observe(&numbered, seconds, status)
            }
        }
    }

    /// Adds a run of a test with a unique name. If the name occurs again, it is another run of the
    /// test.
    ///
    /// # Errors
    /// Returns an error if the time is negative in a file that was given for comparison, or if the
    /// observations take too much memory.
    fn observe(&mut self, name: &str, seconds: Option<f64>, status: Status) -> Result<(), String> {
        let mut seconds = seconds;
        if let Some(kept) = self.kept {
            // Clocks that are set back while a test runs give negative times.
            seconds = seconds.filter(|time| time.is_finite() && *time >= 0.0);
            let test =
                TestResult { name: name.to_owned(), seconds, status, ..TestResult::default() };
            kept.borrow_mut().tests.push(test);
        }
        let outcome = match status {
            Status::Passed => Outcome::Ok,
            Status::Failed => Outcome::Exit(1),
            Status::Skipped => {
                self.skipped.add(format!("`{name}`"));
                return Ok(());
            }
        };
        let Some(seconds) = seconds else {
            let untimed =
                if status == Status::Failed { &mut self.failed } else { &mut self.untimed };
            untimed.add(format!("`{name}`"));
            return Ok(());
        };
        let test = self.recorder.benchmark(name, None, &[]);
        self.recorder.observe(test, &[], outcome, &[(self.wall, seconds)])
    }

    /// Adds details to the most recent test, if tests are kept individually.
    fn more(&self, say: impl FnOnce(&mut TestResult)) {
        let Some(kept) = self.kept else { return };
        if let Some(test) = kept.borrow_mut().tests.last_mut() {
            say(test);
        }
    }

    /// Records a test that never ended, or a file whose tests never began.
    fn broken(&mut self, name: &str) {
        if let Some(kept) = self.kept {
            kept.borrow_mut().unfinished.push(name.to_owned());
        }
        self.broken.add(format!("`{name}`"));
    }

    /// Like [`Self::broken`] for several names, in sorted order.
    fn all_broken(&mut self, names: impl Iterator<Item = String>) {
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.iter().for_each(|name| self.broken(name));
    }

    /// Returns the samples. `holds` describes a report whose tests have no times, with advice.
    ///
    /// # Errors
    /// Returns an error if no test has a time.
    fn finish(mut self, holds: &'static str) -> Result<Part, ImportError> {
        for fault in &self.faults {
            self.recorder.finding(benchmark_errors(fault, 1));
        }
        if let Some(kept) = self.kept {
            let mut kept = kept.borrow_mut();
            (kept.is_whole, kept.faults) = (true, std::mem::take(&mut self.faults));
            kept.tool = self.recorder.tool_named().map(str::to_owned);
        }
        if let Some(seen) = self.broken.summary() {
            let message = format!("not everything ran to completion: {seen}");
            self.recorder.finding(benchmark_errors(&message, self.broken.count()));
        }
        if let Some(seen) = self.failed.summary() {
            let message = format!("failed, and have no time in the report: {seen}");
            self.recorder.finding(benchmark_errors(&message, self.failed.count()));
        }
        if let Some(seen) = self.skipped.summary() {
            let message = format!("skipped, so without values: {seen}");
            self.recorder.finding(benchmarks_skipped(message, self.skipped.count()));
        }
        if let Some(seen) = self.untimed.summary() {
            let message = format!("without a time in the report: {seen}");
            self.recorder.finding(benchmarks_skipped(message, self.untimed.count()));
        }
        self.recorder.finish(holds)
    }
}
