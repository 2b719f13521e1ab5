//! `assay tests`: runs the test suite of a project, and reports what can be learned about its
//! tests.

mod log;
mod options;
mod profiling;
mod running;
mod sharding;
mod showing;

use crate::Ending;

/// Arguments of `assay tests`.
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
How it measures: the test framework is recognised from the command, and asked by its own reporter, flags or environment what each \
test took; nothing is written into the project. One run of the suite is one observation of each of its tests.

Frameworks: rspec, minitest, test-unit, pytest, unittest, go test, cargo test, cargo nextest, jest, vitest, mocha, jasmine, \
node --test, Maven, Gradle, ctest, GoogleTest, Catch2; and whatever prints TAP or writes JUnit XML (--framework junit:FILE).

Examples:
  assay tests -- bundle exec rspec              where do the seconds go?
  assay tests --runs 20 -- pytest               in random orders: which tests fail at times?
  assay tests --rev main --rev . -- go test ./...    is the suite slower than on main?
  assay tests --with postgres --toggle pg.fsync=off --toggle hash-cost=min -- rspec    which settings help?
  assay tests --profile -- bundle exec rspec    which functions take it, test by test, and the garbage collector?
  assay tests log log/test.log                  which tests write most into it?
  assay tests log --marker '=== RUN +(.*)' -    the same of Go"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    pub(crate) running: options::SuiteRunArgs,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Count the lines that each test writes into a log
    Log(log::Args),
}

/// Runs the subcommand, or the suite.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.command {
        Some(Command::Log(args)) => log::run(args),
        None if args.running.profiling.profile => profiling::run(&args.running),
        None => running::run(&args.running),
    }
}
