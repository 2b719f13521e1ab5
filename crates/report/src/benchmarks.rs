//! Output for a suite of benchmarks: screen, JSON, CSV, Markdown, HTML page and forest plot.
//!
//! Each side has one headline, followed by a row per benchmark, most important first. Findings
//! shared by many rows are reported once. Nothing is decided here: verdicts, intervals and findings
//! come from the analysis.

pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod screen;
pub mod toggles;
pub(crate) mod words;

use crate::number;
use crate::remarks::Remarks;
use assay_analysis::Verdict;
use assay_analysis::analysis::Table;
use assay_analysis::{Analysis, Comparison, Role};

/// Order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Most important first: known differences by size, then differences possibly below the
    /// threshold, then undecided rows, then equivalent ones.
    #[default]
    Effect,
    /// By name; numbers within names are compared numerically.
    Name,
    /// By position in the reference's file.
    File,
}

/// Display options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisplayOptions {
    /// The order of the rows.
    pub sort: Sort,
    /// If true, every row of every metric is shown. If false, metrics other than the primary one
    /// show only rows that differ.
    pub all_metrics: bool,
    /// Amount of remarks on a screen. Documents always contain all of them.
    pub remarks: Remarks,
}

/// Returns the rows of a table in the given order. O(n log n).
pub(crate) fn ordered<'a>(suite: &Analysis, table: &Table<'a>, sort: Sort) -> Vec<&'a Comparison> {
    let mut rows = table.rows.clone();
    match sort {
        Sort::File => {}
        Sort::Name => rows.sort_by(|a, b| natural(&suite.row_of(a).name, &suite.row_of(b).name)),
        Sort::Effect => {
            let best = most_telling(suite, table.metric);
            let key = |row: &Comparison| {
                let known = best.get(suite.subjects[row.of].row).copied().flatten();
                known.unwrap_or((u8::MAX, 0.0))
            };
            rows.sort_by(|a, b| before(key(a), key(b)));
        }
    }
    rows
}

/// Maximum number of rows with pictures of their own on an HTML page. More pictures would make the
/// page slow to open.
const MOST_PICTURED: usize = 30;

/// Returns the comparisons of the primary metric whose values are drawn on an HTML page, most
/// informative first. Comparisons of summaries are left out, since they have no values to draw. O(n
/// log n).
pub fn pictured(suite: &Analysis) -> Vec<&Comparison> {
    let has_values =
        |c: &&Comparison| [c.of, c.against].iter().all(|&s| suite.primary_of(s).is_some());
    let mut rows: Vec<&Comparison> = suite.comparisons.iter().filter(has_values).collect();
    rows.sort_by(|a, b| before((rank(a), size(a)), (rank(b), size(b))));
    rows.truncate(MOST_PICTURED);
    rows
}

/// Returns the sort key of the most informative comparison of every benchmark over all sides. All
/// tables of one metric thus share one order and can be read side by side. O(comparisons).
fn most_telling(suite: &Analysis, metric: usize) -> Vec<Option<(u8, f64)>> {
    let mut best = vec![None; suite.rows.len()];
    let tables = suite.tables().filter(|table| table.metric == metric);
    for row in tables.flat_map(|table| table.rows) {
        let own = (rank(row), size(row));
        let known = &mut best[suite.subjects[row.of].row];
        if known.is_none_or(|known| before(own, known).is_lt()) {
            *known = Some(own);
        }
    }
    best
}

/// Compares the sort keys of two rows: first by rank, then by size, largest first.
fn before(a: (u8, f64), b: (u8, f64)) -> std::cmp::Ordering {
    a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
}

fn rank(row: &Comparison) -> u8 {
    let d = &row.decision;
    match d.verdict {
        _ if row.role == Role::Control => 5,
        Verdict::Faster | Verdict::Slower => u8::from(d.possibly_below_threshold),
        Verdict::Inconclusive => 2 + u8::from(d.interval.is_none()),
        Verdict::Equivalent => 4,
    }
}

fn size(row: &Comparison) -> f64 {
    match row.ratio {
        Some(ratio) if ratio.estimate > 0.0 => ratio.estimate.ln().abs(),
        // A difference without a ratio cannot be compared with ratios, so it sorts first.
        _ if row.shift.estimate.is_finite() => f64::INFINITY,
        _ => 0.0,
    }
}

/// Compares names, with the numbers embedded in them compared by value: `n:2` sorts before `n:16`.
fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut x, mut y) = (a, b);
    while !x.is_empty() && !y.is_empty() {
        let (px, rx) = piece(x);
        let (py, ry) = piece(y);
        let order = match (px.parse::<u64>(), py.parse::<u64>()) {
            (Ok(m), Ok(n)) => m.cmp(&n),
            _ => px.cmp(py),
        };
        if order.is_ne() {
            return order;
        }
        (x, y) = (rx, ry);
    }
    x.len().cmp(&y.len()).then_with(|| a.cmp(b))
}

/// Splits off the leading run of digits or of non-digits.
fn piece(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns the centers of both sides of a row, the reference's first: medians, or means for
/// summaries. If one kind is not available, the other is used.
pub(crate) fn centres(row: &Comparison) -> (f64, f64) {
    let c = &row;
    let or = |median: f64, mean: f64| if median.is_finite() { median } else { mean };
    if c.basis == assay_analysis::Basis::Summary {
        (or(c.means.0, c.medians.0), or(c.means.1, c.medians.1))
    } else {
        (or(c.medians.0, c.means.0), or(c.medians.1, c.means.1))
    }
}

/// Returns the smallest and the largest center in the rows of a table, which determine its scale.
pub(crate) fn ends_of_centres(rows: &[&Comparison]) -> [f64; 2] {
    let all: Vec<f64> = rows.iter().flat_map(|row| <[f64; 2]>::from(centres(row))).collect();
    number::ends(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_names_are_sorted_by_their_value() {
        let mut names = ["n:16", "n:2", "n:2/m", "a", "n:10", "b"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "b", "n:2", "n:2/m", "n:10", "n:16"]);
    }
}
