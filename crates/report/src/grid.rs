//! Columns of cells under headings, from which tables for the terminal are built. This module
//! handles widths and tones, not the content of cells.

use crate::layout::{Line, Page, Tone};
use crate::names::width;

/// Default number of spaces between columns.
pub(crate) const GAP: usize = 3;

/// The cells of one column under its heading. They are right-aligned, except in columns that begin
/// a group.
pub(crate) struct Cells {
    heading: String,
    cells: Vec<(Tone, String)>,
    left: bool,
    /// Number of spaces between this column and the previous one.
    pub gap: usize,
}

impl Cells {
    /// Creates a column of left-aligned cells in one tone. A heading wider than the cells extends
    /// over the following columns.
    pub(crate) fn left(heading: &str, cells: Vec<String>, tone: Tone, gap: usize) -> Self {
        Self::toned(heading, cells.into_iter().map(|cell| (tone, cell)).collect(), gap)
    }

    /// Creates a column of left-aligned cells, each with its own tone.
    pub(crate) fn toned(heading: &str, cells: Vec<(Tone, String)>, gap: usize) -> Self {
        Self { heading: heading.to_owned(), cells, left: true, gap }
    }

    /// Creates a column of right-aligned cells.
    pub(crate) fn right(heading: &str, cells: Vec<String>, tone: Tone) -> Self {
        Self { left: false, ..Self::left(heading, cells, tone, GAP) }
    }

    /// Returns the column with a gap of `gap` spaces before it.
    pub(crate) fn with_gap(self, gap: usize) -> Self {
        Self { gap, ..self }
    }

    /// Returns the width of the column in characters, without its gap.
    pub(crate) fn width(&self) -> usize {
        let widest = self.cells.iter().map(|(_, cell)| width(cell)).max().unwrap_or(0);
        // A left-aligned heading may extend over the columns that follow it.
        if self.left { widest } else { widest.max(width(&self.heading)) }
    }
}

/// Returns the width of every column, computed once because it visits every cell. A left-aligned
/// heading extends over the next column only if that has no heading.
fn widths(columns: &[Cells]) -> Vec<usize> {
    let own = |(index, column): (usize, &Cells)| {
        let beside = columns.get(index + 1).is_some_and(|next| !next.heading.is_empty());
        let heading = if beside { width(&column.heading) } else { 0 };
        column.width().max(heading)
    };
    columns.iter().enumerate().map(own).collect()
}

/// Returns the total width of the columns side by side, including a heading that extends past the
/// last one.
pub(crate) fn width_of(columns: &[Cells]) -> usize {
    let mut place = 0;
    let mut widest = 0;
    for (column, own) in columns.iter().zip(widths(columns)) {
        place += column.gap;
        widest = widest.max(place + own.max(width(&column.heading)));
        place += own;
    }
    widest
}

/// Draws the first `rows` rows of the columns under their headings.
pub(crate) fn draw_columns(page: &mut Page, columns: &[Cells], rows: usize) {
    let widths = widths(columns);
    let mut head = String::new();
    let mut place = 0;
    for (column, own) in columns.iter().zip(&widths) {
        place += column.gap;
        if column.left && width(&head) <= place {
            head += &" ".repeat(place - width(&head));
            head += &column.heading;
        }
        place += own;
        if !column.left {
            let from = place.saturating_sub(width(&column.heading));
            head += &" ".repeat(from.saturating_sub(width(&head)));
            head += &column.heading;
        }
    }
    page.line(&vec![(Tone::Quiet, head)]);
    for row in 0..rows {
        let mut line: Line = Vec::new();
        for (column, own) in columns.iter().zip(&widths) {
            let (tone, cell) = &column.cells[row];
            let room = " ".repeat(own - width(cell));
            let gap = " ".repeat(column.gap);
            if column.left {
                line.push((*tone, format!("{gap}{cell}{room}")));
            } else {
                line.push((*tone, format!("{gap}{room}{cell}")));
            }
        }
        page.line(&line);
    }
}
