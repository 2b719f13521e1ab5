//! `assay history add`: adds each file to the history as one run, and each run in another tool's
//! store as a run of its own.

use crate::args::any_words;
use crate::history::{Adding, BesideArgs, RunDestination, may_be_of_this_machine, on_this_machine};
use crate::progress::Line;
use crate::{Ending, output};
use anyhow::bail;
use assay_analysis::history::Run;
use assay_data::import;
use assay_data::import::stores::{self, RunStore};
use assay_history::{Access, Added, Store, StoreError};
use assay_report::json::{self, ChangedRun, StoreChange};
use assay_report::words::counted;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum number of unreadable runs in a store that are reported individually; any others are only
/// counted.
const NAMED: usize = 3;

/// Arguments of `assay history add`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history add run.assay                         a run of assay, which contains its revision
  assay history add --rev v1.2 --machine ci new.json  results of another tool for v1.2
  assay history add --unit ms times.txt               numbers, one per line
  assay history add .asv/results                      all results of asv
  assay history add gh-pages/dev/bench/data.js        data of github-action-benchmark
  assay history add .benchmarks                       runs saved by pytest-benchmark
  assay history add target/criterion --rev HEAD       last run of criterion

Runs are identified by their content: adding a file or a store again adds only new runs.")]
pub(crate) struct Args {
    /// Files in any format that `assay compare` reads, each added as one run, or stores of other
    /// tools, added with all their runs; - is standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,

    /// Revision that was measured [default: the one in the file]
    #[arg(long, value_name = "REVISION", value_parser = any_words())]
    rev: Option<String>,

    #[command(flatten)]
    beside: BesideArgs,
}

/// Adds each file or store, and reports the outcome.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let project = args.beside.of.project();
    let change = StoreChange::new(&args.beside.of.place()?.to_string(), &project);
    let mut work = Work { args, project, opened: None, change };
    for path in &args.files {
        let found = if path.as_os_str() == "-" { None } else { stores::open(path)? };
        match found {
            Some(found) => work.store(path, &found)?,
            None => work.file(path)?,
        }
    }
    if args.beside.look.json {
        output::print(&json::text(&work.change)?)?;
    }
    Ok(Ending::Fine)
}

struct Work<'a> {
    args: &'a Args,
    project: String,
    /// Opened only after the first input has been read, so that unreadable input does not create a
    /// history.
    opened: Option<Store>,
    change: StoreChange,
}

impl Work<'_> {
    fn add(
        &mut self,
        adding: Adding<'_>,
        samples: &assay_data::Samples,
    ) -> anyhow::Result<RunDestination> {
        let store = match &mut self.opened {
            Some(store) => store,
            none => none.insert(self.args.beside.of.open(Access::Write)?),
        };
        adding.add(store, &self.project, samples)
    }

    fn note(&mut self, run: &Run, done: &'static str, file: &str) {
        let (run, file) = (run.digest.clone(), file.to_owned());
        self.change.runs.push(ChangedRun { run, done, file });
    }

    fn note_without_run(&mut self, done: &'static str, file: &str) {
        self.change.runs.push(ChangedRun { run: String::new(), done, file: file.to_owned() });
    }

    /// Adds a file as one run.
    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        let args = self.args;
        let BesideArgs { machine, reading, look, .. } = &args.beside;
        let file = path.display().to_string();
        let mut samples = import::load(&[path], &reading.options())?;
        on_this_machine(&mut samples, machine.as_deref());
        let (machine, rev) = (machine.as_deref(), args.rev.as_deref());
        let adding = Adding { machine, rev, source: &file, started: None };
        let added = match self.add(adding, &samples)? {
            RunDestination::InStore(added) => added,
            RunDestination::Waits(why) => {
                output::say(&why);
                self.note_without_run("waiting", &file);
                return Ok(());
            }
        };
        let (run, is_new) = (added.run(), matches!(*added, Added::New(_)));
        let done = if is_new { "added" } else { "known" };
        self.note(run, done, &file);
        if look.json {
            return Ok(());
        }
        let of = match &run.revision {
            Some(revision) if args.rev.as_ref().is_some_and(|rev| *rev != revision.commit) => {
                format!("{}, commit {}", args.rev.as_deref().unwrap_or_default(), revision.short())
            }
            Some(revision) => revision.short().to_owned(),
            None => "no known revision".to_owned(),
        };
        let results = counted(run.results as usize, "result");
        let known = if is_new { "" } else { "; it was there before" };
        let told = format!("{done} {} ({results} of {of}{known})\n", run.short());
        output::print(&output::in_plain_text(&told))?;
        if is_new && !is_placed(run) && !look.quiet {
            output::say(&unplaced(run, &file));
        }
        if is_new
            && machine.is_none()
            && !look.quiet
            && let Some(advice) = may_be_of_this_machine(&samples, &file)
        {
            output::say(&advice);
        }
        Ok(())
    }

    /// Adds every run in another tool's store. An unreadable run does not prevent the others from
    /// being added.
    fn store(&mut self, path: &Path, found: &RunStore) -> anyhow::Result<()> {
        let args = self.args;
        let shown = path.display();
        if args.rev.is_some() {
            bail!(
                "--rev: {shown} contains {} of {}, and each names its own revision",
                counted(found.len(), "run"),
                found.tool
            );
        }
        let BesideArgs { machine, reading, look, .. } = &args.beside;
        let options = reading.options();
        let line = Line::new(look.quiet);
        let mut sums = Sums::default();
        for number in 0..found.len() {
            if line.is_due() {
                let words = format!("{}: run {} of {}", found.tool, number + 1, found.len());
                line.draw(number as f64 / found.len() as f64, words);
            }
            let read = found.read(number, &options).map_err(anyhow::Error::from);
            let kept = read.and_then(|run| {
                let (source, started) = (run.source.as_str(), run.started);
                let adding = Adding { machine: machine.as_deref(), rev: None, source, started };
                Ok((self.add(adding, &run.samples)?, run.source))
            });
            match kept {
                Ok((RunDestination::InStore(added), source)) => {
                    let (run, is_new) = (added.run(), matches!(*added, Added::New(_)));
                    self.note(run, if is_new { "added" } else { "known" }, &source);
                    sums.count(run, is_new);
                }
                Ok((RunDestination::Waits(why), source)) => {
                    self.note_without_run("waiting", &source);
                    if sums.waiting == 0 {
                        line.say(&why);
                    }
                    sums.waiting += 1;
                }
                Err(error) if is_of_store(&error) => return Err(error),
                Err(error) => {
                    self.note_without_run("not read", &path.display().to_string());
                    sums.unread += 1;
                    if sums.unread <= NAMED {
                        line.say(&format!("left out: {}", output::told(&error)));
                    }
                }
            }
        }
        line.end();
        if sums.unread == found.len() {
            bail!("none of the runs in {shown} ({}) can be read", found.tool);
        }
        if !look.json {
            output::print(&sums.told(&shown.to_string(), found.tool))?;
        }
        if !look.quiet {
            sums.remarks();
        }
        Ok(())
    }
}

