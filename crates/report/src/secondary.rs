//! The named secondary metrics, each with its medians, ratio and verdict in plain words, regardless
//! of the result. The analysis selects these metrics and provides their results.

use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::label::label;
use crate::layout::tone_of;
use crate::layout::{Page, Tone};
use crate::names::width;
use crate::number::{self, Column};
use crate::words;
use assay_analysis::{Analysis, Comparison};

/// Draws the table, or one line per metric if the table does not fit.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, names: &[String]) {
    if analysis.secondary.is_empty() {
        return;
    }
    page.gap();
    let fitting = [true, false].into_iter().find_map(|intervals| {
        let columns = if names.len() == 2 {
            side_by_side(page, analysis, names, intervals)
        } else {
            one_below_the_other(page, analysis, names, intervals)
        };
        (width_of(&columns) <= page.table_width()).then_some(columns)
    });
    match fitting {
        Some(columns) => draw_columns(page, &columns, analysis.secondary.len()),
        None => as_lines(page, analysis, names),
    }
    page.gap();
}

/// Returns the columns for two subjects: a row per metric and a column per subject.
fn side_by_side(page: &Page, analysis: &Analysis, names: &[String], intervals: bool) -> Vec<Cells> {
    let of_metrics = analysis.secondary.iter().map(|c| metric_of(page, analysis, c)).collect();
    let medians = |subject: usize| {
        let cell = |c: &Comparison| {
            let value = if c.of == subject { c.medians.1 } else { c.medians.0 };
            page.spelled(&column(analysis, c).with_unit(value))
        };
        let cells = analysis.secondary.iter().map(cell).collect();
        Cells::right(&names[subject], cells, Tone::Plain)
    };
    let mut columns = vec![Cells::left("secondary:", of_metrics, Tone::Plain, 0)];
    // Keep the gap from shifting the first column's heading.
    let room = width("secondary:").saturating_sub(columns[0].width());
    columns.extend([medians(0), medians(1)]);
    columns[1].gap = GAP + room;
    columns.extend(judged(page, analysis, intervals));
    columns
}

/// Returns the columns for several subjects: one row for each combination of metric and subject.
fn one_below_the_other(
    page: &Page,
    analysis: &Analysis,
    names: &[String],
    intervals: bool,
) -> Vec<Cells> {
    let mut last = None;
    let mut of_metrics = Vec::new();
    for c in &analysis.secondary {
        let again = last.replace(c.metric) == Some(c.metric);
        of_metrics.push(if again { String::new() } else { metric_of(page, analysis, c) });
    }
    let of_names = analysis.secondary.iter().map(|c| names[c.of].clone()).collect();
    let medians = analysis.secondary.iter().map(|c| page.spelled(&from_to(analysis, c))).collect();
    let mut columns = vec![
        Cells::left("secondary:", of_metrics, Tone::Plain, 0),
        Cells::left("", of_names, Tone::Plain, GAP),
        Cells::left("", medians, Tone::Plain, GAP),
    ];
    let room = width("secondary:").saturating_sub(columns[0].width());
    columns[1].gap = GAP + room;
    columns.extend(judged(page, analysis, intervals));
    columns
}

fn as_lines(page: &mut Page, analysis: &Analysis, names: &[String]) {
    page.paragraph(0, &[(Tone::Quiet, "secondary:".to_owned())]);
    for c in &analysis.secondary {
        let whose = if analysis.comparisons.len() > 1 {
            format!(" of {}", words::quoted(&names[c.of]))
        } else {
            String::new()
        };
        let metric = label(&analysis.metrics[c.metric]);
        let said = words::in_plain_words(analysis, c);
        page.paragraph(
            4,
            &[
                (Tone::Plain, format!("  {metric}{whose} ")),
                (Tone::Plain, format!("({}): ", from_to(analysis, c))),
                (tone_of(c), said),
            ],
        );
    }
}

fn judged(page: &Page, analysis: &Analysis, intervals: bool) -> [Cells; 2] {
    let ratio = |c: &Comparison| match c.ratio {
        Some(ratio) => {
            let ends = ratio.interval.filter(|_| intervals).map(|i| (i.lower, i.upper));
            page.spelled(&number::ratio(ratio.estimate, ends))
        }
        None => String::new(),
    };
    let said = |c: &Comparison| (tone_of(c), page.spelled(&words::in_plain_words(analysis, c)));
    let secondary = || analysis.secondary.iter();
    [
        Cells::left("ratio", secondary().map(ratio).collect(), Tone::Plain, GAP),
        Cells::toned("", secondary().map(said).collect(), GAP),
    ]
}

fn metric_of(page: &Page, analysis: &Analysis, c: &Comparison) -> String {
    page.spelled(&label(&analysis.metrics[c.metric]))
}

fn column(analysis: &Analysis, c: &Comparison) -> Column {
    Column::new(&analysis.metrics[c.metric].unit, &[c.medians.0, c.medians.1], &[])
}

fn from_to(analysis: &Analysis, c: &Comparison) -> String {
    let column = column(analysis, c);
    format!("{} → {}", column.number(c.medians.0), column.with_unit(c.medians.1))
}
