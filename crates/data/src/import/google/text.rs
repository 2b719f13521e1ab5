//! The table that Google Benchmark writes with `--benchmark_format=csv`, optionally preceded by the
//! context, which the library writes to standard error.
//!
//! Rows do not state their kind. A row is taken for an aggregate if its name consists of the name
//! of a preceding benchmark and an aggregate's suffix (`_mean`). So are the first two of several
//! rows whose names differ only in that suffix, as in a table that contains only aggregates.

use super::super::recorder::Recorder;
use super::super::{Context, Head, ImportError, Part};
use super::context;
use super::gather::Gatherer;
use super::row::Row;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;

/// Beginning of the table's header.
const HEADER: &str = "name,iterations,real_time,cpu_time,time_unit,";

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| line.starts_with(HEADER))
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut gatherer = Gatherer::new(Recorder::new(context, "Google Benchmark"));
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut header: Vec<String> = Vec::new();
    let mut row = Row::default();
    while let Some(line) = lines.next()? {
        let number = line.number;
        if line.text.starts_with(HEADER) {
            header = cells(line.text).unwrap_or_default();
        } else if header.is_empty() {
            preamble(line.text, number, &mut gatherer.recorder);
        } else if !line.text.trim().is_empty() {
            if !line.ended {
                let problem = "the file breaks off here; expected a whole row";
                return Err(gatherer.recorder.at(number, problem));
            }
            let read = cells(line.text)
                .ok_or_else(|| "a quoted text is not closed in this row".to_owned())
                .and_then(|cells| fill(&mut row, &header, &cells, &mut gatherer));
            read.map_err(|problem| gatherer.recorder.at(number, problem))?;
        }
    }
    gatherer.finish("a header and rows without values")
}

/// Reads a line above the table: the date, the program or the machine.
fn preamble(line: &str, number: u64, recorder: &mut Recorder<'_>) {
    if let Some(program) = line.strip_prefix("Running ") {
        context::executable(program, recorder);
    } else if let Some(loads) = line.strip_prefix("Load Average: ") {
        if let Some(load) = loads.split(',').next().and_then(|l| plain(l.trim())) {
            recorder.fact("load_1m", load);
        }
    } else if let Some(machine) = line.strip_prefix("Run on (") {
        if let Some(cpus) = machine.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()) {
            recorder.fact("cpus_online", cpus);
        }
    } else if line.contains("Library was built as DEBUG") {
        context::build_type("debug", recorder);
    } else if line.contains("CPU scaling is enabled") {
        context::scaling(true, recorder);
    } else if number == 1 && line.len() >= 19 && line.as_bytes()[4] == b'-' {
        recorder.started(line);
    }
}

/// Returns the cells of a row. Texts are in quotes, with quotes within them doubled; `None` if one
/// is not closed.
fn cells(line: &str) -> Option<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    let is_whole = line.matches('"').count().is_multiple_of(2);
    (is_whole && reader.read_record(&mut record).ok()?)
        .then(|| record.iter().map(str::to_owned).collect())
}

fn fill(
    row: &mut Row,
    header: &[String],
    cells: &[String],
    gatherer: &mut Gatherer<'_>,
) -> Result<(), String> {
    // The row of a failed benchmark ends with the error message.
    let last = header.iter().position(|column| column == "error_message");
    let has_failed =
        last.is_some_and(|last| cells.len() == last + 1 && cells[last.saturating_sub(1)] == "true");
    if cells.len() != header.len() && !has_failed {
        return Err(format!("this row has {} columns, the header {}", cells.len(), header.len()));
    }
    row.clear();
    for (column, cell) in header.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
        let number = || match plain(cell) {
            Some(value) if value.is_finite() => Ok(value),
            // The library prints `nan` for values that it could not compute.
            Some(_) => Ok(f64::NAN),
            None => {
                let shown = crate::excerpt::excerpt(cell);
                Err(format!("column `{column}`: expected a number, not `{shown}`"))
            }
        };
        match column.as_str() {
            "name" => row.name.clone_from(cell),
            "iterations" => row.iterations = number()?,
            "real_time" => row.real_time = number()?,
            "cpu_time" => row.cpu_time = number()?,
            "time_unit" => row.time_unit.clone_from(cell),
            "label" => row.label.clone_from(cell),
            "error_occurred" => row.is_error = cell == "true",
            "error_message" => row.message.clone_from(cell),
            counter => {
                let value = number()?;
                if !value.is_nan() {
                    row.counters.push((gatherer.counters.index(counter)?, value));
                }
            }
        }
    }
    // A fit has its order of complexity in the column of the unit, and its deviation (RMS) is in
    // percent.
    if row.name.ends_with("_BigO") {
        row.big_o = std::mem::take(&mut row.time_unit);
        row.complexity =
            vec![("real_coefficient", row.real_time), ("cpu_coefficient", row.cpu_time)];
    } else if row.name.ends_with("_RMS") {
        row.complexity = vec![("rms", row.real_time)];
    }
    gatherer.take(row)
}
