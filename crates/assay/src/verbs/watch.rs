//! `assay watch -- COMMAND`: runs the affected tests immediately after each save, until the user
//! quits.

use crate::Ending;
use crate::args::{ColorWhen, seconds};
use crate::tests::Limits;
use crate::watch::telling::TellingArgs;
use crate::watch::{self, Full, How};
use assay_measure::Command;
use assay_suites::{Call, frameworks};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Arguments of `assay watch`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
How it works: all tests run first. Each save runs the affected tests and those that failed. When these pass, all tests run again. A save \
during a run stops that run, with all its processes, and starts the next one. If a source file has a syntax error, the error is reported and no \
test runs. Files that git ignores are not watched. Ruby and Python suites are loaded once, and each run is a fork of that process; after a \
save, it reloads the changed files in the background.

Keys: Enter or a runs all tests, f those that failed, p those whose names contain a pattern. t shows how to profile a test, and e why each \
test ran. q quits. Ctrl-C runs all tests again; pressed twice, it quits.

Examples:
  assay watch -- bundle exec rspec
  assay watch --notify desktop -- pytest -q
  assay watch --on-all-green 'git commit -am wip' -- ruby -Itest test/all.rb
  assay watch --mutate -- pytest                also show the changes that no test notices
  assay watch --any -- make                     run any command on every save
  assay watch --json -- pytest | jq .state      one object per run")]
pub(crate) struct Args {
    /// Command that runs the tests, given after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Run any command, unchanged, on every save
    #[arg(long, conflicts_with_all = ["framework", "cold", "no_first", "no_full", "idle", "timeout"])]
    any: bool,

    /// Test framework, if it is not recognized from the command: rspec, pytest, go, ..., tap
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,

    /// Start Ruby and Python suites from scratch for each run, instead of forking a process that
    /// has them loaded
    #[arg(long)]
    cold: bool,

    /// Do not run all tests at the start, but wait for a save
    #[arg(long)]
    no_first: bool,

    /// Do not run all tests automatically when failing tests pass again, or when idle
    #[arg(long)]
    no_full: bool,

    /// Run all tests after this long without a save, if only some tests have run since the last
    /// full run
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "1min")]
    idle: f64,

    /// Kill a run of the tests that takes longer than this
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30min")]
    timeout: f64,

    /// Ignore files that match this pattern, written as in .gitignore; may be repeated
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,

    /// Treat a change to a file that matches PATTERN as affecting the tests in files that match
    /// TESTS, as in 'app/views/**=spec/features'; may be repeated
    ///
    /// Patterns are written as in .gitignore. These tests run in addition to those known to use
    /// what changed.
    #[arg(long, value_name = "PATTERN=TESTS", value_parser = crate::changed::rule, conflicts_with = "any")]
    rule: Vec<String>,

    /// Check all files at this interval, instead of waiting for file system events [default where
    /// these are not available: 1s]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    poll: Option<f64>,

    /// When all tests pass, mutate the lines that differ from the last commit, and show the changes
    /// that no test notices
    ///
    /// Runs `assay mutate --since HEAD` in the background, at the lowest priority and for at most a
    /// minute. The next save stops it.
    #[arg(long, conflicts_with = "any")]
    mutate: bool,

    /// With --mutate, run changed programs with your privileges instead of in a sandbox; they may
    /// delete files and use the network
    #[arg(long, requires = "mutate")]
    no_sandbox: bool,

    #[command(flatten)]
    telling: TellingArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Options for the output.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Output")]
struct LookArgs {
    /// Clear the screen before each run
    #[arg(long)]
    clear: bool,

    /// Print one line of JSON for each run instead of text, and ignore the keyboard
    ///
    /// The fields are described in docs/reference/json.md.
    #[arg(long)]
    json: bool,

    /// Print only the results of runs
    #[arg(long, short)]
    quiet: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    color: ColorWhen,
}

/// Watches until the user quits.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    // Report a missing program now, not at the first save.
    Command::new(args.command.clone())?.resolve()?;
    let framework = match (&args.framework, args.any) {
        (_, true) => None,
        (Some(name), false) => Some(frameworks::by_name(name)?),
        (None, false) => Some(frameworks::by_call(&Call::new(&args.command, Path::new(".")))),
    };
    let mutate = match args.mutate {
        true => Some(watch::mutating::How::of(args.no_sandbox, args.framework.clone())?),
        false => None,
    };
    let top = std::env::current_dir()?;
    watch::watch(How {
        command: args.command.clone(),
        framework,
        cold: args.cold,
        top,
        ignore: args.ignore.clone(),
        rules: args.rule.clone(),
        poll: args.poll.map(Duration::from_secs_f64),
        full: Full { first: !args.no_first, later: !args.no_full },
        idle: Duration::from_secs_f64(args.idle),
        limits: Limits { suite: Duration::from_secs_f64(args.timeout), test: None },
        telling: args.telling.clone(),
        mutate,
        json: args.look.json,
        quiet: args.look.quiet,
        clear: args.look.clear,
        color: args.look.color,
    })
}
