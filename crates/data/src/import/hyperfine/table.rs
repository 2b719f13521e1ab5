//! The table of `hyperfine --export-csv`, of 1.x and 2.x. It has a summary of each command, without
//! the runs.
//!
//! The table does not state how many runs a row summarizes. For user and system time, version 1.x
//! has only means.

use super::super::recorder::Recorder;
use super::super::{Context, Head, ImportError, Part};
use super::{KNOWN, declared, distinct_names};
use crate::input::Input;
use crate::number::finite;
use crate::read_error::{FilePosition, ReadError};
use crate::samples::{Metric, Summary};
use crate::unit::Unit;

const HEADER_1: &str = "command,mean,stddev,median,user,system,min,max";
/// Suffixes of a metric's columns in 2.x.
const STATISTICS: [&str; 5] = ["_mean", "_stddev", "_median", "_min", "_max"];

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    let is_2 = || head.first.contains("_unit,") && head.first.contains("_mean,");
    head.first.starts_with(HEADER_1) || (head.first.starts_with("command,") && is_2())
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "hyperfine");
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).from_reader(without_mark(input.into_reader()));
    let wrong = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let place = FilePosition { file: context.file.to_owned(), line, column: None };
        ImportError::from(match error.into_kind() {
            csv::ErrorKind::Io(source) => crate::lines::io_error(context.file, source),
            _ => ReadError::Line { place, problem: "this row is not UTF-8 text".to_owned() },
        })
    };
    let header = reader.headers().map_err(wrong)?.clone();
    let mut rows = Vec::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(wrong)? {
        let line = record.position().map_or(1, csv::Position::line);
        if record.len() != header.len() {
            let (has, expected) = (record.len(), header.len());
            let problem = format!("this row has {has} columns, the header {expected}");
            return Err(recorder.at(line, problem));
        }
        let parameters: Vec<(String, String)> = header
            .iter()
            .zip(&record)
            .filter_map(|(column, cell)| {
                Some((column.strip_prefix("parameter_")?.to_owned(), cell.to_owned()))
            })
            .collect();
        rows.push((line, record[0].to_owned(), parameters, record.clone()));
    }
    let names = distinct_names(rows.iter().map(|(_, name, p, _)| (name.as_str(), p.as_slice())));
    for ((line, command, parameters, record), name) in rows.iter().zip(names) {
        let subject = recorder.benchmark(&name, None, parameters);
        recorder.subject_mut(subject).command = Some(command.clone());
        for (metric, summary) in
            summaries(&header, record).map_err(|problem| recorder.at(*line, problem))?
        {
            recorder.metric(&metric).map_err(|problem| recorder.at(*line, problem))?;
            recorder.summary(Summary { subject, metric: metric.name, ..summary });
        }
    }
    recorder.finish("a header")
}

/// Skips a byte-order mark at the start of the bytes, if there is one.
fn without_mark(mut reader: impl std::io::BufRead) -> impl std::io::Read {
    // A read error occurs again when the table is read.
    if reader.fill_buf().is_ok_and(|bytes| bytes.starts_with(b"\xef\xbb\xbf")) {
        reader.consume(3);
    }
    reader
}

/// Returns the statistics of each metric in a row.
fn summaries(
    header: &csv::StringRecord,
    row: &csv::StringRecord,
) -> Result<Vec<(Metric, Summary)>, String> {
    let cell = |column: &str| {
        header.iter().position(|name| name == column).and_then(|at| row.get(at)).unwrap_or_default()
    };
    let number = |column: &str| match cell(column) {
        // The standard deviation of a single run is empty.
        "" => Ok(None),
        text => {
            let value = finite(text);
            let shown = crate::excerpt::excerpt(text);
            value
                .map(Some)
                .ok_or_else(|| format!("column `{column}`: expected a number, not `{shown}`"))
        }
    };
    let mut all = Vec::new();
    if header.get(1) == Some("mean") {
        let wall = Summary {
            mean: number("mean")?,
            sd: number("stddev")?,
            median: number("median")?,
            min: number("min")?,
            max: number("max")?,
            ..Summary::default()
        };
        all.push((Metric::wall(), wall));
        for name in ["user", "system"] {
            let summary = Summary { mean: number(name)?, ..Summary::default() };
            all.push((Metric::lower(name, Unit::Second), summary));
        }
        return Ok(all);
    }
    for theirs in header.iter().filter_map(|column| column.strip_suffix("_unit")) {
        let symbol = cell(&format!("{theirs}_unit"));
        let declared = declared(symbol);
        let mut of = [None; 5];
        for (value, statistic) in of.iter_mut().zip(STATISTICS) {
            *value = number(&format!("{theirs}{statistic}"))?.map(|v| declared.to_base(v));
        }
        let [mean, sd, median, min, max] = of;
        let ours = KNOWN.iter().find(|(name, _)| *name == theirs).map_or(theirs, |known| known.1);
        let summary = Summary { mean, sd, median, min, max, ..Summary::default() };
        all.push((Metric::lower(ours, declared.unit), summary));
    }
    Ok(all)
}
