//! What one run of a suite told: its tests, and what it did beside them.

use assay_data::seen::Seen;
pub use assay_data::test_results::TestStatus;
use std::collections::BTreeMap;

/// One run of a suite. Times are seconds of the clock that [`Answer`](crate::Answer) uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The framework, with its version where it says, as in `pytest 8.3.2`.
    pub framework: String,
    /// The tests, in the order in which they are reported. No two have one name.
    pub tests: Vec<Test>,
    /// What the processes did beside tests.
    pub spans: Vec<Span>,
    /// The processes that ran tests, or the parts that ran beside one another (packages of Go). Empty: the framework doesn't say.
    pub processes: Vec<Process>,
    /// Tests that began and never ended, and files whose tests never began.
    pub unfinished: Vec<Unfinished>,
    /// Faults of its report as a whole, which make the suite fail even if all tests passed; one sentence each.
    pub faults: Vec<String>,
    /// What should be known of it.
    pub notes: Vec<String>,
    /// What its tests used of the project, where that was asked for.
    pub seen: Seen,
}

impl Run {
    /// Returns true if any test failed.
    pub fn has_failed(&self) -> bool {
        self.tests.iter().any(|test| test.status == TestStatus::Failed)
    }

    /// The reason why the suite failed, other than failed tests, as a sentence: faults of its report, or a failed process (`badly`, as in `exited with status
    /// 1`) without a failed test.
    pub fn trouble(&self, badly: Option<&str>) -> Option<String> {
        match (self.faults.as_slice(), badly) {
            ([], Some(how)) if !self.has_failed() => {
                Some(format!("the suite {how}, although no test failed"))
            }
            ([], _) => None,
            (faults, _) => Some(faults.join("; ")),
        }
    }
}

/// One test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// By what it is selected, where that is not its name.
    pub id: Option<String>,
    /// Its name when it began, where it got another one meanwhile.
    pub started: Option<String>,
    /// What it stands in, where that isn't in its file alone: a class.
    pub group: Option<String>,
    /// Its file, from the directory in which the suite was started where that is known.
    pub file: Option<String>,
    /// Where in the file.
    pub line: Option<u32>,
    /// When it began, where that is known,
    pub began: Option<f64>,
    /// and when it ended.
    pub ended: Option<f64>,
    /// Time in seconds, without the setup of its whole group. `None`: it was skipped, or the report has no time.
    pub seconds: Option<f64>,
    /// What came of it.
    pub status: TestStatus,
    /// What it said when it failed.
    pub message: Option<String>,
    /// Number of failed attempts before the last one, if the framework retries tests.
    pub retries: u32,
    /// Seconds of its own setup,
    pub setup: Option<f64>,
    /// of its body,
    pub body: Option<f64>,
    /// of its teardown,
    pub teardown: Option<f64>,
    /// and of the garbage collector in all of them.
    pub gc: Option<f64>,
    /// The same in its setup, its body and its teardown, where that is known.
    pub gc_of: Option<[f64; 3]>,
    /// What was counted while it ran, by name.
    pub causes: BTreeMap<String, f64>,
    /// Index of its process.
    pub process: usize,
    /// True for a failure beside tests, in what is done for several of them: no test has its name.
    pub beside: bool,
}

impl Test {
    /// Returns true for a failure beside tests, and for unittest's replacement of a test file that could not be loaded.
    pub fn is_stand_in(&self) -> bool {
        self.beside || self.name.starts_with("unittest.loader._FailedTest")
    }
}

/// A test, or what is done for several of them, that didn't end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// Its name, or that of the file or package.
    pub name: String,
    /// When it began, where that is known.
    pub began: Option<f64>,
    /// Whether it is something else than a test: what is set up for a group.
    pub beside: bool,
    /// Where the test was last seen: in its setup, its body or its teardown.
    pub phase: Option<Part>,
    /// Index of its process.
    pub process: usize,
}

/// A process of the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// What it is called: a worker's name, a package.
    pub name: String,
    /// When its framework was loaded, or it began.
    pub began: Option<f64>,
    /// When the last was heard of it.
    pub ended: Option<f64>,
}

/// What a process does when it runs no test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// From the start of the command to the first thing that is told: interpreters start, frameworks are loaded, compilers build.
    Boot,
    /// Files of tests are loaded, tests are collected.
    Loading,
    /// What is set up and torn down once for a suite, a file or a group.
    Hooks,
    /// A test's own setup,
    Setup,
    /// its body,
    Body,
    /// and its teardown.
    Teardown,
    /// The garbage collector, within tests.
    Gc,
    /// What the framework does for each test in none of its phases, and between tests: reports, plugins, output, the next test.
    Framework,
    /// From the last thing that is told to the end of the command.
    Ending,
    /// What is none of these.
    Unaccounted,
}

impl Part {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Boot,
        Self::Loading,
        Self::Hooks,
        Self::Setup,
        Self::Body,
        Self::Teardown,
        Self::Gc,
        Self::Framework,
        Self::Ending,
        Self::Unaccounted,
    ];

    /// Name of its metric.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Loading => "loading",
            Self::Hooks => "hooks",
            Self::Setup => "setup",
            Self::Body => "body",
            Self::Teardown => "teardown",
            Self::Gc => "gc",
            Self::Framework => "framework",
            Self::Ending => "ending",
            Self::Unaccounted => "unaccounted",
        }
    }
}

/// A stretch of time of one process that is no test's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What is done in it.
    pub part: Part,
    /// For which group, where it is for one; of hooks also which: `fixture base of test_a.py`.
    pub group: Option<String>,
    /// When it began.
    pub began: f64,
    /// When it ended.
    pub ended: f64,
    /// Index of the process.
    pub process: usize,
}
