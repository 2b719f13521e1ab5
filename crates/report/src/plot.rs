//! A scan's curves as character graphics with logarithmic axes, so that a power law is a straight
//! line and a steeper line grows faster. The plot only gives an impression because it shows medians
//! without their uncertainty.

use crate::charts::plain;
use crate::label::label;
use crate::layout::{Line, Page, Tone};
use crate::names::width;
use crate::ticks;
use assay_analysis::{Analysis, Curve};
use assay_data::Unit;

/// Minimum page width for a plot, in columns.
const FROM_WIDTH: usize = 50;
/// Height of the plot without its axes, in lines.
const LINES: usize = 12;
/// Maximum width of the plot without its axes, in columns.
const MOST_COLUMNS: usize = 60;
/// Maximum number of labels on the vertical axis.
const MOST_TICKS: usize = 5;
/// Margin before the first and after the last point, in columns.
const MARGIN: usize = 2;

/// The characters from which a plot is drawn.
struct Signs {
    marks: [char; 6],
    several: char,
    dot: char,
    side: char,
    side_tick: char,
    corner: char,
    base: char,
    base_tick: char,
}

const UNICODE: Signs = Signs {
    marks: ['●', '○', '▲', '△', '■', '□'],
    several: '◆',
    dot: '·',
    side: '│',
    side_tick: '┤',
    corner: '└',
    base: '─',
    base_tick: '┬',
};

const ASCII: Signs = Signs {
    marks: ['o', 'x', '+', '@', '#', '%'],
    several: '*',
    dot: '.',
    side: '|',
    side_tick: '+',
    corner: '+',
    base: '-',
    base_tick: '+',
};

/// Draws the curves of the first parameter, with the other parameters held at their first values.
/// Nothing is drawn if there are no curves or no room.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis) {
    let Some(first) = analysis.curves.first() else { return };
    if page.width() < FROM_WIDTH {
        return;
    }
    let alike = |c: &&Curve| c.parameter == first.parameter && c.fixed == first.fixed;
    let curves: Vec<&Curve> = analysis.curves.iter().filter(alike).collect();
    let metric = &analysis.metrics[analysis.primary];
    let logs = || curves.iter().flat_map(|c| points(c));
    let (Some(x), Some(y)) =
        (Axis::over(logs().map(|(x, _)| x)), Axis::over(logs().map(|(_, y)| y)))
    else {
        return;
    };
    let signs = if page.unicode() { UNICODE } else { ASCII };
    let ticks: Vec<(f64, String)> =
        ticks(&y, &metric.unit).into_iter().map(|(at, text)| (at, page.spelled(&text))).collect();
    let side = ticks.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
    let columns = page.width().saturating_sub(side + 2).min(MOST_COLUMNS);
    let canvas = Canvas::of(&curves, &x, &y, columns, &signs);

    page.gap();
    let heading = page.spelled(&label(metric));
    page.line(&vec![(
        Tone::Quiet,
        format!("{}{heading}", " ".repeat(side.saturating_sub(width(&heading)))),
    )]);
    let rows: Vec<usize> = ticks.iter().map(|(at, _)| LINES - 1 - y.place(*at, LINES, 0)).collect();
    for (row, cells) in canvas.cells.iter().enumerate() {
        let text = rows.iter().position(|&r| r == row).map_or("", |tick| ticks[tick].1.as_str());
        let sign = if text.is_empty() { signs.side } else { signs.side_tick };
        let room = " ".repeat(side - width(text));
        let mut line: Line = vec![(Tone::Quiet, format!("{room}{text} {sign}"))];
        line.extend(cells.iter().map(|&(tone, c)| (tone, c.to_string())));
        page.line(&line);
    }
    base(page, &curves, &x, side, columns, &signs);
    legend(page, analysis, &curves, &canvas, &signs);
}

/// Returns the logarithms of the parameter and of the median at each point where both are finite.
fn points(curve: &Curve) -> impl Iterator<Item = (f64, f64)> + '_ {
    let logs = curve.points.iter().map(|p| (p.value.ln(), p.median.ln()));
    logs.filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// A range of logarithms mapped to columns or lines.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn over(logs: impl Iterator<Item = f64>) -> Option<Self> {
        let range = logs
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        (range.0 <= range.1).then_some(Self { low: range.0, high: range.1 })
    }

    /// Returns the position of a logarithm among `places` positions, keeping `margin` of them free
    /// at either end. If the range is empty, the middle is returned.
    fn place(&self, log: f64, places: usize, margin: usize) -> usize {
        let inner = places.saturating_sub(2 * margin + 1) as f64;
        let share =
            if self.high > self.low { (log - self.low) / (self.high - self.low) } else { 0.5 };
        margin + (share.clamp(0.0, 1.0) * inner).round() as usize
    }
}

