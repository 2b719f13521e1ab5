//! Reads what criterion (Rust) prints: the estimated time per iteration of each benchmark.
//!
//! Of the three figures, the outer ones are the bounds of an interval, and the middle one is the
//! estimate: the mean, or the slope with linear sampling. The output states neither which of these
//! it is nor the confidence of the interval, so only the estimate is read. Criterion's directory
//! has all samples. The rate (`thrpt`) follows from the time and is skipped, as are changes.

use super::number::Conversion;
use super::recorder::Recorder;
use super::runs::Runs;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Summary};
use crate::unit::Unit;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| estimate(line).is_some_and(|(_, figure)| figure.is_some()))
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut runs = Runs::new(Recorder::new(context, "criterion"));
    let mut lines = Lines::new(input.into_reader(), context.file);
    // The previous line, which has the name if that is too long for its column.
    let mut above = String::new();
    while let Some(line) = lines.next()? {
        let text = line.text.trim_end();
        let Some((before, figure)) = estimate(text) else {
            if text.trim().starts_with("change:") {
                above.clear();
            } else if !text.is_empty() && !text.starts_with(' ') {
                text.clone_into(&mut above);
            }
            continue;
        };
        let name = if before.is_empty() { std::mem::take(&mut above) } else { before.to_owned() };
        let Some(value) = figure else {
            // Below `change:`, the same heading precedes percentages.
            if text.contains('%') {
                continue;
            }
            let seen = quoted_start(text.trim());
            let problem =
                format!("`{seen}` is not a result; expected `time:   [1.2 µs 1.3 µs 1.4 µs]`");
            return Err(runs.recorder.at(line.number, problem));
        };
        if name.is_empty() {
            let problem = "a result without the name of a benchmark before it";
            return Err(runs.recorder.at(line.number, problem));
        }
        let (metric, value) = value;
        let summary = Summary { mean: Some(value), ..Summary::default() };
        let added = runs.add(&name, &metric, value, summary);
        added.map_err(|problem| runs.recorder.at(line.number, problem))?;
    }
    runs.finish("what criterion prints, without a result")
}

/// Parses `name   time:   [1.2 µs 1.3 µs 1.4 µs]` into the name, and the middle figure with its
/// metric if it is a time. A custom measurement (`[1012.6 cycles …]`) has the same heading and its
/// own unit.
fn estimate(line: &str) -> Option<(&str, Option<(Metric, f64)>)> {
    // The name itself may contain the heading.
    let (before, figures) = line.rmatch_indices("time:").find_map(|(at, heading)| {
        let figures = line[at + heading.len()..].trim_start().strip_prefix('[')?;
        Some((&line[..at], figures))
    })?;
    let is_name = before.is_empty() || before.ends_with(' ');
    let second = figures.split_once(']').and_then(|(inside, _)| {
        let words: Vec<&str> = inside.split(' ').collect();
        let &[_, low, value, unit, _, high] = &words[..] else { return None };
        let conversion = Conversion::from_symbol(Some(unit));
        let value = conversion.read_plain(value).filter(|&value| value >= 0.0)?;
        if conversion.unit == Unit::Second {
            return [low, high].iter().all(|unit| is_second(unit)).then(|| (Metric::wall(), value));
        }
        let is_unit = unit.starts_with(|c: char| c.is_alphabetic()) && !unit.contains('%');
        let metric = Metric::of_unit(unit, conversion.unit);
        (low == unit && high == unit && is_unit).then_some((metric, value))
    });
    is_name.then_some((before.trim(), second))
}

fn is_second(unit: &str) -> bool {
    Conversion::from_symbol(Some(unit)).unit == Unit::Second
}
