//! Results of individual tests in a test framework's report other than their times: whether they
//! passed, the messages of those that failed, and their source files. For callers that run a suite.
//! Comparisons use samples.

/// Result of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestStatus {
    /// The test passed.
    #[default]
    Passed,
    /// The test, its setup or its teardown failed.
    Failed,
    /// The test was not run.
    Skipped,
}

/// One test of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestResult {
    /// Name of the test, the same as that of its row.
    pub name: String,
    /// Duration in seconds. `None` if unknown.
    pub seconds: Option<f64>,
    /// Result.
    pub status: TestStatus,
    /// Failure message.
    pub message: Option<String>,
    /// The beginning of the test's standard output, if the report contains it.
    pub output: Option<String>,
    /// Number of failed attempts before the last one, if the framework retries tests.
    pub retries: u32,
    /// Path of the source file as stated in the report.
    pub file: Option<String>,
    /// Start and end in seconds since 1970. `None` unless every event has a time.
    pub span: Option<(f64, f64)>,
}

/// A test report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestResults {
    /// The tool that wrote the report, with its version if stated.
    pub tool: Option<String>,
    /// The tests in the order of the report.
    pub tests: Vec<TestResult>,
    /// Names of tests that started and never ended, or that could not be loaded.
    pub unfinished: Vec<String>,
    /// Errors that apply to the report as a whole, one sentence each, such as an unmet plan or
    /// failures that are counted but belong to no test.
    pub faults: Vec<String>,
    /// Groups of tests that ran as one: name, and start and end in seconds since 1970. For libtest,
    /// the times are relative to the start of the group, and the name is empty.
    pub groups: Vec<(String, f64, f64)>,
    /// True if the report was read to the end.
    pub(crate) is_whole: bool,
}
