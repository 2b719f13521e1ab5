//! The judged run, and its earlier runs in the store. Nothing is decided here.

use super::Args;
use super::branch::Branch;
use crate::history::on_this_machine;
use crate::planning::no_such_metric;
use anyhow::bail;
use assay_analysis::history::gate::{Candidate, GateSettings, not_on_branch, unit_changed};
use assay_analysis::history::trend::vanished;
use assay_analysis::history::{
    Blessing, Point, Revision, Run, Series, Summarised, last_blessing, of_samples,
};
use assay_data::{Finding, Samples, assay_file, import};
use assay_history::{SeriesSelection, Store};
use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Maximum number of earlier runs that are searched for benchmarks that the judged run lacks.
const LOOKED_AT: usize = 20;

/// The judged run.
pub(super) struct Judging {
    pub samples: Samples,
    /// Name shown to the user.
    pub name: String,
    pub machine: String,
    fingerprint: String,
    /// The run if it comes from the store, where it must not count as an earlier run of itself.
    pub kept: Option<Run>,
}

/// Reads the run from the named files, or takes the run that was stored last.
pub(super) fn judging(args: &Args, store: &Store, project: &str) -> anyhow::Result<Judging> {
    let mut found = found(args, store, project)?;
    let better = args.beside.reading.options().better;
    for metric in found.samples.metrics.iter_mut().filter(|metric| metric.undirected) {
        *metric = metric.clone().directed(better);
    }
    Ok(found)
}

fn found(args: &Args, store: &Store, project: &str) -> anyhow::Result<Judging> {
    let sides = args.sides.with(args.file.as_slice())?;
    let Some(first) = sides.first() else {
        let run = store.find(project, "last")?;
        let text = store.text(&run)?;
        let samples = assay_file::read_from(Cursor::new(text), run.short())?;
        return Ok(Judging {
            samples,
            name: format!("run {}", run.short()),
            machine: run.machine.clone(),
            fingerprint: run.fingerprint.clone(),
            kept: Some(run),
        });
    };
    if sides.len() > 1 {
        bail!(
            "only one run is judged; list all its recordings after one name: --side 'new=new*.json'"
        );
    }
    let mut samples = import::load_sides(&sides, &args.beside.reading.options())?;
    on_this_machine(&mut samples, args.beside.machine.as_deref());
    let (fingerprint, machine) =
        Store::machine(&samples.environment, args.beside.machine.as_deref());
    let path = |path: &PathBuf| path.display().to_string();
    let name = first.name.clone().or_else(|| first.files.first().map(path));
    let name = name.unwrap_or_default();
    Ok(Judging { samples, name, machine, fingerprint, kept: None })
}

impl Judging {
    /// Returns the indices of the metrics to judge, of which the first one decides.
    pub fn metrics(&self, primary: Option<&str>, more: &[String]) -> anyhow::Result<Vec<usize>> {
        let named = |option: &str, name: &str| match self.samples.metric_index(name) {
            Some(metric) => Ok(metric),
            None => {
                let known: Vec<&str> =
                    self.samples.metrics.iter().map(|metric| metric.name.as_str()).collect();
                bail!("{}: {}", self.name, no_such_metric(option, name, &known))
            }
        };
        let mut found = vec![match primary {
            Some(name) => named("--primary", name)?,
            None => {
                let planned = self.samples.plan.as_ref().map(|plan| plan.primary.as_str());
                planned.and_then(|name| self.samples.metric_index(name)).unwrap_or(0)
            }
        }];
        for name in more {
            let metric = named("--secondary", name)?;
            if !found.contains(&metric) {
                found.push(metric);
            }
        }
        Ok(found)
    }

    /// Returns the measured commit, if known. If a run has several revisions, the last one is the
    /// new one.
    pub fn commit(&self) -> Option<String> {
        let summaries = of_samples(&self.samples);
        let of_side = summaries.iter().rev().find_map(|summary| summary.commit.clone());
        let of_run = || self.kept.as_ref()?.revision.as_ref().map(|r| r.commit.clone());
        let of_file = || self.samples.environment.text("git_commit").map(str::to_owned);
        of_side.or_else(of_run).or_else(of_file)
    }

    /// Returns the command line that measured the run; empty if another tool measured it.
    pub fn argv(&self) -> &[String] {
        &self.samples.argv
    }

    /// Returns the file that an answer refers to, which is the judged file or the measured program
    /// as typed.
    pub fn file(&self) -> Option<String> {
        if self.kept.is_none() {
            return Some(self.name.clone()).filter(|name| Path::new(name).is_relative());
        }
        super::measured::program(self.argv())
    }
}

/// The benchmarks to compare with their normal level.
pub(super) struct Gathered {
    pub candidates: Vec<Candidate>,
    /// Name of each candidate at the time of its measurement.
    pub names: Vec<String>,
    pub findings: Vec<Finding>,
}

