//! The options of `assay tests -- COMMAND`.

use crate::args::{JudgeArgs, SameArgs, any_words, seconds};
use crate::planning::DurationArgs;
use crate::resume::RecordArgs;
use crate::toggles::ToggleArgs;
use crate::verbs::compare::suite::SuiteArgs;
use crate::verbs::profile::SamplerArgs;
use assay_suites::shard::Shard;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::PathBuf;

/// The time budget of a suite, in the long help.
const LONGEST: &str = "Time budget [default if sides are compared: 60s]

Extended to at most 5min, or 12 runs, if the minimum number of runs for a verdict takes longer.";

/// Options for running a suite and showing the results.
#[derive(clap::Args, Debug)]
#[command(mut_arg("runs", |runs| runs.help("Run the suite exactly N times per side, after the warm-up [default: once; if sides are compared, until the verdict on the whole suite is clear]")))]
#[command(mut_arg("time", |time| time.help("Time budget [default if sides are compared: 60s]").long_help(LONGEST)))]
#[command(mut_arg("secondary", |secondary| secondary.help("Secondary metrics to test and show [default: cpu, max_rss, boot, loading]").long_help(None)))]
pub(crate) struct SuiteRunArgs {
    /// Command that runs the suite, after `--`
    #[arg(last = true, required_unless_present = "resume", value_name = "COMMAND")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub ask: AskArgs,

    #[command(flatten)]
    pub revisions: RevisionArgs,

    #[command(flatten)]
    pub toggles: ToggleArgs,

    #[command(flatten)]
    pub when: DurationArgs,

    /// Number of runs of each side that are not counted [default: 1 if sides are compared or --time
    /// is given, otherwise 0]
    #[arg(long, value_name = "N", help_heading = "How long")]
    pub warmup: Option<u32>,

    /// Kill a run of the suite that takes longer than this, and report which test was running
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds, default_value = "30min")]
    pub timeout: f64,

    /// Kill a run of the suite if a single test, or the setup of a group, takes longer than this
    /// (Ruby, Python, go test, cargo test, node --test)
    ///
    /// The test that hangs counts as failed, and tests that had ended keep their times. The
    /// report says where it hung: in its setup, its body or its teardown, or in which hook or
    /// fixture. Other frameworks report nothing before they end; use --timeout for those.
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds)]
    pub test_timeout: Option<f64>,

    #[command(flatten)]
    pub judge: JudgeArgs,

    #[command(flatten)]
    pub same: SameArgs,

    #[command(flatten)]
    pub suite: SuiteArgs,

    #[command(flatten)]
    pub profiling: ProfilingArgs,

    #[command(flatten)]
    pub look: LookArgs,

    #[command(flatten)]
    pub record: RecordArgs,
}

/// Options for the test framework.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Tests")]
pub(crate) struct AskArgs {
    /// Test framework, if it is not recognized from the command: rspec, pytest, go, ..., tap, or
    /// junit:FILE for a command that writes JUnit XML
    #[arg(long, value_name = "NAME")]
    pub framework: Option<String>,

    /// Order of the tests [default: random with --runs for a single suite, otherwise given]
    ///
    /// Each run has a new random order, drawn from the recorded seed. All sides of a comparison use
    /// the same orders.
    #[arg(long, value_enum, value_name = "ORDER")]
    pub order: Option<OrderOf>,

    /// Also count log lines, SQL statements, Redis commands, allocations, sleeps, HTTP requests and
    /// started programs for each test (Ruby and Python)
    #[arg(long)]
    pub causes: bool,

    /// Run only this test, named as on the screen; may be repeated, and tests run in the given
    /// order
    #[arg(long, value_name = "TEST")]
    pub only: Vec<String>,

