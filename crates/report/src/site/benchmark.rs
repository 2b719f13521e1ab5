//! The page of one benchmark: its levels, changes and last runs as text, and the list of series for
//! the script that draws them.

use super::overview::{said, tone};
use super::{Around, Frame, Index, metric_name};
use crate::findings::FindingOnPage;
use crate::history::{change_size, time, where_it_lies};
use crate::names::clean;
use crate::number::Column;
use crate::words::counted;
use askama::Template;
use assay_analysis::history::trend::Trend;
use assay_data::Finding;
use serde_json::json;

/// Maximum number of last runs on the page. The script shows all runs.
const LAST: usize = 30;

/// The contents of a benchmark's page.
#[derive(Clone, Copy, Debug)]
pub struct BenchmarkPage<'a> {
    /// Properties shared by all pages.
    pub frame: &'a Frame,
    /// The runs.
    pub index: &'a Index,
    /// The benchmark's name with its parameters.
    pub name: &'a str,
    /// File name of the benchmark without an extension. Its series are `FILE.0`, `FILE.1`, …
    pub file: &'a str,
    /// The series, each with the command lines that narrow down its changes. The deciding series
    /// comes first.
    pub trends: &'a [(Trend, Vec<Option<String>>)],
    /// Findings other than those of the series.
    pub findings: &'a [Finding],
}

#[derive(Template)]
#[template(path = "site/benchmark.html")]
struct Page<'a> {
    around: Around<'a>,
    name: String,
    claim: String,
    tone: &'static str,
    about: String,
    /// Keys and titles of the series, as JSON.
    series: String,
    levels: Vec<Level>,
    changes: Vec<Changed>,
    runs: Vec<Ran>,
    /// True if any of the runs has an interval.
    has_intervals: bool,
    findings: Vec<FindingOnPage>,
}

struct Level {
    from: String,
    link: String,
    when: String,
    runs: usize,
    median: String,
    change: String,
    tone: &'static str,
}

struct Changed {
    said: String,
    tone: &'static str,
    narrow: String,
}

struct Ran {
    revision: String,
    link: String,
    when: String,
    value: String,
    interval: String,
}

/// Renders the page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn benchmark(of: &BenchmarkPage<'_>) -> Result<String, askama::Error> {
    let BenchmarkPage { frame, index, name, file, trends, findings } = of;
    let first = trends.first();
    let trend = first.map(|(trend, _)| trend);
    let name = clean(name);
    let keys: Vec<_> = trends
        .iter()
        .enumerate()
        .map(|(number, (trend, _))| {
            let series = &trend.series;
            json!([
                format!("{file}.{number}"),
                format!("{} on {}", metric_name(&series.metric), clean(&series.machine))
            ])
        })
        .collect();
    let last = trend.and_then(|trend| trend.changes.last());
    let runs = trend.map_or_else(Vec::new, |trend| runs(trend, index));
    Page {
        around: Around::of(frame, &name, "../"),
        claim: trend.map_or_else(String::new, said),
        tone: last.map_or("", tone),
        about: trend.map_or_else(String::new, |trend| {
            format!(
                "{} on {}",
                counted(trend.series.points.len(), "run"),
                clean(&trend.series.machine)
            )
        }),
        series: serde_json::Value::from(keys).to_string(),
        levels: trend.map_or_else(Vec::new, |trend| levels(trend, index)),
        changes: first.map_or_else(Vec::new, |(trend, narrow)| changes(trend, narrow)),
        has_intervals: runs.iter().any(|run| !run.interval.is_empty()),
        runs,
        findings: trend
            .iter()
            .flat_map(|trend| &trend.findings)
            .chain(*findings)
            .map(|finding| FindingOnPage::new(finding, ""))
            .collect(),
        name,
    }
    .render()
}

fn revision(trend: &Trend, at: usize) -> String {
    let revision = trend.series.points.get(at).and_then(|point| point.revision.as_ref());
    revision.map_or_else(|| "-".to_owned(), |revision| clean(revision.short()))
}

/// Returns the link to the comparison of a run with the previous one.
fn link(trend: &Trend, at: usize, index: &Index) -> String {
    let of =
        |at: usize| index.of_point(trend.series.points.get(at)?).map(|number| index.link(number));
    let before = at.checked_sub(1).and_then(of);
    match (before, of(at)) {
        (Some(before), Some(this)) => format!("a={before}&b={this}"),
        (None, Some(this)) => format!("b={this}"),
        _ => String::new(),
    }
}

fn levels(trend: &Trend, index: &Index) -> Vec<Level> {
    let medians: Vec<f64> = trend.parts.iter().map(|part| part.median).collect();
    let column = Column::new(&trend.series.metric.unit, &medians, &[]);
    let level = |(number, part): (usize, &assay_analysis::history::trend::Part)| {
        let point = trend.series.points.get(part.from)?;
        let change = number.checked_sub(1).and_then(|before| trend.changes.get(before));
        Some(Level {
            from: revision(trend, part.from),
            link: link(trend, part.from, index),
            when: time(point.started),
            runs: part.to - part.from,
            median: column.with_unit(part.median),
            change: change.map_or_else(String::new, |change| change_size(trend, change)),
            tone: change.map_or("", tone),
        })
    };
    trend.parts.iter().enumerate().filter_map(level).collect()
}

fn changes(trend: &Trend, narrow: &[Option<String>]) -> Vec<Changed> {
    let of = trend.changes.iter().zip(narrow).rev();
    of.filter_map(|(change, narrow)| {
        Some(Changed {
            said: clean(&where_it_lies(trend, change)?),
            tone: tone(change),
            narrow: narrow
                .as_deref()
                .filter(|_| change.accepted.is_none())
                .map(clean)
                .unwrap_or_default(),
        })
    })
    .collect()
}

fn runs(trend: &Trend, index: &Index) -> Vec<Ran> {
    let points = &trend.series.points;
    let from = points.len().saturating_sub(LAST);
    let values: Vec<f64> = points[from..].iter().map(|point| point.result.centre).collect();
    let half = |point: &assay_analysis::history::Point| {
        point.result.interval.map(|i| (i.upper - i.lower) / 2.0)
    };
    let halves: Vec<f64> = points[from..].iter().filter_map(half).collect();
    let column = Column::new(&trend.series.metric.unit, &values, &halves);
    let ran = |at: usize| {
        let point = &points[at];
        let interval = point.result.interval;
        Ran {
            revision: revision(trend, at),
            link: link(trend, at, index),
            when: time(point.started),
            value: column.with_unit(point.result.centre),
            interval: interval.map_or_else(String::new, |i| {
                format!("{} … {}", column.number(i.lower), column.with_unit(i.upper))
            }),
        }
    };
    (from..points.len()).rev().map(ran).collect()
}
