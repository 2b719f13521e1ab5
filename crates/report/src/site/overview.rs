//! The first page of a history: recent changes, the last run compared with normal runs, the newest
//! runs, and all benchmarks.

use super::{Around, Frame, Index, metric_name};
use crate::findings::FindingOnPage;
use crate::history::{
    GateReport, change_size, date, place_of_event, revision_of, sentence_of_gate,
    sentence_of_trend, series_and_change, time, ways,
};
use crate::names::clean;
use crate::number;
use crate::words::counted;
use askama::Template;
use assay_analysis::Verdict;
use assay_analysis::history::events::{self, Event, Events};
use assay_analysis::history::gate::{Gate, Standing};
use assay_analysis::history::trend::{Change, Trend};
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum number of events listed.
pub const EVENTS: usize = 10;
/// Maximum number of series listed per event, those with the largest changes first.
const MOVED: usize = 5;
/// Maximum number of findings listed.
const FINDINGS: usize = 20;
/// Maximum number of newest runs listed.
const NEWEST: usize = 10;
/// Maximum number of benchmarks named that became worse.
const ALARMS: usize = 50;
/// Maximum number of points in a small chart.
const POINTS: usize = 60;
/// Width of a small chart, in SVG units.
const WIDTH: usize = 120;
/// Height of a small chart, in SVG units.
const HEIGHT: f64 = 24.0;

/// A row of the table of all benchmarks, which represents a benchmark by its series of the deciding
/// metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the benchmark with its parameters, without control characters.
    pub name: String,
    /// File name of the benchmark's page, without its extension.
    pub file: String,
    /// Name of the metric.
    pub metric: String,
    /// Name of the machine.
    pub machine: String,
    /// Number of runs in the series.
    pub runs: usize,
    /// The last level of the series, formatted.
    pub level: String,
    /// Spread between the runs of the last level, as a robust standard deviation divided by the
    /// level.
    pub spread: Option<f64>,
    /// The size of the last change with its interval, or empty if there is no change.
    pub change: String,
    /// The tone of the last change.
    pub tone: &'static str,
    /// Time of the last change, in milliseconds since 1970, or 0 if there is none.
    pub changed: i64,
    /// The points of the benchmark's small chart, in SVG syntax.
    pub points: String,
}

impl Row {
    /// Returns the row of a series, given the file name of its page. O(runs · log runs).
    pub fn of(trend: &Trend, file: &str) -> Self {
        let series = &trend.series;
        let level = trend.parts.last().map(|part| part.median);
        let last = trend.changes.last();
        let changed =
            last.and_then(|change| series.points.get(change.index)).map_or(0, |p| p.started);
        Self {
            name: clean(&series.benchmark.label()),
            file: file.to_owned(),
            metric: metric_name(&series.metric),
            machine: clean(&series.machine),
            runs: series.points.len(),
            level: level
                .map_or_else(String::new, |level| number::value(level, &series.metric.unit)),
            spread: trend.spread(),
            change: last.map_or_else(String::new, |change| change_size(trend, change)),
            tone: last.map_or("", tone),
            changed,
            points: picture(&trend.values()),
        }
    }

    fn between_runs(&self) -> String {
        self.spread.map_or_else(String::new, |spread| format!("± {}", number::percent_fine(spread)))
    }

    fn when(&self) -> String {
        if self.changed == 0 { String::new() } else { date(self.changed) }
    }
}

/// Returns the tone of a change. Accepted changes have no color.
pub(super) fn tone(change: &Change) -> &'static str {
    match change.verdict {
        _ if change.accepted.is_some() => "",
        Verdict::Faster => "good",
        _ => "bad",
    }
}

