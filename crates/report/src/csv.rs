//! The summary as CSV (RFC 4180), one row per subject and metric, for spreadsheets.
//!
//! Base units, full precision; cells of what is not known are empty. The single observations are another table, which the data
//! crate exports.

use crate::scan;
use assay_analysis::{Analysis, Comparison, Description};

/// The columns, in order; those of a scan's parameters stand after the first, as in `parameter_n`.
pub const COLUMNS: [&str; 16] = [
    "subject",
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
    "ratio",
    "ratio_lower",
    "ratio_upper",
    "verdict",
    "against",
];

/// The table with its header; lines end with a line feed. `lower` and `upper` bound the median; the ratio, its interval and the
/// verdict are those against the subject named in `against`, and empty for a reference. A parameter that a subject
/// does not have is empty.
pub fn render(analysis: &Analysis) -> String {
    let parameters = scan::parameters(analysis);
    let names: Vec<String> =
        parameters.iter().map(|name| text_cell(&format!("parameter_{name}"))).collect();
    let mut columns = COLUMNS.map(str::to_owned).to_vec();
    columns.splice(1..1, names);
    let mut text = columns.join(",") + "\n";
    for (index, subject) in analysis.subjects.iter().enumerate() {
        for (metric, description) in subject.metrics.iter().enumerate() {
            let Some(d) = description else { continue };
            let comparison = analysis
                .comparisons
                .iter()
                .chain(&analysis.secondary)
                .find(|c| c.of == index && c.metric == metric);
            let unit = &analysis.metrics[metric];
            let mut row = vec![text_cell(&subject.name)];
            row.extend(parameters.iter().map(|name| {
                let own = subject.parameters.iter().find(|(p, _)| p == *name);
                own.map_or_else(String::new, |(_, value)| text_cell(value.as_str()))
            }));
            row.push(text_cell(&unit.name));
            row.push(text_cell(unit.unit.symbol()));
            row.extend(described(d));
            row.extend(compared(comparison));
            row.push(
                comparison
                    .map_or_else(String::new, |c| text_cell(&analysis.subjects[c.against].name)),
            );
            text += &(row.join(",") + "\n");
        }
    }
    text
}

fn described(d: &Description) -> [String; 8] {
    let (lower, upper) =
        d.median_interval.map_or((f64::NAN, f64::NAN), |interval| (interval.lower, interval.upper));
    let [median, lower, upper, mean, sd, min, max] =
        [d.median, lower, upper, d.mean, d.standard_deviation, d.min, d.max].map(number_cell);
    [d.n.to_string(), median, lower, upper, mean, sd, min, max]
}

fn compared(comparison: Option<&Comparison>) -> [String; 4] {
    let Some(c) = comparison else { return Default::default() };
    let (lower, upper) = c
        .ratio
        .and_then(|ratio| ratio.interval)
        .map_or((f64::NAN, f64::NAN), |interval| (interval.lower, interval.upper));
    let estimate = c.ratio.map_or(f64::NAN, |ratio| ratio.estimate);
    let [estimate, lower, upper] = [estimate, lower, upper].map(number_cell);
    [estimate, lower, upper, c.decision.verdict.word().to_owned()]
}

pub(crate) fn number_cell(value: f64) -> String {
    match value {
        v if !v.is_finite() => String::new(),
        v if v.fract() == 0.0 && v.abs() < 1e15 => format!("{v}"),
        v => format!("{v:?}"),
    }
}

pub(crate) fn text_cell(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_commas_and_quotes_stays_one_cell() {
        assert_eq!(text_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
