//! Reads the table that [`export::csv`](crate::export::csv) writes, with its blocks, units and
//! outcomes.
//!
//! The table is recognized by the first columns of its header. With `--by` or `--value` it is read
//! like any other table. The table does not contain the direction of a metric, so higher is assumed
//! to be better for rates, and lower for everything else.

use super::{Context, Head, ImportError, Part, csv as foreign};
use crate::export::{PLACE_COLUMNS, text_of_cell};
use crate::input::Input;
use crate::lines::io_error;
use crate::read_error::{FilePosition, ReadError};
use crate::{Metric, Observation, Outcome, Pass, Row as SampleRow, Samples, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of metrics in one table. Each one takes a column as long as the file.
const MAX_METRICS: usize = 1000;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let columns: Vec<_> = head.first.split(',').take(PLACE_COLUMNS.len()).collect();
    columns.starts_with(&["subject", "block", "pos"]) && columns.contains(&"outcome")
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    if context.options.by.is_some() || context.options.value_column().is_some() {
        return foreign::read(input, context);
    }
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .has_headers(true)
        .flexible(true)
        .from_reader(input.into_reader());
    let fail = |line: u64, problem: String| ReadError::Line {
        place: FilePosition { file: context.file.to_owned(), line, column: None },
        problem,
    };
    let header = reader.headers().map_err(|error| csv_error(error, context.file))?.clone();
    let known = PLACE_COLUMNS.iter().filter(|&name| header.iter().any(|column| column == *name));
    let places = known.count();
    let mut samples = Samples::bounded(Vec::new());
    let mut names = BTreeSet::new();
    for column in header.iter().skip(places) {
        let (name, unit) = column.rsplit_once('_').ok_or_else(|| {
            fail(1, format!("column `{column}` has no unit in its name, as in `wall_s`"))
        })?;
        if !names.insert(name) || samples.metrics.len() == MAX_METRICS {
            let problem =
                format!("column `{column}` repeats a metric, or there are more than {MAX_METRICS}");
            return Err(fail(1, problem).into());
        }
        let unit = Unit::from(unit.to_owned());
        samples.add_metric(Metric::of_unit(name, unit));
    }
    let mut subjects = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| csv_error(error, context.file))? {
        let line = reader.position().line().saturating_sub(1).max(1);
        let row = Row { header: &header, record: &record, places };
        let mut observation = row.observation().map_err(|problem| fail(line, problem))?;
        let name = text_of_cell(record.get(0).unwrap_or_default());
        observation.subject = match subjects.get(name) {
            Some(&subject) => subject,
            None => {
                let row = SampleRow { name: name.to_owned(), ..SampleRow::default() };
                let subject = samples.add_row_of_file(context, row, Vec::new());
                subjects.insert(name.to_owned(), subject);
                subject
            }
        };
        if let Some(block) = observation.block
            && !seen.insert((observation.subject, observation.pass, block))
        {
            let problem = format!("`{name}` has a second observation in block {block}");
            return Err(fail(line, problem).into());
        }
        samples.push(observation);
    }
    if samples.is_empty() {
        return Err(ImportError::NoNumbers { file: context.file.to_owned(), holds: "a header" });
    }
    Ok(Part { samples, is_bare: false, is_ours: true })
}

struct Row<'a> {
    header: &'a csv::StringRecord,
    record: &'a csv::StringRecord,
    /// Number of columns before the metrics.
    places: usize,
}

impl Row<'_> {
    fn observation(&self) -> Result<Observation, String> {
        if self.record.len() != self.header.len() {
            let (has, expected) = (self.record.len(), self.header.len());
            return Err(format!("this row has {has} columns, the header {expected}"));
        }
        let mut observation = Observation::default();
        for (name, text) in self.header.iter().zip(self.record).take(self.places) {
            let wrong =
                |expected: &str| format!("column `{name}`: expected {expected}, not `{text}`");
            let count = |text: &str| text.parse::<u32>().ok().filter(|&n| n < u32::MAX);
            match name {
                _ if text.is_empty() => {}
                "block" => {
                    observation.block = Some(count(text).ok_or_else(|| wrong("a block number"))?)
                }
                "pos" => {
                    observation.position = Some(count(text).ok_or_else(|| wrong("a position"))?)
                }
                "pass" => {
                    let pass = Pass::ALL.into_iter().find(|pass| pass.word() == text);
                    observation.pass = Some(pass.ok_or_else(|| wrong("the name of a pass"))?);
                }
                "level" => {
                    let level: Option<_> = text.split('/').map(count).collect();
                    observation.level = level.ok_or_else(|| wrong("numbers such as 0/3"))?;
                }
                "t" => observation.time = Some(finite(text).ok_or_else(|| wrong("seconds"))?),
                "outcome" => {
                    observation.outcome =
                        outcome(text).ok_or_else(|| wrong("ok, exit N, signal N or timeout"))?;
                }
                _ => {}
            }
        }
        for (name, text) in self.header.iter().zip(self.record).skip(self.places) {
            let number = if text.is_empty() { Some(f64::NAN) } else { finite(text) };
            let wrong = || format!("column `{name}`: `{text}` is not a finite number");
            observation.values.push(number.ok_or_else(wrong)?);
        }
        Ok(observation)
    }
}

fn finite(text: &str) -> Option<f64> {
    crate::number::finite(text)
}

fn outcome(text: &str) -> Option<Outcome> {
    match text.split_once(' ') {
        None if text == "ok" => Some(Outcome::Ok),
        None if text == "timeout" => Some(Outcome::Timeout),
        Some(("exit", status)) => status.parse().ok().map(Outcome::Exit),
        Some(("signal", number)) => number.parse().ok().map(Outcome::Signal),
        _ => None,
    }
}

fn csv_error(error: csv::Error, file: &str) -> ReadError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => io_error(file, source),
        csv::ErrorKind::Utf8 { .. } => ReadError::Line {
            place: FilePosition { file: file.to_owned(), line, column: None },
            problem: "this row is not UTF-8; save the file as UTF-8 text".to_owned(),
        },
        other => io_error(file, std::io::Error::other(format!("{other:?}"))),
    }
}
