//! Raw export of samples as a CSV table for spreadsheets, R and pandas, with one line per
//! observation.
//!
//! The columns are `subject`, `block`, `pos`, `pass` and `level` (the last two only if present),
//! `t`, `outcome`, and then every metric with its unit as a suffix (`wall_s`). Values are exact:
//! the shortest decimals that read back to the same bits. The importer recognizes this table and
//! reads its blocks and units. The table lacks the plan, the environment and the commands, which
//! only a sample file keeps. Scripts that expect other tools' files can use [`hyperfine()`],
//! [`hyperfine2`], [`google_benchmark()`], [`go_bench()`], [`pyperf()`] and [`k6()`].

mod go_bench;
mod google_benchmark;
pub(crate) mod google_context;
mod hdr_log;
mod hyperfine;
mod k6;
mod plain;
mod pyperf;
mod text;

pub use go_bench::go_bench;
pub use google_benchmark::google_benchmark;
pub use hdr_log::hdr_log;
pub use hyperfine::{hyperfine, hyperfine2};
pub use k6::k6;
pub use plain::{Escapes, Plain, plain_text};
pub use pyperf::pyperf;
pub use text::text;

use crate::assay_file::push_number;
use crate::number::plain;
use crate::{Design, Environment, Observation, Outcome, Pass, Samples};
use std::borrow::Cow;
use std::io::{self, Write};

/// Converts seconds to nanoseconds, choosing a double that gives the same bits when divided by 10⁹,
/// if there is one.
pub(crate) fn in_nanoseconds(seconds: f64) -> f64 {
    const PER_SECOND: f64 = 1e9;
    shortest(seconds * PER_SECOND, |ns| ns / PER_SECOND == seconds)
}

/// Converts bytes per second to megabytes per second, choosing a double that gives the same bits
/// when multiplied by 10⁶, if there is one.
fn in_megabytes(bytes: f64) -> f64 {
    const BYTES: f64 = 1e6;
    shortest(bytes / BYTES, |megabytes| megabytes * BYTES == bytes)
}

/// Returns a number close to `near` that satisfies `reads_back`, preferring few digits: for example
/// `54.2`, as a tool wrote it, rather than `54.199999999999996`. Returns `near` if there is no such
/// number.
fn shortest(near: f64, reads_back: impl Fn(f64) -> bool) -> f64 {
    // A shorter candidate is so close that rounding to 15 digits also finds it.
    let rounded = |digits: usize| format!("{near:.*e}", digits - 1).parse().ok();
    let exact = [near, near.next_up(), near.next_down()];
    let candidates = [15, 16].into_iter().filter_map(rounded).chain(exact);
    candidates.into_iter().find(|&candidate| reads_back(candidate)).unwrap_or(near)
}

/// Returns the text of a cell in a form that spreadsheets do not interpret as a formula (OWASP,
/// "CSV Injection"). Text that begins like a formula and is not a number gets a leading apostrophe,
/// which spreadsheets do not show.
pub fn cell_of_text(text: &str) -> Cow<'_, str> {
    if is_like_a_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Reverses [`cell_of_text`]: returns the text from which `cell` was made.
pub(crate) fn text_of_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_like_a_formula(text)).unwrap_or(cell)
}

fn is_like_a_formula(text: &str) -> bool {
    // A name may itself begin with apostrophes; it gets one more, so that it reads back unchanged.
    let text = text.trim_start_matches('\'');
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && plain(text).is_none()
}

/// Columns before the metrics, in order.
pub(crate) const PLACE_COLUMNS: [&str; 7] =
    ["subject", "block", "pos", "pass", "level", "t", "outcome"];

/// Writes the samples as a CSV table. O(observations × metrics).
///
/// # Errors
/// Returns an error if writing to `sink` fails.
pub fn csv(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let has_level = samples.has_levels();
    let mut table = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(sink);
    let has_pass = samples.has_passes();
    let is_there = |&&name: &&&str| match name {
        "level" => has_level,
        "pass" => has_pass,
        _ => true,
    };
    let place = PLACE_COLUMNS.iter().filter(is_there);
    let units = samples.metrics.iter().map(|m| format!("{}_{}", m.name, m.unit.symbol()));
    let header = place.map(|&name| name.to_owned()).chain(units);
    table.write_record(header)?;
    let mut cell = Vec::new();
    for observation in in_rows(samples) {
        let count = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let subject = samples.subjects.get(observation.subject);
        table.write_field(cell_of_text(subject.map_or("", |subject| &subject.name)).as_bytes())?;
        table.write_field(count(observation.block))?;
        table.write_field(count(observation.position))?;
        if has_pass {
            table.write_field(observation.pass.map_or("", Pass::word))?;
        }
        if has_level {
            let level: Vec<_> = observation.level.iter().map(u32::to_string).collect();
            table.write_field(level.join("/"))?;
        }
        let time = observation.time.unwrap_or(f64::NAN);
        let numbers = std::iter::once(time).chain(observation.values);
        for (index, value) in numbers.enumerate() {
            cell.clear();
            if value.is_finite() {
                push_number(&mut cell, value);
            }
            table.write_field(&cell)?;
            if index == 0 {
                table.write_field(outcome_text(observation.outcome))?;
            }
        }
        table.write_record(None::<&[u8]>)?;
    }
    table.flush()
}

/// Returns the observations in the order of the table's rows. Within a block, they are ordered by
/// subject, because a reader of the table takes the first subject as the reference. The order of
/// measuring is in the columns `pos` and `t`.
fn in_rows(samples: &Samples) -> impl Iterator<Item = Observation> + '_ {
    // Imported samples may have ten million numbers, so no index is kept in memory in addition to
    // them.
    let (mut sorted, mut plain) = (Vec::new(), 0..0);
    if samples.design() == Design::Blocks {
        sorted.extend(0..samples.len());
        sorted.sort_by_cached_key(|&index| {
            samples.observation(index).map(|row| (row.pass, row.block, row.subject))
        });
    } else {
        plain = 0..samples.len();
    }
    sorted.into_iter().chain(plain).filter_map(|index| samples.observation(index))
}

/// Returns the text of the first of the named facts that the environment has. A fact may have
/// several names, because importers keep the names that tools use.
fn text_of<'a>(environment: &'a Environment, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| environment.text(name))
}

fn outcome_text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Exit(status) => format!("exit {status}"),
        Outcome::Signal(number) => format!("signal {number}"),
        Outcome::Timeout => "timeout".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_nanoseconds;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nanoseconds_as_a_tool_writes_them_come_back_as_they_were(
            digits in 1..10_000_000_000_u64,
            decimals in 0..8_usize,
        ) {
            let ns: f64 = format!("{digits}e-{decimals}").parse().expect("a number");
            prop_assert_eq!(in_nanoseconds(ns / 1e9), ns);
        }

        #[test]
        fn seconds_read_back_to_the_same_bits_where_any_double_does(seconds in 1e-9..1e6_f64) {
            let near = seconds * 1e9;
            let some = [near, near.next_up(), near.next_down()];
            if some.iter().any(|ns| ns / 1e9 == seconds) {
                prop_assert_eq!(in_nanoseconds(seconds) / 1e9, seconds);
            }
        }
    }
}
