//! Generates the web pages of a history from its store: single pages on demand by their path, or
//! all of them, reading every result once.
//!
//! The layout of the pages is in `assay_report::site`. Serving browsers and querying git about
//! commits ([`Narrow`]) are left to the caller. Only the results of one benchmark are in memory at
//! a time. The summary of all benchmarks (one row for each, and their changes) is computed once.

mod everything;

pub use everything::Out;

use crate::{MachineState, SeriesSelection, Store};
use anyhow::Context;
use assay_analysis::history::events::{Event, Events, Gathering, unit_changed};
use assay_analysis::history::gate::{Candidate, Gate, GateSettings, gate};
use assay_analysis::history::trend::{self, Change, Trend, trend};
use assay_analysis::history::{
    Benchmark, Blessing, Point, Run, RunSummary, Series, Vanished, last_blessing,
};
use assay_data::Finding;
use assay_data::publishing::publishable;
use assay_report::site::{
    self, BenchmarkPage, EVENTS, Frame, Index, MachineStates, Overview, Row, data,
};
use jiff::Timestamp;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Confidence of intervals and of the locations of changes.
const CONFIDENCE: f64 = 0.95;

/// Trend of a series, and for each of its changes the command that narrows it down, if any.
type DrawnSeries = (Trend, Vec<Option<String>>);

/// Functions that return a command with which the user can narrow down a change to fewer commits.
/// They return `None` if there is no useful command.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    /// Returns the command for a change of one series.
    pub change: fn(&Store, &str, &Trend, &Change) -> Option<String>,
    /// Returns the command for an event, which consists of several changes.
    pub event: fn(&Store, &str, &Event) -> Option<String>,
}

impl Narrow {
    /// Functions that never return a command, for use if the revisions are not commits of an
    /// available repository.
    pub const NOTHING: Self = Self { change: |_, _, _, _| None, event: |_, _, _| None };
}

/// Subject of the pages.
#[derive(Clone, Debug)]
pub struct SiteSubject<'a> {
    /// Name of the project.
    pub project: &'a str,
    /// Name and version of the generating program.
    pub tool: &'a str,
    /// Address of the site that these pages are a part of, if any.
    pub part_of: Option<&'a str>,
    /// True if names are not redacted, so that they may contain paths and apparent secrets.
    pub unredacted: bool,
    /// Functions that return commands to narrow down changes.
    pub narrow: Narrow,
}

/// Web pages of one project, from an owned or borrowed store.
#[derive(Debug)]
pub struct Site<S> {
    store: S,
    narrow: Narrow,
    /// True if names are not redacted, so that they may contain paths and apparent secrets.
    unredacted: bool,
    frame: Frame,
    index: Index,
    benchmarks: Vec<Benchmark>,
    /// Names of the benchmarks as shown on pages.
    names: Vec<String>,
    /// File names of the benchmarks' pages without their extension, in the order of `names`.
    files: Vec<String>,
    /// Accepted levels, with the names of benchmarks as shown on pages.
    blessings: Vec<Blessing>,
    last: Option<Run>,
    /// Summary of all benchmarks, generated on first use.
    whole: Option<Whole>,
}

/// Summary of all benchmarks, for the first page.
#[derive(Debug, Default)]
struct Whole {
    rows: BTreeMap<usize, Row>,
    gathering: Gathering,
    /// Events of all benchmarks, with the commands to narrow down the latest ones.
    events: Option<(Events, Vec<Option<String>>)>,
    candidates: Vec<Candidate>,
}

