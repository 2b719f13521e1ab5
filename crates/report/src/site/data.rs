//! The data of a history's pages, as scripts that each call one function, since a page read from a
//! disk can't fetch anything.
//!
//! There may be ten thousand runs of five hundred benchmarks, and they are stored twice: by
//! benchmark for its page, and by run for comparing runs. Therefore, the data are compact. Values
//! are whole multiples of a power of ten that keeps five digits of the smallest value, each written
//! as the difference from the previous one, and the ends of intervals are written as distances.
//! Integers keep all of their digits. Content from outside is JSON in which nothing can end a
//! script.

use super::{Index, metric_name};
use crate::history::{change_size, sentence_of_trend, where_it_lies};
use crate::names::clean;
use assay_analysis::Verdict;
use assay_analysis::history::RunSummary;
use assay_analysis::history::trend::Trend;
use serde_json::{Value, json};
use std::fmt::Write;

/// Minimum number of runs per file.
const RUNS_OF_A_FILE: usize = 64;
/// Maximum number of run files, all of which are open at once while they are written.
const MOST_FILES: usize = 200;
/// Number of significant digits of the smallest value that are kept.
const DIGITS: i32 = 5;
/// Largest integer up to which a script can represent every integer exactly.
const LARGEST: f64 = 9_007_199_254_740_992.0;
/// Marks an unknown interval.
const NO_INTERVAL: i64 = -1;
/// Marks a value that is not a number.
const NO_VALUE: i64 = -2;

/// Returns the number of runs per file.
pub fn runs_of_a_file(index: &Index) -> usize {
    RUNS_OF_A_FILE.max(index.measured.len().div_ceil(MOST_FILES))
}

