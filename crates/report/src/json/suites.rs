//! The test suites of a run, as JSON: how the time of each side is divided, and the failing tests.

use super::values::{Interval, view};
use assay_analysis::testing::{self, Testing};
use std::collections::BTreeMap;

view! {
    /// The test suite of one side. Times of individual tests are in `descriptions`, and verdicts in
    /// `comparisons`.
    TestSuite of (found: &Testing) {
        /// Name of the side.
        side: String,
        /// Number of runs of the suite.
        runs: usize,
        /// Median total time of the suite, in seconds.
        wall: f64 => found.whole.median,
        /// Interval of the median total time; `null` if there are too few runs.
        wall_interval: Option<Interval> => found.whole.median_interval,
        /// Mean time of each known part over the runs, in seconds, by name. All parts add up to the
        /// mean total time.
        parts: BTreeMap<String, f64> =
            found.parts.iter().map(|part| (part.name.to_owned(), part.seconds)).collect(),
        /// Mean total time of all tests in all processes, in seconds; `null` if unknown.
        test_time: Option<f64> = Some(found.together).filter(|time| time.is_finite()),
        /// Mean number of processes that ran tests; `null` if unknown.
        workers: Option<f64>,
        /// Extra time of the first test of a run, whichever test that is; `null` unless runs with
        /// different orders show it.
        first: Option<FirstTest>,
        /// The tests with known times, slowest first.
        tests: Vec<TestShare>,
        /// Names of the tests that ran without a reported time.
        untimed: Vec<String>,
        /// The tests that failed in any run, most frequent first, including tests that passed when
        /// the framework retried them.
        failing: Vec<FailingTest>,
    }
}

view! {
    /// Extra time of the first test of a run, compared with the same test at a later position.
    FirstTest of (found: &testing::First) {
        /// Median extra time over the runs, in seconds.
        seconds: f64,
        /// Interval of the median.
        interval: Interval,
        /// Number of runs for which the extra time is known.
        runs: usize,
    }
}

view! {
    /// A test's share of its suite.
    TestShare of (test: &testing::TestTime) {
        /// Name of the test.
        name: String,
        /// Median time of the test, in seconds.
        wall: f64 => test.time.median,
        /// Share of the total time, as the median over runs.
        share: f64,
        /// Interval of the share; `null` if there are too few runs.
        share_interval: Option<Interval>,
        /// Medians of the other recorded metrics during the test, by name, which may explain its
        /// time.
        causes: BTreeMap<String, f64>,
    }
}

view! {
    /// A test that failed.
    FailingTest of (test: &testing::Failing) {
        /// Name of the test.
        name: String,
        /// Number of runs in which the test failed.
        failed: u64,
        /// Number of runs in which the test failed first but passed when the framework retried it.
        /// They are not included in `failed`.
        retried: u64,
        /// Number of runs in which the test ran.
        runs: u64,
        /// Wilson's interval of the share of runs with a failure, including retried ones.
        interval: Option<Interval>,
        /// Number of consecutive passing runs that would show that the test is fixed; `null` if it
        /// fails in every run.
        green_runs: Option<u64>,
        /// Blocks in which the test failed, counted from 0.
        failed_in: Vec<u32>,
    }
}
