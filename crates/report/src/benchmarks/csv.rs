//! A suite as CSV (RFC 4180): one row per benchmark, metric and side, for spreadsheets. Base units, full precision; cells of what is
//! not known are empty.

use super::{centres, parameters, words};
use crate::csv::{number_cell, text_cell};
use assay_analysis::Interval;
use assay_analysis::benchmarks::Benchmarks;

/// The columns, in order; those of parameters stand after the first, as in `parameter_n`.
pub const COLUMNS: [&str; 19] = [
    "benchmark",
    "metric",
    "unit",
    "of",
    "against",
    "n_of",
    "n_against",
    "value_of",
    "value_against",
    "ratio",
    "ratio_lower",
    "ratio_upper",
    "shift",
    "shift_lower",
    "shift_upper",
    "verdict",
    "possibly_below_threshold",
    "level",
    "reason",
];

/// The table with its header; lines end with a line feed. `value_of` and `value_against` are medians, of summaries means.
pub fn render(suite: &Benchmarks) -> String {
    let names = parameters(suite);
    let mut columns = COLUMNS.map(str::to_owned).to_vec();
    columns.splice(1..1, names.iter().map(|name| text_cell(&format!("parameter_{name}"))));
    let mut text = columns.join(",") + "\n";
    for table in &suite.tables {
        let metric = &suite.metrics[table.metric];
        for row in &table.rows {
            let benchmark = &suite.benchmarks[row.benchmark];
            let c = &row.comparison;
            let mut cells = vec![text_cell(&benchmark.name)];
            cells.extend(names.iter().map(|name| {
                let own = benchmark.parameters.iter().find(|(p, _)| p == name);
                own.map_or_else(String::new, |(_, value)| text_cell(value.as_str()))
            }));
            let (x, y) = centres(row);
            let interval = c.ratio.and_then(|ratio| ratio.interval);
            let cell = |interval: Option<Interval>, of: fn(Interval) -> f64| {
                interval.map_or_else(String::new, |i| number_cell(of(i)))
            };
            let count = |n: usize| if n == 0 { String::new() } else { n.to_string() };
            cells.extend([
                text_cell(&metric.name),
                text_cell(metric.unit.symbol()),
                text_cell(&suite.sides[table.side]),
                text_cell(&suite.sides[0]),
                count(c.counts.1),
                count(c.counts.0),
                number_cell(y),
                number_cell(x),
                c.ratio.map_or_else(String::new, |ratio| number_cell(ratio.estimate)),
                cell(interval, |i| i.lower),
                cell(interval, |i| i.upper),
                number_cell(c.shift.estimate),
                cell(c.shift.interval, |i| i.lower),
                cell(c.shift.interval, |i| i.upper),
                c.decision.verdict.word().to_owned(),
                c.decision.possibly_below_threshold.to_string(),
                number_cell(c.level),
                words::reason(&row.comparison)
                    .map_or_else(String::new, |reason| text_cell(&reason)),
            ]);
            text += &(cells.join(",") + "\n");
        }
    }
    text
}