/// Returns the points of a small chart's line. If there are too many values, each point is the mean
/// of several runs.
fn picture(values: &[f64]) -> String {
    let columns = POINTS.min(values.len());
    let mean = |column: usize| {
        let part = &values[column * values.len() / columns..(column + 1) * values.len() / columns];
        part.iter().sum::<f64>() / part.len() as f64
    };
    let means: Vec<f64> = (0..columns).map(mean).filter(|mean| mean.is_finite()).collect();
    let [low, high] = number::ends(&means);
    let mut points = String::new();
    for (place, mean) in means.iter().enumerate() {
        let x = place * WIDTH / (means.len().max(2) - 1);
        let up = if high > low { (mean - low) / (high - low) } else { 0.5 };
        let _infallible = write!(
            points,
            "{}{x},{:.0}",
            if place == 0 { "" } else { " " },
            2.0 + (1.0 - up) * (HEIGHT - 4.0)
        );
    }
    points
}

/// An event: changes that may have the same cause.
struct Happened {
    day: String,
    ways: String,
    place: String,
    on: String,
    moved: Vec<Moved>,
    more: String,
    narrow: String,
}

/// A series that changed, with the file name of its benchmark's page and the size of the change.
struct Moved {
    file: String,
    name: String,
    size: String,
    tone: &'static str,
}

fn happened(event: &Event, narrow: Option<&str>, files: &Files<'_>, machines: usize) -> Happened {
    let moved = |moved: &events::Moved| {
        let (_, size) = series_and_change(moved, event);
        let name = clean(&moved.benchmark.label());
        let file = files.get(name.as_str()).map_or_else(String::new, |file| (*file).to_owned());
        Moved { file, name, size: clean(&size), tone: tone(&moved.change) }
    };
    let more = event.moved.len().saturating_sub(MOVED);
    Happened {
        day: date(event.after.started),
        ways: ways(event),
        place: clean(&place_of_event(event)),
        on: if machines > 1 { clean(&format!(" on {}", event.machine)) } else { String::new() },
        moved: event.moved.iter().take(MOVED).map(moved).collect(),
        more: if more > 0 {
            format!("and {} more", number::grouped(more as u64))
        } else {
            String::new()
        },
        narrow: narrow.filter(|_| event.accepted().is_none()).map_or_else(String::new, clean),
    }
}

/// The file names of the benchmarks' pages, by benchmark name.
type Files<'a> = HashMap<&'a str, &'a str>;

/// The contents of the first page.
#[derive(Clone, Debug)]
pub struct Overview<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// The runs.
    pub index: &'a Index,
    /// The rows of the table of benchmarks.
    pub rows: &'a [Row],
    /// The events.
    pub events: &'a Events,
    /// A command line that narrows down each of the latest events, or `None` if its commits are
    /// unknown.
    pub narrow: &'a [Option<String>],
    /// The result of the gate for the last run, or `None` if it is unknown.
    pub gate: Option<&'a Gate>,
}

#[derive(Template)]
#[template(path = "site/overview.html")]
struct Page<'a> {
    around: Around<'a>,
    about: String,
    gate: String,
    gate_tone: &'static str,
    worse: Vec<(String, String, String)>,
    happened: Vec<Happened>,
    more_events: String,
    newest: Vec<Newest>,
    /// True if any of the newest runs has a verdict.
    has_verdicts: bool,
    rows: &'a [Row],
    findings: Vec<FindingOnPage>,
    more_findings: String,
}

struct Newest {
    revision: String,
    link: String,
    run: String,
    when: String,
    machine: String,
    results: String,
    verdict: String,
}

