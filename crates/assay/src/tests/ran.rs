//! A completed run of a suite.

use assay_measure::RunResult;
use assay_suites::Run;
use assay_suites::parts::Parts;

/// The outcome of one run.
pub(crate) struct Ran {
    /// The suite's report.
    pub run: Run,
    /// Breakdown of the duration of the run.
    pub parts: Parts,
    /// Duration and exit status of the run.
    pub result: RunResult,
    /// A sentence about the test or hook that hung, if the run was killed for that.
    pub hung: Option<String>,
    /// True if the user stopped the run, which then contains the tests that had ended.
    pub is_stopped: bool,
}

impl Ran {
    /// Returns the reason why the run failed, other than failed tests.
    pub fn trouble(&self) -> Option<String> {
        let how = self.result.outcome.to_string();
        self.run.trouble((!self.result.outcome.is_success()).then_some(how.as_str()))
    }
}
