//! Small tables, with a name on the left and numbers on the right. If a row does not fit, its
//! numbers are placed below its name. If they still do not fit, each number is placed on its own
//! line, after its heading.
//!
//! They are used in all terminal reports except the comparison, which has its own table. This
//! module is independent of the contents of the cells.

use crate::layout::{Line, Page, Tone};
use crate::names::width;

/// Number of spaces between two numbers.
const GAP: usize = 2;

/// Draws the rows below their headings, each row in its tone. Every row has as many cells as there
/// are headings.
pub(crate) fn draw<R: AsRef<[String]>>(
    page: &mut Page,
    head: &[String],
    rows: &[R],
    tones: &[Tone],
) {
    let cells = |row: &[String]| -> Vec<String> { row.iter().map(|c| page.spelled(c)).collect() };
    let head = cells(head);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row.as_ref())).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let of = |row: &Vec<String>| row.get(column).map_or(0, |cell| width(cell));
            rows.iter().map(of).max().unwrap_or(0).max(width(&head[column]))
        })
        .collect();
    let numbers: usize = widths[1..].iter().map(|w| w + GAP).sum();
    let folded = 2 + widths[0] + numbers > page.table_width();
    let begins = if folded { 4 } else { 2 + widths[0] };
    if begins + numbers > page.table_width() {
        return list(page, &head, &rows, tones);
    }
    let numbered = |row: &[String]| -> String {
        row.iter().zip(&widths).skip(1).map(|(c, w)| " ".repeat(GAP + w - width(c)) + c).collect()
    };
    let lines = std::iter::once((&head, Tone::Quiet)).chain(rows.iter().zip(tones.iter().copied()));
    for (row, tone) in lines {
        let name = &row[0];
        if folded {
            page.line(&vec![(tone, format!("  {name}"))]);
        }
        let begin = if folded {
            " ".repeat(begins)
        } else {
            format!("  {name}{}", " ".repeat(widths[0] - width(name)))
        };
        let line: Line = vec![(tone, begin), (tone, numbered(row))];
        page.line(&line);
    }
}

/// Draws every number on its own line.
fn list(page: &mut Page, head: &[String], rows: &[Vec<String>], tones: &[Tone]) {
    for (row, &tone) in rows.iter().zip(tones) {
        page.paragraph(4, &[(tone, format!("  {}", row[0]))]);
        for (head, cell) in head.iter().zip(row).skip(1) {
            page.paragraph(6, &[(tone, format!("    {head}: {cell}"))]);
        }
    }
}
