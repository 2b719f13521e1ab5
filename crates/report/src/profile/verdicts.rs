//! The terminal report on alternating, sampled runs of two programs: the total time, followed by
//! the verdict on every function.
//!
//! Functions are ordered by the change of their time, since that is the usual question. Verdicts
//! and intervals come from `assay_analysis`, where each function is a benchmark.

use super::differential::{Change, Differential, Mark};
use crate::benchmarks::{centres, words};
use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::layout::{Page, Screen, Tone, tone_in_table};
use crate::names::clean;
use crate::number::{self, Column};
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_analysis::Verdict;
use assay_analysis::analysis::Table;
use assay_analysis::{Analysis, Comparison};
use assay_profiles::Profile;
use assay_profiles::runs::{REST, WHOLE};

/// Minimum width of the column of names.
const NARROWEST_NAME: usize = 14;
const WIDEST_NAME: usize = 60;
const WIDEST_SIDE: usize = 14;

/// Renders the verdicts for the terminal. Every line ends with a newline. `top` is the number of
/// functions shown, or 0 for all.
pub fn render(suite: &Analysis, top: usize, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    for (index, table) in suite.primary_tables().enumerate() {
        let table = &table;
        let sure =
            if index == 0 { format!("   ({})", words::sureness(suite)) } else { String::new() };
        page.paragraph(2, &[(Tone::Strong, headline(suite, table)), (Tone::Quiet, sure)]);
        page.gap();
        draw(&mut page, suite, table, top);
    }
    List::of(remarks, &page, suite.findings.iter()).draw_apart(&mut page);
    page.finish()
}

/// Returns the differential flame graph of two programs. Widths are shares of all of a side's runs,
/// and colors are the verdicts on the deciding metric.
pub fn differential<'a>(suite: &Analysis, sides: [&'a Profile; 2]) -> Differential<'a> {
    let mut found = Differential {
        sides,
        names: [suite.sides[0].name.clone(), suite.sides[1].name.clone()],
        claim: String::new(),
        sure: words::sureness(suite),
        about: "color: the change of the function's own time in a run, from wherever it is called"
            .to_owned(),
        doubt: String::new(),
        heads: ["function", &suite.sides[0].name, &suite.sides[1].name, "change", "verdict"]
            .map(clean)
            .to_vec(),
        rows: Vec::new(),
        marks: Vec::new(),
    };
    for table in suite.primary_tables().take(1) {
        let table = &table;
        found.claim = headline(suite, table);
        let unit = &suite.metrics[table.metric].unit;
        for row in ordered(suite, table) {
            let (old, new) = centres(row);
            let column = Column::new(unit, &[old, new], &[]);
            let [old, new] = [old, new].map(|value| words::value(&column, value, unit));
            let name = &suite.row_of(row).name;
            let shift = row.shift.estimate;
            let effect = match words::effect(suite, row, true) {
                none if none.is_empty() => change(row, &column),
                effect => effect,
            };
            let verdict = verdict(suite, row);
            found.rows.push(vec![
                name.clone(),
                old.clone(),
                new.clone(),
                effect.clone(),
                verdict.clone(),
            ]);
            if is_sum(suite, row) {
                continue;
            }
            found.marks.push(Mark {
                change: match row.decision.verdict {
                    Verdict::Slower => Change::More,
                    Verdict::Faster => Change::Less,
                    Verdict::Equivalent => Change::Same,
                    Verdict::Inconclusive => Change::Unknown,
                },
                size: shift.abs(),
                short: match row.ratio {
                    Some(ratio) => format!("×{}", number::fixed(ratio.estimate, 2)),
                    None => change(row, &column),
                },
                told: format!("own time in a run {old} → {new}, ratio {effect}: {verdict}"),
                name: name.clone(),
                // Functions of different runs are matched by name alone.
                file: None,
            });
        }
    }
    found
}

/// Returns a sentence with the numbers of functions that take less, more and the same.
fn headline(suite: &Analysis, table: &Table<'_>) -> String {
    let of = |verdict: Verdict| {
        let own = |row: &&&Comparison| !is_sum(suite, row) && row.decision.verdict == verdict;
        table.rows.iter().filter(own).count()
    };
    let (less, more, same) = (of(Verdict::Faster), of(Verdict::Slower), of(Verdict::Equivalent));
    let all = table.rows.iter().filter(|row| !is_sum(suite, row)).count();
    let functions = |n: usize| {
        if n == 1 { "1 function takes".to_owned() } else { format!("{n} functions take") }
    };
    let mut told = Vec::new();
    if less > 0 {
        told.push(format!("{} less time", functions(less)));
    }
    if more > 0 {
        told.push(format!("{} more", functions(more)));
    }
    if same > 0 {
        told.push(format!("{} the same", functions(same)));
    }
    let told = match told.is_empty() {
        true => format!("no difference was detected in any of {all} functions"),
        false => format!("{} (of {all} that matter)", told.join(", ")),
    };
    format!("{} against {}: {told}", suite.sides[table.side].name, suite.sides[0].name)
}

