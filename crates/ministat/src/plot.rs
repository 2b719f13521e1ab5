//! The plot. Each column stands for an equal part of the axis, and the points in that part are
//! stacked. A bar below shows the average, the median and the deviation.
//!
//! Some quirks are reproduced. If sets share a cell, its symbol is that of the bitwise OR of their
//! numbers. The height in use is that of the latest set: a later, lower set cuts off the upper rows
//! of earlier sets, and a still later, higher one restores these rows but not their contents. The
//! original keeps a grid of cells. This implementation stores the columns that each set fills, and
//! their heights. What remains of a set is then the part below the lowest height in use from that
//! set to the last, and memory does not depend on width and height.

use crate::complaint::Complaint;
use crate::dataset::{Dataset, SYMBOLS};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Initial bound of the axis, before any value is included. Sets that lie entirely beyond it get a
/// wrong edge.
const EDGE: f64 = 9.99e101;

/// Maximum number of cells that are assembled before they are written.
const WINDOW: i64 = 1 << 16;

/// Maps values to columns.
#[derive(Clone, Copy, Debug)]
struct Axis {
    lowest: f64,
    highest: f64,
    width: i64,
}

/// Vertically adjacent cells of a column that one set fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stack {
    column: i64,
    /// The lowest filled row; the bottom row of the plot is 1.
    from: i64,
    /// The highest filled row, inclusive.
    to: i64,
}

/// A line with averages, medians and deviations of one or all sets.
#[derive(Clone, Debug, Default)]
struct Bar {
    marks: BTreeMap<i64, u8>,
    /// First and last column of each stroke. Marks are drawn over strokes.
    strokes: Vec<(i64, i64)>,
}

/// The contents of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    width: i64,
    /// Number of rows plus one.
    height: i64,
    /// Stacks of each set, by column.
    stacks: Vec<Vec<Stack>>,
    bars: Vec<Bar>,
    has_span: bool,
}

impl Axis {
    fn take_in(&mut self, value: f64) {
        // A NaN satisfies neither condition.
        if value < self.lowest {
            self.lowest = value;
        }
        if value > self.highest {
            self.highest = value;
        }
    }

    /// Returns the column of a value. If rounding places the value one cell outside the plot, it
    /// stays there. Returns an error where the original crashes: if the value is farther outside,
    /// or there is no such column.
    fn column(&self, value: f64) -> Result<i64, Complaint> {
        #[expect(clippy::cast_precision_loss, reason = "a width has 32 bits")]
        let step = (self.highest - self.lowest) / (self.width as f64 - 1.0);
        let left = self.lowest - 0.5 * step;
        let column = (value - left) / step;
        #[expect(clippy::cast_precision_loss, reason = "a width has 32 bits")]
        if column > -2.0 && column < self.width as f64 + 1.0 {
            #[expect(clippy::cast_possible_truncation, reason = "the cut is what is wanted")]
            return Ok(column as i64);
        }
        Err(Complaint::NoPlot(if self.width == 1 {
            "a plot of one column has no scale; give a larger width with -w, or -A for no plot"
                .to_owned()
        } else if self.width < 0 {
            "the width is negative; give one with -w, or -A for no plot".to_owned()
        } else {
            "a number, or a square of one, is too large, too close to the others, or none at all; -A shows the table alone"
                .to_owned()
        }))
    }
}

/// Returns the columns that contain points, with the number of points in each. The points must be
/// sorted.
fn heights(points: &[f64], axis: &Axis) -> Result<Vec<(i64, i64)>, Complaint> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for &point in points {
        let column = axis.column(point)?;
        match found.last_mut() {
            Some((last, count)) if *last == column => *count += 1,
            _ => found.push((column, 1)),
        }
    }
    Ok(found)
}

impl Bar {
    fn add(&mut self, set: &Dataset, axis: &Axis) -> Result<(), Complaint> {
        if !set.deviation.is_nan() {
            let from = axis.column(set.average - set.deviation)?;
            let to = axis.column(set.average + set.deviation)?;
            self.marks.extend([(to, b'|'), (from, b'|')]);
            self.strokes.push((from + 1, to - 1));
        }
        self.marks.insert(axis.column(set.median)?, b'M');
        self.marks.insert(axis.column(set.average)?, b'A');
        Ok(())
    }

