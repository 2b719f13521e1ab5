//! The screen output of a suite: the headline, the geometric mean, a table for the primary metric,
//! the rows of other metrics that differ, and remarks without repetitions.
//!
//! On a narrow screen, names and headings are shortened in the middle first. Then the intervals are
//! dropped, then the medians. If that is not enough, every row gets lines of its own.

use super::{DisplayOptions, centres, ends_of_centres, ordered, toggles, words};
use crate::all_table;
use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::label::label;
use crate::layout::{Page, Screen, Tone, said, tone_in_table};
use crate::names::width;
use crate::number::Column;
use crate::remarks;
use assay_analysis::analysis::Table;
use assay_analysis::{Analysis, Comparison, Role};
use assay_data::Severity;
use assay_data::list;

/// Maximum number of rows of a table. Further rows are only counted; the JSON and the CSV have all.
const MOST_ROWS: usize = 200;
/// Maximum width of names in a table, in columns of text.
const WIDEST_NAME: usize = 60;
/// Minimum width to which names in a table are shortened, in columns of text.
const NARROWEST_NAME: usize = 10;
/// Maximum width of a side's heading, in columns of text.
const WIDEST_SIDE: usize = 20;
/// Maximum width of a side's heading if space is short, in columns of text.
const NARROWEST_SIDE: usize = 10;

/// Returns the screen output as text. Every line ends with a newline. O(rows log rows).
pub(crate) fn render(suite: &Analysis, shown: DisplayOptions, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let mut remarks = remarks::List::new(shown.remarks);
    if toggles::is_about(suite) {
        toggles::draw(&mut page, suite);
        if shown.remarks != remarks::Remarks::All {
            return close(page, remarks, suite);
        }
        page.gap();
    }
    for (index, table) in suite.primary_tables().enumerate() {
        let table = &table;
        let sure = if index == 0 { words::sureness(suite) } else { String::new() };
        said(&mut page, Tone::Strong, words::headline(suite, table), &sure);
        for line in words::known(suite, table).into_iter().chain(words::mean(suite, table)) {
            page.paragraph(4, &[(Tone::Plain, format!("  {line}"))]);
        }
    }
    for note in words::controls(suite).chain(crate::words::caveats_in_sentences(suite)) {
        page.paragraph(4, &[(Tone::Plain, format!("  {note}"))]);
    }
    for table in suite.primary_tables() {
        let table = &table;
        page.gap();
        draw_table(&mut page, &mut remarks, suite, table, ordered(suite, table, shown.sort));
    }
    others(&mut page, &mut remarks, suite, shown);
    all_table::draw(&mut page, suite, &suite.names());
    close(page, remarks, suite)
}

/// Appends the findings and the other remarks, and returns the finished text.
fn close(mut page: Page, mut remarks: remarks::List, suite: &Analysis) -> String {
    page.gap();
    let told = words::told_once(suite);
    for is_note in [false, true] {
        let wanted = told.iter().filter(|(f, _)| (f.severity == Severity::Note) == is_note);
        wanted.for_each(|(finding, more)| remarks.finding(&page, finding, more));
    }
    remarks.draw(&mut page);
    page.finish()
}

/// Draws a table for every metric other than the primary one that has rows with a difference. With
/// `all_metrics`, draws all of these metrics. The remaining metrics are only named in a remark, one
/// line per side.
fn others(page: &mut Page, remarks: &mut remarks::List, suite: &Analysis, shown: DisplayOptions) {
    // Metrics that are only named are collected by side. Repeating the sides with every metric
    // would make the metrics hard to find.
    let mut named: Vec<OmittedMetrics> =
        (1..suite.sides.len()).map(|_| OmittedMetrics::default()).collect();
    for table in suite.tables().filter(|table| table.metric != suite.primary) {
        let table = &table;
        let counts = table.counts();
        let rows: Vec<&Comparison> = ordered(suite, table, shown.sort)
            .into_iter()
            .filter(|r| shown.all_metrics || r.decision.verdict.is_directional())
            .collect();
        if rows.is_empty() {
            let own = &mut named[table.side - 1];
            let list = if counts.inconclusive == 0 { &mut own.nothing } else { &mut own.unknown };
            let name = label(&suite.metrics[table.metric]);
            own.sides = words::sides(suite, table);
            if !list.contains(&name) {
                list.push(name);
            }
            continue;
        }
        page.gap();
        let told = format!("{}: {}", words::title(suite, table), words::counts(suite, table));
        page.paragraph(2, &[(Tone::Strong, told)]);
        draw_table(page, remarks, suite, table, rows);
    }
    for own in named {
        let mut told: Vec<String> = Vec::new();
        if !own.nothing.is_empty() {
            told.push(format!("no difference that matters in {}", list::all(&own.nothing)));
        }
        if !own.unknown.is_empty() {
            let none = if told.is_empty() { "no difference" } else { "none" };
            told.push(format!("{none} known in {}", list::all(&own.unknown)));
        }
        if !told.is_empty() {
            let whom = own.sides.map_or_else(String::new, |sides| format!(", {sides}"));
            let line = format!("also{whom}: {}", told.join("; "));
            remarks.result(page, 6, &[(Tone::Quiet, line)]);
        }
    }
}