impl<S: Borrow<Store>> Site<S> {
    /// Reads the data that all pages share. O(results), but the values of results are not read.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    pub fn of(store: S, of: &SiteSubject<'_>) -> anyhow::Result<Self> {
        let frame = Frame {
            project: of.project.to_owned(),
            tool: of.tool.to_owned(),
            part_of: of.part_of.map(str::to_owned),
            made: 0,
            stamp: String::new(),
        };
        let mut site = Self {
            store,
            narrow: of.narrow,
            unredacted: of.unredacted,
            frame,
            index: Index::default(),
            benchmarks: Vec::new(),
            names: Vec::new(),
            files: Vec::new(),
            blessings: Vec::new(),
            last: None,
            whole: None,
        };
        site.refresh()?;
        Ok(site)
    }

    fn store(&self) -> &Store {
        self.store.borrow()
    }

    /// Returns the path, within the site, of the page of the benchmark with this name. Returns the
    /// path of the first page if no benchmark or several benchmarks have this name.
    pub fn place_of(&self, benchmark: &str) -> String {
        let mut found =
            (0..self.benchmarks.len()).filter(|&n| self.benchmarks[n].name == benchmark);
        match (found.next(), found.next()) {
            (Some(only), None) => format!("{}/{}.html", site::BENCHMARKS, self.files[only]),
            _ => "index.html".to_owned(),
        }
    }

    /// Rereads the data that all pages share, if the project has changed since they were read.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    pub fn refresh(&mut self) -> anyhow::Result<()> {
        let project = &self.frame.project;
        let stamp = self.store().stamp(project)?;
        if stamp == self.frame.stamp {
            return Ok(());
        }
        self.benchmarks = self.store().catalogue(project)?;
        let name = |benchmark: &Benchmark| match self.unredacted {
            true => benchmark.label(),
            false => publishable(&benchmark.label()),
        };
        self.names = self.benchmarks.iter().map(name).collect();
        self.files = site::file_names(&self.names);
        self.blessings = self.store().blessings(project)?;
        if !self.unredacted {
            for blessing in &mut self.blessings {
                blessing.benchmark = blessing.benchmark.as_deref().map(publishable);
                blessing.reason = publishable(&blessing.reason);
            }
        }
        self.index = Index::new(self.store().measured(project)?, self.store().metrics()?);
        self.last = self.store().log(project, 1)?.pop();
        self.whole = None;
        self.frame.made = Timestamp::now().as_millisecond();
        self.frame.stamp = stamp;
        Ok(())
    }

    /// Returns the page, script or style at a path within the site; `None` if nothing has this
    /// path.
    ///
    /// # Errors
    ///
    /// If the store can't be read.
    pub fn page(&mut self, path: &str) -> anyhow::Result<Option<String>> {
        if let Some((_, text)) = asset(path) {
            return Ok(Some(text.to_owned()));
        }
        let of = path.split_once('/').unwrap_or(("", path));
        Ok(match of {
            ("", "index.html") => Some(self.overview()?),
            ("", "compare.html") => Some(site::compare(&self.frame)?),
            ("", "machines.html") => Some(self.machines()?.0),
            (site::DATA, "machines.js") => Some(self.machines()?.1),
            (site::DATA, "runs.js") => Some(data::runs(&self.index, &self.frame.stamp)),
            (site::DATA, "benchmarks.js") => Some(self.names()?),
            (site::BENCHMARKS, file) => {
                match file.strip_suffix(".html").and_then(|file| self.number(file)) {
                    Some(number) => self.benchmark(number)?,
                    None => None,
                }
            }
            (site::DATA, file) => self.data(file.strip_suffix(".js").unwrap_or_default())?,
            _ => None,
        })
    }

    fn number(&self, file: &str) -> Option<usize> {
        self.files.iter().position(|known| known == file)
    }

    fn data(&self, key: &str) -> anyhow::Result<Option<String>> {
        if let Some(file) = key.strip_prefix("runs-").and_then(|file| file.parse().ok()) {
            return self.file_of_runs(file);
        }
        let Some((file, series)) = key.rsplit_once('.') else { return Ok(None) };
        let (Some(number), Ok(series)) = (self.number(file), series.parse::<usize>()) else {
            return Ok(None);
        };
        let drawn = self.drawn(number)?;
        Ok(drawn.get(series).map(|drawn| self.series(key, drawn)))
    }

    fn series(&self, key: &str, (trend, narrow): &DrawnSeries) -> String {
        let numbers: Vec<usize> =
            trend.series.points.iter().filter_map(|point| self.index.of_point(point)).collect();
        data::series(key, trend, narrow, &numbers, &self.frame.stamp)
    }

    /// Returns the contents of one data file, which contains the results of several runs. The runs
    /// are read one by one.
    fn file_of_runs(&self, file: usize) -> anyhow::Result<Option<String>> {
        let together = data::runs_of_a_file(&self.index);
        let from = file.saturating_mul(together);
        if from >= self.index.measured.len() {
            return Ok(None);
        }
        let mut found: BTreeMap<(usize, usize), Vec<(usize, RunSummary)>> = BTreeMap::new();
        for (place, measured) in self.index.measured[from..].iter().take(together).enumerate() {
            for result in self.store().contents_of(&measured.run)? {
                let benchmark = self.benchmarks.iter().position(|b| *b == result.benchmark);
                let metric = self.index.of_metric(&result.metric);
                if let Some(key) = benchmark.zip(metric) {
                    found.entry(key).or_default().push((place, result.summary));
                }
            }
        }
        let mut text = data::file_of_runs(file, &self.frame.stamp);
        for ((benchmark, metric), results) in &found {
            let results: Vec<_> = results.iter().map(|(place, result)| (*place, result)).collect();
            text += &data::results(*benchmark, *metric, &results);
        }
        Ok(Some(text))
    }

    /// Returns all series of the benchmarks with this name, for one metric or for all, keyed by the
    /// index of the benchmark. Series of the metric that decides the verdict of the last run come
    /// first. Runs added since the index was read are left out.
    fn found(
        &self,
        name: &str,
        metric: Option<&str>,
    ) -> anyhow::Result<BTreeMap<usize, Vec<Series>>> {
        let wanted = SeriesSelection { metric, ..SeriesSelection::default() };
        let mut found: BTreeMap<usize, Vec<Series>> = BTreeMap::new();
        for mut series in self.store().series(&self.frame.project, name, wanted)? {
            let Some(number) = self.benchmarks.iter().position(|b| *b == series.benchmark) else {
                continue;
            };
            series.points.retain(|point| self.index.of_point(point).is_some());
            if series.points.is_empty() {
                continue;
            }
            if !self.unredacted {
                series.benchmark.name = publishable(&series.benchmark.name);
            }
            found.entry(number).or_default().push(series);
        }
        let decides = self.last.as_ref().and_then(|run| run.metric.clone());
        for series in found.values_mut() {
            series.sort_by_key(|series| Some(&series.metric.name) != decides.as_ref());
        }
        Ok(found)
    }

    /// Computes the trend of a series, with the commands to narrow down its changes.
    fn trend(&self, series: Series) -> DrawnSeries {
        let trend = trend(series, CONFIDENCE).accepting(&self.blessings);
        let narrow = |change| {
            let command = (self.narrow.change)(self.store(), &self.frame.project, &trend, change)?;
            Some(if self.unredacted { command } else { publishable(&command) })
        };
        let narrow = trend.changes.iter().map(narrow).collect();
        (trend, narrow)
    }

    fn drawn(&self, number: usize) -> anyhow::Result<Vec<DrawnSeries>> {
        let mut found = self.found(&self.benchmarks[number].name, None)?;
        Ok(found
            .remove(&number)
            .unwrap_or_default()
            .into_iter()
            .map(|series| self.trend(series))
            .collect())
    }

    fn benchmark(&self, number: usize) -> anyhow::Result<Option<String>> {
        let drawn = self.drawn(number)?;
        if drawn.is_empty() {
            return Ok(None);
        }
        let findings = self.gone(&self.benchmarks[number].name)?;
        self.benchmark_of(number, &drawn, &findings).map(Some)
    }

    fn benchmark_of(
        &self,
        number: usize,
        drawn: &[DrawnSeries],
        findings: &[Finding],
    ) -> anyhow::Result<String> {
        let page = BenchmarkPage {
            frame: &self.frame,
            index: &self.index,
            name: &self.names[number],
            file: &self.files[number],
            trends: drawn,
            findings,
        };
        Ok(site::benchmark(&page)?)
    }

    /// Returns a finding if the benchmark with this name is missing from later runs.
    fn gone(&self, name: &str) -> anyhow::Result<Vec<Finding>> {
        let Some(gone) = self.store().vanished(&self.frame.project, name)? else {
            return Ok(Vec::new());
        };
        Ok(vec![vanished(&self.shown(name), &gone)])
    }

    /// Returns a name as shown on pages: redacted, unless the site is unredacted.
    fn shown(&self, name: &str) -> String {
        if self.unredacted { name.to_owned() } else { publishable(name) }
    }

    /// Adds a finding to the summary for each benchmark that is missing from later runs.
    fn note_gone(&self, whole: &mut Whole) -> anyhow::Result<()> {
        let project = &self.frame.project;
        let gone = self.store().vanished_among(project, &self.store().benchmarks(project)?)?;
        whole.gathering.note(gone.iter().map(|(name, gone)| vanished(&self.shown(name), gone)));
        Ok(())
    }

    /// Returns the summary of all benchmarks. It is computed on the first call.
    fn whole(&mut self) -> anyhow::Result<&Whole> {
        if self.whole.is_none() {
            let mut whole = Whole::default();
            let decides = self.last.as_ref().and_then(|run| run.metric.clone());
            for name in self.store().benchmarks(&self.frame.project)? {
                let mut found = self.found(&name, decides.as_deref())?;
                if found.is_empty() {
                    found = self.found(&name, None)?;
                }
                for (number, mut series) in found {
                    let name = series.first().map(|series| series.metric.name.clone());
                    series.retain(|series| Some(&series.metric.name) == name.as_ref());
                    let of = |series| trend(series, CONFIDENCE).accepting(&self.blessings);
                    let trends: Vec<Trend> = series.into_iter().map(of).collect();
                    self.note_all(&mut whole, number, trends.iter());
                }
            }
            self.note_gone(&mut whole)?;
            self.whole = Some(whole);
        }
        self.whole.as_ref().context("it was just made")
    }

    /// Adds a benchmark to the summary. Its row shows the first series, and its changes are those
    /// of all series with the same metric, which differ by machine.
    fn note_all<'t>(
        &self,
        whole: &mut Whole,
        number: usize,
        trends: impl Iterator<Item = &'t Trend> + Clone,
    ) {
        let Some(first) = trends.clone().next() else { return };
        self.note(whole, number, first);
        let metric = &first.series.metric;
        let changed =
            |trend: &Trend| unit_changed(&trend.series.benchmark, &trend.series.metric, metric);
        whole.gathering.note(trends.clone().find_map(changed));
        let same = trends.filter(|trend| trend.series.metric == *metric);
        same.for_each(|trend| whole.gathering.add(trend));
    }

    /// Adds the row of a benchmark to the summary, from one of its series.
    fn note(&self, whole: &mut Whole, number: usize, trend: &Trend) {
        let file = &self.files[number];
        whole.rows.insert(number, Row::of(trend, file));
        let Some(last) = &self.last else { return };
        let points = &trend.series.points;
        let is_own = |recording: &str| recording == last.short();
        if let Some(now) = points.iter().rev().find(|point| is_own(&point.recording)) {
            let mut before: Vec<&Point> =
                points.iter().filter(|point| !is_own(&point.recording)).collect();
            before.sort_by_key(|point| std::cmp::Reverse(point.started));
            // Keep only the latest points, which suffice for the gate, because there are many
            // benchmarks.
            let mut before: Vec<Point> =
                before.into_iter().take(GateSettings::default().window + 3).cloned().collect();
            if let Some(blessing) = last_blessing(&self.blessings, &trend.series.benchmark.name) {
                blessing.cut(&mut before);
            }
            whole.candidates.push(Candidate {
                benchmark: trend.series.benchmark.clone(),
                metric: trend.series.metric.clone(),
                now: now.result.clone(),
                before,
            });
        }
    }

    /// Combines the changes of all benchmarks to events, with the commands to narrow down the
    /// latest ones.
    fn combine(&self, gathering: Gathering) -> (Events, Vec<Option<String>>) {
        let events = gathering.finish();
        let narrow = |event| {
            let command = (self.narrow.event)(self.store(), &self.frame.project, event)?;
            Some(if self.unredacted { command } else { publishable(&command) })
        };
        let narrow = events.events.iter().take(EVENTS).map(narrow).collect();
        (events, narrow)
    }

    fn overview(&mut self) -> anyhow::Result<String> {
        if self.whole()?.events.is_none() {
            let gathering = self.whole()?.gathering.clone();
            let told = self.combine(gathering);
            self.whole.as_mut().context("it was just made")?.events = Some(told);
        }
        let whole = self.whole.as_ref().context("it was just made")?;
        let (events, narrow) = whole.events.as_ref().context("they were just made")?;
        let rows: Vec<Row> = whole.rows.values().cloned().collect();
        let gate: Option<Gate> = (!whole.candidates.is_empty())
            .then(|| gate(whole.candidates.clone(), GateSettings::default()));
        let of = Overview {
            frame: &self.frame,
            index: &self.index,
            rows: &rows,
            events,
            narrow,
            gate: gate.as_ref(),
        };
        Ok(site::overview(&of)?)
    }

    fn names(&mut self) -> anyhow::Result<String> {
        self.whole()?;
        let whole = self.whole.as_ref().context("it was just made")?;
        let spread: Vec<Option<f64>> = (0..self.names.len())
            .map(|number| whole.rows.get(&number).and_then(|row| row.spread))
            .collect();
        let decides = self.last.as_ref().and_then(|run| run.metric.as_ref());
        let decides = self.index.metrics.iter().position(|metric| Some(&metric.name) == decides);
        Ok(data::benchmarks(
            &self.names,
            &self.files,
            &spread,
            &self.index,
            decides,
            &self.frame.stamp,
        ))
    }

    /// Returns the page about the machines, and its data script.
    fn machines(&self) -> anyhow::Result<(String, String)> {
        let states = self.store().machine_states(&self.frame.project)?;
        let states: Vec<(i64, String, f64)> = states
            .into_iter()
            .map(|MachineState { run, name, value }| (run, name, value))
            .collect();
        let of = MachineStates { frame: &self.frame, index: &self.index, states: &states };
        Ok((site::machines(&of)?, of.script()))
    }
}

/// Returns the finding that a benchmark has vanished.
pub fn vanished(name: &str, gone: &Vanished) -> Finding {
    let last = gone.last.revision.as_ref().map_or_else(|| gone.last.short(), |r| r.short());
    trend::vanished(name, last, gone.runs)
}

/// Returns the name and contents of a script or style that all sites share.
fn asset(path: &str) -> Option<(&'static str, &'static str)> {
    let name = path.strip_prefix(site::ASSETS)?.strip_prefix('/')?;
    site::SHARED.into_iter().find(|(known, _)| *known == name)
}
