//! A suite as Markdown, for a pull request: headline, geometric mean, one table for the primary
//! metric, and the differences in other metrics.
//!
//! The text is deliberately short; the CSV has every row. Names may contain any characters and are
//! escaped so that they are not interpreted as Markdown.

use super::{DisplayOptions, centres, ends_of_centres, ordered, words};
use crate::escape::escaped;
use crate::findings;
use crate::number::Column;
use assay_analysis::analysis::Table;
use assay_analysis::{Analysis, Comparison};

/// Maximum number of rows. Longer comments on a pull request are unlikely to be read.
const MOST_ROWS: usize = 60;

/// Returns the suite as Markdown with GitHub's tables. Every line ends with a newline.
pub(crate) fn render(suite: &Analysis, shown: DisplayOptions) -> String {
    let mut text = String::new();
    for (index, table) in suite.primary_tables().enumerate() {
        let table = &table;
        let sure = if index == 0 {
            format!(" ({})", escaped(&words::sureness(suite)))
        } else {
            String::new()
        };
        text += &format!("**{}**{sure}\n\n", escaped(&words::headline(suite, table)));
        for line in words::known(suite, table).into_iter().chain(words::mean(suite, table)) {
            text += &format!("{}\n\n", escaped(&line));
        }
    }
    for table in suite.primary_tables() {
        let table = &table;
        rows(&mut text, suite, table, &ordered(suite, table, shown.sort));
    }
    for table in suite.tables().filter(|table| table.metric != suite.primary) {
        let table = &table;
        let differing: Vec<&Comparison> = ordered(suite, table, shown.sort)
            .into_iter()
            .filter(|r| shown.all_metrics || r.decision.verdict.is_directional())
            .collect();
        if !differing.is_empty() {
            let title = words::title(suite, table);
            text += &format!("{}: {}\n\n", escaped(&title), escaped(&words::counts(suite, table)));
            rows(&mut text, suite, table, &differing);
        }
    }
    for note in words::controls(suite).chain(crate::words::caveats_in_sentences(suite)) {
        text += &format!("{}\n\n", escaped(&note));
    }
    text + &findings::markdown(words::told_once(suite))
}

fn rows(text: &mut String, suite: &Analysis, table: &Table<'_>, rows: &[&Comparison]) {
    let name = escaped(&words::title(suite, table));
    let (old, new) = (escaped(&suite.sides[0].name), escaped(&suite.sides[table.side].name));
    *text += &format!("| {name} | {old} | {new} | change | |\n|:--|--:|--:|:--|:--|\n");
    let unit = &suite.metrics[table.metric].unit;
    let ends = ends_of_centres(rows);
    for row in rows.iter().take(MOST_ROWS) {
        let (x, y) = centres(row);
        let column = Column::for_row(unit, ends, &[x, y], &[]);
        let verdict = words::verdict(suite, row);
        let verdict = if row.decision.verdict.is_directional() {
            format!("**{}**", escaped(&verdict))
        } else {
            escaped(&verdict)
        };
        *text += &format!(
            "| {} | {} | {} | {} | {verdict} |\n",
            escaped(&suite.row_of(row).name),
            words::value(&column, x, unit),
            words::value(&column, y, unit),
            words::effect(suite, row, true)
        );
    }
    if rows.len() > MOST_ROWS {
        *text += &format!("\n... and {} more rows.\n", rows.len() - MOST_ROWS);
    }
    if let Some(note) = words::contradictions(suite, rows) {
        *text += &format!("\n{}\n", escaped(&note));
    }
    if rows.iter().any(|row| words::is_starred(row)) {
        *text += &format!("\n{}\n", escaped(&words::star(suite)));
    }
    *text += "\n";
}
