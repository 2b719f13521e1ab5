//! The table in the terminal report: one row per subject with its primary metric, interval and
//! histogram, and the other main metrics.
//!
//! Columns that do not fit are dropped in a fixed order: first the histograms, then the other
//! metrics from the right. If even the primary metric does not fit, every metric gets its own line.

use crate::grid::{Cells, GAP, draw_columns};
use crate::label::label;
use crate::layout::{Page, Tone};
use crate::medians;
use crate::names::width;
use crate::number::{self, Column, DECADES};
use crate::words;
use assay_analysis::{Analysis, Basis, Comparison, Description};
use assay_data::list;
use assay_data::samples::{OF_EVERY_RUN, STEAL};

/// Names of the metrics that a table shows if they were measured, in this order.
const MAIN: [&str; 3] = ["wall", "cpu", "max_rss"];
/// Maximum number of other metrics shown if none of the main metrics was measured.
const OTHERS: usize = 2;
/// Minimum page width for histograms, in columns.
const PICTURES_FROM: usize = 60;
/// Maximum number of subjects without an interval that are named. Further ones are only counted.
const NAMED: usize = 3;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns the indices of the metrics shown next to the primary one. Metrics without values are
/// left out: for example, there are no times if events were only counted.
pub(crate) fn other_metrics(analysis: &Analysis) -> Vec<usize> {
    let others = || (0..analysis.metrics.len()).filter(|&m| m != analysis.primary);
    let has_values = |m: &usize| {
        let mut described = analysis.subjects.iter().filter_map(|s| s.metrics.get(*m));
        described.any(Option::is_some)
    };
    let index_of = |name: &&str| others().find(|&m| analysis.metrics[m].name == **name);
    let mut main: Vec<usize> = MAIN.iter().filter_map(index_of).collect();
    if main.is_empty() {
        // With one side, show the metrics that were requested. With several sides, these have a
        // table of their own.
        let asked = analysis.plan.secondary.iter().filter(|_| analysis.comparisons.is_empty());
        let asked = asked.filter_map(|name| others().find(|&m| analysis.metrics[m].name == *name));
        let asked: Vec<usize> = asked.filter(has_values).take(OTHERS).collect();
        if !asked.is_empty() {
            return asked;
        }
        return others().filter(has_values).take(OTHERS).collect();
    }
    // Metrics beyond the kernel's accounting were requested explicitly, but secondary metrics have
    // a table of their own.
    if !analysis.plan.secondary.is_empty() {
        main.retain(has_values);
        return main;
    }
    let asked_for = |&m: &usize| {
        let name = analysis.metrics[m].name.as_str();
        !OF_EVERY_RUN.contains(&name) && name != STEAL
    };
    main.extend(others().filter(asked_for));
    main.retain(has_values);
    main
}

/// Returns the scale of a metric's values for all subjects.
pub(crate) fn column_of(analysis: &Analysis, metric: usize, with_intervals: bool) -> Column {
    let described = || analysis.subjects.iter().filter_map(|s| s.metrics.get(metric)?.as_ref());
    let mut values: Vec<f64> = described().map(|d| d.median).collect();
    let mut widths = Vec::new();
    if with_intervals {
        for interval in described().filter_map(|d| d.median_interval) {
            widths.push(interval.half_width());
            if interval.is_bounded() {
                values.extend([interval.lower, interval.upper]);
            }
        }
    }
    Column::new(&analysis.metrics[metric].unit, &values, &widths)
}

/// Returns the scale for a subject's median and interval, which is that of all subjects unless they
/// differ by orders of magnitude.
fn column_of_row(analysis: &Analysis, subject: usize) -> Column {
    let metric = analysis.primary;
    let all: Vec<f64> =
        (0..analysis.subjects.len()).filter_map(|s| Some(analysis.primary_of(s)?.median)).collect();
    let [smallest, largest] = number::ends(&all);
    match analysis.primary_of(subject) {
        Some(d) if largest >= DECADES * smallest => {
            let mut own = vec![d.median];
            let interval = d.median_interval;
            own.extend(interval.filter(|i| i.is_bounded()).iter().flat_map(|i| [i.lower, i.upper]));
            let widths: Vec<f64> = interval.iter().map(|i| i.half_width()).collect();
            Column::new(&analysis.metrics[metric].unit, &own, &widths)
        }
        _ => column_of(analysis, metric, true),
    }
}