/// The plotting area: rows from top to bottom, each cell with its tone.
struct Canvas {
    cells: Vec<Vec<(Tone, char)>>,
    overlaps: bool,
}

impl Canvas {
    fn of(curves: &[&Curve], x: &Axis, y: &Axis, columns: usize, signs: &Signs) -> Self {
        let mut cells = vec![vec![(Tone::Plain, ' '); columns]; LINES];
        let place = |(log_x, log_y): (f64, f64)| {
            (x.place(log_x, columns, MARGIN), LINES - 1 - y.place(log_y, LINES, 0))
        };
        for curve in curves {
            let places: Vec<(usize, usize)> = points(curve).map(place).collect();
            for pair in places.windows(2) {
                let [(left, from), (right, to)] = [pair[0], pair[1]];
                let between = (left + 1..right).map(|column| {
                    let share = (column - left) as f64 / (right - left) as f64;
                    let row = from as f64 + share * (to as f64 - from as f64);
                    (row.round() as usize, column)
                });
                between.for_each(|(row, column)| cells[row][column] = (Tone::Quiet, signs.dot));
            }
        }
        let mut overlaps = false;
        for (index, curve) in curves.iter().enumerate() {
            let mark = mark(signs, index);
            for (column, row) in points(curve).map(place) {
                let cell = &mut cells[row][column];
                let taken = cell.1 != ' ' && cell.1 != signs.dot && cell.1 != mark;
                overlaps |= taken;
                *cell = (Tone::Strong, if taken { signs.several } else { mark });
            }
        }
        Self { cells, overlaps }
    }
}

fn mark(signs: &Signs, index: usize) -> char {
    signs.marks[index % signs.marks.len()]
}

/// Draws the horizontal axis, with as many parameter values as fit below it.
fn base(page: &mut Page, curves: &[&Curve], x: &Axis, side: usize, columns: usize, signs: &Signs) {
    let mut values: Vec<f64> = curves.iter().flat_map(|c| &c.points).map(|p| p.value).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut axis = vec![signs.base; columns];
    let mut below = String::new();
    let mut free = 0;
    for value in values {
        let at = x.place(value.ln(), columns, MARGIN);
        axis[at] = signs.base_tick;
        let text = page.spelled(&plain(value));
        let from = at.saturating_sub(width(&text) / 2);
        if from >= free && from + width(&text) <= columns {
            below += &" ".repeat(from - width(&below));
            below += &text;
            free = from + width(&text) + 2;
        }
    }
    let axis: String = axis.into_iter().collect();
    let room = " ".repeat(side + 1);
    page.line(&vec![(Tone::Quiet, format!("{room}{}{axis}", signs.corner))]);
    page.line(&vec![(Tone::Quiet, format!("{room} {below}"))]);
}

fn legend(page: &mut Page, analysis: &Analysis, curves: &[&Curve], canvas: &Canvas, signs: &Signs) {
    let names: Vec<String> = curves.iter().map(|c| c.command.clone()).collect();
    let names = page.fitted(&names, page.width() / 3);
    let mut entries: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(index, name)| format!("{} {name}", mark(signs, index)))
        .collect();
    entries.extend(canvas.overlaps.then(|| format!("{} several of them", signs.several)));
    let first = curves[0];
    let fixed: Vec<String> = first.fixed.iter().map(|(name, v)| format!("{name} = {v}")).collect();
    let fixed = if fixed.is_empty() { String::new() } else { format!(", at {}", fixed.join(", ")) };
    let metric = label(&analysis.metrics[analysis.primary]);
    let axes = format!("{metric} over {}{fixed}; both axes logarithmic", first.parameter);
    page.paragraph(2, &[(Tone::Plain, entries.join("   ")), (Tone::Quiet, format!("   ({axes})"))]);
}

/// Returns round values within the range of the axis, each as its logarithm and label.
fn ticks(axis: &Axis, unit: &Unit) -> Vec<(f64, String)> {
    let round = ticks::logarithmic(axis.low.exp(), axis.high.exp(), unit, MOST_TICKS);
    round.into_iter().map(|(value, text)| (value.ln(), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_range_are_the_ends_of_the_picture() {
        let axis = Axis { low: 0.0, high: 2.0 };
        assert_eq!([0.0, 1.0, 2.0].map(|log| axis.place(log, 11, 0)), [0, 5, 10]);
        assert_eq!([0.0, 2.0].map(|log| axis.place(log, 11, 2)), [2, 8]);
    }
}
