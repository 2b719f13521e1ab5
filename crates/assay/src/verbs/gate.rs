//! `assay gate`: is this run worse than what is normal here?

use crate::advice::{Dialect, spell};
use crate::args::{confidence, threshold};
use crate::history::BesideArgs;
use crate::{Ending, output, present};
use anyhow::bail;
use assay_analysis::history::gate::{Asked, Candidate, Standing, gate};
use assay_analysis::history::trend::vanished;
use assay_analysis::history::{Blessing, Summarised, last_blessing, of_samples};
use assay_data::import;
use assay_data::{Finding, Samples, Threshold, assay_file};
use assay_history::{Store, Wanted};
use assay_report::history::{self, GateReport};
use assay_report::json::{self, Gated};
use assay_report::remarks::Remarks;
use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::PathBuf;

/// Arguments of `assay gate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay bench ./bench --keep && assay gate     is the run that was just kept worse than those before it?
  assay gate new.json                          the same of a file, which is not kept
  assay gate new.json --machine ci             on a machine whose host name changes

Exit codes: 0 nothing is worse, 1 something is, 2 usage or input error, 3 not known: too few runs, or they differ too much.

Where both builds can be measured here and now, `assay bench --rev OLD --rev NEW` sees smaller changes: what runs differ by cancels.")]
pub(crate) struct Args {
    /// File in any format that `assay compare` reads [default: the last run that was kept]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

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

    /// List the benchmarks that are normal, too, and every finding
    #[arg(long, help_heading = "Output")]
    all: bool,

    #[command(flatten)]
    beside: BesideArgs,
}

fn share(text: &str) -> Result<f64, String> {
    match threshold(text)? {
        Threshold::Relative(share) => Ok(share),
        Threshold::Absolute { .. } => Err("write it like `5%`".to_owned()),
    }
}

/// What is judged.
struct Judging {
    samples: Samples,
    /// For people.
    name: String,
    machine: String,
    fingerprint: String,
    /// The run, where it is kept: it is no run before itself.
    kept: Option<String>,
}

/// Judges, shows, and ends as the worst benchmark says.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (store, project) = args.beside.of.of_project()?;
    let judging = judged(args, &store, &project)?;
    let summaries = of_samples(&judging.samples);
    let metric = match &args.primary {
        Some(name) => match judging.samples.metric_index(name) {
            Some(metric) => metric,
            None => bail!("--primary {name}: {} has no such metric", judging.name),
        },
        None => {
            let planned = judging.samples.plan.as_ref().map(|plan| plan.primary.as_str());
            planned.and_then(|name| judging.samples.metric_index(name)).unwrap_or(0)
        }
    };
    // Of several revisions in one run the last is the new one.
    let new = summaries.iter().rev().find_map(|summary| summary.commit.clone());
    let aliases: HashMap<String, String> = store.aliases(&project)?.into_iter().collect();
    let mut own: Vec<Summarised> = summaries
        .into_iter()
        .filter(|summary| summary.metric == metric && summary.commit == new)
        .collect();
    if own.is_empty() {
        bail!("{} has no values of {}", judging.name, judging.samples.metrics[metric].name);
    }
    for summary in &mut own {
        if let Some(new) = aliases.get(&summary.benchmark.name) {
            summary.benchmark.name.clone_from(new);
        }
    }
    let default = Asked::default();
    let asked = Asked {
        confidence: args.confidence.unwrap_or(default.confidence),
        threshold: args.threshold.unwrap_or(default.threshold),
        detect: args.detect.unwrap_or(default.detect),
        window: args.window.map_or(default.window, |window| window as usize),
    };
    let names: HashSet<String> = own.iter().map(|summary| summary.benchmark.label()).collect();
    let gone = missing(&store, &project, &judging, &names)?;
    let blessings = store.blessings(&project)?;
    let mut accepted = Vec::new();
    let candidates = own
        .into_iter()
        .map(|summary| {
            let (found, since) = candidate(&store, &project, &judging, summary, asked, &blessings)?;
            accepted.extend(since);
            Ok(found)
        })
        .collect::<anyhow::Result<Vec<Candidate>>>()?;
    let mut gate = gate(candidates, asked);
    gate.findings.extend(accepted);
    gate.findings.extend(gone);
    spell(Dialect::Gate, &mut gate.findings);
    let report =
        GateReport { gate: &gate, run: &judging.name, machine: &judging.machine, all: args.all };
    output::print(&if args.beside.look.json {
        json::text(&Gated::of(&report))?
    } else {
        history::gate(
            &report,
            Remarks::wanted(args.beside.look.quiet, args.all),
            &present::screen(args.beside.look.color),
        )
    })?;
    Ok(match gate.standing() {
        Standing::Worse => Ending::FailIfCameTrue,
        Standing::Inconclusive => Ending::InconclusiveUnderFailIf,
        Standing::Normal | Standing::Better => Ending::Fine,
    })
}

