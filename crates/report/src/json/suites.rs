//! The test suites of a run as JSON: the distribution of each side's time, and the failing tests.

use super::values::{Interval, view};
use assay_analysis::testing::{self, Testing};
use std::collections::BTreeMap;

view! {
    /// The test suite of one side. Times of single tests are in `descriptions`, verdicts in
    /// `comparisons`.
    TestSuite of (found: &Testing) {
        /// Name of the side.
        side: String,
        /// Number of runs of the suite.
        runs: usize,
        /// Median total time, s.
        wall: f64 => found.whole.median,
        /// Interval of the median total time; `null` if there are too few runs.
        wall_interval: Option<Interval> => found.whole.median_interval,
        /// Mean time of each part over the runs, s. The parts sum to the mean total time.
        parts: BTreeMap<String, f64> =
            found.parts.iter().map(|part| (part.name.to_owned(), part.seconds)).collect(),
        /// Mean sum of the times of all tests over all processes, s.
        test_time: Option<f64> = Some(found.together).filter(|time| time.is_finite()),
        /// Mean number of processes that ran tests; `null` if unknown.
        workers: Option<f64>,
        /// Extra time of the first test of a run, whichever it is; `null` if runs in different
        /// orders show none.
        first: Option<FirstTest>,
        /// The tests with known times, slowest first.
        tests: Vec<TestShare>,
        /// Names of the tests that ran without a reported time.
        untimed: Vec<String>,
        /// The tests that failed in any run, most frequent first, including those that passed when
        /// the framework retried them.
        failing: Vec<FailingTest>,
    }
}

view! {
    /// Extra time of the first test of a run, compared with the same test at a later position.
    FirstTest of (found: &testing::First) {
        /// Median extra time over the runs, s.
        seconds: f64,
        /// Interval of the median.
        interval: Interval,
        /// Number of runs in which it is known.
        runs: usize,
    }
}

view! {
    /// A test's share of its suite.
    TestShare of (test: &testing::TestTime) {
        /// Name of the test.
        name: String,
        /// Median time of the test, s.
        wall: f64 => test.time.median,
        /// Share of the total time, as the median over runs.
        share: f64,
        /// Interval of the share; `null` if there are too few runs.
        share_interval: Option<Interval>,
        /// Medians of counted causes during the test, by name.
        causes: BTreeMap<String, f64>,
    }
}

view! {
    /// A test that failed.
    FailingTest of (test: &testing::Failing) {
        /// Name of the test.
        name: String,
        /// Number of runs in which it failed.
        failed: u64,
        /// Number of runs in which it failed at first, and passed when the framework retried it.
        retried: u64,
        /// Number of runs in which it ran.
        runs: u64,
        /// The interval of the share of failures (Wilson's).
        interval: Option<Interval>,
        /// Number of consecutive passing runs that would show that it is fixed; `null` if it fails
        /// in every run.
        green_runs: Option<u64>,
        /// The blocks in which it failed, from 0.
        failed_in: Vec<u32>,
    }
}