    /// Run only the tests affected by changes since they last ran, or since a git revision (Ruby,
    /// Python, go test, cargo test, node --test)
    ///
    /// A test is affected if a function that it called, a file that it opened or a program that it
    /// started has changed. For node --test, all tests of a file are affected together; for cargo
    /// test, all tests of a program that is built from a changed crate. What each test uses is
    /// recorded while it runs, and kept in the cache directory (XDG_CACHE_HOME). If nothing is
    /// known yet, everything runs. Do not compare the times of such runs with those of other runs.
    #[arg(long, value_name = "REVISION", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = any_words(),
        conflicts_with_all = NOT_CHANGED)]
    pub changed: Option<String>,

    /// For each test, say why it runs or is left out, and how this was determined
    #[arg(long, requires = "changed")]
    pub explain: bool,

    /// Treat a change to a file that matches PATTERN as affecting the tests in files that match
    /// TESTS, as in 'app/views/**=spec/features'; may be repeated
    ///
    /// Patterns are written as in .gitignore. These tests run in addition to those known to use
    /// what changed.
    #[arg(long, value_name = "PATTERN=TESTS", value_parser = crate::changed::rule, requires = "changed")]
    pub rule: Vec<String>,

    /// Run one part of the suite, such as 1/4, so that all parts take about the same time (pytest,
    /// rspec, go)
    ///
    /// The division is computed from the times in the history. Each part computes the same division
    /// if all see the same tests and the same history. Runs of the current commit are ignored,
    /// because other parts may have stored theirs.
    #[arg(long, value_name = "NUMBER/PARTS", conflicts_with_all = ["only", "rev"])]
    pub shard: Option<Shard>,

    /// Do not search for the test that makes another one fail
    ///
    /// The search starts when a test fails in only some of the random orders, and runs some of the
    /// tests up to 12 times.
    #[arg(long)]
    pub no_search: bool,

    /// Set an environment variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
}

/// Orders of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderOf {
    /// A new random order for each run
    Random,
    /// The framework's own order
    Given,
}

/// Options for comparing git revisions.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Git revisions")]
pub(crate) struct RevisionArgs {
    /// Run the suite of this git revision; `.` is the working tree; repeat for each side, the
    /// reference first
    #[arg(long, value_name = "REVISION", value_parser = any_words())]
    pub rev: Vec<String>,

    /// Shell line that prepares a revision, run at the root of its working tree, once per commit
    #[arg(long, value_name = "LINE", requires = "rev", value_parser = any_words())]
    pub build: Option<String>,

    /// Measure even if two revisions are identical, to see this machine's false positives
    #[arg(long, requires = "rev")]
    pub aa: bool,
}

/// Options for profiling tests.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct ProfilingArgs {
    /// Sample the suite and attribute each sample to its test (Ruby, Python)
    ///
    /// Works like `assay profile`, but for each test. The samplers are installed separately:
    /// stackprof for Ruby, py-spy for Python. With --runs, intervals reflect the variation between
    /// runs. Samples of threads that a test starts cannot be attributed to it, so they count as
    /// outside of tests.
    #[arg(long, help_heading = "Tests", conflicts_with_all = NOT_SAMPLED)]
    pub profile: bool,

    #[command(flatten)]
    pub by: SamplerArgs,

    /// Number of functions to show for all tests together; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 10, requires = "profile")]
    pub top: usize,

    /// Write the profile to a file, with the tests as outermost frames
    ///
    /// The extension selects the format: .html (searchable, zoomable flame graph), .svg,
    /// .speedscope.json, .pb.gz, .firefox.json, .collapsed, .txt.
    #[arg(long, short = 'o', value_name = "FILE", requires = "profile")]
    pub output: Vec<PathBuf>,
}

/// Options that make no sense when a suite is sampled, because nothing is compared or recorded.
const NOT_SAMPLED: [&str; 15] = [
    "rev", "toggle", "causes", "time", "quick", "warmup", "resume", "save", "keep", "junit",
    "report", "plots", "fail_if", "flaky", "shard",
];

/// Options that make no sense when only some tests run, once, and their dependencies are recorded.
const NOT_CHANGED: [&str; 14] = [
    "only", "shard", "rev", "toggle", "with", "server", "runs", "time", "quick", "warmup", "keep",
    "order", "profile", "resume",
];

/// Options for the output.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct LookArgs {
    /// Number of slowest tests to list; 0 lists all
    #[arg(long, short = 'n', value_name = "TESTS", default_value_t = 10)]
    pub number: usize,

    /// How a flaky test (one that failed in some runs or before a retry) affects the exit status
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Flaky::Tell)]
    pub flaky: Flaky,

    /// Also write the result of each test as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Effects of flaky tests on the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Flaky {
    /// Only report flaky tests
    Tell,
    /// Count flaky tests as failures: exit with status 4
    Fail,
}
