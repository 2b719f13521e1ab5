//! Forms the rows and columns of a comparison from properties of benchmarks other than their names,
//! as in `--col goos` or `--row .name --col n`.
//!
//! Every value of the column keys becomes a side, and the first one is the reference. A row is
//! named after the row keys or, without any, after the parts of a benchmark's identity that are not
//! used for columns. Two benchmarks in one cell are an error because pooling them would compare
//! something unintended.

use super::{Key, known_parameters};
use crate::import::labels;
use crate::samples::{Metric, Row, Samples, Side, Subject};
use std::collections::HashMap;
use std::path::Path;

/// Name of the row of a benchmark whose name is completely used for columns, unless that is true of
/// all benchmarks.
const NO_REST: &str = "(no parameters)";

/// Reasons why rows and columns cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The key is a property of metrics, not of benchmarks.
    #[error(
        "`{0}` can't make rows or columns: every metric is a table of its own; choose with --filter .metric:NAME"
    )]
    OfMetrics(Key),
    /// No benchmark has the requested parameter.
    #[error("no benchmark has a parameter `{name}` for --row or --col; {known}")]
    NoSuchParameter {
        /// The requested parameter.
        name: String,
        /// Existing parameters, as listed in messages.
        known: String,
    },
    /// All benchmarks have the same value for the column keys, so that there would be only one
    /// column.
    #[error(
        "--col {keys}: all benchmarks have the same value there, `{value}`; a comparison needs two"
    )]
    OneColumn {
        /// The column keys, separated by commas.
        keys: String,
        /// The common value.
        value: String,
    },
    /// Two benchmarks would share a cell.
    #[error(
        "`{first}` and `{second}` would both stand in {}column `{column}`; name in --row what tells them apart, or leave one out with --filter",
        .row.as_ref().map_or_else(String::new, |row| format!("row `{row}`, "))
    )]
    SharedCell {
        /// One of the two benchmarks.
        first: String,
        /// The other benchmark.
        second: String,
        /// The row; `None` if the columns use up the whole name.
        row: Option<String>,
        /// The column.
        column: String,
    },
}

