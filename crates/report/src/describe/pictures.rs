//! Character graphics of one series: density, box plot, cumulative share, course over time and
//! correlogram. Each has an ASCII form. Only shapes are drawn here; the numbers next to them are
//! formatted elsewhere.

use crate::layout::{Page, Tone};
use crate::names::width;
use crate::number::{self, Column};
use assay_analysis::series_summary::{SeriesSummary, Slice};

/// Width of the left margin of every chart, which contains the labels of the vertical axis, in
/// columns.
const MARGIN: usize = 9;
/// Maximum width of a chart in columns. Wider charts are no clearer.
const MOST_COLUMNS: usize = 96;
/// Height of the density, in lines.
const DENSITY_LINES: usize = 6;
/// Height of the cumulative share, in lines.
const ECDF_LINES: usize = 4;
/// Height of the course over time, in lines.
const COURSE_LINES: usize = 8;
/// Height of each half of the correlogram, in lines.
const LAG_LINES: usize = 3;
/// Maximum width of one value in the course of a short series, in columns.
const WIDEST_VALUE: usize = 6;

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_LEVELS: [char; 3] = [' ', '.', '#'];

/// Returns the width of a chart on this page, in columns.
fn columns(page: &Page) -> usize {
    (page.width().saturating_sub(MARGIN + 1)).clamp(8, MOST_COLUMNS)
}

/// Draws a line of a chart with its label on the left.
fn line(page: &mut Page, label: &str, tone: Tone, text: String) {
    let label: String = if width(label) < MARGIN { label.to_owned() } else { String::new() };
    let room = " ".repeat(MARGIN - 1 - width(&label));
    page.line(&vec![(Tone::Quiet, format!("{room}{label} ")), (tone, text)]);
}

/// Returns a bar chart as `lines` lines, from top to bottom. Each column has the given height, from
/// 0 to 1.
fn area(page: &Page, heights: &[f64], lines: usize) -> Vec<String> {
    let levels: &[char] = if page.unicode() { &EIGHTHS } else { &ASCII_LEVELS };
    let most = levels.len() - 1;
    (0..lines)
        .rev()
        .map(|floor| {
            let cell = |height: &f64| {
                let filled = (height * lines as f64 - floor as f64).clamp(0.0, 1.0);
                // Nonzero heights are visible on the lowest line.
                let seen = usize::from(floor == 0 && *height > 0.0);
                levels[((filled * most as f64).round() as usize).max(seen)]
            };
            heights.iter().map(cell).collect()
        })
        .collect()
}

/// Returns the value in the middle of a column.
fn value_at(p: &SeriesSummary, column: usize, columns: usize) -> f64 {
    p.shape.low + (p.shape.high - p.shape.low) * (column as f64 + 0.5) / columns as f64
}

/// Returns the column that contains a value, or `None` if it is outside the chart.
fn column_of(p: &SeriesSummary, value: f64, columns: usize) -> Option<usize> {
    let place = (value - p.shape.low) / (p.shape.high - p.shape.low);
    (0.0..=1.0).contains(&place).then(|| ((place * columns as f64) as usize).min(columns - 1))
}

/// Draws the smoothed density, or the distinct values if there are few.
pub(super) fn density(page: &mut Page, p: &SeriesSummary) {
    let Some(density) = &p.shape.density else { return repeated(page, p) };
    let columns = columns(page);
    let last = density.x.len() - 1;
    let at = |column: usize| {
        let place = (value_at(p, column, columns) - density.x[0]) / density.spacing();
        density.y[(place.round().max(0.0) as usize).min(last)]
    };
    let heights: Vec<f64> = (0..columns).map(at).collect();
    let most = heights.iter().copied().fold(0.0, f64::max);
    let scaled: Vec<f64> =
        heights.iter().map(|h| if most > 0.0 { h / most } else { 0.0 }).collect();
    for text in area(page, &scaled, DENSITY_LINES) {
        line(page, "", Tone::Plain, text);
    }
}

fn repeated(page: &mut Page, p: &SeriesSummary) {
    let counts = &p.shape.counts;
    let mut heights = vec![0.0; columns(page)];
    let columns = heights.len();
    for (bin, count) in counts.iter().enumerate() {
        heights[bin * columns / counts.len()] += f64::from(*count);
    }
    let most = heights.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        heights.iter_mut().for_each(|height| *height /= most);
        for text in area(page, &heights, DENSITY_LINES) {
            line(page, "", Tone::Plain, text);
        }
    }
}