/// Returns a small histogram drawn from counts, or an empty string if there are no counts.
pub(crate) fn picture(counts: &[u32]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0);
    let bar = |&count: &u32| {
        // Only empty bins get the lowest bar.
        let height =
            if count == 0 { 0 } else { 1 + (count - 1) as usize * 7 / most.max(1) as usize };
        BARS[height.min(BARS.len() - 1)]
    };
    if most == 0 { String::new() } else { counts.iter().map(bar).collect() }
}

/// Draws the table of all subjects on the page.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, names: &[String]) {
    let primary = primary_cells(page, analysis);
    let mut columns = vec![Cells::left("", names.to_vec(), Tone::Plain, 0)];
    let own = columns[0].width() + primary.iter().map(|c| c.gap + c.width()).sum::<usize>();
    if own > page.table_width() {
        draw_stacked(page, analysis);
        return;
    }
    columns.extend(primary);
    let mut used = own;
    let mut fits = |column: &Cells| {
        let wide = column.gap + column.width();
        let fits = used + wide <= page.table_width();
        used += if fits { wide } else { 0 };
        fits
    };
    let others: Vec<Cells> = other_metrics(analysis)
        .into_iter()
        .map(|metric| other_cells(page, analysis, metric))
        .collect();
    let others_wide: usize = others.iter().map(|c| c.gap + c.width()).sum();
    if let Some(pictures) = pictures(page, analysis)
        && own + pictures.gap + pictures.width() + others_wide <= page.table_width()
        && fits(&pictures)
    {
        columns.push(pictures);
    }
    for column in others {
        if !fits(&column) {
            break;
        }
        columns.push(column);
    }
    draw_columns(page, &columns, names.len());
}

/// Returns the reasons why medians of the primary metric have no interval, a line each.
pub(crate) fn without_interval(
    analysis: &Analysis,
    names: &[String],
) -> impl Iterator<Item = String> {
    let described = |subject| Some((subject, analysis.primary_of(subject)?));
    let all: Vec<_> = (0..analysis.subjects.len()).filter_map(described).collect();
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for &(subject, d) in all.iter().filter(|(_, d)| d.median_interval.is_none()) {
        let reason = medians::lacking(d);
        let name = words::quoted(&names[subject]);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, subjects)) => subjects.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons.into_iter().map(move |(reason, subjects)| {
        let whose = match subjects.len() {
            n if n == all.len() => String::new(),
            _ => format!(" for {}", list::first(&subjects, NAMED)),
        };
        format!("no interval{whose}: {reason}")
    })
}

/// Returns the medians and intervals of the primary metric.
fn primary_cells(page: &Page, analysis: &Analysis) -> Vec<Cells> {
    let described = |subject: usize| analysis.primary_of(subject);
    let subjects = 0..analysis.subjects.len();
    let columns: Vec<Column> = subjects.clone().map(|s| column_of_row(analysis, s)).collect();
    let medians: Vec<String> =
        subjects.clone().map(|s| page.spelled(&median_cell(analysis, s, &columns[s]))).collect();
    // The heading starts at the first digit, so pad the cells here and left-align them.
    let widest = medians.iter().map(|cell| width(cell)).max().unwrap_or(0);
    let medians =
        medians.into_iter().map(|cell| " ".repeat(widest - width(&cell)) + &cell).collect();
    let heading = page.spelled(&label(&analysis.metrics[analysis.primary]));
    let mut cells = vec![Cells::left(&heading, medians, Tone::Strong, GAP)];
    let ends: Vec<Option<(String, String)>> = subjects
        .map(|s| {
            let interval = described(s)?.median_interval?;
            Some((columns[s].number(interval.lower), columns[s].number(interval.upper)))
        })
        .collect();
    // Interval ends on different scales are not compared vertically.
    let aligned = columns.windows(2).all(|pair| pair[0].suffix() == pair[1].suffix());
    let wide = |end: &String| if aligned { end.len() } else { 0 };
    let lower = ends.iter().flatten().map(|(low, _)| wide(low)).max();
    let upper = ends.iter().flatten().map(|(_, high)| wide(high)).max();
    if let (Some(lower), Some(upper)) = (lower, upper) {
        let shown = |ends: &Option<(String, String)>| match ends {
            Some((low, high)) => {
                format!("[{low:>lower$} {} {high:>upper$}]", page.ellipsis())
            }
            None => String::new(),
        };
        let cells_of_ends = ends.iter().map(shown).collect();
        cells.push(Cells::left("", cells_of_ends, Tone::Plain, 2));
    }
    cells
}