/// Returns everything to be judged, with the earlier runs.
pub(super) fn gathered(
    store: &Store,
    project: &str,
    judging: &Judging,
    metrics: &[usize],
    asked: GateSettings,
    branch: Option<&Branch>,
) -> anyhow::Result<Gathered> {
    let summaries = of_samples(&judging.samples);
    let new = summaries.iter().rev().find_map(|summary| summary.commit.clone());
    let aliases: HashMap<String, String> = store.aliases(project)?.into_iter().collect();
    let blessings = store.blessings(project)?;
    let past = Past { store, project, judging, asked, branch, blessings: &blessings };
    let mut found = Gathered { candidates: Vec::new(), names: Vec::new(), findings: Vec::new() };
    let mut left_out = HashSet::new();
    let own =
        |metric: usize| summaries.iter().filter(move |summary| summary.metric == metric).cloned();
    for mut summary in metrics.iter().flat_map(|&metric| own(metric)) {
        if summary.commit != new {
            continue;
        }
        found.names.push(summary.benchmark.name.clone());
        if let Some(new) = aliases.get(&summary.benchmark.name) {
            Rc::make_mut(&mut summary.benchmark).name.clone_from(new);
        }
        let (candidate, findings) = past.of(summary, &mut left_out)?;
        found.candidates.push(candidate);
        found.findings.extend(findings);
    }
    if let Some(branch) = branch.filter(|_| !left_out.is_empty()) {
        found.findings.push(not_on_branch(&branch.name, left_out.len()));
    }
    let names: HashSet<String> =
        found.candidates.iter().map(|candidate| candidate.benchmark.label()).collect();
    found.findings.extend(past.missing(&names)?);
    Ok(found)
}

/// Context for looking up the earlier runs.
struct Past<'a> {
    store: &'a Store,
    project: &'a str,
    judging: &'a Judging,
    asked: GateSettings,
    branch: Option<&'a Branch>,
    blessings: &'a [Blessing],
}

impl Past<'_> {
    /// Returns a benchmark with its earlier runs and findings about them. Runs before the last
    /// accepted level, and runs that are not on the branch, are left out.
    fn of(
        &self,
        summary: Summarised,
        left_out: &mut HashSet<String>,
    ) -> anyhow::Result<(Candidate, Vec<Finding>)> {
        let metric = self.judging.samples.metrics[summary.metric].clone();
        let benchmark = Rc::unwrap_or_clone(summary.benchmark);
        let mut findings = Vec::new();
        // Two more runs are read because three are examined together, and one more because the
        // judged run may be among them.
        let enough = self.asked.window + 3;
        let mut last = enough;
        let mut before = loop {
            let wanted = SeriesSelection {
                metric: Some(&metric.name),
                machine: Some(&self.judging.fingerprint),
                last: Some(last),
            };
            let found = self.store.series(self.project, &benchmark.name, wanted)?;
            let same = |series: &&Series| series.benchmark == benchmark;
            let comparable = |series: &&Series| {
                same(series)
                    && series.metric.unit == metric.unit
                    && (series.metric.undirected || series.metric.better == metric.better)
            };
            let Some(series) = found.iter().find(comparable) else {
                let other = found.iter().filter(same).find(|s| s.metric.unit != metric.unit);
                findings.extend(
                    other.map(|s| unit_changed(&benchmark.label(), &metric, &s.metric.unit)),
                );
                break Vec::new();
            };
            let read = series.points.len();
            let points = self.on_branch(series.points.clone(), left_out);
            // If the store has many runs of other branches, more have to be read.
            if self.branch.is_none() || points.len() >= enough || read < last {
                break points;
            }
            last = last.saturating_mul(4);
        };
        // Runs with equal times are in the order in which they were added.
        before.reverse();
        if let Some(blessing) = last_blessing(self.blessings, &benchmark.name) {
            let cut = blessing.cut(&mut before);
            findings.extend((cut > 0).then(|| blessing.finding(&benchmark.label(), cut)));
        }
        let kept = self.judging.kept.as_ref().map(Run::short);
        before.retain(|point| kept != Some(point.recording.as_str()));
        Ok((Candidate { benchmark, metric, now: summary.result, before }, findings))
    }

    /// Removes points that are not on the branch, and adds their runs to `left_out`.
    fn on_branch(&self, mut points: Vec<Point>, left_out: &mut HashSet<String>) -> Vec<Point> {
        let Some(branch) = self.branch else { return points };
        let kept = self.judging.kept.as_ref().map(Run::short);
        points.retain(|point| {
            let is_on = branch.has(point.revision.as_ref());
            if !is_on && kept != Some(point.recording.as_str()) {
                left_out.insert(point.recording.clone());
            }
            is_on
        });
        points
    }

    /// Returns findings about benchmarks that the last run of this suite had and this one lacks.
    fn missing(&self, names: &HashSet<String>) -> anyhow::Result<Vec<Finding>> {
        let judging = self.judging;
        let kept = judging.kept.as_ref().map(|run| run.id);
        for run in self.store.log(self.project, LOOKED_AT)? {
            let is_other = self.branch.is_some_and(|branch| !branch.has(run.revision.as_ref()));
            if run.fingerprint != judging.fingerprint || kept == Some(run.id) || is_other {
                continue;
            }
            let contents = self.store.contents(&run)?;
            let before: HashSet<String> =
                contents.results.iter().map(|result| result.benchmark.label()).collect();
            if 2 * before.intersection(names).count() < before.len() {
                continue;
            }
            let last = run.revision.as_ref().map(Revision::short).unwrap_or(run.short());
            let mut gone: Vec<&String> = before.difference(names).collect();
            gone.sort();
            return Ok(gone.into_iter().map(|name| vanished(name, last, 1)).collect());
        }
        Ok(Vec::new())
    }
}
