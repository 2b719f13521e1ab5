//! `assay history trend`: shows the changes of one benchmark and since when it is at its present
//! level, or the changes of all benchmarks.

mod events;

use crate::args::{LookArgs, any_words, confidence};
use crate::history::StoreArgs;
use crate::{Ending, output, present};
use anyhow::{bail, ensure};
use assay_analysis::history::events::{Event, of_one_metric};
use assay_analysis::history::trend::{Change, Trend, commit_gone, trend};
use assay_analysis::history::{Revision, last_blessing};
use assay_data::{Finding, metric_names};
use assay_history::site::vanished;
use assay_history::{SeriesSelection, Store};
use assay_measure::git;
use assay_report::history::{self, TrendReport};
use assay_report::json::{self, Trends};
use assay_report::shell::shell_line;
use std::path::Path;

/// Default confidence level of intervals and commit ranges.
const CONFIDENCE: f64 = 0.95;

/// Arguments of `assay history trend`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay history trend                           list the changes of all benchmarks, latest first
  assay history trend BM_Copy                   show its changes, each with its range of commits
  assay history trend BM_Copy --metric cpu      examine another metric
  assay history trend 'BM_Copy n=64'            examine one value of its parameter

A change is located between two recorded runs: the more commits are recorded, the narrower its range.")]
pub(crate) struct Args {
    /// Benchmark, as named by `assay history show` [default: all benchmarks together]
    #[arg(value_name = "BENCHMARK", value_hint = clap::ValueHint::Other)]
    benchmark: Option<String>,

    /// Metric to examine [default: the deciding one]
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,

    /// Machine to examine [default: the machine of the last run; without BENCHMARK, every machine]
    #[arg(long, value_name = "NAME", value_parser = any_words())]
    machine: Option<String>,

    /// Show all events with all of their benchmarks, if no BENCHMARK is given
    #[arg(long, conflicts_with = "benchmark")]
    all: bool,

    /// Confidence level of the intervals and of the commit ranges [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    confidence: Option<f64>,

    #[command(flatten)]
    of: StoreArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Finds the series of the benchmark, looks for changes, and shows them.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (store, project) = args.of.of_project()?;
    let names = store.benchmarks(&project)?;
    if let Some(asked) = &args.metric {
        let metrics = store.metrics()?;
        let known: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        ensure!(known.contains(&asked.as_str()), metric_names::unknown(asked, &known));
    }
    let Some(wanted) = &args.benchmark else {
        return events::run(args, &store, &project, &names);
    };
    // The name is that of a benchmark or, followed by parameter values, that of one of its series.
    let name =
        names.iter().filter(|name| wanted.starts_with(name.as_str())).max_by_key(|name| name.len());
    let Some(name) = name else { bail!("{}", unknown(wanted, &names)) };
    let metric = match &args.metric {
        Some(metric) => Some(metric.clone()),
        None => store.log(&project, 1)?.pop().and_then(|run| run.metric),
    };
    let of = |metric: Option<&str>| {
        store.series(
            &project,
            name,
            SeriesSelection { metric, machine: args.machine.as_deref(), last: None },
        )
    };
    let mut found = of(metric.as_deref())?;
    if found.is_empty() && args.metric.is_none() {
        found = of(None)?;
        let first = found.first().map(|series| series.metric.clone());
        found.retain(|series| Some(&series.metric) == first.as_ref());
    }
    found.retain(|series| name == wanted || series.benchmark.label() == *wanted);
    let Some(machine) = found.first().map(|series| series.machine.clone()) else {
        bail!(
            "{name} has no results for that metric, machine or parameters; `assay history show --all` lists all results"
        );
    };
    found.retain(|series| series.machine == machine);
    let units = of_one_metric(found.clone()).1;
    let confidence = args.confidence.unwrap_or(CONFIDENCE);
    let blessings = store.blessings(&project)?;
    let of = |series| trend(series, confidence).accepting(&blessings);
    let mut trends: Vec<Trend> = found.into_iter().map(of).collect();
    if let Some(gone) = store.vanished(&project, name)? {
        let gone = vanished(name, &gone);
        trends.iter_mut().for_each(|trend| trend.findings.push(gone.clone()));
    }
    if let Some(first) = trends.first_mut() {
        first.findings.extend(units);
    }
    if let Some(blessing) = last_blessing(&blessings, name) {
        for trend in &mut trends {
            let before = blessing.cut(&mut trend.series.points.clone());
            trend.findings.push(blessing.finding(name, before));
        }
    }
    for trend in &mut trends {
        let gone = trend.changes.iter().find_map(|change| gone(trend.between(change)));
        trend.findings.extend(gone);
    }
    let narrow: Vec<Vec<Option<String>>> = trends
        .iter()
        .map(|trend| trend.changes.iter().map(|c| narrowing(&store, &project, trend, c)).collect())
        .collect();
    let reports: Vec<TrendReport<'_>> =
        trends.iter().zip(&narrow).map(|(trend, narrow)| TrendReport { trend, narrow }).collect();
    if args.look.json {
        output::print(&json::text(&Trends::of(&reports))?)?;
    } else {
        let screen = present::screen(args.look.color);
        let pages: Vec<String> =
            reports.iter().map(|report| history::trend(report, &screen)).collect();
        output::print(&pages.join("\n"))?;
    }
    Ok(Ending::Fine)
}

