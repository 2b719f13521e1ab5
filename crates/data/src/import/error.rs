//! Errors of importing samples. Errors in single lines are [`ReadError`]s; the errors here concern
//! whole files, tables, and combinations of files.

use super::options::ColumnRef;
use crate::excerpt::{excerpt, visible};
use crate::read_error::{FilePosition, ReadError};
use crate::select::FilterError;

/// The columns to read from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumns {
    /// The column that names the subjects.
    pub by: Option<ColumnRef>,
    /// The column with the values.
    pub value: ColumnRef,
}

fn advised(columns: Option<&TableColumns>) -> String {
    let Some(TableColumns { by, value }) = columns else { return String::new() };
    // Quoted as for a shell.
    let word = |column: &ColumnRef| column.to_string().trim_matches('`').to_owned();
    let by = by.as_ref().map(|by| format!("--by {} ", word(by))).unwrap_or_default();
    format!("; `{}--value {}` reads this file", visible(&by), visible(&word(value)))
}

/// Reasons why samples could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The filter does not match the data.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A file could not be read, or one of its lines is wrong.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No input was named.
    #[error("no input; name at least one file, or `-` for standard input")]
    NoInput,
    /// Standard input can be read only once.
    #[error("`-` is given twice; standard input can be read only once")]
    StdinTwice,
    /// The file is not text.
    #[error("`{file}` is {what}")]
    Binary {
        /// The file.
        file: String,
        /// Kind of the file, and advice.
        what: &'static str,
    },
    /// The file exceeds a limit.
    #[error("`{file}` {problem}")]
    TooMany {
        /// The file.
        file: String,
        /// The limit, and advice.
        problem: String,
    },
    /// The file has numbers that cannot be compared.
    #[error("`{file}` {what}")]
    Refused {
        /// The file.
        file: String,
        /// Kind of the file, and advice, as the rest of a sentence.
        what: &'static str,
    },
    /// The file is text of an unknown format.
    #[error("`{file}` {seen}; its format is unknown. Known formats:{known}")]
    Unknown {
        /// The file.
        file: String,
        /// Kind or beginning of the file, as the rest of a sentence.
        seen: String,
        /// The known formats, on separate lines.
        known: String,
    },
    /// The path is a directory that cannot be read as a recording.
    #[error(
        "`{file}` is a directory; name a file in it, or a criterion directory such as `target/criterion`: there is no `new/sample.json` below this one"
    )]
    Directory {
        /// The directory.
        file: String,
    },
    /// The file has a known format in an unknown version.
    #[error(
        "`{file}` is {format} of version {}, but this assay supports {known}: update assay, or let the tool write a supported version",
        excerpt(.version)
    )]
    NewerFormat {
        /// The file.
        file: String,
        /// Name of the format.
        format: &'static str,
        /// The version that it declares.
        version: String,
        /// The versions that are supported.
        known: &'static str,
    },
    /// A name was given for a metric, but the file names all metrics itself.
    #[error(
        "--metric {name}: `{file}` names its metrics itself, and --metric names that of bare numbers; to choose among them: --primary {name}"
    )]
    MetricsNamed {
        /// The file.
        file: String,
        /// The given name.
        name: String,
    },
    /// The file has a known format, but its content is wrong.
    #[error("`{file}`: {}", visible(.problem))]
    Content {
        /// The file.
        file: String,
        /// The error and its position.
        problem: String,
    },
    /// The user's regular expression cannot be used.
    #[error("`--pattern`: {problem}")]
    Pattern {
        /// Description of the fault, and how to correct it.
        problem: String,
    },
    /// There are lines, but no numbers in them.
    #[error("`{file}` contains no numbers, only {holds}")]
    NoNumbers {
        /// The file.
        file: String,
        /// Actual contents of the lines.
        holds: &'static str,
    },
    /// The table does not have the named column.
    #[error("{place}: there is no column {wanted}; the columns: {}", visible(.available))]
    NoSuchColumn {
        /// The first line of the table.
        place: FilePosition,
        /// The requested column.
        wanted: ColumnRef,
        /// The existing columns.
        available: String,
    },
    /// The table has several columns and it is unclear which one holds the values.
    #[error("{place}: {}{}", visible(.problem), advised(.advice.as_ref()))]
    WhichColumn {
        /// The first line of the table.
        place: FilePosition,
        /// Description of the problem.
        problem: String,
        /// Columns with which a trial reading of the file succeeded.
        advice: Option<TableColumns>,
    },
    /// A metric has different units in two files.
    #[error(
        "`{}` is in {} in `{first}` and in {} in `{second}`; values of different units cannot be compared",
        excerpt(.metric), excerpt(.first_unit), excerpt(.second_unit)
    )]
    MixedUnits {
        /// The metric.
        metric: String,
        /// The file with the first unit.
        first: String,
        /// The unit in the first file.
        first_unit: String,
        /// The file with the other unit.
        second: String,
        /// The unit in the second file.
        second_unit: String,
    },
    /// Numbers without a unit are compared with a metric that has one.
    #[error(
        "the numbers in `{file}` have no unit, but `{}` in `{other}` is in {}; give their unit, as in `--unit {}`",
        excerpt(.metric), excerpt(.unit), excerpt(.example)
    )]
    UnitNeeded {
        /// The file with bare numbers.
        file: String,
        /// The metric with which the bare numbers would be compared.
        metric: String,
        /// The file that has this metric.
        other: String,
        /// The unit of the metric.
        unit: String,
        /// An example of a unit that could be meant.
        example: String,
    },
    /// No observations of a series are left after skipping.
    #[error(
        "`--skip {skip}` leaves nothing of {}, which has {observations} observations; skip fewer",
        excerpt(.subject)
    )]
    NothingLeft {
        /// Number of observations to leave out.
        skip: usize,
        /// The subject.
        subject: String,
        /// Number of observations of the subject.
        observations: usize,
    },
    /// No metric is common to all files.
    #[error(
        "no metric is in all files ({}); name the metric of bare numbers with `--metric NAME`",
        visible(.sides)
    )]
    NoCommonMetric {
        /// The metrics of every file.
        sides: String,
    },
}
