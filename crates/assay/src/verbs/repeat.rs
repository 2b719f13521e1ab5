//! `assay repeat`: measures a recorded run again, here or on another machine, and reports whether
//! its result was confirmed.

use crate::advice::{Dialect, spell};
use crate::args::{KeepArgs, ShowArgs, seconds};
use crate::present::Showing;
use crate::present::pages::Extras;
use crate::record::Record;
use crate::verbs::run::{self, Again};
use crate::{Ending, output, present, resume, seed, store};
use anyhow::{Context, bail};
use assay_analysis::replication::{Replication, Status};
use assay_analysis::{Analysis, Options, analyse};
use assay_data::{Environment, Samples, assay_file};
use assay_report::benchmarks::DisplayOptions;
use assay_report::replication::{ReplicationReport, render};
use assay_report::{json, terminal};
use clap::{ArgAction, ValueEnum};
use std::path::{Path, PathBuf};

mod summary;

/// Arguments of `assay repeat`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
The same commands run with the same settings, metrics and plan, in a new random order. Relative paths start from the \
current directory. The new run is recorded like any other, and can itself be repeated.

The commands, and the lines of --setup, --prepare, --conclude and --cleanup, come from FILE and run with your privileges: repeat only \
files that you trust, as with scripts. Unless --quiet is given, the command line is printed before \
anything runs.

A result is confirmed if the verdict is the same and the size is in the range that the first run predicts; contradicted if the two \
results exclude each other; not confirmed if the size differs; and unknown if one of the runs is inconclusive. Everything that \
changed (machine, program files, settings that could not be applied) is listed.

With --summary, a result holds on a machine if the verdict is the same there. Several records of one machine (same host name, processor \
and memory) \
count once; the longest one is used. The mean over machines is that of the random-effects model.

Examples:
  assay repeat run.assay
  assay repeat -r 200 --fail-if not-confirmed run.assay
  assay repeat --time 10min --save again.assay run.assay
  assay repeat --summary --export claim.md run.assay laptop.assay server.assay")]
pub(crate) struct Args {
    /// Run recorded by `assay run`; with --summary, also repetitions of it
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Measure nothing; count the machines on which the result of the first FILE is confirmed by
    /// the repetitions in the other files
    #[arg(long, conflicts_with_all = ["runs", "time", "seed", "save", "no_save", "anonymous"])]
    summary: bool,

    /// Measure exactly N blocks, instead of following the recorded plan
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Time budget, instead of the one in the recorded plan
    #[arg(long, visible_alias = "budget", value_name = "SPAN", value_parser = seconds)]
    time: Option<f64>,

    /// Seed of the random order [default: a new one, recorded]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    seed: Option<u64>,

    #[command(flatten)]
    keep: KeepArgs,

    /// Exit with status 1 if this is the outcome, and with status 3 if the outcome is unknown
    #[arg(long, value_name = "OUTCOME", value_enum, value_delimiter = ',', action = ArgAction::Append)]
    fail_if: Vec<FailIf>,

    #[command(flatten)]
    show: ShowArgs,
}

/// Outcomes for `--fail-if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailIf {
    /// A result is not confirmed or is contradicted
    NotConfirmed,
    /// A result is contradicted
    Contradicted,
}

/// Measures the recorded run again, compares both, and shows the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if args.summary {
        return summary::run(args);
    }
    let [file] = &args.files[..] else {
        bail!(
            "only one FILE can be measured again at a time; --summary combines repetitions that were measured before"
        );
    };
    present::check_exports(&args.show, &args.files, args.keep.save.as_deref(), &[])?;
    if let Some(path) = &args.keep.save {
        store::check_named("--save", path)?;
    }
    let recorded = assay_file::read(file)?;
    let then = analyse(&recorded, &Options::default()).with_context(|| file.display().to_string());
    let wanted = Again {
        recorded: &recorded,
        path: file,
        runs: args.runs,
        time: args.time,
        seed: args.seed,
        keep: args.keep.clone(),
        show: args.show.clone(),
    };
    let then = then?;
    run::again(wanted, &|_, samples, record| {
        decide(args, (file, &recorded), &then, samples, record)
    })
}

/// Compares both runs and shows the comparison. Does nothing if nothing was measured.
fn decide(
    args: &Args,
    (repeated, recorded): (&Path, &Samples),
    then: &Analysis,
    samples: &Samples,
    record: Option<&Record>,
) -> anyhow::Result<Ending> {
    if samples.is_empty() {
        return Ok(Ending::Fine);
    }
    let mut now = analyse(samples, &Options::default())?;
    spell(Dialect::Repeat, &mut now.findings);
    let mut differences = resume::differences(recorded, &samples.subjects, &samples.environment);
    differences.extend(settings(&recorded.environment, &samples.environment));
    let replication = Replication::of(then, &now);
    let report = ReplicationReport {
        file: &repeated.display().to_string(),
        then,
        now: &now,
        replication: &replication,
        differences: &differences,
    };
    let extras = Extras { repeats: Some(report), ..Extras::default() };
    let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.as_path());
    let exported = {
        let (dialect, rows) = (Dialect::Repeat, DisplayOptions::default());
        let how = Showing { dialect, rows, show: &args.show, file };
        present::export_all(how, &now, samples, extras)
    };
    if args.show.json {
        let meta = present::meta_of("repeat", samples, file);
        output::print(&json::text(&json::Repetition::of(&report, &meta))?)?;
    } else {
        let screen = present::screen(args.show.color);
        let whole = format!(
            "{}\n{}",
            render(&report, &screen),
            terminal::render(&now, DisplayOptions::default(), &screen)
        );
        output::print(&whole)?;
    }
    exported?;
    Ok(judge(replication.status(), &args.fail_if))
}

/// Settings to report if they differ between the two runs, with their displayed names. Facts that
/// identify the machine are compared elsewhere.
const SETTINGS: [(&str, &str); 8] = [
    ("distribution", "system"),
    ("virtualisation", "virtual machine"),
    ("container", "container"),
    ("cpus_allowed", "CPUs allowed"),
    ("governor", "governor"),
    ("turbo", "turbo"),
    ("aslr", "address randomization"),
    ("git_commit", "commit"),
];

fn settings(then: &Environment, now: &Environment) -> Vec<String> {
    let differs = |&(fact, name): &(&str, &str)| {
        let (before, after) = (then.facts.get(fact)?, now.facts.get(fact)?);
        (before != after).then(|| format!("{name}: it was {before}, now it is {after}"))
    };
    SETTINGS.iter().filter_map(differs).collect()
}

fn judge(status: Status, fail_if: &[FailIf]) -> Ending {
    let came_true = fail_if.iter().any(|condition| match condition {
        FailIf::NotConfirmed => matches!(status, Status::NotConfirmed | Status::Contradicted),
        FailIf::Contradicted => status == Status::Contradicted,
    });
    match status {
        _ if came_true => Ending::FailIfCameTrue,
        Status::Unknown if !fail_if.is_empty() => Ending::InconclusiveUnderFailIf,
        _ => Ending::Fine,
    }
}
