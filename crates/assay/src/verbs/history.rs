//! `assay history`: stored runs, with their measurements and revisions.

mod add;
mod alias;
#[cfg(unix)]
mod backfill;
mod bless;
mod directory;
mod export;
mod prune;
mod runs;
mod serve;
mod server;
mod site;
mod trend;

use trend::{narrowing, narrowing_of_event};

use crate::Ending;

/// Arguments of `assay history`.
#[derive(clap::Args, Debug)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  assay bench ./bench --keep                 measure, and keep the run
  assay history add bench.json --rev v1.2    keep the results of another tool for a revision
  assay history log                          list the latest runs
  assay history show                         show the latest run in full
  assay history trend BM_Copy                show when a benchmark changed"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Keep runs recorded by assay or by another tool
    Add(Box<add::Args>),
    /// Measure past revisions that have no run
    #[cfg(unix)]
    Backfill(Box<backfill::Args>),
    /// List the runs, newest first
    Log(runs::LogArgs),
    /// Show one run
    Show(runs::ShowArgs),
    /// Find which benchmarks changed, and between which commits
    Trend(trend::Args),
    /// Write the history as web pages that work from a disk or a web server
    Site(site::Args),
    /// Serve the history as web pages that are always up to date
    Serve(serve::Args),
    /// Remove runs
    Rm(runs::RmArgs),
    /// Remove old or surplus runs
    Prune(prune::Args),
    /// Write runs as .assay files, even from a damaged history
    Export(export::Args),
    /// Accept a changed level as the new normal
    Bless(bless::Args),
    /// Give a renamed benchmark the records of its old name
    Alias(alias::Args),
}

/// Runs the selected subcommand.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.command {
        Command::Add(args) => add::run(args),
        #[cfg(unix)]
        Command::Backfill(args) => backfill::run(args),
        Command::Log(args) => runs::log(args),
        Command::Show(args) => runs::show(args),
        Command::Trend(args) => trend::run(args),
        Command::Site(args) => site::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Rm(args) => runs::rm(args),
        Command::Prune(args) => prune::run(args),
        Command::Export(args) => export::run(args),
        Command::Bless(args) => bless::run(args),
        Command::Alias(args) => alias::run(args),
    }
}
