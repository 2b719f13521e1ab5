//! Reads what benchmark.js prints for its events (`String(event.target)`): the rate of each
//! benchmark.
//!
//! The figure after `±` is half the width of an interval of the mean, in percent, not a standard
//! deviation. If a benchmark occurs once, its mean rate is a summary with the number of samples. If
//! a file contains several runs of it, these are observations.

use super::recorder::Recorder;
use super::runs::Runs;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::Marks;
use crate::read_error::quoted_start;
use crate::samples::{Better, Metric, Summary};
use crate::unit::Unit;

const RATE: &str = " ops/sec ±";
const BETWEEN: &str = " x ";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let marks = Marks::default();
    head.text.lines().any(|line| result(line, &marks).is_some())
}

/// Parses `name x 143,049 ops/sec ±3.23% (82 runs sampled)` into the name, the rate and the number
/// of samples.
fn result<'l>(line: &'l str, marks: &Marks) -> Option<(&'l str, f64, u64)> {
    let (before, after) = line.rsplit_once(RATE)?;
    let (name, rate) = before.rsplit_once(BETWEEN)?;
    let rate = marks.read(rate).filter(|rate| *rate >= 0.0)?;
    let (_, count) = after.split_once("% (")?;
    let (count, rest) = count.split_once(" run")?;
    let is_whole = rest.trim_end().ends_with("sampled)") && rate.is_finite();
    Some((name.trim(), rate, count.parse().ok().filter(|_| is_whole)?))
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut runs = Runs::new(Recorder::new(context, "benchmark.js"));
    context.marks.fixed_by("benchmark.js");
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        let Some((name, rate, count)) = result(line.text, context.marks) else {
            if line.text.contains(RATE) {
                let seen = quoted_start(line.text.trim());
                let problem = format!(
                    "`{seen}` is not a result; expected `name x 1,234 ops/sec ±1.23% (82 runs sampled)`"
                );
                return Err(runs.recorder.at(line.number, problem));
            }
            continue;
        };
        let metric = Metric { better: Better::Higher, ..Metric::lower("rate", Unit::PerSecond) };
        let summary = Summary { count: Some(count), mean: Some(rate), ..Summary::default() };
        let added = runs.add(name, &metric, rate, summary);
        added.map_err(|problem| runs.recorder.at(line.number, problem))?;
    }
    runs.finish("what benchmark.js prints, without a result")
}