fn unknown(wanted: &str, names: &[String]) -> String {
    let word = wanted.to_lowercase();
    let near: Vec<&str> = names
        .iter()
        .filter(|name| name.to_lowercase().contains(&word))
        .map(String::as_str)
        .take(5)
        .collect();
    match near.as_slice() {
        [] => format!(
            "no run has a benchmark `{wanted}`; `assay history show` names those of the last run"
        ),
        near => format!("no run has a benchmark `{wanted}`; did you mean {}?", near.join(", ")),
    }
}

/// Returns a finding if a commit next to a change is missing from this repository, or if the first
/// is not an ancestor of the second. `None` outside a repository, since nothing is known there.
fn gone((before, after): (Option<&Revision>, Option<&Revision>)) -> Option<Finding> {
    let here = Path::new(".");
    let (before, after) = (before?, after?);
    // A revision that is not a commit was never in a repository.
    let are_commits = before.ordinal.is_some() && after.ordinal.is_some();
    let has_repository = || git::position(here, "HEAD").is_some();
    if !are_commits
        || git::leads_to(here, &before.commit, &after.commit) == Some(true)
        || !has_repository()
    {
        return None;
    }
    let is_here = |commit: &str| git::leads_to(here, commit, commit) == Some(true);
    let lost = [before, after].into_iter().find(|revision| !is_here(&revision.commit));
    Some(commit_gone(lost, before, after))
}

/// Returns the command that narrows down a change: `git show` for a single commit, otherwise a
/// search among its commits or a list of them.
pub(super) fn narrowing(
    store: &Store,
    project: &str,
    trend: &Trend,
    change: &Change,
) -> Option<String> {
    let point = trend.series.points.get(change.latest)?;
    let commits = trend.commits(change);
    let name = &trend.series.benchmark.name;
    narrowing_between(store, project, trend.between(change), commits, &point.recording, name)
}

/// Like [`narrowing`], but for an event. Uses the benchmark that changed most.
pub(super) fn narrowing_of_event(store: &Store, project: &str, event: &Event) -> Option<String> {
    let name = &event.moved.first()?.benchmark.name;
    let recording = &event.after.recording;
    narrowing_between(store, project, event.between(), event.commits(), recording, name)
}

fn narrowing_between(
    store: &Store,
    project: &str,
    between: (Option<&Revision>, Option<&Revision>),
    commits: Option<u64>,
    recording: &str,
    benchmark: &str,
) -> Option<String> {
    let (before, after) = (between.0?, between.1?);
    // Only a revision that is a commit is known to git.
    let (from, to) =
        (before.ordinal.map(|_| before.short())?, after.ordinal.map(|_| after.short())?);
    if from == to || gone(between).is_some() {
        return None;
    }
    if commits == Some(1) {
        return Some(format!("git show {to}"));
    }
    let argv = store.find(project, recording).map(|run| run.argv).unwrap_or_default();
    // The recording does not contain the build line.
    let own = match argv.get(1).map(String::as_str) {
        Some("run") => "-- COMMAND".to_owned(),
        Some("bench") => {
            let name = benchmark.to_owned();
            format!("{} -- PROGRAM", shell_line(&["--benchmark".to_owned(), name]))
        }
        _ => return Some(format!("git log --oneline --first-parent {from}..{to}")),
    };
    Some(format!("assay bisect {from}..{to} --build LINE {own}"))
}
