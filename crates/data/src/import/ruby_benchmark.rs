//! The output of Ruby's `Benchmark` (`bm`, `bmbm`, `measure`): user and system CPU time, their sum,
//! and the elapsed time in parentheses.
//!
//! Every row is an observation. Rows with the same label, as from a loop that appends runs to a
//! file, are observations of the same benchmark. A rehearsal is skipped. Rows without a label are
//! numbered and named after their number.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Outcome};
use crate::unit::Unit;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| row(line).is_some())
}

/// Parses `sort   0.003777   0.000000   0.003777 (  0.007889)` into label, user time, system time,
/// their sum and elapsed time.
fn row(line: &str) -> Option<(&str, [f64; 4])> {
    let (before, real) = line.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let mut rest = before.trim_end();
    let mut times = [0.0, 0.0, 0.0, number(real.trim())?];
    for time in times[..3].iter_mut().rev() {
        let start = rest.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        *time = number(&rest[start..])?;
        rest = rest[..start].trim_end();
    }
    // The third time is the sum of the first two, up to digits that are not shown; it may include
    // the times of children.
    (times[2] + 2e-6 >= times[0] + times[1]).then_some((rest.trim(), times))
}

/// Parses a number such as `0.003777`, with six digits after the point, as in all such times.
fn number(text: &str) -> Option<f64> {
    let (_, behind) = text.split_once('.')?;
    (behind.len() == 6).then(|| plain(text).filter(|time| *time >= 0.0))?
}

/// Returns true if a line is the heading of the columns.
fn is_heading(line: &str) -> bool {
    line.split_ascii_whitespace().eq(["user", "system", "total", "real"])
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "Ruby's Benchmark");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let (mut rehearses, mut in_table, mut unnamed) = (false, false, 0);
    while let Some(line) = lines.next()? {
        let text = line.text;
        if text.starts_with("Rehearsal ---") {
            (rehearses, in_table) = (true, false);
        } else if is_heading(text) {
            (rehearses, in_table, unnamed) = (false, true, 0);
        } else if let Some((label, times)) = row(text) {
            if rehearses {
                continue;
            }
            let name = if label.is_empty() {
                unnamed += 1;
                format!("row {unnamed}")
            } else {
                label.to_owned()
            };
            let taken = take(&mut recorder, &name, times);
            taken.map_err(|problem| recorder.at(line.number, problem))?;
        } else if in_table && text.trim_end().ends_with(')') && text.contains(" ( ") {
            let seen = quoted_start(text.trim());
            let problem =
                format!("`{seen}` is not a row; expected a label, three times and `(  0.007889)`");
            return Err(recorder.at(line.number, problem));
        }
    }
    recorder.finish("what Ruby's `Benchmark` prints, only a rehearsal")
}

fn take(recorder: &mut Recorder<'_>, name: &str, times: [f64; 4]) -> Result<(), String> {
    let [user, system, total, real] = times;
    let named = [("wall", real), ("cpu", total), ("user", user), ("system", system)];
    let mut values = Vec::with_capacity(named.len());
    for (metric, value) in named {
        values.push((recorder.metric(&Metric::lower(metric, Unit::Second))?, value));
    }
    let benchmark = recorder.benchmark(name, None, &[]);
    recorder.observe(benchmark, &[], Outcome::Ok, &values)
}
