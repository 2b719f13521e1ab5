//! Renders the result as CSV (RFC 4180) for spreadsheets, with one line for each combination of
//! metric, side and row (benchmark). Runs, scans and suites have the same columns.
//!
//! Values are in base units with full precision, and cells of unknown values are empty. Individual
//! observations are a separate table, which the data crate exports.

use crate::benchmarks::words::reason;
use crate::scan;
use assay_analysis::{Analysis, Comparison, Description, Interval};
use std::collections::HashMap;

/// The columns in order. Columns for parameters, with names such as `parameter_n`, are inserted
/// after the second one.
pub const COLUMNS: [&str; 23] = [
    "side",
    "row",
    "metric",
    "unit",
    "n",
    "median",
    "lower",
    "upper",
    "mean",
    "sd",
    "min",
    "max",
    "against",
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

/// Renders the table with its header. Lines end with a line feed.
///
/// `lower` and `upper` bound the median. Ratio, shift, verdict, level and the reason for a missing
/// interval refer to the comparison with the side named in `against` (in a scan, the subject), and
/// are empty for a reference. Cells of parameters that a subject lacks are empty.
pub fn render(analysis: &Analysis) -> String {
    let parameters = scan::parameters(analysis);
    let names = parameters.iter().map(|name| text_cell(&format!("parameter_{name}")));
    let mut columns = COLUMNS.map(str::to_owned).to_vec();
    columns.splice(2..2, names);
    let mut text = columns.join(",") + "\n";
    let all = || analysis.comparisons.iter().chain(&analysis.secondary);
    let of: HashMap<_, &Comparison> = all().map(|c| ((c.of, c.metric), c)).collect();
    let against: HashMap<_, &Comparison> = all().map(|c| ((c.against, c.metric), c)).collect();
    for (index, subject) in analysis.subjects.iter().enumerate() {
        for (metric, description) in subject.metrics.iter().enumerate() {
            let comparison = of.get(&(index, metric)).copied();
            let described = match (description, comparison, against.get(&(index, metric))) {
                (Some(d), ..) => described(d),
                // Summaries provide only their recorded values.
                (None, Some(c), _) => summarised(c.counts.1, c.medians.1, c.means.1),
                (None, None, Some(c)) => summarised(c.counts.0, c.medians.0, c.means.0),
                (None, None, None) => continue,
            };
            let side = if analysis.scan().is_some() {
                &subject.name
            } else {
                &analysis.sides[subject.side].name
            };
            let mut cells = vec![text_cell(side), text_cell(&analysis.rows[subject.row].name)];
            cells.extend(parameters.iter().map(|name| {
                let own = subject.parameters.iter().find(|(p, _)| p == *name);
                own.map_or_else(String::new, |(_, value)| text_cell(value.as_str()))
            }));
            cells.push(text_cell(&analysis.metrics[metric].name));
            cells.push(text_cell(analysis.metrics[metric].unit.symbol()));
            cells.extend(described);
            cells.extend(compared(analysis, comparison));
            text += &(cells.join(",") + "\n");
        }
    }
    text
}

fn described(d: &Description) -> [String; 8] {
    let (lower, upper) = ends(d.median_interval);
    let [median, mean, sd, min, max] =
        [d.median, d.mean, d.standard_deviation, d.min, d.max].map(number_cell);
    [d.n.to_string(), median, lower, upper, mean, sd, min, max]
}

fn summarised(n: usize, median: f64, mean: f64) -> [String; 8] {
    let mut cells = <[String; 8]>::default();
    if n > 0 {
        cells[0] = n.to_string();
    }
    (cells[1], cells[4]) = (number_cell(median), number_cell(mean));
    cells
}

fn compared(analysis: &Analysis, comparison: Option<&Comparison>) -> [String; 11] {
    let Some(c) = comparison else { return Default::default() };
    let reference = &analysis.subjects[c.against];
    let against = if analysis.scan().is_some() {
        &reference.name
    } else {
        &analysis.sides[reference.side].name
    };
    let (ratio_lower, ratio_upper) = ends(c.ratio.and_then(|ratio| ratio.interval));
    let (shift_lower, shift_upper) = ends(c.shift.interval);
    [
        text_cell(against),
        c.ratio.map_or_else(String::new, |ratio| number_cell(ratio.estimate)),
        ratio_lower,
        ratio_upper,
        number_cell(c.shift.estimate),
        shift_lower,
        shift_upper,
        c.decision.verdict.word().to_owned(),
        c.decision.possibly_below_threshold.to_string(),
        number_cell(c.level),
        reason(c).map_or_else(String::new, |reason| text_cell(&reason)),
    ]
}

fn ends(interval: Option<Interval>) -> (String, String) {
    interval.map_or_else(Default::default, |i| (number_cell(i.lower), number_cell(i.upper)))
}

pub(crate) fn number_cell(value: f64) -> String {
    match value {
        v if !v.is_finite() => String::new(),
        v if v.fract() == 0.0 && v.abs() < 1e15 => format!("{v}"),
        v => format!("{v:?}"),
    }
}

pub(crate) fn text_cell(text: &str) -> String {
    let text = assay_data::export::cell_of_text(text);
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_commas_and_quotes_stays_one_cell() {
        assert_eq!(text_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn a_name_is_no_formula_and_a_number_stays_one() {
        assert_eq!(text_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(["@x", "-5", "+1.5e3", "a=b"].map(text_cell), ["'@x", "-5", "+1.5e3", "a=b"]);
    }
}
