//! `assay gate`: checks whether a run is worse than normal for this machine.

mod branch;
mod candidates;
mod confirming;
mod exporting;
mod measured;

use crate::advice::{Dialect, spell};
use crate::args::{SideArgs, any_words, confidence, seconds, threshold};
use crate::history::BesideArgs;
use crate::run_error::RunError;
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::history::gate::{Asked, Gate, Standing, gate};
use assay_data::Threshold;
use assay_report::history::{self, GateReport};
use assay_report::json::{self, Gated};
use assay_report::remarks::Remarks;
use branch::Branch;
use candidates::{Gathered, gathered, judging};
use confirming::Confirming;
pub(crate) use measured::query;
use std::path::PathBuf;

/// Arguments of `assay gate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay bench ./bench --keep && assay gate     compare the run just kept with earlier runs
  assay gate new.json                          judge a file, without keeping it
  assay gate new.json --machine ci             judge a file from a machine whose host name changes
  assay gate --confirm --build make            raise an alarm only if a fresh run of both revisions confirms it
  assay gate new.json --rev HEAD --confirm --build make -- bench build/bm
  assay gate --export comment.md --export gate.xml --export gate.sarif --export badge.svg

Exit codes: 0 nothing is worse, 1 something is worse, 2 usage or input error, 3 inconclusive (too few runs, too much spread, or this run
is an outlier that no other run confirms: run it again, or use --confirm), 130 interrupted.

If both builds can be measured here and now, `assay bench --rev OLD --rev NEW` detects smaller changes, because differences between runs
cancel out. --confirm measures this way: if a benchmark is worse or this run is an outlier, it measures those benchmarks of the last normal
revision and of the new one alternately, and that fresh run decides. The command for it is taken from the recorded run, or from the words
after `--`.")]
pub(crate) struct Args {
    /// File in any format that `assay compare` reads [default: the last run that was kept]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    sides: SideArgs,

    /// Smallest worsening to report [default: 1%]
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Deciding")]
    threshold: Option<f64>,

    /// Worsening that must be detectable; otherwise the answer is inconclusive [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Deciding")]
    detect: Option<f64>,

    /// Confidence level of all answers together [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence, help_heading = "Deciding")]
    confidence: Option<f64>,

    /// Number of latest runs that count as normal [default: 50]
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(5..), help_heading = "Deciding")]
    window: Option<u32>,

    /// Metric to judge [default: the one that decides]
    #[arg(long, value_name = "METRIC", help_heading = "Deciding")]
    primary: Option<String>,

    /// Also judge these metrics (the error rate is shared among all of them)
    #[arg(long, value_name = "METRICS", value_delimiter = ',', help_heading = "Deciding")]
    secondary: Vec<String>,

    /// Count only runs of revisions on this branch, by first parents, as normal
    #[arg(long, value_name = "BRANCH", help_heading = "Deciding", value_parser = any_words())]
    branch: Option<String>,

    #[command(flatten)]
    confirm: ConfirmArgs,

    /// Also write the answer to a file: .json, .md, .xml, .sarif or .svg
    ///
    /// .md is a comment for a pull request, whose hidden first line identifies it; .xml is JUnit
    /// XML, .sarif is SARIF 2.1.0, and .svg is a badge.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export: Vec<PathBuf>,

    /// Also list the benchmarks that are normal, and show every finding
    #[arg(long, help_heading = "Output")]
    all: bool,

    #[command(flatten)]
    beside: BesideArgs,
}

/// Options for confirming alarms.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Confirming")]
struct ConfirmArgs {
    /// Raise an alarm only if a fresh run confirms it: measure the last normal revision and the new
    /// one alternately
    #[arg(long)]
    confirm: bool,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit
    /// [default: that of the run, otherwise nothing is built]
    #[arg(long, value_name = "LINE", requires = "confirm", value_parser = any_words())]
    build: Option<String>,

