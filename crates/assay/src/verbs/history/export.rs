//! `assay history export`: writes runs as the `.assay` files from which they were added. From a
//! damaged history, it writes everything that can be read.

use crate::args::LookArgs;
use crate::history::StoreArgs;
use crate::{Ending, output, whole_file};
use anyhow::Context;
use assay_history::{Access, SalvagedStore, StoreError, StoreLocation, salvage};
use assay_report::json::{self, ChangedRun, StoreChange};
use std::path::PathBuf;

/// Arguments of `assay history export`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history export 9c41f0aa27            writes 9c41f0aa27.assay
  assay history export --all --out backup    all runs of the project; if the history is damaged, all readable ones

All verbs can read these files, including `assay history add`.")]
pub(crate) struct Args {
    /// First digits of the runs' IDs, or `last`
    #[arg(value_name = "RUN", value_hint = clap::ValueHint::Other, required_unless_present = "all", conflicts_with = "all")]
    runs: Vec<String>,

    /// Write every run of the project
    #[arg(long)]
    all: bool,

    /// Directory to write to, created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Writes the files, and reports how many runs could not be read.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let place = args.of.place()?;
    let mut change = StoreChange::new(&place.to_string(), &args.of.project());
    match (whole(args, &mut change), &place) {
        (Err(error), StoreLocation::File(path)) if args.all && is_damage(&error) => {
            change.runs.clear();
            let saved = salvage(path, |name, text| put(args, &mut change, name, text))?;
            // Nothing was saved: the file is not a history, or nothing in it is readable.
            if saved == SalvagedStore::default() {
                return Err(error);
            }
            output::say(&format!(
                "{}\nhint: everything that could be read was saved, for all projects",
                output::told(&error)
            ));
            change.lost = saved.lost;
        }
        (whole, _) => whole?,
    }
    if args.look.json {
        output::print(&json::text(&change)?)?;
    } else {
        let (runs, out) = (change.runs.len(), args.out.display());
        let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
        output::print(&format!("{runs} written to {out}\n"))?;
        if change.lost > 0 {
            output::say(&format!("{} more can't be read", change.lost));
        }
    }
    Ok(Ending::Fine)
}

fn is_damage(error: &anyhow::Error) -> bool {
    let found = error.downcast_ref::<StoreError>();
    // A damaged file that has lost its first page is not recognized as a history.
    matches!(
        found,
        Some(
            StoreError::Damaged { .. } | StoreError::BadSamples { .. } | StoreError::Foreign { .. }
        )
    )
}

fn whole(args: &Args, change: &mut StoreChange) -> anyhow::Result<()> {
    let store = args.of.open(Access::Read)?;
    let project = args.of.project();
    let runs = match args.all {
        true => store.log(&project, usize::MAX)?,
        false => args.runs.iter().map(|run| store.find(&project, run)).collect::<Result<_, _>>()?,
    };
    for run in runs {
        let text = store.text(&run)?;
        put(args, change, run.short(), &text)?;
    }
    Ok(())
}

fn put(args: &Args, change: &mut StoreChange, name: &str, text: &[u8]) -> anyhow::Result<()> {
    let out = &args.out;
    std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    let path = out.join(format!("{name}.assay"));
    whole_file::replace(&path, text)?;
    let file = path.display().to_string();
    change.runs.push(ChangedRun { run: name.to_owned(), done: "exported", file });
    Ok(())
}
