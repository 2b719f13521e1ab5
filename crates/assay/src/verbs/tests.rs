//! `assay tests`: runs the test suite of a project, and reports on its tests.

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
How it measures: the test framework is recognized from the command. Test times are obtained through the framework's own reporter, \
flags or environment variables; nothing is written into the project. One run of the suite is one observation of each of its tests.

Frameworks: rspec, minitest, test-unit, pytest, unittest, go test, cargo test, cargo nextest, jest, vitest, mocha, jasmine, \
node --test, Maven, Gradle, ctest, GoogleTest, Catch2; and any command that prints TAP or writes JUnit XML (--framework junit:FILE).

Examples:
  assay tests -- bundle exec rspec              where does the time go?
  assay tests --runs 20 -- pytest               in random orders: which tests are flaky?
  assay tests --rev main --rev . -- go test ./...    is the suite slower than on main?
  assay tests --with postgres --toggle pg.fsync=off --toggle hash-cost=min -- rspec    which settings help?
  assay tests --profile -- bundle exec rspec    which functions take the time of each test?
  assay tests log log/test.log                  which tests write most to the log?
  assay tests log --marker '=== RUN +(.*)' -    the same for Go"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    pub(crate) running: options::SuiteRunArgs,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Count the lines that each test writes to a log
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