/// Returns true if the error concerns the history rather than the input.
fn is_of_store(error: &anyhow::Error) -> bool {
    let of_store = error.downcast_ref::<StoreError>();
    of_store.is_some_and(|error| !matches!(error, StoreError::Nothing))
}

/// Counts of what happened to the runs in another tool's store.
#[derive(Default)]
struct Sums {
    added: usize,
    known: usize,
    waiting: usize,
    unread: usize,
    revisions: HashSet<String>,
    /// Added revisions that have no position in the history of this repository.
    unplaced: HashSet<String>,
    /// Number of runs added without a revision.
    without: usize,
}

impl Sums {
    fn count(&mut self, run: &Run, is_new: bool) {
        if !is_new {
            self.known += 1;
            return;
        }
        self.added += 1;
        match &run.revision {
            Some(revision) => {
                self.revisions.insert(revision.commit.clone());
                if !is_placed(run) {
                    self.unplaced.insert(revision.commit.clone());
                }
            }
            None => self.without += 1,
        }
    }

    fn told(&self, from: &str, tool: &str) -> String {
        let revisions = match self.revisions.len() {
            0 => String::new(),
            count => format!(" of {}", counted(count, "revision")),
        };
        let known = match self.known {
            0 => String::new(),
            1 => "; 1 was there before".to_owned(),
            known => format!("; {known} were there before"),
        };
        let left_out = match self.unread {
            0 => String::new(),
            unread => format!("; {unread} left out"),
        };
        let added = counted(self.added, "run");
        output::in_plain_text(&format!(
            "added {added}{revisions} from {from} ({tool}){known}{left_out}\n"
        ))
    }

    fn remarks(&self) {
        if self.waiting > 1 {
            output::say(&format!("{} runs wait for the server", self.waiting));
        }
        if self.unread > NAMED {
            output::say(&format!("{} more runs were left out", self.unread - NAMED));
        }
        match self.unplaced.len() {
            0 => {}
            unplaced => output::say(&format!(
                "{} of these revisions are not commits in this repository, or it is a shallow clone: they are ordered among the others by their time",
                unplaced
            )),
        }
        if self.without > 0 {
            output::say(&format!(
                "{} do not say which revision they measured, so they are ordered by their time",
                counted(self.without, "run")
            ));
        }
    }
}

fn is_placed(run: &Run) -> bool {
    run.revision.as_ref().is_some_and(|revision| revision.ordinal.is_some())
}

/// Returns the message about a run that has no position among the commits of this repository.
fn unplaced(run: &Run, file: &str) -> String {
    match &run.revision {
        None => format!(
            "{file} does not say which revision it measured; name it with --rev. Until then, it is ordered by its time"
        ),
        Some(revision) if revision.time.is_some() => format!(
            "this repository is a shallow clone, which does not show how many commits precede `{}`, so it is ordered among the others by its time; run `git fetch --unshallow` before adding",
            revision.short()
        ),
        Some(revision) => format!(
            "`{}` is not a commit in this repository, so it is ordered among the others by its time",
            revision.commit
        ),
    }
}