    /// Revision that was measured [default: the recorded one]
    #[arg(long, value_name = "REVISION", requires = "confirm", value_parser = any_words())]
    rev: Option<String>,

    /// Time budget of a fresh run, without builds [default: 60s]
    #[arg(long, value_name = "SPAN", value_parser = seconds, requires = "confirm")]
    time: Option<f64>,

    /// `run` or `bench` with arguments, to measure the benchmarks again [default: those of the
    /// recorded run]
    #[arg(last = true, value_name = "VERB|ARGUMENT", requires = "confirm", value_parser = any_words())]
    words: Vec<String>,
}

fn share(text: &str) -> Result<f64, String> {
    match threshold(text)? {
        Threshold::Relative(share) => Ok(share),
        Threshold::Absolute { .. } => Err("write it like `5%`".to_owned()),
    }
}

/// Judges, confirms and shows the run. The ending is that of the worst benchmark.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match judged(args) {
        Err(error) => match error.downcast_ref::<RunError>() {
            Some(RunError::Interrupted(_)) => {
                output::error(&error);
                Ok(Ending::Interrupted)
            }
            _ => Err(error),
        },
        ended => ended,
    }
}

fn judged(args: &Args) -> anyhow::Result<Ending> {
    exporting::check(&args.export, args.file.as_deref())?;
    // Errors in the command line are reported before an alarm needs it.
    if !args.confirm.words.is_empty() {
        measured::check(&args.confirm.words)?;
    }
    let (store, project) = args.beside.of.of_project()?;
    let judging = judging(args, &store, &project)?;
    let branch = args.branch.as_deref().map(Branch::of).transpose()?;
    let asked = asked(args);
    let metrics = judging.metrics(args.primary.as_deref(), &args.secondary)?;
    let undirected = metrics.iter().map(|&m| &judging.samples.metrics[m]).find(|m| m.undirected);
    if let Some(metric) = undirected {
        bail!("{}: {}", judging.name, present::no_direction(metric));
    }
    let Gathered { candidates, names, findings } =
        gathered(&store, &project, &judging, &metrics, asked, branch.as_ref())?;
    if candidates.is_empty() {
        bail!("{} has no values of {}", judging.name, judging.samples.metrics[metrics[0]].name);
    }
    let mut gate = gate(candidates, asked);
    gate.findings.extend(findings);
    let confirming = Confirming { args, judging: &judging, names: &names };
    let line = confirming.run(&mut gate)?;
    spell(Dialect::Gate, &mut gate.findings);
    if let Some(line) = line {
        confirming::name_line(&line, &mut gate.findings);
    }
    let file = judging.file();
    let report = GateReport {
        gate: &gate,
        project: &project,
        run: &judging.name,
        file: file.as_deref(),
        machine: &judging.machine,
        all: args.all,
    };
    show(args, &report)?;
    Ok(ending(&gate))
}

fn asked(args: &Args) -> Asked {
    let default = Asked::default();
    Asked {
        confidence: args.confidence.unwrap_or(default.confidence),
        threshold: args.threshold.unwrap_or(default.threshold),
        detect: args.detect.unwrap_or(default.detect),
        window: args.window.map_or(default.window, |window| window as usize),
    }
}

fn show(args: &Args, report: &GateReport<'_>) -> anyhow::Result<()> {
    let look = &args.beside.look;
    // A file that cannot be written must not prevent the output to the screen.
    let written = exporting::write(&args.export, report, look.quiet);
    output::print(&if look.json {
        json::text(&Gated::of(report))?
    } else {
        let remarks = Remarks::wanted(look.quiet, args.all);
        history::gate(report, remarks, &present::screen(look.color))
    })?;
    written
}

fn ending(gate: &Gate) -> Ending {
    match gate.standing() {
        Standing::Worse => Ending::FailIfCameTrue,
        Standing::Inconclusive => Ending::InconclusiveUnderFailIf,
        Standing::Normal | Standing::Better => Ending::Fine,
    }
}
