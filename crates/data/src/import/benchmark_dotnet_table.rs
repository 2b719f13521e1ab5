//! Reads BenchmarkDotNet's CSV (`--exporters csv`, `BenchmarkRun-report.csv`): the rounded mean,
//! median, standard deviation and extremes of each benchmark.
//!
//! The unit is in the cell (`18.42 ms`) or in the heading (`Mean [us]`). `Error` is half the width
//! of a 99.9 % interval and is not read. The columns with parameters are between the job's settings
//! and the mean. Settings are read only if rows differ in them.

use super::number::Conversion;
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::limits::MOST_COLUMNS;
use crate::lines::Lines;
use crate::number::Marks;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Summary};
use crate::unit::Unit;

/// Heading of the last column with settings of the job.
const LAST_SETTING: &str = "WarmupCount";

/// Possible headings of the first column. In a table of several classes (`--join`), the class
/// precedes the method.
const FIRST: [&str; 3] = ["Method", "Type", "Namespace"];

/// Returns the separator, which depends on the user's locale, or `None` if the line is not the
/// heading of such a table.
fn separator(first: &str) -> Option<u8> {
    let first = first.trim_start_matches('\u{feff}');
    let words = |separator: char| {
        let cells = first.split(separator).map(|cell| cell.trim_matches('"'));
        let cells: Vec<&str> = cells.collect();
        let has = |name: &str| cells.iter().any(|cell| heading(cell).0 == name);
        FIRST.contains(&cells[0]) && has("Method") && has("Mean") && has("StdDev")
    };
    [b',', b';', b'\t'].into_iter().find(|&separator| words(char::from(separator)))
}

pub(super) fn recognise(head: &Head<'_>) -> bool {
    separator(head.first).is_some()
}

/// Parses `Mean [us]` into the name and the unit.
fn heading(cell: &str) -> (&str, Option<&str>) {
    match cell.split_once(" [") {
        Some((name, unit)) => (name, unit.strip_suffix(']')),
        None => (cell, None),
    }
}

/// Splits a cell such as `19 260,6 ns` into the number and the unit.
fn amount(cell: &str) -> (&str, Option<&str>) {
    let cell = cell.trim();
    let at = cell.rfind(char::is_whitespace);
    let parts = at.map(|at| (cell[..at].trim_end(), cell[at..].trim_start()));
    match parts.filter(|(_, unit)| unit.starts_with(char::is_alphabetic)) {
        Some((number, unit)) => (number, Some(unit)),
        None => (cell, None),
    }
}

struct Table {
    header: Vec<String>,
    rows: Vec<(u64, csv::StringRecord)>,
}

