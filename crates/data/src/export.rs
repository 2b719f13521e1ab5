//! Raw export: samples as a CSV table that spreadsheets, R and pandas read, one line per observation.
//!
//! Columns are `subject`, `block`, `pos`, `level` (only where there is one), `t`, `outcome`, then every metric with its unit
//! behind its name (`wall_s`). Values are exact: the shortest decimals that read back to the same bits. The importer knows
//! this table again, with blocks and units; it lacks plan, environment and commands, which only a sample file keeps. For
//! the scripts that people have for other tools' files there are [`hyperfine()`], [`hyperfine2`], [`google_benchmark()`] and [`go_bench()`].

mod go_bench;
mod google_benchmark;
mod hyperfine;
mod text;

pub use go_bench::go_bench;
pub use google_benchmark::google_benchmark;
pub use hyperfine::{hyperfine, hyperfine2};
pub use text::text;

use crate::assay_file::push_number;
use crate::{Design, Observation, Outcome, Samples};
use std::io::{self, Write};

/// Seconds as nanoseconds, such that they read back, divided by 10⁹, to the same bits wherever a double does.
pub(crate) fn in_nanoseconds(seconds: f64) -> f64 {
    const PER_SECOND: f64 = 1e9;
    let near = seconds * PER_SECOND;
    let candidates = [near, near.next_up(), near.next_down()];
    candidates.into_iter().find(|ns| ns / PER_SECOND == seconds).unwrap_or(near)
}

/// Columns before the metrics, in their order.
pub(crate) const PLACE_COLUMNS: [&str; 6] = ["subject", "block", "pos", "level", "t", "outcome"];

/// Writes the table. O(observations × metrics).
///
/// # Errors
/// When the sink refuses.
pub fn csv(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let has_level = samples.observations().any(|observation| !observation.level.is_empty());
    let mut table = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(sink);
    let place = PLACE_COLUMNS.iter().filter(|&&name| name != "level" || has_level);
    let units = samples.metrics.iter().map(|m| format!("{}_{}", m.name, m.unit.symbol()));
    let header = place.map(|&name| name.to_owned()).chain(units);
    table.write_record(header)?;
    let mut cell = Vec::new();
    for observation in in_rows(samples) {
        let count = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let subject = samples.subjects.get(observation.subject);
        table.write_field(subject.map_or("", |subject| &subject.name))?;
        table.write_field(count(observation.block))?;
        table.write_field(count(observation.position))?;
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

/// The observations in the order of the rows: in a block by subject, since a reader of the table takes the first subject that
/// it meets for the reference. The order of measuring is in the columns `pos` and `t`.
fn in_rows(samples: &Samples) -> Vec<Observation> {
    let mut rows: Vec<Observation> = samples.observations().collect();
    if samples.design() == Design::Blocks {
        rows.sort_by_key(|row| (row.block, row.subject));
    }
    rows
}

fn outcome_text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Exit(status) => format!("exit {status}"),
        Outcome::Signal(number) => format!("signal {number}"),
        Outcome::Timeout => "timeout".to_owned(),
    }
}