fn is_sum(suite: &Analysis, row: &Comparison) -> bool {
    let name = suite.row_of(row).name.as_str();
    name == WHOLE || name == REST
}

/// Orders the rows: the total comes first, then the functions by the size of their change in time,
/// and the remainder comes last.
fn ordered<'a>(suite: &Analysis, table: &Table<'a>) -> Vec<&'a Comparison> {
    let mut rows = table.rows.clone();
    let place = |row: &Comparison| match suite.row_of(row).name.as_str() {
        WHOLE => 0,
        REST => 2,
        _ => 1,
    };
    rows.sort_by(|a, b| {
        let size = |row: &Comparison| row.shift.estimate.abs();
        place(a).cmp(&place(b)).then(size(b).total_cmp(&size(a)))
    });
    rows
}

fn draw(page: &mut Page, suite: &Analysis, table: &Table<'_>, top: usize) {
    let mut rows = ordered(suite, table);
    // The total and the remainder are shown in addition to the functions.
    let most = if top == 0 { rows.len() } else { (top + 2).min(rows.len()) };
    let left_out = rows.len() - most;
    rows.truncate(most);
    let names: Vec<String> = rows.iter().map(|row| page.spelled(&suite.row_of(row).name)).collect();
    let unit = &suite.metrics[table.metric].unit;
    let all: Vec<f64> = rows.iter().flat_map(|row| <[f64; 2]>::from(centres(row))).collect();
    let column = Column::new(unit, &all, &[]);
    let heads = [0, table.side]
        .map(|side| page.shortened(&page.spelled(&suite.sides[side].name), WIDEST_SIDE));
    let value = |v: f64| page.spelled(&words::value(&column, v, unit));
    let numbers = |intervals: bool| {
        let effect = |row: &&Comparison| match words::effect(suite, row, intervals) {
            // A function missing on one side has no ratio.
            none if none.is_empty() => page.spelled(&change(row, &column)),
            effect => page.spelled(&effect),
        };
        vec![
            Cells::right(
                &heads[0],
                rows.iter().map(|row| value(centres(row).0)).collect(),
                Tone::Plain,
            ),
            Cells::right(
                &heads[1],
                rows.iter().map(|row| value(centres(row).1)).collect(),
                Tone::Plain,
            ),
            Cells::left("change", rows.iter().map(effect).collect(), Tone::Plain, GAP),
            Cells::toned(
                "",
                rows.iter().map(|row| (tone_in_table(row), verdict(suite, row))).collect(),
                2,
            ),
        ]
    };
    let room = |columns: &[Cells]| {
        page.table_width().checked_sub(width_of(columns)).filter(|&room| room >= NARROWEST_NAME)
    };
    let mut columns = numbers(true);
    if room(&columns).is_none() {
        columns = numbers(false);
    }
    let names = page.fitted(&names, room(&columns).unwrap_or(NARROWEST_NAME).min(WIDEST_NAME));
    columns.insert(0, Cells::left("function", names, Tone::Plain, 0));
    draw_columns(page, &columns, rows.len());
    if rows.iter().any(|row| words::is_starred(row)) {
        page.paragraph(2, &[(Tone::Quiet, words::star(suite))]);
    }
    if left_out > 0 {
        page.paragraph(
            2,
            &[(
                Tone::Quiet,
                format!("and {} (--top 0 shows all)", counted(left_out, "more function")),
            )],
        );
    }
}

fn change(row: &Comparison, column: &Column) -> String {
    let shift = row.shift.estimate;
    let sign = if shift < 0.0 { "-" } else { "+" };
    format!("{sign}{}", column.with_unit(shift.abs()))
}

/// Returns the verdict in a word. A better or worse function is always called "faster" or "slower",
/// whatever the metric.
fn verdict(suite: &Analysis, row: &Comparison) -> String {
    let star = if words::is_starred(row) { "*" } else { "" };
    match row.decision.verdict {
        Verdict::Faster => format!("faster{star}"),
        Verdict::Slower => format!("slower{star}"),
        _ => words::verdict(suite, row),
    }
}