/// Forms the rows and columns of samples: every subject gets a new side (column), row and
/// reference. Without row keys, the row is what the columns leave of the name. Without column keys,
/// the column is the file.
///
/// # Errors
///
/// Returns an error if a key does not fit the samples, if all benchmarks are in one column, or if
/// two benchmarks would share a cell.
pub fn project(samples: &mut Samples, row: &[Key], col: &[Key]) -> Result<(), ProjectError> {
    for key in row.iter().chain(col) {
        check(samples, key)?;
    }
    let by_file = [Key::Side];
    let col = if col.is_empty() { &by_file[..] } else { col };
    let sides = files(samples);
    let several_sides = sides.iter().any(|side| Some(side) != sides.first());
    let cells: Vec<(String, String)> = samples
        .subjects
        .iter()
        .zip(&sides)
        .map(|(subject, side)| {
            let text = |key: &Key| match key {
                Key::Side => side.to_owned(),
                _ => text(samples, key, subject).to_owned(),
            };
            let column: Vec<String> = col.iter().map(text).collect();
            let mut name = if row.is_empty() {
                rest_of_name(samples, subject, col)
            } else {
                let shown = |key: &Key| match key {
                    // A parameter that the subject does not have is not part of its row.
                    Key::Parameter(name) => {
                        subject.parameter(name).map(|own| format!("{name}={own}"))
                    }
                    _ => Some(text(key)),
                };
                row.iter().filter_map(shown).collect::<Vec<_>>().join(" ")
            };
            if row.is_empty() && several_sides && !col.contains(&Key::Side) {
                name = joined(side, &name);
            }
            (name, column.join(" "))
        })
        .collect();
    if let Some(((_, first), rest)) = cells.split_first()
        && rest.iter().all(|(_, column)| column == first)
    {
        let keys = col.iter().map(Key::to_string).collect::<Vec<_>>().join(",");
        return Err(ProjectError::OneColumn { keys, value: first.clone() });
    }
    let mut taken: HashMap<&(String, String), usize> = HashMap::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut rows: Vec<&str> = Vec::new();
    let mut row_of: HashMap<&str, usize> = HashMap::new();
    for (index, cell) in cells.iter().enumerate() {
        if let Some(other) = taken.insert(cell, index) {
            return Err(ProjectError::SharedCell {
                first: samples.subjects[other].name.clone(),
                second: samples.subjects[index].name.clone(),
                row: Some(cell.0.clone()).filter(|row| !row.is_empty()),
                column: cell.1.clone(),
            });
        }
        if !columns.contains(&cell.1.as_str()) {
            columns.push(&cell.1);
        }
        row_of.entry(&cell.0).or_insert_with(|| {
            rows.push(&cell.0);
            rows.len() - 1
        });
    }
    // The reference of a row is the benchmark in the first column that has one for this row.
    let mut reference: HashMap<&str, (usize, usize)> = HashMap::new();
    for (index, (name, column)) in cells.iter().enumerate() {
        let place = columns.iter().position(|c| c == column).unwrap_or(usize::MAX);
        let best = reference.entry(name).or_insert((place, index));
        *best = (*best).min((place, index));
    }
    let against: Vec<usize> = cells.iter().map(|(name, _)| reference[name.as_str()].1).collect();
    let renamed: HashMap<String, String> = samples
        .subjects
        .iter()
        .zip(&cells)
        .map(|(subject, (row, column))| (subject.name.clone(), joined(column, row)))
        .collect();
    for finding in &mut samples.findings {
        if let Some(name) =
            finding.subject.as_mut().and_then(|name| Some((renamed.get(name)?, name)))
        {
            name.1.clone_from(name.0);
        }
    }
    let keys: Vec<(usize, usize)> = cells
        .iter()
        .map(|(row, column)| {
            let side = columns.iter().position(|own| own == column).unwrap_or_default();
            (side, row_of[row.as_str()])
        })
        .collect();
    let new_rows = new_rows(samples, &rows, &keys);
    let new_sides = new_sides(samples, &columns, &keys);
    for ((index, (row, column)), against) in cells.iter().enumerate().zip(against) {
        let subject = &mut samples.subjects[index];
        subject.name = joined(column, row);
        (subject.side, subject.row) = keys[index];
        subject.against = Some(against);
    }
    (samples.sides, samples.rows) = (new_sides, new_rows);
    Ok(())
}

/// Returns rows with these names. Other properties are those of the row's first subject.
fn new_rows(samples: &Samples, names: &[&str], keys: &[(usize, usize)]) -> Vec<Row> {
    let all_empty = names.iter().all(|name| name.is_empty());
    let mut rows: Vec<Option<Row>> = vec![None; names.len()];
    for (subject, &(_, row)) in samples.subjects.iter().zip(keys) {
        rows[row].get_or_insert_with(|| {
            let no_rest = names[row].is_empty() && !all_empty;
            Row {
                name: if no_rest { NO_REST } else { names[row] }.to_owned(),
                label: samples.label_of(subject).map(str::to_owned),
                noun: samples.row_of(subject).noun.clone(),
                group: samples.row_of(subject).group.clone(),
            }
        });
    }
    rows.into_iter().flatten().collect()
}

/// Returns sides with these names. The source of a side is set if all of its subjects have the same
/// one.
fn new_sides(samples: &Samples, names: &[&str], keys: &[(usize, usize)]) -> Vec<Side> {
    let mut sources: Vec<Option<&Option<String>>> = vec![None; names.len()];
    for (subject, &(side, _)) in samples.subjects.iter().zip(keys) {
        let own = &samples.side_of(subject).source;
        let common = sources[side].get_or_insert(own);
        if *common != own {
            *common = &None;
        }
    }
    let sides = names.iter().zip(sources).map(|(name, source)| Side {
        name: (*name).to_owned(),
        source: source.cloned().flatten(),
        ..Side::default()
    });
    sides.collect()
}