impl Table {
    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|cell| heading(cell).0 == name)
    }

    /// Returns the column of the method, which follows those of its class.
    fn method(&self) -> usize {
        self.column("Method").unwrap_or(0)
    }

    /// Returns the columns that distinguish benchmarks of the same method.
    fn parameters(&self) -> Vec<usize> {
        let mean = self.column("Mean").unwrap_or(self.header.len());
        let last = self.header.iter().position(|cell| cell == LAST_SETTING).unwrap_or(0);
        let differs = |column: &usize| {
            let mut cells = self.rows.iter().map(|(_, row)| row.get(*column));
            let first = cells.next();
            cells.any(|cell| Some(cell) != first)
        };
        (self.method() + 1..mean).filter(|column| *column > last || differs(column)).collect()
    }

    /// Passes the numbers of all result columns to `marks`, because columns that are not read also
    /// show what points and commas mean.
    fn see_all(&self, marks: &Marks) {
        let mean = self.column("Mean").unwrap_or(self.header.len());
        let cells = self.rows.iter().flat_map(|(_, row)| row.iter().skip(mean));
        for cell in cells {
            marks.see(amount(cell).0);
        }
    }

    /// Returns the number in a cell, in base units, or `None` if the cell contains no value.
    fn number(
        &self,
        row: &csv::StringRecord,
        column: usize,
        marks: &Marks,
    ) -> Result<Option<(f64, Unit)>, String> {
        let cell = row.get(column).unwrap_or_default().trim();
        if ["", "-", "NA", "?"].contains(&cell) {
            return Ok(None);
        }
        let (number, unit) = match (amount(cell), heading(&self.header[column]).1) {
            ((number, Some(unit)), _) => (number, Some(unit)),
            (_, unit) => (cell, unit),
        };
        let unit = match unit {
            Some("m") => Some("min"),
            Some("KB") => Some("KiB"),
            Some("MB") => Some("MiB"),
            Some("GB") => Some("GiB"),
            Some("μs" | "µs") => Some("us"),
            other => other,
        };
        let conversion = Conversion::from_symbol(unit);
        let read = conversion.read_number(number, marks).filter(|value| *value >= 0.0);
        let is_known = matches!(conversion.unit, Unit::Second | Unit::Byte);
        match read.filter(|_| is_known) {
            Some(value) => Ok(Some((value, conversion.unit))),
            None => Err(format!(
                "`{}` in the column `{}` is no amount; expected such as `18.42 ms`",
                quoted_start(cell),
                self.header[column]
            )),
        }
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "BenchmarkDotNet");
    let text = String::from_utf8_lossy(&input.head);
    let separator = separator(Head::of(&text).first).unwrap_or(b',');
    drop(text);
    let mut table = Table { header: Vec::new(), rows: Vec::new() };
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        let mut record = csv::StringRecord::new();
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .from_reader(line.text.as_bytes());
        if !matches!(reader.read_record(&mut record), Ok(true)) {
            continue;
        }
        if table.header.is_empty() {
            table.header = record.iter().take(MOST_COLUMNS).map(str::to_owned).collect();
        } else if record.len() == table.header.len() {
            table.rows.push((line.number, record));
        } else {
            let (cells, columns) = (record.len(), table.header.len());
            let problem = format!("this row has {cells} columns, the header {columns}");
            return Err(recorder.at(line.number, problem));
        }
    }
    let parameters = table.parameters();
    table.see_all(recorder.marks());
    for (line, row) in &table.rows {
        let taken = take(&mut recorder, &table, &parameters, row);
        taken.map_err(|problem| recorder.at(*line, problem))?;
    }
    recorder.finish("a header without benchmarks")
}

fn take(
    recorder: &mut Recorder<'_>,
    table: &Table,
    parameters: &[usize],
    row: &csv::StringRecord,
) -> Result<(), String> {
    let method = row.iter().take(table.method() + 1).collect::<Vec<_>>().join(".");
    let own: Vec<(String, String)> = parameters
        .iter()
        .map(|&column| (table.header[column].clone(), row[column].to_owned()))
        .collect();
    let told: Vec<String> = own.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let plain = match told.is_empty() {
        true => method.clone(),
        false => format!("{method}({})", told.join(", ")),
    };
    let mut name = plain.clone();
    let mut times = 1;
    while recorder.find(&name).is_some() {
        times += 1;
        name = format!("{plain} #{times}");
    }
    let marks = recorder.marks();
    let amount = |column: &str| match table.column(column) {
        Some(column) => table.number(row, column, marks),
        None => Ok(None),
    };
    let seconds = |column: &str| -> Result<Option<f64>, String> {
        let found = amount(column)?;
        Ok(found.filter(|(_, unit)| *unit == Unit::Second).map(|(value, _)| value))
    };
    let Some(mean) = seconds("Mean")? else {
        recorder.finding(benchmark_error(&name, "has no time: it did not come to its end"));
        return Ok(());
    };
    let subject = recorder.benchmark(&name, Some(&method), &own);
    let wall = Metric::wall();
    recorder.metric(&wall)?;
    recorder.summary(Summary {
        subject,
        metric: wall.name,
        mean: Some(mean),
        sd: seconds("StdDev")?,
        median: seconds("Median")?,
        min: seconds("Min")?,
        max: seconds("Max")?,
        ..Summary::default()
    });
    if let Some((bytes, Unit::Byte)) = amount("Allocated")? {
        let metric = Metric::lower("allocated", Unit::Byte);
        recorder.metric(&metric)?;
        let (mean, metric) = (Some(bytes), metric.name);
        recorder.summary(Summary { subject, metric, mean, ..Summary::default() });
    }
    Ok(())
}
