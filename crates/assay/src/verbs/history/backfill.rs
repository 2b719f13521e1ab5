//! `assay history backfill`: measures past revisions that have no run in the history.
//!
//! Each revision is built in its own tree, as in `assay bench --rev`. `assay` itself is then
//! started in that tree, and the recording is added as a run of the revision. An interrupted
//! backfill loses only the current measurement: the same command line continues with the remaining
//! revisions.

mod order;
mod revisions;

use crate::args::{LookArgs, any_words};
use crate::history::{Adding, RunDestination, StoreArgs};
use crate::revisions::{NO_BUILD, repository, staged, told};
use crate::run_error::RunError;
use crate::{Ending, output, own, verbs};
use anyhow::bail;
use assay_data::{Environment, StopReason, assay_file};
use assay_history::{Access, Added, Store};
use assay_measure::revisions::{Repository, RevisionError};
use assay_measure::{environment, interrupt, word_of};
use assay_report::json::{self, ChangedRun, StoreChange};
use clap::Parser;
use revisions::{Chosen, chosen};
use std::ffi::OsString;
use std::path::Path;

/// Arguments of `assay history backfill`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history backfill v1.0..main --every 10 --build 'make' -- bench build/bm
  assay history backfill --at v1.0 --at v1.1 --build 'cargo build --release' -- run -n start 'target/release/app --version'
  assay history backfill v1.0..main -- run 'python3 bench.py'

The words after `--` are a command line of assay run, bench or load. It runs in
the tree of each revision, and paths of programs are relative to the root of
that tree. The ends of the range are measured first, then, repeatedly, the
middle of the widest gap. A revision that does not build, or cannot be measured,
is left out. After an interruption, run the same command again to continue.")]
pub(super) struct Args {
    /// Commits from A to B, both included, following first parents [default for B: HEAD]
    #[arg(value_name = "A..B", required_unless_present = "at", value_parser = any_words())]
    range: Option<String>,

    /// Measure only the first commit of the range, and every N-th counted from its end [default: 1]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Measure this revision, even if it is outside the range; may be repeated
    #[arg(long, value_name = "REVISION", value_parser = any_words())]
    at: Vec<String>,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit [default: nothing is built]
    #[arg(long, value_name = "LINE", default_value = NO_BUILD, hide_default_value = true, value_parser = any_words())]
    build: String,

    /// Also measure revisions that already have a run on this machine
    #[arg(long)]
    again: bool,

    /// Command that measures: run, bench or load, with its arguments
    #[arg(last = true, required = true, value_name = "VERB|ARGUMENT", value_parser = any_words())]
    words: Vec<String>,

    /// Name of the machine, if its host name changes from run to run
    #[arg(long, value_name = "NAME", help_heading = "History", value_parser = any_words())]
    machine: Option<String>,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Selects the revisions, then builds, measures and adds them one by one.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    check(&args.words)?;
    interrupt::install()?;
    let mut repository = repository()?;
    let all = chosen(&mut repository, args.range.as_deref(), args.every, &args.at)?;
    let project = args.of.project();
    let known = known(args, &project)?;
    let done: Vec<bool> = all.iter().map(|of| !args.again && known.contains(&of.commit)).collect();
    let order = order::order(&done);
    let mut change = StoreChange::new(&args.of.place()?.to_string(), &project);
    let (mut measured, mut failed) = (0, 0);
    for (place, &index) in order.iter().enumerate() {
        let of = &all[index];
        if interrupt::count() > 0 {
            break;
        }
        let task = Task { args, project: &project, of, number: (place + 1, order.len()) };
        match task.measured(&mut repository) {
            Ok(run) => {
                measured += 1;
                change.runs.push(run);
            }
            Err(Obstacle::Interrupted) => break,
            Err(Obstacle::Revision(error)) => {
                failed += 1;
                output::say(&format!("{} is left out: {}", of.name, output::told(&error)));
                let file = of.name.clone();
                change.runs.push(ChangedRun { run: String::new(), done: "failed", file });
            }
            Err(Obstacle::Other(error)) => return Err(error),
        }
    }
    let left = order.len() - measured - failed;
    if args.look.json {
        output::print(&json::text(&change)?)?;
    } else {
        let before = done.iter().filter(|&&done| done).count();
        output::print(&sums(all.len(), measured, before, failed, left))?;
    }
    if left > 0 {
        output::error(
            &RunError::Interrupted(format!(
                "before the end; run the same command again to measure the remaining {left}"
            ))
            .into(),
        );
        return Ok(Ending::Interrupted);
    }
    Ok(if failed > 0 && measured == 0 { Ending::CommandFailed } else { Ending::Fine })
}

