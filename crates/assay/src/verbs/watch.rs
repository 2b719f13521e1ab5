//! `assay watch -- COMMAND`: after each save, immediately runs the tests that it affects, until the
//! user quits.

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
How it works: all tests run first. A save runs those that it touches, with those that failed, until these are green; then all run \
again. A save during a run ends that run, with all its processes, and begins the next one. A source with a syntax error is told, and \
nothing runs. Files that git ignores do not count. Suites of Ruby and Python are loaded once, and each run is a fork of that process; a \
save has it load what changed, in the background.

Keys: Enter or a runs all tests, f those that failed, p those whose names hold a pattern; t says how to profile a test, e why each ran; \
q leaves. Ctrl-C runs all again, twice leaves.

Examples:
  assay watch -- bundle exec rspec
  assay watch --notify desktop -- pytest -q
  assay watch --on-all-green 'git commit -am wip' -- ruby -Itest test/all.rb
  assay watch --mutate -- pytest                what does no test notice?
  assay watch --any -- make                     whatever command, at every save
  assay watch --json -- pytest | jq .state      one object a run")]
pub(crate) struct Args {
    /// The command that runs the tests, behind `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Run the command as it is at every save, whatever it is
    #[arg(long, conflicts_with_all = ["framework", "cold", "no_first", "no_full", "idle", "timeout"])]
    any: bool,

    /// Test framework of the command, if it is not recognised: rspec, pytest, go, ..., tap
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,

    /// Start each run of a suite of Ruby or Python anew, instead of forking a process that has it loaded
    #[arg(long)]
    cold: bool,

    /// Do not run all tests at the start: wait for a save
    #[arg(long)]
    no_first: bool,

    /// Do not run all tests by itself after red became green, nor when idle
    #[arg(long)]
    no_full: bool,

    /// Run all tests when nothing was saved for so long, if only some ran since all did
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "1min")]
    idle: f64,

    /// End a run of the tests that takes longer than this
    #[arg(long, value_name = "SPAN", value_parser = seconds, default_value = "30min")]
    timeout: f64,

    /// Ignore files of this pattern, which is as in .gitignore; repeat it for several
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,

    /// A change of files of this pattern touches the tests in files of that one, as in
    /// 'app/views/**=spec/features'; repeat it for several
    ///
    /// Patterns are as in .gitignore. Such tests run beside those that are known to use what changed.
    #[arg(long, value_name = "PATTERN=TESTS", value_parser = crate::changed::rule, conflicts_with = "any")]
    rule: Vec<String>,

    /// Look at all files so often instead of waiting for the system's events [default if there are
    /// none: 1s]
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    poll: Option<f64>,

    /// When all tests are green, try changes of what differs from the last commit, and show which of them no test notices
    ///
    /// `assay mutate --since HEAD` in the background, at the lowest priority and for a minute at most. The next save ends it.
    #[arg(long, conflicts_with = "any")]
    mutate: bool,

    /// With --mutate: run changed programs as you, and not in a sandbox: they may delete files, and reach the network
    #[arg(long, requires = "mutate")]
    no_sandbox: bool,

    #[command(flatten)]
    telling: TellingArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// How it is shown.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Output")]
struct LookArgs {
    /// Clear the screen before each run
    #[arg(long)]
    clear: bool,

    /// Print one line of JSON for each run instead of a screen; keys are not read then
    ///
    /// Its fields: docs/reference/json.md.
    #[arg(long)]
    json: bool,

    /// Print nothing but what came of runs
    #[arg(long, short)]
    quiet: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    color: ColorWhen,
}

/// Watches until the user quits.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    // A missing program is reported now, not at the first save.
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