fn check(samples: &Samples, key: &Key) -> Result<(), ProjectError> {
    match key {
        Key::Metric | Key::Unit => Err(ProjectError::OfMetrics(key.clone())),
        Key::Parameter(name) => {
            if samples.subjects.iter().any(|s| s.parameter(name).is_some()) {
                return Ok(());
            }
            Err(ProjectError::NoSuchParameter {
                name: name.clone(),
                known: known_parameters(samples),
            })
        }
        _ => Ok(()),
    }
}

/// Returns the value of a key for a subject, or an empty text for a parameter that it does not
/// have.
fn text<'a>(samples: &'a Samples, key: &Key, subject: &'a Subject) -> &'a str {
    // Keys of metrics have already been refused, so any metric will do.
    static NONE: std::sync::LazyLock<Metric> = std::sync::LazyLock::new(Metric::wall);
    key.value(samples, subject, &NONE).unwrap_or_default()
}

/// Returns for every subject its file, with as much of the path as distinguishes it from other
/// files. For a subject without a file, returns the name of its side, or nothing if its row has no
/// name.
fn files(samples: &Samples) -> Vec<String> {
    let mut files: Vec<&str> = Vec::new();
    for source in samples.sides.iter().filter_map(|side| side.source.as_deref()) {
        if !files.contains(&source) {
            files.push(source);
        }
    }
    let paths: Vec<&Path> = files.iter().map(|file| Path::new(*file)).collect();
    let labels = labels(&paths);
    let of_subject = |subject: &Subject| {
        let side = samples.side_of(subject);
        match side.source.as_ref().and_then(|own| files.iter().position(|file| file == own)) {
            Some(place) => labels[place].clone(),
            None if samples.row_of(subject).name.is_empty() => String::new(),
            None => side.name.clone(),
        }
    };
    samples.subjects.iter().map(of_subject).collect()
}

/// Joins the names of a column and a row. The row's name is empty if the columns use the whole
/// name.
fn joined(column: &str, row: &str) -> String {
    match (column.is_empty(), row.is_empty()) {
        (_, true) => column.to_owned(),
        (true, false) => row.to_owned(),
        (false, false) => format!("{column}: {row}"),
    }
}

/// Returns the full name without the parts that are used for columns.
fn rest_of_name(samples: &Samples, subject: &Subject, col: &[Key]) -> String {
    let is_column =
        |name: &str| col.iter().any(|k| matches!(k, Key::Parameter(own) if own == name));
    let takes_name = col.contains(&Key::Name);
    let takes_parameter = subject.parameters.iter().any(|(name, _)| is_column(name));
    if col.contains(&Key::FullName) {
        return String::new();
    }
    if !takes_name && !takes_parameter {
        return samples.full_name(subject).to_owned();
    }
    let names_values = text(samples, &Key::Name, subject).contains(['{', '}']);
    if (samples.label_of(subject).is_none() || names_values) && !takes_name {
        // The positions of the values in the name are unknown, so values that are used for columns
        // are replaced by placeholders.
        let columns = subject.parameters.iter().filter(|(name, _)| is_column(name));
        return columns.fold(samples.full_name(subject).to_owned(), |text, (name, value)| {
            without_value(&text, name, value.as_str())
        });
    }
    let base = text(samples, &Key::Name, subject);
    let parameters =
        subject.parameters.iter().filter(|(name, _)| !is_column(name)).map(|(name, value)| {
            if name.parse::<u32>().is_ok() { value.to_string() } else { format!("{name}={value}") }
        });
    let base = (!takes_name).then(|| base.to_owned());
    base.into_iter().chain(parameters).collect::<Vec<_>>().join("/")
}

/// Replaces a parameter's value by `{parameter}` wherever it is a word of the name, so that `sort
/// 8` becomes `sort {n}` and `sort n=8` becomes `sort n={n}`.
pub(crate) fn without_value(text: &str, name: &str, value: &str) -> String {
    let is_inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let mut found = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(value).filter(|_| !value.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let previous = before.chars().next_back().or(found.chars().next_back());
        found += before;
        if is_inner(previous) || is_inner(after.chars().next()) {
            found += value;
        } else {
            found += &format!("{{{name}}}");
        }
        rest = after;
    }
    found + rest
}
