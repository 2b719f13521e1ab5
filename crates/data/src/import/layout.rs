//! Interprets the rows of a foreign table and gathers samples from them. A table has one column of
//! values, one subject per column (wide), or one subject per distinct name (long).
//!
//! The options and the first row determine the layout of the whole table. If they leave several
//! possibilities, an error is returned instead of a guess. Rows come from [`csv`](super::csv) or
//! [`columns`](super::columns), which handle separators.

use super::number::{Conversion, looks_like_number, may_be_heading};
use super::{ColumnRef, Context, ImportError, Part, TableColumns};
use crate::finding::shared::truncated_file;
use crate::list;
use crate::number::is_number;
use crate::read_error::{FilePosition, ReadError};
use crate::samples::{Metric, Row, Samples};
use crate::unit::unit_of_symbol;
use std::collections::HashMap;

/// Name of the metric if neither the user nor the header names it.
const UNNAMED: &str = "value";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    /// Column `value` has the values of a single subject.
    Single { value: usize },
    /// Every column is a subject.
    Wide,
    /// Column `by` names the subject of the row, `value` has its value.
    Long { by: usize, value: usize },
}

/// Builds samples row by row.
pub(super) struct Gatherer<'a> {
    context: &'a Context<'a>,
    conversion: Conversion,
    layout: Layout,
    samples: Samples,
    /// Names of the columns; empty if there is no header.
    header: Vec<String>,
    /// Indices of the subjects, by name.
    groups: HashMap<String, usize>,
    /// Length of the last number, preceded by that of the shortest of all other numbers, in bytes.
    lengths: (usize, usize),
}

impl<'a> Gatherer<'a> {
    /// Determines the layout of the table, and processes the first row as a header or as data.
    pub(super) fn start(
        context: &'a Context<'a>,
        first: &[&str],
        line: u64,
    ) -> Result<Self, ImportError> {
        let (layout, has_header) = decide(context, first, line)?;
        let options = context.options;
        let conversion = Conversion::from_symbol(options.unit.as_deref());
        let named_by_header = match layout {
            // If a unit was given, a header such as `ms` does not name the measured quantity.
            Layout::Single { value } | Layout::Long { value, .. }
                if has_header
                    && (options.unit.is_none() || unit_of_symbol(first[value]).is_none()) =>
            {
                first[value]
            }
            _ => UNNAMED,
        };
        let name = options.metric.as_deref().unwrap_or(named_by_header);
        let metric = context.options.directed(Metric::of_unit(name, conversion.unit.clone()));
        let mut gatherer = Self {
            context,
            conversion,
            layout,
            samples: Samples::bounded(vec![metric]),
            header: Vec::new(),
            groups: HashMap::new(),
            lengths: (usize::MAX, usize::MAX),
        };
        if has_header {
            gatherer.header = first.iter().map(|&name| name.to_owned()).collect();
        }
        match layout {
            Layout::Single { .. } => {
                // The only subject is the file itself, so its row has no name.
                let subject = gatherer.add_subject("");
                context.label.clone_into(&mut gatherer.samples.subjects[subject].name);
            }
            Layout::Wide => gatherer.add_columns(first, line)?,
            Layout::Long { .. } => {}
        }
        if !has_header {
            gatherer.row(first, line)?;
        }
        Ok(gatherer)
    }

    /// Returns the column if only one is read. Its text is then passed to [`single`](Self::single).
    pub(super) fn single_column(&self) -> Option<usize> {
        match self.layout {
            Layout::Single { value } => Some(value),
            _ => None,
        }
    }

    /// Processes a row that consists of a single number, like nearly all rows of long files.
    /// Returns false for any other row.
    pub(super) fn bare_number(&mut self, text: &str) -> bool {
        let number = self.conversion.read_number(text, self.context.marks);
        if let Some(value) = number {
            self.lengths = (self.lengths.0.min(self.lengths.1), text.len());
            self.samples.push_value(0, value);
        }
        number.is_some()
    }

    /// Processes the value of a row of which only one column matters.
    pub(super) fn single(
        &mut self,
        text: &str,
        place: impl FnOnce() -> FilePosition,
    ) -> Result<(), ImportError> {
        self.lengths = (self.lengths.0.min(self.lengths.1), text.len());
        match self.conversion.read(text, self.context.marks) {
            Ok(value) => self.samples.push_value(0, value),
            Err(problem) => return Err(ReadError::Line { place: place(), problem }.into()),
        }
        Ok(())
    }

