//! Many series in one table, one row each, for files with too many series to describe individually.
//!
//! Series for which only a summary is known are marked as such in the same table. Nothing is
//! computed here.

use crate::findings;
use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::names::width;
use crate::number::{self as numbers, Column};
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_analysis::Interval;
use assay_analysis::levels::plural;
use assay_analysis::overview::{Line, Overview, SeriesData};
use assay_data::Finding;

/// Maximum width of a name, in columns.
const WIDEST_NAME: usize = 48;
/// Minimum width of a name, in columns.
const NARROWEST_NAME: usize = 10;

/// Renders the table and its remarks for the terminal. Every line ends with a newline. `more` is
/// the command that shows a series in full, and `remarks` determines how much text follows the
/// table. O(series).
pub fn render(overview: &Overview, more: &str, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let metric = label(&overview.metric);
    let sure = numbers::chosen_percent(overview.confidence);
    let head = format!("{} of {metric}", numbers_of(overview.lines.len()));
    let summaries =
        overview.lines.iter().filter(|line| matches!(line.known, SeriesData::Summary(_))).count();
    let what = match summaries {
        0 => format!("medians, {sure} confidence"),
        all if all == overview.lines.len() => "means".to_owned(),
        _ => format!("medians, {sure} confidence; means of summaries"),
    };
    page.paragraph(2, &[(Tone::Strong, head), (Tone::Quiet, format!("   ({what})"))]);
    page.gap();
    let names: Vec<String> = overview.lines.iter().map(|line| page.spelled(&line.name)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    // Every row needs the scale of the whole table. There may be thousands of rows, so only the
    // extremes are kept.
    let all = numbers::ends(&overview.lines.iter().filter_map(centre).collect::<Vec<_>>());
    // Columns that do not fit are dropped from the right.
    let mut numbers = columns(&page, overview, all);
    let room = loop {
        let own: usize = numbers.iter().map(|c| c.gap + c.width()).sum();
        let room = page.table_width().saturating_sub(own).min(WIDEST_NAME);
        if room >= NARROWEST_NAME.min(widest) || numbers.len() <= 1 {
            break room;
        }
        numbers.pop();
    };
    let mut columns = vec![Cells::left("", page.fitted(&names, room), Tone::Plain, 0)];
    columns.extend(numbers);
    while width_of(&columns) > page.table_width() && columns.len() > 2 {
        columns.pop();
    }
    draw_columns(&mut page, &columns, overview.lines.len());
    page.gap();
    if summaries > 0 {
        let message = format!(
            "only a summary was recorded of {}: means; order and distribution are unknown",
            numbers_of(summaries)
        );
        page.paragraph(6, &[(Tone::Quiet, format!("note: {message}"))]);
    }
    // A finding shared by many series is reported for one of them, and the table marks the others.
    let is_same = |known: &Finding, other: &Finding| {
        known.message == other.message || known.is_like(other) && other.subject.is_some()
    };
    let mut list = List::new(remarks);
    for (finding, more) in findings::told_once(overview.findings.iter(), is_same) {
        list.finding(&page, finding, &more);
    }
    list.draw(&mut page);
    if overview.lines.len() > 1 && !more.is_empty() {
        let more = format!("every series in full: {more}");
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
    page.finish()
}

fn numbers_of(n: usize) -> String {
    if n == 1 { "1 series".to_owned() } else { format!("{n} series") }
}

fn centre(line: &Line) -> Option<f64> {
    match &line.known {
        SeriesData::Values { description, .. } => Some(description.median),
        SeriesData::Summary(summary) => summary.location(),
    }
}

fn columns(page: &Page, overview: &Overview, all: [f64; 2]) -> Vec<Cells> {
    let unit = &overview.metric.unit;
    let (mut centres, mut ends, mut counts, mut spreads) = (vec![], vec![], vec![], vec![]);
    let (mut from, mut checks) = (vec![], vec![]);
    for line in &overview.lines {
        let interval = interval(line);
        let widths: Vec<f64> = interval.iter().map(|i| i.half_width()).collect();
        let own: Vec<f64> = centre(line).into_iter().collect();
        let column = Column::for_row(unit, all, &own, &widths);
        centres.push(own.first().map_or_else(
            || "-".to_owned(),
            |&v| page.spelled(&crate::benchmarks::words::value(&column, v, unit)),
        ));
        ends.push(interval.map_or_else(String::new, |i| {
            page.spelled(&format!("[{} … {}]", column.number(i.lower), column.number(i.upper)))
        }));
        match &line.known {
            SeriesData::Values { description: d, units, dependent } => {
                counts.push(d.n.to_string());
                let spread = (d.quantiles.p75 - d.quantiles.p25) / d.median.abs();
                spreads.push(if spread.is_finite() && d.n > 1 {
                    numbers::percent(spread)
                } else {
                    String::new()
                });
                from.push(units.as_ref().map_or_else(String::new, |(n, name)| {
                    if *n == 1 { format!("1 {name}") } else { format!("{n} {}", plural(name)) }
                }));
                let mut said = Vec::new();
                said.extend(dependent.then(|| "dependent".to_owned()));
                said.extend(d.drift.map(|_| "drift".to_owned()));
                said.extend((d.clock_step.is_none() && d.n > 1).then(|| "all equal".to_owned()));
                said.extend((d.outliers > 0).then(|| counted(d.outliers, "outlier")));
                checks.push((Tone::Unsure, said.join(", ")));
            }
            SeriesData::Summary(summary) => {
                counts.push(summary.count.map_or_else(|| "?".to_owned(), |n| n.to_string()));
                spreads.push(match (summary.sd, summary.location()) {
                    (Some(sd), Some(centre)) if centre != 0.0 => numbers::percent(sd / centre),
                    _ => String::new(),
                });
                from.push(String::new());
                checks.push((Tone::Quiet, "summary".to_owned()));
            }
        }
    }
    let mut columns =
        vec![Cells::right(&page.spelled(&label(&overview.metric)), centres, Tone::Strong)];
    if ends.iter().any(|cell| !cell.is_empty()) {
        columns.push(Cells::left("", ends, Tone::Plain, 2));
    }
    columns.push(Cells::right("n", counts, Tone::Plain));
    columns.push(Cells::right("spread", spreads, Tone::Plain));
    if from.iter().any(|cell| !cell.is_empty()) {
        columns.push(Cells::left("from", from, Tone::Plain, GAP));
    }
    if checks.iter().any(|(_, cell)| !cell.is_empty()) {
        columns.push(Cells::toned("checks", checks, GAP));
    }
    columns
}

fn interval(line: &Line) -> Option<Interval> {
    match &line.known {
        SeriesData::Values { description, .. } => description.median_interval,
        SeriesData::Summary(_) => None,
    }
}
