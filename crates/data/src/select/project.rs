//! Rows and columns of a comparison, made from what benchmarks have beside their names: `--col goos`, `--row .name --col n`.
//!
//! Every value of the column keys becomes a side, the first that occurs the reference; what is left of a benchmark's identity, or the row
//! keys alone, names the row. Two benchmarks in one cell are an error: pooling them would compare what nobody meant.

use super::{Key, known_parameters};
use crate::import::labels;
use crate::samples::{Metric, Samples, Subject};
use std::collections::HashMap;
use std::path::Path;

/// The row of a benchmark of whose name the columns leave nothing, where others have more.
const NO_REST: &str = "(no parameters)";

/// Why rows and columns can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// A key of metrics, which are no benchmarks.
    #[error(
        "`{0}` can't make rows or columns: every metric is a table of its own; choose with --filter .metric:NAME"
    )]
    OfMetrics(Key),
    /// No benchmark has such a parameter.
    #[error("no benchmark has a parameter `{name}` for --row or --col; {known}")]
    NoSuchParameter {
        /// What was asked for.
        name: String,
        /// The parameters that there are.
        known: String,
    },
    /// All benchmarks have the same value, so that there would be one column.
    #[error(
        "--col {keys}: all benchmarks have the same value there, `{value}`; a comparison needs two"
    )]
    OneColumn {
        /// The keys asked for.
        keys: String,
        /// The value.
        value: String,
    },
    /// Two benchmarks would share a cell.
    #[error(
        "`{first}` and `{second}` would both stand in {}column `{column}`; name in --row what tells them apart, or leave one out with --filter",
        .row.as_ref().map_or_else(String::new, |row| format!("row `{row}`, "))
    )]
    SharedCell {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// The row; none where the columns take the whole name.
        row: Option<String>,
        /// The column.
        column: String,
    },
}

/// Makes rows and columns of samples: every subject gets its `side` (column), its `benchmark` (row) and its reference anew. Without row keys
/// the row is what is left of the name, without column keys the column is the file.
///
/// # Errors
/// When a key does not fit the samples, or two benchmarks would share a cell.
pub fn project(samples: &mut Samples, row: &[Key], col: &[Key]) -> Result<(), ProjectError> {
    for key in row.iter().chain(col) {
        check(samples, key)?;
    }
    let by_file = [Key::Side];
    let col = if col.is_empty() { &by_file[..] } else { col };
    let sides = sides(samples);
    let several_sides = sides.iter().any(|side| Some(side) != sides.first());
    let cells: Vec<(String, String)> = samples
        .subjects
        .iter()
        .zip(&sides)
        .map(|(subject, side)| {
            let text = |key: &Key| match key {
                Key::Side => side.to_owned(),
                _ => text(key, subject).to_owned(),
            };
            let column: Vec<String> = col.iter().map(text).collect();
            let mut name = if row.is_empty() {
                rest_of_name(subject, col)
            } else {
                let shown = |key: &Key| match key {
                    // A parameter that it does not have is no part of its row.
                    Key::Parameter(name) => own(subject, name).map(|own| format!("{name}={own}")),
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
    }
    // The reference of a row is its benchmark in the first column that has one.
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
    let all_empty = cells.iter().all(|(row, _)| row.is_empty());
    for ((subject, (row, column)), against) in samples.subjects.iter_mut().zip(cells).zip(against) {
        subject.name = joined(&column, &row);
        let row = if row.is_empty() && !all_empty { NO_REST.to_owned() } else { row };
        subject.benchmark = Some(row);
        subject.side = Some(column);
        subject.against = Some(against);
    }
    Ok(())
}

fn check(samples: &Samples, key: &Key) -> Result<(), ProjectError> {
    match key {
        Key::Metric | Key::Unit => Err(ProjectError::OfMetrics(key.clone())),
        Key::Parameter(name) => {
            let has = |s: &Subject| s.parameters.iter().any(|(own, _)| own == name);
            if samples.subjects.iter().any(has) {
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

/// What a subject has there; nothing for a parameter that it does not have.
fn text<'a>(key: &Key, subject: &'a Subject) -> &'a str {
    // Keys of metrics were refused before, so that any metric will do.
    static NONE: std::sync::LazyLock<Metric> = std::sync::LazyLock::new(Metric::wall);
    key.value(subject, &NONE).unwrap_or_default()
}

fn own<'a>(subject: &'a Subject, parameter: &str) -> Option<&'a str> {
    subject.parameters.iter().find(|(name, _)| name == parameter).map(|(_, value)| value.as_str())
}

/// For every subject the side that it was measured on: that which it has, else its file, by as much of the path as tells it from the
/// others.
fn sides(samples: &Samples) -> Vec<String> {
    let mut files: Vec<&str> = Vec::new();
    for subject in &samples.subjects {
        match (&subject.side, &subject.source) {
            (None, Some(source)) if !files.contains(&source.as_str()) => files.push(source),
            _ => {}
        }
    }
    let paths: Vec<&Path> = files.iter().map(|file| Path::new(*file)).collect();
    let labels = labels(&paths);
    let of_subject = |subject: &Subject| match (&subject.side, &subject.source) {
        (Some(side), _) => side.clone(),
        (None, Some(source)) => {
            let place = files.iter().position(|file| file == source);
            place.map_or_else(|| source.clone(), |place| labels[place].clone())
        }
        (None, None) => String::new(),
    };
    samples.subjects.iter().map(of_subject).collect()
}

/// What stands in a column, and the row; where a column takes the whole name there is no row to tell.
fn joined(column: &str, row: &str) -> String {
    match (column.is_empty(), row.is_empty()) {
        (_, true) => column.to_owned(),
        (true, false) => row.to_owned(),
        (false, false) => format!("{column}: {row}"),
    }
}

/// The full name; where a column takes a part of it, the name without that part.
fn rest_of_name(subject: &Subject, col: &[Key]) -> String {
    let is_column =
        |name: &str| col.iter().any(|k| matches!(k, Key::Parameter(own) if own == name));
    let takes_name = col.contains(&Key::Name);
    let takes_parameter = subject.parameters.iter().any(|(name, _)| is_column(name));
    if col.contains(&Key::FullName) {
        return String::new();
    }
    if !takes_name && !takes_parameter {
        return super::full_name(subject).to_owned();
    }
    let names_values = text(&Key::Name, subject).contains(['{', '}']);
    if (subject.label.is_none() || names_values) && !takes_name {
        // The values stand somewhere in the name: the places of those that make columns are marked.
        let columns = subject.parameters.iter().filter(|(name, _)| is_column(name));
        return columns.fold(super::full_name(subject).to_owned(), |text, (name, value)| {
            without_value(&text, name, value)
        });
    }
    let base = text(&Key::Name, subject);
    let parameters =
        subject.parameters.iter().filter(|(name, _)| !is_column(name)).map(|(name, value)| {
            if name.parse::<u32>().is_ok() { value.clone() } else { format!("{name}={value}") }
        });
    let base = (!takes_name).then(|| base.to_owned());
    base.into_iter().chain(parameters).collect::<Vec<_>>().join("/")
}

/// A name with `{parameter}` wherever the parameter's value stands as a word: `sort {n}` for `sort 8` and `sort n={n}` for `sort n=8`.
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
