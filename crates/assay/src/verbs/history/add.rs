//! `assay history add`: files become runs of the history, one each.

use crate::history::{Adding, BesideArgs, Kept};
use crate::{Ending, output};
use assay_data::import;
use assay_history::{Access, Added, Store};
use assay_report::json::{self, ChangedRun, StoreChange};
use std::path::PathBuf;

/// Arguments of `assay history add`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history add run.assay                         what assay recorded knows its revision
  assay history add --rev v1.2 --machine ci new.json  what another tool measured of v1.2
  assay history add --unit ms times.txt               numbers, one a line

A run is known by its content: adding a file twice changes nothing.")]
pub(crate) struct Args {
    /// Files in any format that `assay compare` reads; each is a run; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Revision that was measured [default: as the file says]
    #[arg(long, value_name = "REVISION")]
    rev: Option<String>,

    #[command(flatten)]
    beside: BesideArgs,
}

/// Reads, adds, says what became of each.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let BesideArgs { of, machine, reading, look } = &args.beside;
    let project = of.project();
    let mut change = StoreChange::new(&of.place()?.to_string(), &project);
    // What can't be read begins no store.
    let mut opened: Option<Store> = None;
    for path in &args.files {
        let file = path.display().to_string();
        let samples = import::load(std::slice::from_ref(path), &reading.options())?;
        let store = match &mut opened {
            Some(store) => store,
            none => none.insert(of.open(Access::Write)?),
        };
        let machine = machine.as_deref();
        let adding = Adding { machine, rev: args.rev.as_deref(), source: &file };
        let added = match adding.add(store, &project, &samples)? {
            Kept::InStore(added) => added,
            Kept::Waits(why) => {
                output::say(&why);
                change.runs.push(ChangedRun { run: String::new(), done: "waiting", file });
                continue;
            }
        };
        let (run, is_new) = (added.run(), matches!(*added, Added::New(_)));
        let done = if is_new { "added" } else { "known" };
        change.runs.push(ChangedRun { run: run.digest.clone(), done, file: file.clone() });
        if look.json {
            continue;
        }
        let of = match &run.revision {
            Some(revision) if args.rev.as_ref().is_some_and(|rev| *rev != revision.commit) => {
                format!("{}, commit {}", args.rev.as_deref().unwrap_or_default(), revision.short())
            }
            Some(revision) => revision.short().to_owned(),
            None => "no known revision".to_owned(),
        };
        let results = if run.results == 1 {
            "1 result".to_owned()
        } else {
            format!("{} results", run.results)
        };
        let known = if is_new { "" } else { "; it was there before" };
        output::print(&format!("{done} {} ({results} of {of}{known})\n", run.short()))?;
        let is_placed = run.revision.as_ref().is_some_and(|revision| revision.ordinal.is_some());
        if is_new && !is_placed && !look.quiet {
            output::say(&match &run.revision {
                None => format!(
                    "{file} does not say which revision it measured: --rev names it. Until then its time counts"
                ),
                Some(revision) if revision.time.is_some() => format!(
                    "the repository here is a shallow clone, which does not say how many commits lead to `{}`: its place among others is \
                     that of its time; `git fetch --unshallow` before adding mends that",
                    revision.short()
                ),
                Some(revision) => format!(
                    "`{}` is no commit of the repository here, so its place among others is that of its time",
                    revision.commit
                ),
            });
        }
    }
    if look.json {
        output::print(&json::text(&change)?)?;
    }
    Ok(Ending::Fine)
}