/// Formats a value for a script, in which nothing can end the script or a line.
fn script(value: &Value) -> String {
    let text = value.to_string().replace('<', "\\u003c");
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Returns `data/runs.js`: the runs with their revisions and machines.
pub fn runs(index: &Index, stamp: &str) -> String {
    let of = |f: &dyn Fn(usize) -> Value| (0..index.measured.len()).map(f).collect::<Vec<_>>();
    let revision = |f: &dyn Fn(&assay_analysis::history::Revision) -> Value| {
        index.revisions.iter().map(f).collect::<Vec<_>>()
    };
    let value = json!({
        "stamp": stamp,
        "together": runs_of_a_file(index),
        "machines": index.machines.iter().map(|name| clean(name)).collect::<Vec<_>>(),
        "commit": revision(&|r| clean(&r.commit).into()),
        "ordinal": revision(&|r| r.ordinal.into()),
        "committed": revision(&|r| r.time.into()),
        "run": of(&|n| index.measured[n].run.short().into()),
        "link": of(&|n| match index.measured[n].run.revision { Some(_) => index.link(n).into(), None => 0.into() }),
        "started": of(&|n| index.measured[n].run.started.div_euclid(1000).into()),
        "on": of(&|n| index.measured[n].machine.into()),
        "of": of(&|n| index.measured[n].revision.into()),
        "changed": (0..index.measured.len()).filter(|&n| index.measured[n].run.changed).collect::<Vec<_>>(),
        "order": index.order,
    });
    format!("assay.runs({});\n", script(&value))
}

/// Returns `data/benchmarks.js`: the names and files of the benchmarks, their spread between runs,
/// and the deciding metric.
pub fn benchmarks(
    names: &[String],
    files: &[String],
    spread: &[Option<f64>],
    index: &Index,
    decides: Option<usize>,
    stamp: &str,
) -> String {
    let metrics: Vec<Value> =
        index.metrics.iter().map(|m| json!([metric_name(m), m.unit.symbol()])).collect();
    let value = json!({
        "stamp": stamp,
        "metrics": metrics,
        "primary": decides,
        "label": names.iter().map(|name| clean(name)).collect::<Vec<_>>(),
        "file": files,
        "spread": spread.iter().map(|spread| spread.map(|s| (s * 1e5).round() / 1e5)).collect::<Vec<_>>(),
    });
    format!("assay.benchmarks({});\n", script(&value))
}

/// Returns a series of a benchmark for its page. `numbers` are the numbers of the runs that its
/// points come from. O(points).
pub fn series(
    key: &str,
    trend: &Trend,
    narrow: &[Option<String>],
    numbers: &[usize],
    stamp: &str,
) -> String {
    let of = &trend.series;
    let results: Vec<&RunSummary> = of.points.iter().map(|point| &point.result).collect();
    let packed = Packed::of(&results);
    let parts: Vec<Value> = trend.parts.iter().map(|p| json!([p.from, p.to, p.median])).collect();
    let changes: Vec<Value> = trend
        .changes
        .iter()
        .zip(narrow)
        .map(|(change, narrow)| {
            json!([
                change.index,
                change.earliest,
                change.latest,
                change_size(trend, change),
                i32::from(change.verdict == Verdict::Faster),
                where_it_lies(trend, change).map(|text| clean(&text)),
                narrow.as_deref().filter(|_| change.accepted.is_none()).map(clean),
            ])
        })
        .collect();
    let about = json!({
        "stamp": stamp,
        "title": format!("{} on {}", metric_name(&of.metric), clean(&of.machine)),
        "said": clean(&sentence_of_trend(trend)),
        "unit": of.metric.unit.symbol(),
        "parts": parts,
        "changes": changes,
    });
    line(key, &about, numbers, &packed)
}

/// Returns a series of a fact about a machine, with `values` by run number.
pub fn state(key: &str, title: &str, unit: &str, values: &[(usize, f64)], stamp: &str) -> String {
    let results: Vec<RunSummary> = values
        .iter()
        .map(|&(_, centre)| RunSummary { n: 1, units: 1, centre, interval: None })
        .collect();
    let packed = Packed::of(&results.iter().collect::<Vec<_>>());
    let numbers: Vec<usize> = values.iter().map(|&(number, _)| number).collect();
    let about = json!({
        "stamp": stamp, "title": clean(title), "said": "", "unit": unit, "parts": [], "changes": []
    });
    line(key, &about, &numbers, &packed)
}

fn line(key: &str, about: &Value, numbers: &[usize], packed: &Packed) -> String {
    let key = script(&key.into());
    format!(
        "assay.series({key},{},{},[{}],{});\n",
        script(about),
        packed.exponent,
        ranges(numbers),
        packed.text
    )
}

/// Returns the beginning of a file that contains runs.
pub fn file_of_runs(number: usize, stamp: &str) -> String {
    format!("assay.file({number},{});\n", script(&stamp.into()))
}

/// Returns the results of one metric of one benchmark for the runs in a file, each with the
/// position of its run in that file.
pub fn results(benchmark: usize, metric: usize, results: &[(usize, &RunSummary)]) -> String {
    let places: Vec<usize> = results.iter().map(|&(place, _)| place).collect();
    let packed = Packed::of(&results.iter().map(|&(_, result)| result).collect::<Vec<_>>());
    format!(
        "assay.part({benchmark},{metric},{},[{}],{});\n",
        packed.exponent,
        ranges(&places),
        packed.text
    )
}

/// Formats numbers. Each sequence of consecutive numbers is written as its first number and its
/// length.
fn ranges(numbers: &[usize]) -> String {
    let mut text = String::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let length = rest.iter().enumerate().take_while(|&(i, &n)| n == first + i).count();
        let comma = if text.is_empty() { "" } else { "," };
        let _infallible = write!(text, "{comma}{first},{length}");
        rest = &rest[length..];
    }
    text
}

/// Values and their intervals, converted to integers.
struct Packed {
    /// Exponent of the power of ten of which the values are multiples.
    exponent: i32,
    /// Three lists: the values, the distances of the intervals' lower ends from them, and the
    /// distances of the upper ends. The last two lists are empty if every value is finite and no
    /// interval is known.
    text: String,
}