fn sums(all: usize, measured: usize, before: usize, failed: usize, left: usize) -> String {
    let mut text = format!("{measured} of {all} revisions measured");
    for (count, what) in [(before, "had a run before"), (failed, "left out"), (left, "still to do")]
    {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    text + "\n"
}

/// Returns the commits for which the project has a run on this machine.
fn known(args: &Args, project: &str) -> anyhow::Result<std::collections::HashSet<String>> {
    // This checks that the store can be written before anything is built.
    let store = args.of.open(Access::Write)?;
    let here = Environment::from_facts(environment::capture());
    let (fingerprint, _) = Store::machine(&here, args.machine.as_deref());
    Ok(store.commits(project, &fingerprint)?)
}

/// Checks that the words are a command line that can measure every revision.
fn check(words: &[String]) -> anyhow::Result<()> {
    #[derive(Parser)]
    struct Line<A: clap::Args> {
        #[command(flatten)]
        args: A,
    }
    fn parsed<A: clap::Args>(words: &[String]) -> anyhow::Result<A> {
        let line = Line::<A>::try_parse_from(words).map_err(|error| {
            let told = error.to_string();
            let first = told.lines().next().unwrap_or_default().trim_start_matches("error: ");
            anyhow::anyhow!("the words after --: {first}")
        })?;
        Ok(line.args)
    }
    let record = match words.first().map(String::as_str) {
        Some("run") => parsed::<verbs::run::Args>(words)?.record,
        Some("bench") => parsed::<verbs::bench::Args>(words)?.record,
        #[cfg(target_os = "linux")]
        Some("load") => parsed::<verbs::load::Args>(words)?.record,
        _ => {
            bail!("after --, give run, bench or load with its arguments, as in: -- bench build/bm")
        }
    };
    let keep = &record.keep;
    if keep.save.is_some()
        || keep.no_save
        || record.history.keep.is_some()
        || record.earlier.resume.is_some()
    {
        bail!(
            "after --, leave out --save, --no-save, --keep and --resume; every run is kept in the history"
        );
    }
    Ok(())
}

/// The reason why a revision has no run.
enum Obstacle {
    /// The user interrupted the backfill.
    Interrupted,
    /// The revision does not build, or cannot be measured.
    Revision(anyhow::Error),
    /// A failure that would affect every revision.
    Other(anyhow::Error),
}

impl From<RevisionError> for Obstacle {
    fn from(error: RevisionError) -> Self {
        match error {
            RevisionError::Interrupted => Self::Interrupted,
            RevisionError::Build { .. } | RevisionError::Run { .. } | RevisionError::Git { .. } => {
                Self::Revision(error.into())
            }
            other => Self::Other(told(other)),
        }
    }
}

/// The measurement of one revision.
struct Task<'a> {
    args: &'a Args,
    project: &'a str,
    of: &'a Chosen,
    /// Number of this revision in the order of measurement, and the total.
    number: (usize, usize),
}

impl Task<'_> {
    fn say(&self, line: &str) {
        if !self.args.look.quiet {
            output::say(&format!("{} of {}: {line}", self.number.0, self.number.1));
        }
    }

    fn measured(&self, repository: &mut Repository) -> Result<ChangedRun, Obstacle> {
        let (of, args) = (self.of, self.args);
        let built = repository.ready(&of.revision, &args.build, None, &mut |stage| {
            // If there is no build line, no build is reported.
            if args.build != NO_BUILD {
                self.say(&staged(&of.name, stage, None));
            }
        })?;
        self.say(&format!("{}: measuring it", of.name));
        let room = tempfile::tempdir().map_err(|error| Obstacle::Other(error.into()))?;
        let file = room.path().join("run.assay");
        let own = own::program().map_err(Obstacle::Other)?;
        let begin: [OsString; 4] =
            [own.into(), word_of(&args.words[0]), "--save".into(), file.clone().into()];
        let words = args.words.iter().skip(1).map(|word| word_of(word));
        repository.run_in(&built, begin.into_iter().chain(words))?;
        let (run, done) = self.add(&file)?;
        Ok(ChangedRun { run, done, file: of.name.clone() })
    }

    /// Adds the recorded run to the history.
    fn add(&self, file: &Path) -> Result<(String, &'static str), Obstacle> {
        let args = self.args;
        let mut samples =
            assay_file::read(file).map_err(|error| Obstacle::Revision(error.into()))?;
        if matches!(samples.stop, Some(StopReason::Interrupted | StopReason::Failed)) {
            let why = anyhow::anyhow!("the measurement did not finish");
            return Err(Obstacle::Revision(why));
        }
        // The command line in the recording contains the path of a temporary file.
        samples.argv =
            std::iter::once("assay".to_owned()).chain(args.words.iter().cloned()).collect();
        let adding = Adding {
            machine: args.machine.as_deref(),
            rev: Some(&self.of.commit),
            source: "measured by assay history backfill",
            started: None,
        };
        let kept = args
            .of
            .open(Access::Write)
            .and_then(|mut store| adding.add(&mut store, self.project, &samples));
        match kept.map_err(Obstacle::Other)? {
            RunDestination::InStore(added) => {
                let done = if matches!(*added, Added::New(_)) { "added" } else { "known" };
                self.say(&format!("{}: kept as {}", self.of.name, added.run().short()));
                Ok((added.run().digest.clone(), done))
            }
            RunDestination::Waits(why) => {
                output::say(&why);
                Ok((String::new(), "waiting"))
            }
        }
    }
}