    /// Draws the part of the bar from column `from` on.
    fn draw(&self, from: i64, cells: &mut [u8]) {
        cells.fill(b' ');
        let place = |column: i64| usize::try_from(column - from).unwrap_or_default();
        let end = from + i64::try_from(cells.len()).unwrap_or(i64::MAX);
        for &(first, last) in &self.strokes {
            let (first, last) = (first.max(from), last.min(end - 1));
            if first <= last {
                cells[place(first)..=place(last)].fill(b'_');
            }
        }
        for (column, mark) in self.marks.range(from..end) {
            cells[place(*column)] = *mark;
        }
    }
}

impl Plot {
    /// Lays out the plot of these sets. O(points).
    ///
    /// # Errors
    ///
    /// Returns an error where the original is killed by a signal: if the width is too small, a
    /// value is infinite, or there are more than 2^31 cells.
    pub(crate) fn of(
        sets: &[Dataset],
        width: i32,
        has_separate_bars: bool,
    ) -> Result<Self, Complaint> {
        let mut axis = Axis { lowest: EDGE, highest: -EDGE, width: i64::from(width) };
        for set in sets {
            for value in [
                set.smallest(),
                set.largest(),
                set.average - set.deviation,
                set.average + set.deviation,
            ] {
                axis.take_in(value);
            }
        }
        let mut plot = Self {
            width: axis.width,
            height: 0,
            stacks: Vec::new(),
            bars: Vec::new(),
            has_span: axis.highest != axis.lowest,
        };
        if !plot.has_span {
            return Ok(plot);
        }
        let mut tops = Vec::new();
        plot.bars.push(Bar::default());
        for (place, set) in sets.iter().enumerate() {
            let filled = heights(&set.points, &axis)?;
            let top = 1 + filled.iter().map(|(_, count)| *count).max().unwrap_or_default();
            if top.saturating_mul(axis.width) > i64::from(i32::MAX) {
                return Err(Complaint::NoPlot(format!(
                    "{width} columns and {} rows are more than 2147483647 cells; give a smaller width with -w, or -A for no plot",
                    top - 1
                )));
            }
            if axis.width == 0 && tops.last().is_some_and(|last| top > *last) {
                return Err(Complaint::NoPlot(
                    "a plot without columns can't grow; give a larger width with -w, or -A for no plot"
                        .to_owned(),
                ));
            }
            tops.push(top);
            plot.stacks.push(stacks_of(&filled, axis.width, top));
            if has_separate_bars && place > 0 {
                plot.bars.push(Bar::default());
            }
            if let Some(bar) = plot.bars.last_mut() {
                bar.add(set, &axis)?;
            }
        }
        // Only the part of a set that is visible at the end is kept; see the module documentation.
        let mut lowest = i64::MAX;
        for (stacks, top) in plot.stacks.iter_mut().zip(&tops).rev() {
            lowest = lowest.min(*top);
            for stack in &mut *stacks {
                stack.to = stack.to.min(lowest - 1);
            }
            stacks.retain(|stack| stack.from <= stack.to);
        }
        plot.height = tops.last().copied().unwrap_or_default();
        Ok(plot)
    }

    /// Writes the plot.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.has_span {
            return out.write_all(b"[no plot, span is zero width]\n");
        }
        let edge = |out: &mut dyn Write| self.line(out, b'+', |_, cells| cells.fill(b'-'));
        edge(out)?;
        for row in (1..self.height).rev() {
            self.line(out, b'|', |from, cells| self.draw_row(row, from, cells))?;
        }
        for bar in &self.bars {
            self.line(out, b'|', |from, cells| bar.draw(from, cells))?;
        }
        edge(out)
    }

    /// Writes a line between two borders, up to [`WINDOW`] cells at a time.
    fn line(
        &self,
        out: &mut dyn Write,
        border: u8,
        draw: impl Fn(i64, &mut [u8]),
    ) -> io::Result<()> {
        let mut cells = Vec::new();
        out.write_all(&[border])?;
        let mut from = 0;
        while from < self.width {
            let length = WINDOW.min(self.width - from);
            cells.resize(usize::try_from(length).unwrap_or_default(), 0);
            draw(from, &mut cells);
            out.write_all(&cells)?;
            from += length;
        }
        out.write_all(&[border, b'\n'])
    }

    fn draw_row(&self, row: i64, from: i64, cells: &mut [u8]) {
        cells.fill(0);
        let end = from + i64::try_from(cells.len()).unwrap_or(i64::MAX);
        for (number, stacks) in (1_u8..).zip(&self.stacks) {
            let first = stacks.partition_point(|stack| stack.column < from);
            for stack in stacks[first..].iter().take_while(|stack| stack.column < end) {
                if (stack.from..=stack.to).contains(&row) {
                    cells[usize::try_from(stack.column - from).unwrap_or_default()] |= number;
                }
            }
        }
        for cell in cells {
            *cell = SYMBOLS[usize::from(*cell)];
        }
    }
}