impl Packed {
    fn of(results: &[&RunSummary]) -> Self {
        let exponent = exponent(results);
        let whole = |value: f64| {
            (if exponent < 0 {
                value * 10f64.powi(-exponent)
            } else {
                value / 10f64.powi(exponent)
            })
            .round()
        };
        let mut before = 0_i64;
        let (mut values, mut lower, mut upper) = (String::new(), String::new(), String::new());
        let knows = results.iter().any(|r| r.interval.is_some() || !r.centre.is_finite());
        for (place, result) in results.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let is_value = result.centre.is_finite();
            let value = if is_value { whole(result.centre) as i64 } else { before };
            let _infallible = write!(values, "{comma}{}", value - before);
            before = value;
            if knows {
                let ends = result.interval.filter(|i| i.lower.is_finite() && i.upper.is_finite());
                let [below, above] = match ends {
                    _ if !is_value => [NO_VALUE; 2],
                    None => [NO_INTERVAL; 2],
                    Some(ends) => {
                        [value - whole(ends.lower) as i64, whole(ends.upper) as i64 - value]
                            .map(|d| d.max(0))
                    }
                };
                let _infallible = write!(lower, "{comma}{below}");
                let _infallible = write!(upper, "{comma}{above}");
            }
        }
        Self { exponent, text: format!("[{values}],[{lower}],[{upper}]") }
    }
}

/// Returns the exponent of the power of ten of which the written values are multiples.
fn exponent(results: &[&RunSummary]) -> i32 {
    let centres = || results.iter().map(|r| r.centre.abs()).filter(|v| v.is_finite());
    let ends = results.iter().filter_map(|r| r.interval).flat_map(|i| [i.lower, i.upper]);
    let largest = centres().chain(ends.map(f64::abs).filter(|v| v.is_finite())).fold(0.0, f64::max);
    if centres().all(|v| v.fract() == 0.0) && largest < LARGEST {
        return 0;
    }
    let smallest = centres().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let digits = |v: f64| v.log10().floor() as i32;
    let wanted = if smallest.is_finite() { digits(smallest) + 1 - DIGITS } else { 0 };
    // Keep no more digits than a number in a script can hold, even for the difference of two
    // numbers.
    wanted.max(if largest > 0.0 { digits(largest) - 14 } else { wanted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_analysis::Interval;

    fn result(centre: f64, ends: Option<(f64, f64)>) -> RunSummary {
        let interval = ends.map(|(lower, upper)| Interval { lower, upper });
        RunSummary { n: 3, units: 3, centre, interval }
    }

    fn packed(results: &[RunSummary]) -> (i32, String) {
        let packed = Packed::of(&results.iter().collect::<Vec<_>>());
        (packed.exponent, packed.text)
    }

    #[test]
    fn values_keep_five_digits_and_whole_ones_all() {
        let results = [
            result(0.012_345_678, Some((0.012, 0.0125))),
            result(0.012_4, None),
            result(1.5, Some((1.4, 1.6))),
        ];
        assert_eq!(
            packed(&results),
            (-6, "[12346,54,1487600],[346,-1,100000],[154,-1,100000]".to_owned())
        );
        let counts = [
            result(1_234_567_890.0, None),
            result(1_234_567_891.0, None),
            result(f64::INFINITY, None),
        ];
        assert_eq!(packed(&counts[..2]), (0, "[1234567890,1],[],[]".to_owned()));
        assert_eq!(packed(&counts), (0, "[1234567890,1,0],[-1,-1,-2],[-1,-1,-2]".to_owned()));
        // Values that exceed the precision of a script's numbers lose digits.
        assert_eq!(packed(&[result(1e-20, None), result(2.5, None)]).0, -14);
        assert_eq!(packed(&[]), (0, "[],[],[]".to_owned()));
    }

    #[test]
    fn numbers_in_sequence_are_short() {
        assert_eq!(ranges(&[0, 1, 2, 3, 9, 4, 5]), "0,4,9,1,4,2");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn nothing_ends_a_script() {
        let text = state("k", "</script><script>alert(1)//\u{2028}\"'", "s", &[(0, 1.0)], "x");
        assert!(
            !text.contains('<') && !text.contains('\u{2028}') && text.lines().count() == 1,
            "{text}"
        );
    }
}
