//! What a report of a test framework says of single tests, beside their times: whether they passed, what those said that did not, and
//! where they stand. For whoever runs a suite; what is compared are samples.

/// What came of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestStatus {
    /// It passed.
    #[default]
    Passed,
    /// It failed, or what surrounds it did.
    Failed,
    /// It was not run.
    Skipped,
}

/// One test of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestResult {
    /// Its name, that of its row.
    pub name: String,
    /// How long it took, s.
    pub seconds: Option<f64>,
    /// What came of it.
    pub status: TestStatus,
    /// What it said when it failed.
    pub message: Option<String>,
    /// Number of failed attempts before the last one, if the framework retries tests.
    pub retries: u32,
    /// The file in which it stands, as the report has it.
    pub file: Option<String>,
    /// When it began and ended, s since 1970, where each event has its time.
    pub span: Option<(f64, f64)>,
}

/// A report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestResults {
    /// What wrote it, with its version where it says it.
    pub tool: Option<String>,
    /// The tests in the order of the report.
    pub tests: Vec<TestResult>,
    /// What began and never ended, or could not be loaded.
    pub unfinished: Vec<String>,
    /// Faults of the report as a whole, one sentence each: an unmet plan, failures that are counted but belong to no test.
    pub faults: Vec<String>,
    /// Groups that ran, each as one: when they began and ended, s since 1970 (libtest: since they began).
    pub groups: Vec<(String, f64, f64)>,
    /// Whether the report was read to its end.
    pub(crate) is_whole: bool,
}