    /// Processes a row of trimmed fields.
    pub(super) fn row(&mut self, fields: &[&str], line: u64) -> Result<(), ImportError> {
        match self.layout {
            Layout::Single { value } => {
                let number = self.number(fields, value, line)?;
                self.samples.push_value(0, number);
            }
            Layout::Long { by, value } => {
                let number = self.number(fields, value, line)?;
                let name = *fields.get(by).ok_or_else(|| self.too_short(fields, by, line))?;
                let subject = match self.groups.get(name) {
                    Some(&subject) => subject,
                    None => {
                        let subject = self.add_subject(name);
                        self.groups.insert(name.to_owned(), subject);
                        subject
                    }
                };
                self.samples.push_value(subject, number);
            }
            Layout::Wide => {
                if fields.len() > self.header.len() {
                    let problem = format!(
                        "this row has {} columns, the header {}",
                        fields.len(),
                        self.header.len()
                    );
                    return Err(self.at(line, problem));
                }
                for (subject, text) in fields.iter().enumerate() {
                    // An empty cell is not a value, because subjects may have different numbers of
                    // values.
                    if !text.is_empty() {
                        let number = self.number(fields, subject, line)?;
                        self.samples.push_value(subject, number);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the samples after the last row. `ended` is true if the last line is terminated.
    pub(super) fn finish(
        mut self,
        comments: super::comments::Comments,
        ended: bool,
    ) -> Result<Part, ImportError> {
        if self.samples.is_empty() {
            let file = self.context.file.to_owned();
            return Err(ImportError::NoNumbers { file, holds: "a header" });
        }
        let (others, last) = self.lengths;
        if !ended && others < usize::MAX && last < others {
            self.samples.findings.push(truncated_file(format!(
                "`{}` has no line end after its last number, which is shorter than all others: the file may have been cut off there",
                self.context.file
            )));
        }
        self.samples.environment = comments.into_environment();
        Ok(Part { samples: self.samples, is_bare: true, is_ours: false })
    }

    fn number(&mut self, fields: &[&str], column: usize, line: u64) -> Result<f64, ImportError> {
        let text = fields.get(column).ok_or_else(|| self.too_short(fields, column, line))?;
        self.lengths = (self.lengths.0.min(self.lengths.1), text.len());
        self.conversion.read(text, self.context.marks).map_err(|problem| {
            let problem = if fields.len() > 1 {
                format!("column {}: {problem}", column + 1)
            } else {
                problem
            };
            if self.layout == Layout::Wide && !looks_like_number(text) && self.header.len() > 1 {
                let is_value = |&column: &usize| {
                    fields.get(column).is_some_and(|field| is_number(field))
                        && is_measurement(&self.header[column])
                };
                let value = (0..self.header.len()).find(is_value);
                let advice = value.map(|value| TableColumns {
                    by: Some(named(&self.header, column)),
                    value: named(&self.header, value),
                });
                let by = named(&self.header, column).to_string();
                let by = by.trim_matches('`');
                let problem = match advice {
                    Some(_) => problem,
                    None => format!(
                        "{problem}; if this column names the subjects, name the column of the values: `--by {by} --value COLUMN`"
                    ),
                };
                let place = place(self.context, line);
                return ImportError::WhichColumn { place, problem, advice };
            }
            self.at(line, problem)
        })
    }

    fn too_short(&self, fields: &[&str], column: usize, line: u64) -> ImportError {
        let columns = if fields.len() == 1 { "column" } else { "columns" };
        let problem = format!(
            "this row has {} {columns}; expected a value in column {}",
            fields.len(),
            column + 1
        );
        self.at(line, problem)
    }

    fn at(&self, line: u64, problem: String) -> ImportError {
        ReadError::Line { place: place(self.context, line), problem }.into()
    }

    fn add_subject(&mut self, name: &str) -> usize {
        let row = Row { name: name.to_owned(), ..Row::default() };
        self.samples.add_row_of_file(self.context, row, Vec::new())
    }

    fn add_columns(&mut self, names: &[&str], line: u64) -> Result<(), ImportError> {
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(
                    self.at(line, format!("column {} has no name in the header", index + 1))
                );
            }
            if self.groups.insert((*name).to_owned(), index).is_some() {
                return Err(self.at(line, format!("two columns are named `{name}`")));
            }
            self.add_subject(name);
        }
        Ok(())
    }
}

fn place(context: &Context<'_>, line: u64) -> FilePosition {
    FilePosition { file: context.file.to_owned(), line, column: None }
}

/// Returns the layout, and whether the first row is a header.
fn decide(context: &Context<'_>, first: &[&str], line: u64) -> Result<(Layout, bool), ImportError> {
    let column = |wanted: &ColumnRef| resolve(context, wanted, first, line);
    let options = context.options;
    let value = options.value_column();
    let is_named = |wanted: &Option<ColumnRef>| matches!(wanted, Some(ColumnRef::Name(_)));
    let has_header = |value_column: usize| {
        is_named(&options.by) || is_named(&value) || may_be_heading(first[value_column])
    };
    let unclear = |problem, advice| {
        let place = place(context, line);
        ImportError::WhichColumn { place, problem, advice }
    };
    match (&options.by, &value) {
        (Some(by), Some(value)) => {
            let (by, value) = (column(by)?, column(value)?);
            Ok((Layout::Long { by, value }, has_header(value)))
        }
        (Some(by), None) => {
            let by = column(by)?;
            if first.len() != 2 {
                let problem = format!(
                    "which column contains the values? Give it with `--value`; there are {}",
                    available(first)
                );
                return Err(unclear(problem, None));
            }
            let value = 1 - by;
            Ok((Layout::Long { by, value }, has_header(value)))
        }
        (None, Some(value)) => {
            let value = column(value)?;
            Ok((Layout::Single { value }, has_header(value)))
        }
        (None, None) if first.len() == 1 => {
            Ok((Layout::Single { value: 0 }, may_be_heading(first[0])))
        }
        // Only plain numbers count as numbers here, because `4 threads` and `2024-05` are names of
        // subjects.
        (None, None) if !first.iter().any(|field| is_number(field)) => Ok((Layout::Wide, true)),
        (None, None) if has_unit_behind(first) => {
            let problem =
                format!("a number and its unit; `--column 1 --unit {}` reads this file", first[1]);
            Err(unclear(problem, None))
        }
        (None, None) => {
            let problem = format!(
                "{} columns and no header that names them; give the column of the values with `--value`, and that of the subjects with `--by`",
                first.len(),
            );
            let is_number = |field: &&str| is_number(field);
            let number = |column: usize| ColumnRef::Number(column + 1);
            // Without names, it is unknown which of several numbers is the measurement.
            let mut numbers = (0..first.len()).filter(|&column| is_number(&first[column]));
            let value = numbers.next().filter(|_| numbers.next().is_none());
            let by = first.iter().position(|field| !looks_like_number(field)).map(number);
            let advice = value.map(|value| TableColumns { by, value: number(value) });
            Err(unclear(problem, advice))
        }
    }
}

/// Returns true for a number and its unit, as in `10.1 ms`. A single letter other than `s` is more
/// likely a name.
fn has_unit_behind(first: &[&str]) -> bool {
    match first {
        &[number, unit] => {
            let is_clear = unit == "s" || unit.chars().count() > 1;
            is_number(number) && is_clear && unit_of_symbol(unit).is_some()
        }
        _ => false,
    }
}

/// Returns true if the heading names a measured quantity, not a setting, a count of repetitions or
/// a measure of spread.
fn is_measurement(heading: &str) -> bool {
    const MEASURED: [&str; 26] = [
        "time",
        "times",
        "score",
        "mean",
        "median",
        "avg",
        "average",
        "duration",
        "latency",
        "elapsed",
        "value",
        "values",
        "rate",
        "throughput",
        "speed",
        "memory",
        "rss",
        "bytes",
        "cycles",
        "instructions",
        "real",
        "wall",
        "runtime",
        "seconds",
        "milliseconds",
        "nanoseconds",
    ];
    const ELSE: [&str; 19] = [
        "error",
        "err",
        "stddev",
        "sd",
        "std",
        "deviation",
        "stderr",
        "ci",
        "margin",
        "count",
        "samples",
        "iterations",
        "iters",
        "threads",
        "min",
        "max",
        "unit",
        "timestamp",
        "date",
    ];
    let lower = heading.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_unit = |word: &str| word != "m" && word != "h" && unit_of_symbol(word).is_some();
    words().any(|word| MEASURED.contains(&word) || is_unit(word))
        && !words().any(|word| ELSE.contains(&word))
}

/// Returns the name of a column if it is unique and a shell would read it as one word, otherwise
/// its number.
fn named(header: &[String], column: usize) -> ColumnRef {
    let name = &header[column];
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/');
    let is_word = name.starts_with(char::is_alphabetic) && name.chars().all(is_plain);
    match is_word && header.iter().filter(|other| *other == name).count() == 1 {
        true => ColumnRef::Name(name.clone()),
        false => ColumnRef::Number(column + 1),
    }
}

fn resolve(
    context: &Context<'_>,
    wanted: &ColumnRef,
    first: &[&str],
    line: u64,
) -> Result<usize, ImportError> {
    let found = match wanted {
        ColumnRef::Number(number) => number.checked_sub(1).filter(|&index| index < first.len()),
        ColumnRef::Name(name) => first.iter().position(|field| field == name),
    };
    found.ok_or_else(|| ImportError::NoSuchColumn {
        place: place(context, line),
        wanted: wanted.clone(),
        available: match wanted {
            ColumnRef::Number(0) => format!("{}; they are counted from 1", available(first)),
            _ => available(first),
        },
    })
}

/// Lists the columns of a table for a message.
pub(super) fn available(first: &[&str]) -> String {
    const SHOWN: usize = 12;
    let names: Vec<_> = first
        .iter()
        .take(SHOWN)
        .enumerate()
        .map(|(index, name)| format!("{} (`{}`)", index + 1, crate::read_error::quoted_start(name)))
        .collect();
    list::counted(&names, first.len())
}
