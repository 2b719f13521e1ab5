//! Lines with a name and a time: the output of JavaScript's `console.timeEnd` (`parse: 12.345ms`),
//! and of Dart's benchmark_harness (`Parse(RunTime): 12.3 us.`).
//!
//! A line is one run for the former and a mean for the latter, and is read as a value in either
//! case. A name that occurs several times has several observations.

use super::number::Conversion;
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::samples::{Metric, Outcome};
use crate::unit::Unit;

/// Recognizes a file whose first two lines, or only line, have this form.
pub(super) fn recognise(head: &Head<'_>) -> bool {
    time(head.first).is_some() && (head.second.is_empty() || time(head.second).is_some())
}

/// Parses a line into a name and a time in seconds.
fn time(line: &str) -> Option<(&str, f64)> {
    // Browsers append this note when the timer ends.
    let line = line.trim().trim_end_matches(" - timer ended");
    let (name, told) = line.rsplit_once(": ")?;
    let seconds = |text: &str, symbol: &str| {
        let conversion = Conversion::from_symbol(Some(symbol));
        let value = conversion.read_plain(text).filter(|value| *value >= 0.0)?;
        (conversion.unit == Unit::Second).then_some(value)
    };
    if let Some(name) = name.strip_suffix("(RunTime)") {
        let (number, unit) = told.strip_suffix('.')?.split_once(' ')?;
        return Some((name, seconds(number, unit)?));
    }
    // Times of a minute or more: `1:02.345 (m:ss.mmm)`.
    if let Some(clock) = told.strip_suffix(" (m:ss.mmm)") {
        let (minutes, rest) = clock.split_once(':')?;
        return Some((name, seconds(minutes, "min")? + seconds(rest, "s")?));
    }
    let unit = ["ms", "s"].into_iter().find(|unit| told.ends_with(unit))?;
    let number = told.strip_suffix(unit)?;
    let is_plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_plain.then_some((name, seconds(number, unit)?))
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::without_tool(context);
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        if line.text.trim().is_empty() {
            continue;
        }
        let Some((name, value)) = time(line.text) else {
            let seen = crate::read_error::quoted_start(line.text);
            let problem = format!("`{seen}` is not a name with a time, unlike the lines before it");
            return Err(recorder.at(line.number, problem));
        };
        let wall = recorder.metric(&Metric::wall());
        let taken = wall.and_then(|wall| {
            let benchmark = recorder.benchmark(name, None, &[]);
            recorder.observe(benchmark, &[], Outcome::Ok, &[(wall, value)])
        });
        taken.map_err(|problem| recorder.at(line.number, problem))?;
    }
    recorder.finish("names without times")
}