/// Returns the cells that a set fills, by column. In the original's grid, the cell to the right of
/// the last one is the first cell of the row above, and the cell to the left of the first one is
/// the last cell of the row below.
fn stacks_of(heights: &[(i64, i64)], width: i64, top: i64) -> Vec<Stack> {
    let mut stacks: Vec<Stack> = heights
        .iter()
        .map(|&(column, count)| match column {
            _ if column < 0 => Stack { column: column + width, from: 0, to: count - 1 },
            // The grid ends below the row that the highest column would reach.
            _ if column >= width => {
                Stack { column: column - width, from: 2, to: (count + 1).min(top - 1) }
            }
            _ => Stack { column, from: 1, to: count },
        })
        .collect();
    // The sort is stable, and the stacks are nearly sorted.
    stacks.sort_by_key(|stack| stack.column);
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flavour;
    use proptest::prelude::*;

    fn set(points: &[f64]) -> Dataset {
        Dataset::new(Vec::new(), points.to_vec(), Flavour::Of2025)
    }

    fn drawn(sets: &[Dataset], width: i32) -> String {
        let mut out = Vec::new();
        Plot::of(sets, width, false).unwrap().write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Returns the plot as the original stores it: a grid of consecutive cells.
    fn rows_of_a_grid(sets: &[Dataset], width: i32) -> Vec<String> {
        let mut axis = Axis { lowest: EDGE, highest: -EDGE, width: i64::from(width) };
        for set in sets {
            let (low, high) = (set.average - set.deviation, set.average + set.deviation);
            [set.smallest(), set.largest(), low, high].into_iter().for_each(|v| axis.take_in(v));
        }
        let width = usize::try_from(width).unwrap();
        let (mut grid, mut height) = (Vec::new(), 0);
        for (number, set) in (1_u8..).zip(sets) {
            let columns: Vec<_> = set.points.iter().map(|p| axis.column(*p).unwrap()).collect();
            let mut top = 0;
            for run in columns.chunk_by(|a, b| a == b) {
                top = top.max(run.len() + 1);
            }
            if top > height {
                grid.resize(top * width, 0);
                grid[height * width..].fill(0);
            }
            height = top;
            for run in columns.chunk_by(|a, b| a == b) {
                for row in 1..=run.len() {
                    let place = i64::try_from(row * width).unwrap() + run[0];
                    if let Some(cell) = grid.get_mut(usize::try_from(place).unwrap()) {
                        *cell |= number;
                    }
                }
            }
        }
        let row = |row: usize| grid[row * width..(row + 1) * width].iter();
        (1..height)
            .rev()
            .map(|r| row(r).map(|cell| char::from(SYMBOLS[usize::from(*cell)])).collect())
            .collect()
    }

    #[test]
    fn what_has_no_plot_says_so_instead_of_dying() {
        let sets = [set(&[1.0, 2.0, 3.0])];
        let why = |sets: &[Dataset], width| match Plot::of(sets, width, false) {
            Err(Complaint::NoPlot(why)) => why,
            other => unreachable!("{other:?}"),
        };
        assert!(why(&sets, 1).contains("one column"));
        assert!(why(&sets, -1).contains("negative"));
        assert!(why(&[set(&[1.0, 2.0, 3.0]), set(&[4.0; 5])], 0).contains("without columns"));
        assert!(why(&sets, i32::MAX).contains("cells"));
        assert!(why(&[set(&[1e200, 2e200, 3e200])], 40).contains("too large"));
        assert_eq!(drawn(&[set(&[1.0; 3])], 1), "[no plot, span is zero width]\n");
    }

    proptest! {
        #[test]
        fn stacks_give_the_rows_of_the_original_s_grid(
            sets in proptest::collection::vec(proptest::collection::vec(0_u8..30, 3..40), 1..8),
            width in 2..40_i32,
        ) {
            let sets: Vec<_> = sets.iter().map(|points| {
                set(&points.iter().map(|p| f64::from(*p)).collect::<Vec<_>>())
            }).collect();
            let text = drawn(&sets, width);
            prop_assume!(!text.starts_with('['));
            let rows = rows_of_a_grid(&sets, width);
            let shown = text.lines().skip(1).take(rows.len()).map(|line| &line[1..line.len() - 1]);
            prop_assert!(shown.eq(rows.iter().map(String::as_str)), "{}", text);
        }
    }
}
