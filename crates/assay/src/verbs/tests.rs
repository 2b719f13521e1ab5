//! `assay tests`: what there is to learn about the tests of a project.

mod log;

use crate::Ending;

/// Arguments of `assay tests`.
#[derive(clap::Args, Debug)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  assay tests log log/test.log                  which tests write most into it?
  assay tests log --marker '=== RUN +(.*)' -    the same of Go"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Count the lines that each test writes into a log
    Log(log::Args),
}

/// Does what was asked for.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.command {
        Command::Log(args) => log::run(args),
    }
}