fn judged(args: &Args, store: &Store, project: &str) -> anyhow::Result<Judging> {
    let Some(file) = &args.file else {
        let run = store.find(project, "last")?;
        let text = store.text(&run)?;
        let samples = assay_file::read_from(Cursor::new(text), run.short())?;
        return Ok(Judging {
            samples,
            name: format!("run {}", run.short()),
            machine: run.machine.clone(),
            fingerprint: run.fingerprint.clone(),
            kept: Some(run.short().to_owned()),
        });
    };
    let samples = import::load(std::slice::from_ref(file), &args.beside.reading.options())?;
    let (fingerprint, machine) =
        Store::machine(&samples.environment, args.beside.machine.as_deref());
    Ok(Judging { samples, name: file.display().to_string(), machine, fingerprint, kept: None })
}

/// A benchmark with the runs before it, and what to know of those: what was before a level that was accepted is left out.
fn candidate(
    store: &Store,
    project: &str,
    judging: &Judging,
    summary: Summarised,
    asked: Asked,
    blessings: &[Blessing],
) -> anyhow::Result<(Candidate, Option<Finding>)> {
    let metric = judging.samples.metrics[summary.metric].clone();
    let wanted = Wanted {
        metric: Some(&metric.name),
        machine: Some(&judging.fingerprint),
        // Two for the look at three together, and the run itself.
        last: Some(asked.window + 3),
    };
    let benchmark = summary.benchmark;
    let found = store.series(project, &benchmark.name, wanted)?;
    let own = found.into_iter().find(|series| {
        series.benchmark == benchmark
            && series.metric.unit == metric.unit
            && series.metric.better == metric.better
    });
    let mut before = own.map(|series| series.points).unwrap_or_default();
    // Runs of one time stand in the order in which they were added.
    before.reverse();
    let accepted = last_blessing(blessings, &benchmark.name).and_then(|blessing| {
        let left_out = blessing.cut(&mut before);
        (left_out > 0).then(|| blessing.finding(&benchmark.label(), left_out))
    });
    before.retain(|point| judging.kept.as_ref() != Some(&point.recording));
    Ok((Candidate { benchmark, metric, now: summary.result, before }, accepted))
}

/// Benchmarks of the last run of this suite that this one lacks.
fn missing(
    store: &Store,
    project: &str,
    judging: &Judging,
    names: &HashSet<String>,
) -> anyhow::Result<Vec<Finding>> {
    for run in store.log(project, 20)? {
        if run.fingerprint != judging.fingerprint || judging.kept.as_deref() == Some(run.short()) {
            continue;
        }
        let contents = store.contents(&run)?;
        let before: HashSet<String> =
            contents.results.iter().map(|result| result.benchmark.label()).collect();
        if 2 * before.intersection(names).count() < before.len() {
            continue;
        }
        let last = run.revision.as_ref();
        let last = last.map_or_else(|| run.short().to_owned(), |r| r.short().to_owned());
        let mut gone: Vec<&String> = before.difference(names).collect();
        gone.sort();
        return Ok(gone.into_iter().map(|name| vanished(name, &last, 1)).collect());
    }
    Ok(Vec::new())
}