/// Renders the first page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn overview(of: &Overview<'_>) -> Result<String, askama::Error> {
    let Overview { frame, index, rows, events, narrow, gate } = of;
    let files: Files<'_> = rows.iter().map(|row| (row.name.as_str(), row.file.as_str())).collect();
    let latest = events.events.iter().take(EVENTS).enumerate().map(|(place, event)| {
        let narrow = narrow.get(place).and_then(Option::as_deref);
        happened(event, narrow, &files, events.machines.len())
    });
    let more = |all: usize, most: usize, what: &str| match all.saturating_sub(most) {
        0 => String::new(),
        more => format!("and {}", counted(more, what)),
    };
    let mut newest: Vec<usize> = (0..index.measured.len()).collect();
    newest.sort_by_key(|&number| std::cmp::Reverse((index.measured[number].run.started, number)));
    let last = newest.first().map(|&number| &index.measured[number].run);
    let report = gate.zip(last).map(|(gate, run)| (gate, format!("run {}", run.short()), run));
    let said = report.as_ref().map(|(gate, run, of)| {
        let (machine, project) = (of.machine.as_str(), frame.project.as_str());
        let report = GateReport { gate, project, run, file: None, machine, all: false };
        (
            format!(
                "Last run ({}, {}): {}",
                revision_of(of),
                date(of.started),
                sentence_of_gate(&report)
            ),
            gate.standing(),
        )
    });
    let worse = gate
        .iter()
        .flat_map(|gate| &gate.judged)
        .filter(|j| j.standing == Standing::Worse)
        .take(ALARMS);
    let newest = newest.into_iter().take(NEWEST);
    let newest: Vec<Newest> = newest.map(|number| newest_run(index, number)).collect();
    Page {
        around: Around::of(frame, "", ""),
        about: about(index, rows.len()),
        gate: said.as_ref().map_or_else(String::new, |(said, _)| clean(said)),
        gate_tone: match said {
            Some((_, Standing::Worse)) => "bad",
            Some((_, Standing::Inconclusive)) => "unsure",
            _ => "",
        },
        worse: worse
            .map(|judged| {
                let name = clean(&judged.benchmark.label());
                let size =
                    judged.ratio.map_or_else(String::new, |ratio| number::change(ratio, None));
                let file = files.get(name.as_str()).map_or("", |file| *file);
                (file.to_owned(), name, size)
            })
            .collect(),
        happened: latest.collect(),
        more_events: more(events.events.len(), EVENTS, "earlier event"),
        has_verdicts: newest.iter().any(|run| !run.verdict.is_empty()),
        newest,
        rows,
        findings: events
            .findings
            .iter()
            .take(FINDINGS)
            .map(|f| FindingOnPage::new(f, ""))
            .collect(),
        more_findings: more(events.findings.len(), FINDINGS, "more finding"),
    }
    .render()
}

fn newest_run(index: &Index, number: usize) -> Newest {
    let measured = &index.measured[number];
    Newest {
        revision: clean(&revision_of(&measured.run)),
        link: index.link(number),
        run: measured.run.short().to_owned(),
        when: time(measured.run.started),
        machine: clean(&index.machines[measured.machine]),
        results: measured.run.results.to_string(),
        verdict: measured.run.verdict.clone().unwrap_or_default(),
    }
}

fn about(index: &Index, benchmarks: usize) -> String {
    let started = || index.measured.iter().map(|measured| measured.run.started);
    let days = started().min().zip(started().max());
    let days = days
        .map_or_else(String::new, |(first, last)| format!(", {} to {}", date(first), date(last)));
    format!(
        "{} of {} on {}, {}{days}",
        counted(index.measured.len(), "run"),
        counted(index.revisions.len(), "revision"),
        counted(index.machines.len(), "machine"),
        counted(benchmarks, "benchmark")
    )
}

/// Returns the sentence about a series, for its benchmark's page.
pub(super) fn said(trend: &Trend) -> String {
    clean(&sentence_of_trend(trend))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_fits_its_frame_whatever_the_values_are() {
        assert_eq!(picture(&[]), "");
        assert_eq!(picture(&[5.0]), "0,12");
        assert_eq!(picture(&[1.0, 3.0]), "0,22 120,2");
        let many: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert_eq!(picture(&many).split(' ').count(), POINTS);
        assert_eq!(picture(&[f64::INFINITY, 1.0, 2.0]), "0,22 120,2");
    }
}
