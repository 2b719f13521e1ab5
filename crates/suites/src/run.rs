//! The results of one run of a suite: its tests, and its other activities.

use assay_data::seen::SuiteUsage;
pub use assay_data::test_results::TestStatus;
use std::collections::BTreeMap;

/// One run of a suite. Times are in seconds of the clock that [`Answer`](crate::Answer) uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The framework, with its version if known, as in `pytest 8.3.2`.
    pub framework: String,
    /// The tests, in the order in which they are reported. Names are unique.
    pub tests: Vec<Test>,
    /// Activities of the processes other than running tests.
    pub spans: Vec<Span>,
    /// The processes that ran tests, or parts that ran in parallel (packages in Go). Empty if the
    /// framework does not report them.
    pub processes: Vec<Process>,
    /// Tests that began but never ended, and files whose tests never began.
    pub unfinished: Vec<Unfinished>,
    /// Faults of the report as a whole, which make the suite fail even if all tests passed; one
    /// sentence each.
    pub faults: Vec<String>,
    /// If no test ran because nothing could be built, the first message about the failed build;
    /// `tests` then lists packages.
    pub unbuilt: Option<String>,
    /// Notes about the run for the user.
    pub notes: Vec<String>,
    /// What the tests use of the project, if requested.
    pub seen: SuiteUsage,
}

impl Run {
    /// Returns true if any test failed.
    pub fn has_failed(&self) -> bool {
        self.tests.iter().any(|test| test.status == TestStatus::Failed)
    }

    /// Converts tests whose worker ended before they did, while the framework went on, into failed
    /// tests. Not for runs that were ended from outside.
    #[must_use]
    pub fn with_lost(mut self) -> Self {
        let (lost, unfinished) = self.unfinished.into_iter().partition(|own| own.is_lost);
        self.unfinished = unfinished;
        let lost: Vec<Unfinished> = lost;
        for lost in lost {
            let worker = self.processes.get(lost.process);
            let worker = worker.map_or("", |process| process.name.as_str());
            let message = format!("the worker {worker} that ran it ended before it did");
            match self.tests.iter_mut().find(|test| test.name == lost.name) {
                // It was tried again.
                Some(test) => {
                    test.retries += 1;
                    test.message.get_or_insert(message);
                }
                None => self.tests.push(Test {
                    name: lost.name,
                    began: lost.began,
                    status: TestStatus::Failed,
                    message: Some(message),
                    process: lost.process,
                    ..Test::default()
                }),
            }
        }
        self
    }

    /// Returns the reason why the suite failed, other than failed tests, as a sentence: faults of
    /// its report, or a failed process (`badly`, as in `exited with status 1`) without a failed
    /// test.
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

/// A test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Test {
    /// Name of the test.
    pub name: String,
    /// Identifier for selecting the test, if different from its name.
    pub id: Option<String>,
    /// Name at the start of the test, if it changed while the test ran.
    pub started: Option<String>,
    /// The group that contains the test, if it is not directly in its file: a class.
    pub group: Option<String>,
    /// File of the test, relative to the directory in which the suite was started if known.
    pub file: Option<String>,
    /// Line in the file.
    pub line: Option<u32>,
    /// Start time, if known.
    pub began: Option<f64>,
    /// End time, if known.
    pub ended: Option<f64>,
    /// Duration in seconds, without the setup of its whole group. `None` if the test was skipped or
    /// the report has no time.
    pub seconds: Option<f64>,
    /// Outcome of the test.
    pub status: TestStatus,
    /// The failure message.
    pub message: Option<String>,
    /// The beginning of the test's standard output, if the report contains it.
    pub output: Option<String>,
    /// Number of failed attempts before the last one, if the framework retries tests.
    pub retries: u32,
    /// Duration of the test's own setup, in seconds.
    pub setup: Option<f64>,
    /// Duration of the test's body, in seconds.
    pub body: Option<f64>,
    /// Duration of the test's teardown, in seconds.
    pub teardown: Option<f64>,
    /// Garbage collection time in all three phases, in seconds.
    pub gc: Option<f64>,
    /// Garbage collection time in setup, body and teardown, if known, in seconds.
    pub gc_of: Option<[f64; 3]>,
    /// Counts of causes while the test ran, by name.
    pub causes: BTreeMap<String, f64>,
    /// Index of the process.
    pub process: usize,
    /// True for a failure outside of tests, in code shared by several tests; no test has this name.
    pub beside: bool,
}

impl Test {
    /// Returns true for a failure outside of tests, and for unittest's replacement of a test file
    /// that could not be loaded.
    pub fn is_stand_in(&self) -> bool {
        self.beside || self.name.starts_with("unittest.loader._FailedTest")
    }
}

/// A test, or code shared by several tests, that did not end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// Name of the test, file or package.
    pub name: String,
    /// Start time, if known.
    pub began: Option<f64>,
    /// True if this is the setup of a group rather than a test.
    pub beside: bool,
    /// The last known phase of the test: setup, body or teardown.
    pub phase: Option<Part>,
    /// Index of the process.
    pub process: usize,
    /// True if the worker ended, and the framework went on with its other workers.
    pub is_lost: bool,
}

/// A process of the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// Name of the process: a worker or a package.
    pub name: String,
    /// Time at which the framework was loaded in the process or the process began.
    pub began: Option<f64>,
    /// Time of the last event of the process.
    pub ended: Option<f64>,
}

/// An activity of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// From the start of the command to its first event: interpreters start, frameworks are loaded,
    /// compilers build.
    Boot,
    /// Test files are loaded and tests are collected.
    Loading,
    /// Setup and teardown that run once for a suite, a file or a group.
    Hooks,
    /// A test's own setup.
    Setup,
    /// A test's body.
    Body,
    /// A test's teardown.
    Teardown,
    /// Garbage collection within tests.
    Gc,
    /// The framework's work for each test outside its phases, and between tests: reports, plugins,
    /// output, choosing the next test.
    Framework,
    /// From the last event to the end of the command.
    Ending,
    /// Time that belongs to none of the other parts.
    Unaccounted,
}

impl Part {
    /// All parts, in display order.
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

    /// Name of the metric for this part.
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

/// A period of a process outside of any test.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The activity.
    pub part: Part,
    /// The group for which the activity took place, if any; for hooks, preceded by the name of the
    /// hook, as in `fixture base of test_a.py`.
    pub group: Option<String>,
    /// Start time.
    pub began: f64,
    /// End time.
    pub ended: f64,
    /// Index of the process.
    pub process: usize,
}
