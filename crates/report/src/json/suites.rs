//! The test suites of a run as JSON: the distribution of each side's time, and the failing tests.

use super::values::{Interval, view};
use assay_analysis::testing::{self, Testing};
use std::collections::BTreeMap;

view! {
    /// What the suite of tests of one side is by itself. Times of single tests stand in `descriptions`, verdicts in `comparisons`.
    TestSuite of (found: &Testing) {
        /// Name of the side.
        side: String = found.side.clone(),
        /// How often the suite ran.
        runs: usize = found.runs,
        /// The median time of the whole, s.
        wall: f64 = found.whole.median,
        /// Its interval; `null` for too few runs.
        wall_interval: Option<Interval> = found.whole.median_interval.map(Into::into),
        /// Seconds of each part of that time, in the mean over runs: they sum to the mean of the whole.
        parts: BTreeMap<String, f64> =
            found.parts.iter().map(|part| (part.name.to_owned(), part.seconds)).collect(),
        /// What all tests took together, over all processes, in the mean, s.
        test_time: Option<f64> = Some(found.together).filter(|time| time.is_finite()),
        /// How many processes ran tests, in the mean; `null`: not known.
        workers: Option<f64> = found.workers,
        /// What the first test of a run takes longer, whichever it is; `null`: nothing that runs in different orders show.
        first: Option<FirstTest> = found.first.as_ref().map(FirstTest::of),
        /// The tests whose time is known, the slowest first.
        tests: Vec<TestShare> = found.tests.iter().map(TestShare::of).collect(),
        /// Names of the tests that ran and whose time no report says.
        untimed: Vec<String> = found.untimed.clone(),
        /// The tests that failed in any run, the most frequent first; also those that failed at first and passed when the framework tried them again.
        failing: Vec<FailingTest> = found.failing.iter().map(FailingTest::of).collect(),
    }
}

view! {
    /// What the first test of a run takes longer than when it comes later.
    FirstTest of (found: &testing::First) {
        /// Seconds: the median over runs.
        seconds: f64 = found.seconds,
        /// The interval of that.
        interval: Interval = found.interval.into(),
        /// In how many runs that is known.
        runs: usize = found.runs,
    }
}

view! {
    /// A test's share of its suite.
    TestShare of (test: &testing::TestTime) {
        /// Its name.
        name: String = test.name.clone(),
        /// Its median time, s.
        wall: f64 = test.time.median,
        /// Its share of the time of the whole, in the median over runs.
        share: f64 = test.share,
        /// The interval of that; `null` for too few runs.
        share_interval: Option<Interval> = test.share_interval.map(Into::into),
        /// The medians of what was counted while it ran, by name.
        causes: BTreeMap<String, f64> = test.causes.clone(),
    }
}

view! {
    /// A test that failed.
    FailingTest of (test: &testing::Failing) {
        /// Its name.
        name: String = test.name.clone(),
        /// Runs in which it failed.
        failed: u64 = test.failed,
        /// Runs in which it failed at first, and passed when the framework tried it again.
        retried: u64 = test.retried,
        /// Runs in which it ran.
        runs: u64 = test.runs,
        /// The interval of the share of failures (Wilson).
        interval: Option<Interval> = test.interval.map(Into::into),
        /// So many green runs in a row would show that it is fixed; `null` for one that fails in every run.
        green_runs: Option<u64> = test.green_runs,
        /// The blocks in which it failed, from 0.
        failed_in: Vec<u32> = test.failed_in.clone(),
    }
}
