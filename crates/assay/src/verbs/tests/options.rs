//! The options of `assay tests -- COMMAND`.

use crate::args::{JudgeArgs, any_words, seconds};
use crate::resume::RecordArgs;
use crate::seed;
use crate::toggles::ToggleArgs;
use crate::verbs::compare::suite::SuiteArgs;
use crate::verbs::profile::SamplerArgs;
use assay_suites::shard::Shard;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is run, how often, and what is shown of it.
#[derive(clap::Args, Debug)]
pub(crate) struct SuiteRunArgs {
    /// The command that runs the suite, behind `--`
    #[arg(last = true, required_unless_present = "resume", value_name = "COMMAND")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub ask: AskArgs,

    #[command(flatten)]
    pub revisions: RevisionArgs,

    #[command(flatten)]
    pub toggles: ToggleArgs,

    #[command(flatten)]
    pub when: WhenArgs,

    #[command(flatten)]
    pub judge: JudgeArgs,

    #[command(flatten)]
    pub suite: SuiteArgs,

    #[command(flatten)]
    pub profiling: ProfilingArgs,

    #[command(flatten)]
    pub look: LookArgs,

    #[command(flatten)]
    pub record: RecordArgs,
}

/// How the framework is asked.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Tests")]
pub(crate) struct AskArgs {
    /// Test framework of the command, if it is not recognised: rspec, pytest, go, ..., tap, or
    /// junit:FILE for a command that writes JUnit XML
    #[arg(long, value_name = "NAME")]
    pub framework: Option<String>,

    /// Order of the tests [default: random with --runs of one suite, else given]
    ///
    /// In a random order another one is drawn for each run, from the recorded seed; all sides of a comparison have the same.
    #[arg(long, value_enum, value_name = "ORDER")]
    pub order: Option<OrderOf>,

    /// Count causes beside times: log lines, SQL statements, Redis commands, allocations, sleeps,
    /// HTTP requests and started programs of each test (Ruby and Python)
    #[arg(long)]
    pub causes: bool,

    /// Run only this test, by its name on the screen; repeat it for several, which run in this order
    #[arg(long, value_name = "TEST")]
    pub only: Vec<String>,

    /// Run only the tests that are touched by what changed since they ran, or since a git revision
    /// (Ruby, Python, go test, cargo test, node --test)
    ///
    /// A test is touched when a function that it entered, a file that it opened or a program that it started is no longer what it was; of node --test
    /// one of its file, of cargo test when a crate changed that its program is built from. What each test uses is noted while it runs, and kept in the cache (XDG_CACHE_HOME); where nothing is known yet, everything runs. Times of such runs are not to be
    /// compared with others.
    #[arg(long, value_name = "REVISION", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = any_words(),
        conflicts_with_all = NOT_CHANGED)]
    pub changed: Option<String>,

    /// Say for each test why it runs, or is left out, and how one knows
    #[arg(long, requires = "changed")]
    pub explain: bool,

    /// A change of files of this pattern touches the tests in files of that one, as in
    /// 'app/views/**=spec/features'; repeat it for several
    ///
    /// Patterns are as in .gitignore. Such tests run beside those that are known to use what changed.
    #[arg(long, value_name = "PATTERN=TESTS", value_parser = crate::changed::rule, requires = "changed")]
    pub rule: Vec<String>,

    /// Run one part of the suite, such as 1/4, divided so that all parts take about as long by the
    /// times in the history (pytest, rspec, go)
    ///
    /// Each part comes to the same division by itself, as long as all see the same tests and the same history; runs of the commit at hand
    /// are passed by, since other parts may have kept them.
    #[arg(long, value_name = "NUMBER/PARTS", conflicts_with_all = ["only", "rev"])]
    pub shard: Option<Shard>,

    /// Do not search for the test that makes another one fail that failed in some random orders
    /// alone; the search takes up to 12 runs of some of the tests
    #[arg(long)]
    pub no_search: bool,

    /// Set an environment variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
}

