//! `assay history bless`: accepts an intended change as the new normal level.

use crate::args::LookArgs;
use crate::history::StoreArgs;
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::history::{Blessing, Run};
use assay_history::{Access, Store};
use assay_report::history::blessings;
use assay_report::json::{self, StoreChange};
use jiff::Timestamp;

/// Arguments of `assay history bless`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history bless BM_Copy --reason 'checks every byte'   accept the latest run's level of BM_Copy
  assay history bless --run 9c41                             accept the levels of all benchmarks from an earlier run on
  assay history bless --list                                 list the accepted levels
  assay history bless BM_Copy --run 9c41 --remove            withdraw an acceptance

`assay gate` then compares new runs only with that run and later ones, so it
needs some more runs before it can judge again. `assay history trend` shows the
change as accepted.")]
pub(crate) struct Args {
    /// Benchmarks, as named by `assay history show` [default: all]
    #[arg(value_name = "BENCHMARK", value_hint = clap::ValueHint::Other)]
    benchmarks: Vec<String>,

    /// Run with the new level: the first digits of its ID, or `last`
    #[arg(long, value_name = "RUN", value_hint = clap::ValueHint::Other, default_value = "last")]
    run: String,

    /// Reason for accepting the level
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,

    /// List the accepted levels, without changing anything
    #[arg(long, conflicts_with_all = ["benchmarks", "run", "reason", "remove"])]
    list: bool,

    /// Withdraw the acceptance of a level
    #[arg(long, conflicts_with = "reason")]
    remove: bool,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Accepts levels or withdraws acceptances, then lists the accepted levels.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (reading, project) = args.of.of_project()?;
    if !args.list {
        let run = reading.find(&project, &args.run)?;
        let names = named(args, &reading, &run)?;
        let mut store = args.of.open(Access::Write)?;
        for benchmark in names {
            if args.remove {
                if store.take_back(&project, &run.digest, benchmark.as_deref())? == 0 {
                    let what = benchmark.as_deref().unwrap_or("all benchmarks together");
                    bail!(
                        "no level of {what} was accepted at run {}; list the accepted ones with `assay history bless --list`",
                        run.short()
                    );
                }
                continue;
            }
            let blessing = Blessing {
                benchmark,
                run: run.digest.clone(),
                started: run.started,
                blessed: Timestamp::now().as_millisecond(),
                reason: args.reason.clone(),
            };
            store.bless(&project, &blessing)?;
        }
    }
    let all = reading.blessings(&project)?;
    output::print(&if args.look.json {
        let mut change = StoreChange::new(&reading.place().to_string(), &project);
        change.blessings = all.iter().map(json::Blessing::of).collect();
        json::text(&change)?
    } else {
        blessings(&project, &all, &present::screen(args.look.color))
    })?;
    Ok(Ending::Fine)
}

/// Returns the selected benchmarks, all of which the run must have; a single `None` stands for all
/// of its benchmarks.
fn named(args: &Args, store: &Store, run: &Run) -> anyhow::Result<Vec<Option<String>>> {
    if args.benchmarks.is_empty() {
        return Ok(vec![None]);
    }
    let results = store.contents(run)?.results;
    for name in &args.benchmarks {
        if !results.iter().any(|result| result.benchmark.name == *name) {
            bail!(
                "run {} has no benchmark `{name}`; `assay history show {}` names them",
                run.short(),
                run.short()
            );
        }
    }
    Ok(args.benchmarks.iter().cloned().map(Some).collect())
}