/// Draws the box from quartile to quartile with the median, and whiskers up to the inner fences.
pub(super) fn box_plot(page: &mut Page, p: &SeriesSummary) {
    let columns = columns(page);
    let d = &p.descriptives;
    let [whisker, end, left, right, middle, inside, beyond] = if page.unicode() {
        ['─', '│', '▐', '▌', '┃', '▒', '×']
    } else {
        ['-', '|', '[', ']', '|', '=', 'x']
    };
    let mut text = vec![' '; columns];
    let place = |v: f64| column_of(p, v.clamp(p.shape.low, p.shape.high), columns).unwrap_or(0);
    let (from, to) = (place(d.min.max(p.outliers.inner.0)), place(d.max.min(p.outliers.inner.1)));
    text[from..=to].fill(whisker);
    (text[from], text[to]) = (end, end);
    let (q1, q3) = (place(d.p25), place(d.p75));
    text[q1..=q3].fill(inside);
    (text[q1], text[q3]) = (left, right);
    text[place(d.median)] = middle;
    for (_, value) in &p.outliers.farthest {
        if let Some(at) = column_of(p, *value, columns).filter(|at| !(from..=to).contains(at)) {
            text[at] = beyond;
        }
    }
    line(page, "", Tone::Plain, text.into_iter().collect());
}

/// Draws the labels below a chart of the distribution, at its ends and in its middle.
pub(super) fn axis(page: &mut Page, p: &SeriesSummary, column: &Column) {
    let columns = columns(page);
    let ends = [p.shape.low, (p.shape.low + p.shape.high) / 2.0, p.shape.high];
    let [low, middle, high] = ends.map(|v| page.spelled(&column.with_unit(v)));
    let mut text = low.clone();
    let middle_from = (columns / 2).saturating_sub(width(&middle) / 2);
    if middle_from > width(&low) + 1 && middle_from + width(&middle) + 1 + width(&high) < columns {
        text += &" ".repeat(middle_from - width(&text));
        text += &middle;
    }
    let high_from = columns.saturating_sub(width(&high));
    text += &" ".repeat(high_from.saturating_sub(width(&text)).max(1));
    text += &high;
    line(page, "", Tone::Quiet, text);
}

/// Draws the cumulative share of the values.
pub(super) fn ecdf(page: &mut Page, p: &SeriesSummary) {
    let columns = columns(page);
    let n = p.description.n as f64;
    let bins = p.shape.counts.len();
    let upto = |column: usize| {
        // Up to the right edge of the column.
        let whole = (column + 1) * bins / columns;
        let counted: u64 = p.shape.counts[..whole].iter().map(|&c| u64::from(c)).sum();
        (counted as f64 + p.shape.below as f64) / n
    };
    let heights: Vec<f64> = (0..columns).map(upto).collect();
    for (index, text) in area(page, &heights, ECDF_LINES).into_iter().enumerate() {
        let label = ["100 %", "75 %", "50 %", "25 %"][index % ECDF_LINES];
        line(page, label, Tone::Plain, text);
    }
}

