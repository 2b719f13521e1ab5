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
use std::path::PathBuf;

/// Arguments of `assay gate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay bench ./bench --keep && assay gate     is the run that was just kept worse than those before it?
  assay gate new.json                          the same of a file, which is not kept
  assay gate new.json --machine ci             on a machine whose host name changes
  assay gate --confirm --build make            an alarm counts if a fresh run of both revisions finds it, too
  assay gate new.json --rev HEAD --confirm --build make -- bench build/bm
  assay gate --export comment.md --export gate.xml --export gate.sarif --export badge.svg

Exit codes: 0 nothing is worse, 1 something is, 2 usage or input error, 3 not known: too few runs, they differ too much, or this run
stands out and no other confirms it (run it again, or --confirm), 130 interrupted.

Where both builds can be measured here and now, `assay bench --rev OLD --rev NEW` sees smaller changes: what runs differ by cancels.
With --confirm the last normal revision and the new one are measured so, by turns, where a benchmark is worse or this run stands out, and
only such benchmarks: that fresh run decides.
How is taken from the command line that measured the run, or from what stands behind --.")]
pub(crate) struct Args {
    /// File in any format that `assay compare` reads [default: the last run that was kept]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    sides: SideArgs,

    /// Smallest worsening that is reported [default: 1%]
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Deciding")]
    threshold: Option<f64>,

    /// Worsening that has to be detectable; where it is not, the answer is inconclusive [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Deciding")]
    detect: Option<f64>,

    /// How sure all answers together shall be [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence, help_heading = "Deciding")]
    confidence: Option<f64>,

    /// How many of the last runs are normal [default: 50]
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(5..), help_heading = "Deciding")]
    window: Option<u32>,

    /// Metric to judge [default: the one that decides]
    #[arg(long, value_name = "METRIC", help_heading = "Deciding")]
    primary: Option<String>,

    /// Judge these metrics, too; all share the error
    #[arg(long, value_name = "METRICS", value_delimiter = ',', help_heading = "Deciding")]
    secondary: Vec<String>,

    /// Only runs of revisions that lead to this branch by first parents are normal: runs of other branches are not
    #[arg(long, value_name = "BRANCH", help_heading = "Deciding", value_parser = any_words())]
    branch: Option<String>,

    #[command(flatten)]
    confirm: ConfirmArgs,

    /// Also write the answer to a file: .json, .md, .xml, .sarif or .svg
    ///
    /// .md is a comment for a pull request, whose first line is a hidden mark to find it by; .xml is JUnit's, .sarif is SARIF 2.1.0, and
    /// .svg a badge.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export: Vec<PathBuf>,

    /// List the benchmarks that are normal, too, and every finding
    #[arg(long, help_heading = "Output")]
    all: bool,

    #[command(flatten)]
    beside: BesideArgs,
}

/// Whether and how alarms are confirmed.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Confirming")]
struct ConfirmArgs {
    /// Measure the last normal revision and the new one by turns where a benchmark is worse: only what is worse then, too, is an alarm
    #[arg(long)]
    confirm: bool,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit [default: that of the run, or nothing is built]
    #[arg(long, value_name = "LINE", requires = "confirm", value_parser = any_words())]
    build: Option<String>,

    /// Revision that was measured [default: as recorded]
    #[arg(long, value_name = "REVISION", requires = "confirm", value_parser = any_words())]
    rev: Option<String>,

    /// Time budget of a fresh run; builds do not count [default: 60s]
    #[arg(long, value_name = "SPAN", value_parser = seconds, requires = "confirm")]
    time: Option<f64>,

    /// How the benchmarks are measured: run or bench with its arguments [default: as they were]
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