/// Returns the median, or only a bound if at least half of the runs hit the time limit.
fn median_cell(analysis: &Analysis, subject: usize, column: &Column) -> String {
    let summary = &analysis.subjects[subject];
    let late = summary.timeouts > 0 && summary.timeouts * 2 >= summary.observations;
    let bound = if late { "≥ " } else { "" };
    analysis
        .primary_of(subject)
        .map(|d| format!("{bound}{}", column.with_unit(d.median)))
        .or_else(|| mean_of_summary(analysis, subject))
        .unwrap_or_else(|| "-".to_owned())
}

/// Returns the mean of a subject for which only a summary is known.
fn mean_of_summary(analysis: &Analysis, subject: usize) -> Option<String> {
    let of = |c: &&Comparison| c.of == subject || c.against == subject;
    let c = analysis.comparisons.iter().filter(of).find(|c| c.basis == Basis::Summary)?;
    let mean = if c.of == subject { c.means.1 } else { c.means.0 };
    let unit = &analysis.metrics[c.metric].unit;
    mean.is_finite().then(|| format!("{} (mean)", number::value(mean, unit)))
}

fn other_cells(page: &Page, analysis: &Analysis, metric: usize) -> Cells {
    let column = column_of(analysis, metric, false);
    let shown = |d: Option<&Description>| {
        d.map_or_else(|| "-".to_owned(), |d| page.spelled(&column.with_unit(d.median)))
    };
    let cells = analysis
        .subjects
        .iter()
        .map(|s| shown(s.metrics.get(metric).and_then(Option::as_ref)))
        .collect();
    let heading = page.spelled(&label(&analysis.metrics[metric]));
    Cells::right(&heading, cells, Tone::Plain)
}

fn pictures(page: &Page, analysis: &Analysis) -> Option<Cells> {
    if !page.unicode() || page.width() < PICTURES_FROM {
        return None;
    }
    let counts = &analysis.histogram.as_ref()?.counts;
    let cells = (0..analysis.subjects.len())
        .map(|s| counts.get(s).map_or_else(String::new, |counts| picture(counts)))
        .collect();
    Some(Cells::left("", cells, Tone::Quiet, 2))
}

/// Draws one metric per line, on pages too narrow for a table.
fn draw_stacked(page: &mut Page, analysis: &Analysis) {
    let names = page.fitted(&analysis.names(), page.width());
    let others = other_metrics(analysis);
    for (subject, name) in names.iter().enumerate() {
        let column = column_of_row(analysis, subject);
        page.line(&vec![(Tone::Strong, name.clone())]);
        let head = label(&analysis.metrics[analysis.primary]);
        let median = median_cell(analysis, subject, &column);
        page.paragraph(4, &[(Tone::Plain, format!("  {head} {median}"))]);
        if let Some(interval) = analysis.primary_of(subject).and_then(|d| d.median_interval) {
            let (low, high) = (column.number(interval.lower), column.number(interval.upper));
            page.paragraph(4, &[(Tone::Plain, format!("  [{low} … {high}]"))]);
        }
        for &metric in &others {
            if let Some(Some(d)) = analysis.subjects[subject].metrics.get(metric) {
                let value = column_of(analysis, metric, false).with_unit(d.median);
                let head = label(&analysis.metrics[metric]);
                page.paragraph(4, &[(Tone::Quiet, format!("  {head} {value}"))]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_the_fullest_bin_at_full_height_and_only_empty_ones_at_none() {
        assert_eq!(picture(&[0, 1, 4, 8, 40]), "▁▂▂▃█");
        assert_eq!(picture(&[0, 0]), "");
    }
}
