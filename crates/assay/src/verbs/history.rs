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
  assay history add bench.json --rev v1.2    keep what another tool measured of a revision
  assay history log                          the last runs
  assay history show                         the last of them in full
  assay history trend BM_Copy                since when is it as it is?"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Keep runs that were recorded, by assay or by another tool
    Add(Box<add::Args>),
    /// Measure revisions of the past that have no run
    #[cfg(unix)]
    Backfill(Box<backfill::Args>),
    /// List the runs, the latest first
    Log(runs::LogArgs),
    /// Show one run
    Show(runs::ShowArgs),
    /// Find what changed, and between which commits each change lies
    Trend(trend::Args),
    /// Write the history as pages that any browser opens from a disk or a web server
    Site(site::Args),
    /// Show the same pages in a browser while they change
    Serve(serve::Args),
    /// Remove runs
    Rm(runs::RmArgs),
    /// Remove runs that are old, or of which there are more than enough
    Prune(prune::Args),
    /// Write runs as .assay files; of a damaged store, what can still be read
    Export(export::Args),
    /// Accept a level that changed as the new normal
    Bless(bless::Args),
    /// Call a benchmark that was renamed by its new name
    Alias(alias::Args),
}

/// Runs the subcommand.
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
