//! `assay history log`, `show` and `rm`: commands that list, show and remove runs.

use crate::args::LookArgs;
use crate::history::StoreArgs;
use crate::{Ending, output, present};
use assay_analysis::history::Run;
use assay_history::Access;
use assay_report::history::{self, Log, ShownRun};
use assay_report::json::{self, ChangedRun, RunContents, RunList, StoreChange};

/// Arguments of `assay history log`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history log          list the latest 20 runs
  assay history log -n 0     list all runs")]
pub(crate) struct LogArgs {
    /// Number of runs to list; 0 lists all
    #[arg(long, short = 'n', value_name = "RUNS", default_value_t = 20)]
    number: usize,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Arguments of `assay history show`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history show              show the latest run
  assay history show 9c41 --all   show a run with all its metrics")]
pub(crate) struct ShowArgs {
    /// First digits of the run's ID, or `last`
    #[arg(value_name = "RUN", value_hint = clap::ValueHint::Other, default_value = "last")]
    run: String,

    /// Show all metrics, not only the deciding one
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Arguments of `assay history rm`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history rm 9c41f0aa27     remove one run")]
pub(crate) struct RmArgs {
    /// First digits of the runs' IDs, or `last`
    #[arg(required = true, value_name = "RUN", value_hint = clap::ValueHint::Other)]
    runs: Vec<String>,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Lists runs.
pub(super) fn log(args: &LogArgs) -> anyhow::Result<Ending> {
    let (store, project) = args.of.of_project()?;
    let most = if args.number == 0 { usize::MAX } else { args.number };
    let runs = store.log(&project, most)?;
    let log = Log { project: &project, runs: &runs, total: store.count(&project)? };
    output::print(&if args.look.json {
        json::text(&RunList::of(&log, &store.place().to_string()))?
    } else {
        history::log(&log, &present::screen(args.look.color))
    })?;
    Ok(Ending::Fine)
}

/// Shows one run.
pub(super) fn show(args: &ShowArgs) -> anyhow::Result<Ending> {
    let (store, project) = args.of.of_project()?;
    let run = store.find(&project, &args.run)?;
    let contents = store.contents(&run)?;
    let shown = ShownRun { run: &run, contents: &contents, all: args.all };
    output::print(&if args.look.json {
        json::text(&RunContents::of(&shown))?
    } else {
        history::show(&shown, &present::screen(args.look.color))
    })?;
    Ok(Ending::Fine)
}

/// Removes runs. If one of them is not found, nothing is removed.
pub(super) fn rm(args: &RmArgs) -> anyhow::Result<Ending> {
    args.of.of_project()?;
    let mut store = args.of.open(Access::Write)?;
    let project = args.of.project();
    let found: Result<Vec<Run>, _> =
        args.runs.iter().map(|run| store.find(&project, run)).collect();
    let mut change = StoreChange::new(&store.place().to_string(), &project);
    for run in found? {
        store.remove(&run)?;
        if !args.look.json {
            output::print(&format!("removed {}\n", run.short()))?;
        }
        change.runs.push(ChangedRun { run: run.digest, done: "removed", file: run.source });
    }
    if args.look.json {
        output::print(&json::text(&change)?)?;
    }
    Ok(Ending::Fine)
}
