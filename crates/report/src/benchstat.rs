//! A comparison in benchstat's layout: medians with the half-width of their intervals, the change
//! in percent or `~`, the p-value of the rank test, and the number of values.
//!
//! The verdicts and intervals are assay's own. Every row without a known direction is marked `~`,
//! regardless of its p-value. The p-value is that of the Mann-Whitney test, or of Wilcoxon's
//! signed-rank test for blocks. It is taken from [`assay_analysis::battery`], which must have been
//! requested.

use crate::benchmarks::{DisplayOptions, centres, ends_of_centres, ordered};
use crate::label::label;
use crate::names::{clean, width};
use crate::number::{self, Column};
use assay_analysis::analysis::Table;
use assay_analysis::battery::PairTests;
use assay_analysis::{Analysis, Comparison, Scale};
use assay_data::Design;

/// Returns the tables of the primary metric. There is one table per side, or one per comparison if
/// there are no benchmarks. Every line ends with a newline.
pub fn render(analysis: &Analysis, shown: DisplayOptions) -> String {
    let mut text = String::new();
    let mut tables: Vec<Table<'_>> = analysis.primary_tables().collect();
    if tables.is_empty() {
        let side = |subject: usize| analysis.subjects[subject].side;
        tables.extend(analysis.comparisons.iter().map(|c| Table {
            metric: c.metric,
            side: side(c.of),
            against: side(c.against),
            rows: vec![c],
            mean: None,
        }));
    }
    for table in tables {
        if !text.is_empty() {
            text.push('\n');
        }
        let rows = ordered(analysis, &table, shown.sort);
        text += &of(analysis, &table, &rows);
    }
    text
}

fn of(analysis: &Analysis, table: &Table<'_>, rows: &[&Comparison]) -> String {
    let unit = &analysis.metrics[table.metric].unit;
    let heads = [table.against, table.side].map(|side| clean(&analysis.sides[side].name));
    let metric = clean(&label(&analysis.metrics[table.metric]));
    let mut lines = vec![
        [String::new(), heads[0].clone(), heads[1].clone(), String::new()],
        [String::new(), metric.clone(), metric, "vs base".to_owned()],
    ];
    let ends = ends_of_centres(rows);
    for row in rows {
        let (old, new) = centres(row);
        let column = Column::for_row(unit, ends, &[old, new], &[]);
        let value = |centre: f64, subject: usize| {
            let around = analysis.primary_of(subject).and_then(|d| d.median_interval);
            let half = around.filter(|i| i.is_bounded() && centre > 0.0).map_or_else(
                || "∞".to_owned(),
                |i| format!("{:.0}%", 100.0 * i.half_width() / centre),
            );
            format!("{} ± {half}", column.with_unit(centre))
        };
        let name = clean(&analysis.row_of(row).name);
        lines.push([name, value(old, row.against), value(new, row.of), change(analysis, row)]);
    }
    if let Some(mean) = table.mean {
        let change = format!("{:+.2}%", 100.0 * (mean.estimate - 1.0));
        lines.push(["geomean".to_owned(), String::new(), String::new(), change]);
    }
    let wide = |column: usize| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0);
    let widths = [wide(0), wide(1), wide(2)];
    let drawn = lines.iter().map(|[name, old, new, change]| {
        let pad = |text: &str, wide: usize| " ".repeat(wide.saturating_sub(width(text)));
        let line = format!(
            "{name}{} │ {}{old} │ {}{new}   {change}",
            pad(name, widths[0]),
            pad(old, widths[1]),
            pad(new, widths[2])
        );
        line.trim_end().to_owned() + "\n"
    });
    drawn.collect()
}

/// Formats the change of a row like `+12.30% (p=0.001 n=10)`, or like `~ (p=0.310 n=10)` if its
/// direction is unknown.
fn change(analysis: &Analysis, row: &Comparison) -> String {
    let place = analysis.comparisons.iter().position(|c| std::ptr::eq(c, row));
    let tests = place.and_then(|place| analysis.battery.as_ref()?.pairs.get(place));
    let n = match row.counts {
        (n, m) if n == m => format!("n={n}"),
        (n, m) => format!("n={n}+{m}"),
    };
    let behind = match tests.and_then(|tests| p_value(row, tests)) {
        Some(p) => format!("(p={} {n})", number::fixed(p, 3)),
        None => format!("({n})"),
    };
    let change = match (row.ratio, row.decision.scale) {
        _ if !row.decision.verdict.is_directional() => "~".to_owned(),
        (Some(ratio), Scale::Ratio) => format!("{:+.2}%", 100.0 * (ratio.estimate - 1.0)),
        _ => number::value(row.shift.estimate, &analysis.metrics[row.metric].unit),
    };
    format!("{change} {behind}")
}

fn p_value(row: &Comparison, tests: &PairTests) -> Option<f64> {
    if row.design == Design::Blocks {
        let ranks = tests.wilcoxon_signed_rank.as_ref().ok()?;
        return Some(ranks.exact.as_ref().map_or(ranks.asymptotic.two, |e| e.p.two));
    }
    let ranks = tests.mann_whitney.as_ref().ok()?;
    Some(ranks.exact.as_ref().map_or(ranks.asymptotic.two, |p| p.two))
}