/// The metrics of one side that are named in a remark instead of shown in a table.
#[derive(Default)]
struct OmittedMetrics {
    /// The compared sides in words; `None` if there are only two.
    sides: Option<String>,
    nothing: Vec<String>,
    unknown: Vec<String>,
}

fn draw_table(
    page: &mut Page,
    remarks: &mut remarks::List,
    suite: &Analysis,
    table: &Table<'_>,
    rows: Vec<&Comparison>,
) {
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    let rows: Vec<&Comparison> = rows.into_iter().take(MOST_ROWS).collect();
    let names: Vec<String> = rows.iter().map(|row| page.spelled(&suite.row_of(row).name)).collect();
    // The layouts to try, in order. Names and headings are shortened before numbers are dropped.
    let choices = [
        (true, Some(WIDEST_SIDE)),
        (true, Some(NARROWEST_SIDE)),
        (false, Some(NARROWEST_SIDE)),
        (false, None),
    ];
    let drawn = choices.into_iter().find_map(|(intervals, medians)| {
        let numbers = columns(page, suite, table, &rows, intervals, medians);
        let own: usize = numbers.iter().map(|c| c.gap + c.width()).sum();
        let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let room = page.table_width().checked_sub(own)?.min(WIDEST_NAME);
        (room >= NARROWEST_NAME.min(widest)).then(|| {
            let beginning = page.beginning(&names, room).to_owned();
            let mut names = page.fitted(&names, room);
            let heading = page.spelled(&label(&suite.metrics[table.metric]));
            let heading = page.shortened(&heading, room);
            // The first name is padded to the width of the heading, so that the headings of the
            // sides are not shifted.
            if let Some(first) = names.first_mut() {
                *first += &" ".repeat(width(&heading).saturating_sub(width(first)));
            }
            let mut all = vec![Cells::left(&heading, names, Tone::Plain, 0)];
            all.extend(numbers);
            (all, medians.is_some(), beginning)
        })
    });
    match drawn.filter(|(columns, ..)| width_of(columns) <= page.table_width()) {
        Some((columns, medians, beginning)) => {
            draw_columns(page, &columns, rows.len());
            if !beginning.is_empty() {
                let told = format!("{} at the beginning of a name: {beginning}", page.ellipsis());
                page.paragraph(2, &[(Tone::Quiet, told)]);
            }
            let note = words::contradictions(suite, &rows);
            if let Some(note) = note.filter(|_| medians) {
                remarks.result(page, 2, &[(Tone::Quiet, note)]);
            }
        }
        None => draw_lines(page, suite, table, &rows),
    }
    if rows.iter().any(|row| words::is_starred(row)) {
        page.paragraph(2, &[(Tone::Quiet, words::star(suite))]);
    }
    if left_out > 0 {
        let more = format!("and {left_out} more rows: --json, or --export FILE.csv, has all");
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
}

/// Returns the scale and the number of decimals for a row. They are those of the whole table if
/// possible.
fn scale(suite: &Analysis, table: &Table<'_>, ends: [f64; 2], row: &Comparison) -> Column {
    let (x, y) = centres(row);
    Column::for_row(&suite.metrics[table.metric].unit, ends, &[x, y], &[])
}

fn columns(
    page: &Page,
    suite: &Analysis,
    table: &Table<'_>,
    rows: &[&Comparison],
    intervals: bool,
    medians: Option<usize>,
) -> Vec<Cells> {
    let mut columns = Vec::new();
    if let Some(widest_side) = medians {
        let ends = ends_of_centres(rows);
        let heads = page.fitted(
            &[suite.sides[0].name.clone(), suite.sides[table.side].name.clone()],
            widest_side,
        );
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for row in rows {
            let column = scale(suite, table, ends, row);
            let (x, y) = centres(row);
            let unit = &suite.metrics[table.metric].unit;
            old.push(page.spelled(&words::value(&column, x, unit)));
            new.push(page.spelled(&words::value(&column, y, unit)));
        }
        columns.push(Cells::right(&heads[0], old, Tone::Plain));
        columns.push(Cells::right(&heads[1], new, Tone::Plain));
    }
    let effects =
        rows.iter().map(|row| page.spelled(&words::effect(suite, row, intervals))).collect();
    columns.push(Cells::left("change", effects, Tone::Plain, GAP));
    let verdicts = rows.iter().map(|row| (tone(row), words::verdict(suite, row))).collect();
    columns.push(Cells::toned("", verdicts, 2));
    columns
}

fn tone(row: &Comparison) -> Tone {
    if row.role == Role::Control { Tone::Plain } else { tone_in_table(row) }
}

/// Draws two lines for every row, for screens too narrow for a table.
fn draw_lines(page: &mut Page, suite: &Analysis, table: &Table<'_>, rows: &[&Comparison]) {
    page.paragraph(2, &[(Tone::Quiet, label(&suite.metrics[table.metric]))]);
    for row in rows {
        let name = suite.row_of(row).name.clone();
        page.paragraph(2, &[(Tone::Strong, name)]);
        let effect = words::effect(suite, row, false);
        let line = vec![
            (Tone::Plain, format!("  {effect}{}", if effect.is_empty() { "" } else { ", " })),
            (tone(row), words::verdict(suite, row)),
        ];
        page.paragraph(4, &line);
    }
}