/// Merges several slices into one column of the chart.
fn joined(slices: &[Slice]) -> Slice {
    let mut medians: Vec<f64> = slices.iter().map(|s| s.median).collect();
    medians.sort_by(f64::total_cmp);
    Slice {
        begin: slices[0].begin,
        end: slices[slices.len() - 1].end,
        min: slices.iter().map(|s| s.min).fold(f64::INFINITY, f64::min),
        median: medians[medians.len() / 2],
        max: slices.iter().map(|s| s.max).fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Draws the range of every section with its median, and below it where the series changed.
pub(super) fn over_time(page: &mut Page, p: &SeriesSummary, column: &Column) {
    // A short series is widened so that its steps are visible.
    let stretch = (columns(page) / p.over_time.len()).clamp(1, WIDEST_VALUE);
    let columns = columns(page).min(p.over_time.len());
    let [band, dot, mark, over, under] = if page.unicode() {
        ['░', '━', '↑', '▲', '▼']
    } else {
        [':', 'o', '^', '^', 'v']
    };
    let slices: Vec<Slice> = (0..columns)
        .map(|c| {
            joined(
                &p.over_time
                    [c * p.over_time.len() / columns..(c + 1) * p.over_time.len() / columns],
            )
        })
        .collect();
    let (low, high) = (p.shape.low, p.shape.high);
    let row_of = |v: f64| {
        let place = ((v - low) / (high - low) * COURSE_LINES as f64).floor();
        place.clamp(0.0, COURSE_LINES as f64 - 1.0) as usize
    };
    for row in (0..COURSE_LINES).rev() {
        let cell = |s: &Slice| {
            if row == row_of(s.median) {
                dot
            } else if row + 1 == COURSE_LINES && s.max > high {
                over
            } else if row == 0 && s.min < low {
                under
            } else if (row_of(s.min)..=row_of(s.max)).contains(&row) {
                band
            } else {
                ' '
            }
        };
        let label = match row {
            0 => page.spelled(&column.number(low)),
            _ if row + 1 == COURSE_LINES => page.spelled(&column.number(high)),
            _ => String::new(),
        };
        let text = slices.iter().flat_map(|s| std::iter::repeat_n(cell(s), stretch)).collect();
        line(page, &label, Tone::Plain, text);
    }
    let mut marks = vec![' '; columns * stretch];
    let changes = p.stability.steady.iter().flat_map(|s| s.parts.iter().skip(1));
    for part in changes {
        if let Some(at) = slices.iter().position(|s| s.end > part.start) {
            marks[at * stretch] = mark;
        }
    }
    let columns = columns * stretch;
    if marks.contains(&mark) {
        line(page, "", Tone::Unsure, marks.into_iter().collect());
    }
    let last = p.description.n.to_string();
    let text = if columns > 1 + last.len() + 1 {
        format!("1{}{last}", " ".repeat(columns - 1 - last.len()))
    } else {
        format!("1 to {last}")
    };
    line(page, "", Tone::Quiet, text);
}

/// Draws autocorrelations up and down from a middle line, with the bounds for independent values.
pub(super) fn correlogram(page: &mut Page, p: &SeriesSummary) {
    let acf = &p.correlation.acf;
    let bound = p.correlation.bound;
    if acf.iter().any(|r| r.is_nan()) || acf.is_empty() {
        return;
    }
    let wide = if columns(page) >= 2 * acf.len() { 2 } else { 1 };
    let acf: Vec<f64> = acf.iter().copied().take(columns(page) / wide).collect();
    let scale = acf.iter().fold(bound, |m: f64, r| m.max(r.abs())).max(1e-9);
    let [full, half_down, limit, axis] =
        if page.unicode() { ['█', '▀', '┄', '─'] } else { ['#', '\'', '.', '-'] };
    let cell_size = scale / LAG_LINES as f64;
    let bound_line = ((bound / cell_size) as usize).min(LAG_LINES - 1);
    let levels: &[char] = if page.unicode() { &EIGHTHS } else { &ASCII_LEVELS };
    let drawn = |row: usize, up: bool| -> String {
        let cell = |r: &f64| {
            let size = if up { *r } else { -r };
            let filled = ((size - row as f64 * cell_size) / cell_size).clamp(0.0, 1.0);
            let sign = if up {
                levels[(filled * (levels.len() - 1) as f64).round() as usize]
            } else if filled >= 0.75 {
                full
            } else if filled >= 0.25 {
                half_down
            } else {
                ' '
            };
            let empty = if row == bound_line { limit } else { ' ' };
            let sign = if sign == ' ' { empty } else { sign };
            let gap = if wide == 2 { empty } else { sign };
            [sign, gap].into_iter().take(wide).collect::<String>()
        };
        acf.iter().map(cell).collect()
    };
    let shown = |sign: &str, size: f64| {
        format!("{sign}{}", number::fixed(size, number::decimals_for(size, 1).clamp(2, 5)))
    };
    let end = |size: fn(f64) -> f64| acf.iter().map(|&r| size(r)).fold(0.0, f64::max);
    let label = |row: usize, sign: &str| {
        // The largest bar sets the scale. Its label is at the end of the axis towards which it
        // points.
        let largest = if sign == "+" { end(|r| r) } else { end(|r| -r) };
        if row == bound_line {
            shown(sign, bound)
        } else if row + 1 == LAG_LINES && largest > bound && largest >= scale {
            shown(sign, largest)
        } else {
            String::new()
        }
    };
    for row in (0..LAG_LINES).rev() {
        line(page, &label(row, "+"), Tone::Plain, drawn(row, true));
    }
    line(page, "0", Tone::Quiet, axis.to_string().repeat(acf.len() * wide));
    for row in 0..LAG_LINES {
        line(page, &label(row, "-"), Tone::Plain, drawn(row, false));
    }
    let last = acf.len().to_string();
    let room = (acf.len() * wide).saturating_sub(1 + last.len());
    line(page, "", Tone::Quiet, format!("1{}{last}", " ".repeat(room.max(1))));
}
