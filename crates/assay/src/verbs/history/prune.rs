//! `assay history prune`: removes old or surplus runs, after listing them.

use crate::args::LookArgs;
use crate::history::StoreArgs;
use crate::{Ending, output, present};
use assay_analysis::history::Run;
use assay_history::Access;
use assay_report::history::{self, Log};
use assay_report::json::{self, ChangedRun, StoreChange};
use jiff::{Timestamp, ToSpan};
use std::collections::HashMap;

/// Arguments of `assay history prune`.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("what").args(["keep", "older_than"]).required(true).multiple(true))]
#[command(after_help = "Examples:
  assay history prune --keep 5                        list all but the latest 5 runs of each revision on each machine
  assay history prune --older-than 365d               list runs that are more than a year old
  assay history prune --older-than 90d --keep 1 --remove   thin out runs older than 90 days to one per revision

Without --remove, runs are only listed. A run whose level was accepted (`assay history bless`) is never removed.")]
pub(crate) struct Args {
    /// Keep this many of the latest runs of each revision on each machine
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,

    /// Remove only runs measured at least this many days ago, as in 90d
    #[arg(long, value_name = "DAYS", value_parser = days)]
    older_than: Option<u32>,

    /// Remove the runs, instead of only listing them
    #[arg(long)]
    remove: bool,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Parses `90d`, or a bare number of days.
fn days(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('d').unwrap_or(text).parse().ok();
    number.filter(|&days| days < 100_000).ok_or_else(|| "write it like `90d`".to_owned())
}

/// Finds the runs to remove, and lists or removes them.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (reading, project) = args.of.of_project()?;
    let all = reading.log(&project, usize::MAX)?;
    let blessed: Vec<String> = reading.blessings(&project)?.into_iter().map(|b| b.run).collect();
    let total = all.len();
    let mut going = surplus(all, args.keep, before(args.older_than)?);
    going.retain(|run| !blessed.contains(&run.digest));
    let mut change = StoreChange::new(&reading.place().to_string(), &project);
    let done = if args.remove { "removed" } else { "would be removed" };
    if args.remove {
        let mut store = args.of.open(Access::Write)?;
        going.iter().try_for_each(|run| store.remove(run))?;
        store.compact()?;
    }
    if args.look.json {
        let changed =
            |run: &Run| ChangedRun { run: run.digest.clone(), done, file: run.source.clone() };
        change.runs = going.iter().map(changed).collect();
        output::print(&json::text(&change)?)?;
        return Ok(Ending::Fine);
    }
    let shown = &going[..going.len().min(20)];
    let log = Log { project: &project, runs: shown, total: shown.len() as u64 };
    let mut screen = match going.len() {
        0 => String::new(),
        _ => history::log(&log, &present::screen(args.look.color)),
    };
    if going.len() > shown.len() {
        screen += &format!("  and {} more\n", going.len() - shown.len());
    }
    screen += &format!("{} of {total} runs of {project} {done}\n", going.len());
    output::print(&screen)?;
    if !args.remove && !going.is_empty() && !args.look.quiet {
        output::say("nothing was changed yet; to remove these runs, add --remove");
    }
    Ok(Ending::Fine)
}

/// Returns the time before which a run is old, in milliseconds since the Unix epoch; `None` if
/// every run is old enough.
fn before(days: Option<u32>) -> anyhow::Result<Option<i64>> {
    let Some(days) = days else { return Ok(None) };
    let hours = (i64::from(days) * 24).hours();
    Ok(Some(Timestamp::now().checked_sub(hours)?.as_millisecond()))
}

/// Returns the runs that are old enough and exceed the number to keep for their revision and
/// machine. Both `all` and the result are sorted from the newest to the oldest.
fn surplus(all: Vec<Run>, keep: Option<u32>, before: Option<i64>) -> Vec<Run> {
    let mut seen: HashMap<(Option<String>, String), u32> = HashMap::new();
    let mut goes = |run: &Run| {
        let commit = run.revision.as_ref().map(|revision| revision.commit.clone());
        let count = seen.entry((commit, run.fingerprint.clone())).or_default();
        *count += 1;
        before.is_none_or(|before| run.started < before) && keep.is_none_or(|keep| *count > keep)
    };
    all.into_iter().filter(|run| goes(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_analysis::history::Revision;

    fn run(id: i64, commit: &str, machine: &str) -> Run {
        Run {
            id,
            digest: String::new(),
            started: id,
            changed: false,
            source: String::new(),
            argv: Vec::new(),
            tool: None,
            results: 1,
            verdict: None,
            machine: machine.to_owned(),
            fingerprint: machine.to_owned(),
            revision: Some(Revision { commit: commit.to_owned(), ..Revision::default() }),
            metric: None,
        }
    }

    #[test]
    fn the_last_of_each_revision_on_each_machine_stay_and_so_does_what_is_young() {
        let all: Vec<Run> =
            [(9, "b", "x"), (8, "a", "x"), (7, "a", "y"), (6, "a", "x"), (5, "a", "x")]
                .map(|(id, commit, machine)| run(id, commit, machine))
                .to_vec();
        let ids = |keep, before| -> Vec<i64> {
            surplus(all.clone(), keep, before).iter().map(|run| run.id).collect()
        };
        assert_eq!(ids(Some(1), None), [6, 5]);
        assert_eq!(ids(Some(2), None), [5]);
        assert_eq!(ids(None, Some(7)), [6, 5]);
        assert_eq!(ids(Some(1), Some(6)), [5]);
    }
}