/// Orders of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderOf {
    /// Another random one in each run
    Random,
    /// As the framework has them
    Given,
}

/// Which revisions are compared.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Git revisions")]
pub(crate) struct RevisionArgs {
    /// Run the suite of this git revision; repeat it for each side, the first is the reference; `.`
    /// is the working tree
    #[arg(long, value_name = "REVISION", value_parser = any_words())]
    pub rev: Vec<String>,

    /// Shell line that prepares a revision, run at the root of its working tree, once per commit
    #[arg(long, value_name = "LINE", requires = "rev", value_parser = any_words())]
    pub build: Option<String>,

    /// Measure even if two revisions are identical, to see this machine's false positives
    #[arg(long, requires = "rev")]
    pub aa: bool,
}

/// How often.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "How long")]
pub(crate) struct WhenArgs {
    /// Run the suite exactly N times, of several sides each, after the warm-up [default: once; of
    /// several sides until the verdict on the whole suite is clear]
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,

    /// Time budget; extended up to 5min, or 12 runs, if the fewest runs for a verdict take longer
    /// [default of several sides: 60s]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub time: Option<f64>,

    /// Runs of each side before the first that counts [default: 1 where sides are compared or --time
    /// is given, else 0]
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,

    /// End a run of the suite that takes longer than this, and say which test ran
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30min")]
    pub timeout: f64,

    /// End a run of the suite once a test, or the setup of a group, takes longer than this; what
    /// ended before keeps its times (Ruby, Python, go test, cargo test, node --test)
    ///
    /// The test that hangs has failed, and where it was is shown: in its setup, its body or its teardown, or in which hook or fixture. Other
    /// frameworks say nothing before they are through; for them there is --timeout alone.
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    pub test_timeout: Option<f64>,

    /// Seed of all random orders [default: a new one, recorded]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    pub seed: Option<u64>,
}

/// Where the time goes within tests.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct ProfilingArgs {
    /// Sample the suite and attribute each sample to its test (Ruby, Python)
    ///
    /// What `assay profile` is for a program this is for its tests. The samplers are installed separately: stackprof for Ruby, py-spy for Python. With
    /// --runs intervals are those of the differences between runs. Threads that a test starts can't be told from one another: what they do counts as outside
    /// of tests.
    #[arg(long, help_heading = "Tests", conflicts_with_all = NOT_SAMPLED)]
    pub profile: bool,

    #[command(flatten)]
    pub by: SamplerArgs,

    /// Number of functions to show of all tests together; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 10, requires = "profile")]
    pub top: usize,

    /// Write the profile to a file, its outermost frames the tests: .html (searchable, zoomable
    /// flame graph), .svg, .speedscope.json, .pb.gz, .firefox.json, .collapsed, .txt
    #[arg(long, short = 'o', value_name = "FILE", requires = "profile")]
    pub output: Vec<PathBuf>,
}

/// Options that make no sense when a suite is sampled, because nothing is compared or recorded.
const NOT_SAMPLED: [&str; 14] = [
    "rev", "toggle", "causes", "time", "warmup", "resume", "save", "keep", "junit", "report",
    "plots", "fail_if", "flaky", "shard",
];

/// Options that make no sense when only some tests run, once, and their dependencies are recorded.
const NOT_CHANGED: [&str; 13] = [
    "only", "shard", "rev", "toggle", "with", "server", "runs", "time", "warmup", "keep", "order",
    "profile", "resume",
];

/// What is shown.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct LookArgs {
    /// How many of the slowest tests to list; 0: all
    #[arg(long, short = 'n', value_name = "TESTS", default_value_t = 10)]
    pub number: usize,

    /// With `fail`, a test that failed at times (in some runs, before a retry) gives status 4, too
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Flaky::Tell)]
    pub flaky: Flaky,

    /// Also write what came of each test as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// What tests are that fail at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Flaky {
    /// They are told
    Tell,
    /// They are failures
    Fail,
}
