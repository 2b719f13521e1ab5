//! The output of `cargo bench` for `#[bench]` functions (libtest): the median time per iteration,
//! and rates.
//!
//! The figure in parentheses is the maximum minus the minimum after outliers were winsorized. It is
//! neither a standard deviation nor an error, and is not read. Programs that print such lines
//! themselves may use any unit. Thousands are separated by commas.

use super::number::Conversion;
use super::recorder::Recorder;
use super::runs::Runs;
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::lines_skipped;
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::quoted_start;
use crate::samples::{Better, Metric, Summary};
use crate::unit::Unit;

/// Text between a name and its result.
const BENCH: &str = " ... bench:";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| split(line).is_some())
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut runs = Runs::new(Recorder::new(context, "libtest"));
    context.marks.fixed_by("libtest");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut ignored = 0;
    while let Some(line) = lines.next()? {
        if let Some((name, result)) = split(line.text) {
            let taken = match line.ended || result.contains("(+/-") && result.contains(')') {
                true => take(&mut runs, name, result),
                false => Err("the file breaks off within this result".to_owned()),
            };
            taken.map_err(|problem| runs.recorder.at(line.number, problem))?;
        } else if line.text.starts_with("test ") && line.text.trim_end().ends_with("... FAILED") {
            ignored += 1;
        }
    }
    if ignored > 0 {
        let finding = lines_skipped("of tests that failed", "... FAILED", ignored);
        runs.recorder.finding(finding);
    }
    runs.finish("what `cargo bench` prints, without a result")
}

/// Splits `test NAME ... bench:  1,234.50 ns/iter (+/- 12.34) = 10 MB/s` into name and result.
fn split(line: &str) -> Option<(&str, &str)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(BENCH)?;
    Some((name.trim_end(), result))
}

fn take(runs: &mut Runs<'_>, name: &str, result: &str) -> Result<(), String> {
    let (result, rate) = match result.split_once(" = ") {
        Some((result, rate)) => (result, Some(rate)),
        None => (result, None),
    };
    let figure = result.split("(+/-").next().unwrap_or(result);
    add(runs, name, figure)?;
    rate.map_or(Ok(()), |rate| add(runs, name, rate))
}

/// Adds a figure such as `1,234.50 ns/iter` or `10 MB/s`.
fn add(runs: &mut Runs<'_>, name: &str, figure: &str) -> Result<(), String> {
    let wrong = || {
        let seen = quoted_start(figure.trim());
        format!("`{seen}` is not a result; expected something like `1,234.50 ns/iter (+/- 12.34)`")
    };
    let (number, unit) = figure.trim().split_once(' ').ok_or_else(wrong)?;
    let unit = unit.trim();
    let (symbol, is_rate) = match unit.split_once('/') {
        Some((symbol, "iter")) => (symbol, false),
        Some(("MB", "s")) => ("MB", true),
        Some((_, "s")) => (unit, true),
        _ => return Err(wrong()),
    };
    let conversion = Conversion::from_symbol(Some(symbol));
    let value = conversion.read_number(number, runs.recorder.marks()).ok_or_else(wrong)?;
    let metric = match (is_rate, conversion.unit) {
        (false, Unit::Second) if value < 0.0 => return Err(wrong()),
        (false, Unit::Second) => Metric::wall(),
        (true, Unit::Byte) => {
            let unit = Unit::Other("B/s".to_owned());
            Metric { better: Better::Higher, ..Metric::lower("B/s", unit) }
        }
        (true, unit) => Metric { better: Better::Higher, ..Metric::lower(symbol, unit) },
        (false, unit) => Metric::of_unit(symbol, unit),
    };
    let summary = Summary { median: Some(value), ..Summary::default() };
    runs.add(name, &metric, value, summary)
}
