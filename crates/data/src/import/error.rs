//! Errors of importing samples. Errors in single lines are [`ReadError`]s; the errors here concern
//! whole files, tables, and combinations of files.

use super::options::ColumnRef;
use crate::excerpt::{excerpt, visible};
use crate::read_error::{FilePosition, ReadError};
use crate::select::FilterError;

/// The columns to read from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumns {
    /// The column that names the subjects, if there is one.
    pub by: Option<ColumnRef>,
    /// The column with the values.
    pub value: ColumnRef,
}

fn advised(columns: Option<&TableColumns>) -> String {
    let Some(TableColumns { by, value }) = columns else { return String::new() };
    // Written as a word of a shell command.
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
    /// Standard input was named twice, but can be read only once.
    #[error("`-` is given twice; standard input can be read only once")]
    StdinTwice,
    /// The file is not text.
    #[error("`{file}` is {what}")]
    Binary {
        /// Name of the file.
        file: String,
        /// What the file is, with advice.
        what: &'static str,
    },
    /// The file exceeds a limit.
    #[error("`{file}` {problem}")]
    TooMany {
        /// Name of the file.
        file: String,
        /// The limit that it exceeds, with advice.
        problem: String,
    },
    /// The file has numbers that cannot be compared.
    #[error("`{file}` {what}")]
    Refused {
        /// Name of the file.
        file: String,
        /// What the file is, with advice, as the rest of a sentence.
        what: &'static str,
    },
    /// The file is text of an unknown format.
    #[error("`{file}` {seen}; its format is unknown. Known formats:{known}")]
    Unknown {
        /// Name of the file.
        file: String,
        /// What the file is or how it begins, as the rest of a sentence.
        seen: String,
        /// The known formats, on separate lines.
        known: String,
    },
    /// The path is a directory that cannot be read as a recording.
    #[error(
        "`{file}` is a directory; name a file in it, or a criterion directory such as `target/criterion`: there is no `new/sample.json` below this one"
    )]
    Directory {
        /// Path of the directory.
        file: String,
    },
    /// The file has a known format, but a version of it that is not supported.
    #[error(
        "`{file}` is {format} of version {}, but this assay supports {known}: update assay, or let the tool write a supported version",
        excerpt(.version)
    )]
    NewerFormat {
        /// Name of the file.
        file: String,
        /// Name of the known format.
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
        /// Name of the file.
        file: String,
        /// The given name.
        name: String,
    },
    /// The file has a known format, but its content is wrong.
    #[error("`{file}`: {}", visible(.problem))]
    Content {
        /// Name of the file.
        file: String,
        /// Description of the error and its position.
        problem: String,
    },
    /// The user's regular expression cannot be used.
    #[error("`--pattern`: {problem}")]
    Pattern {
        /// Description of the error, and how to correct it.
        problem: String,
    },
    /// The file contains no numbers.
    #[error("`{file}` contains no numbers, only {holds}")]
    NoNumbers {
        /// Name of the file.
        file: String,
        /// What the file contains instead.
        holds: &'static str,
    },
    /// The table does not have the named column.
    #[error("{place}: there is no column {wanted}; the columns: {}", visible(.available))]
    NoSuchColumn {
        /// Position of the first line of the table.
        place: FilePosition,
        /// The column that was requested.
        wanted: ColumnRef,
        /// The existing columns.
        available: String,
    },
    /// The table has several columns, and it is unclear which one holds the values.
    #[error("{place}: {}{}", visible(.problem), advised(.advice.as_ref()))]
    WhichColumn {
        /// Position of the first line of the table.
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
        /// Name of the metric.
        metric: String,
        /// Name of the first file.
        first: String,
        /// Unit of the metric in the first file.
        first_unit: String,
        /// Name of the second file.
        second: String,
        /// Unit of the metric in the second file.
        second_unit: String,
    },
    /// Numbers without a unit are compared with a metric that has one.
    #[error(
        "the numbers in `{file}` have no unit, but `{}` in `{other}` is in {}; give their unit, as in `--unit {}`",
        excerpt(.metric), excerpt(.unit), excerpt(.example)
    )]
    UnitNeeded {
        /// Name of the file with bare numbers.
        file: String,
        /// Name of the metric with which the bare numbers would be compared.
        metric: String,
        /// Name of the file that has this metric.
        other: String,
        /// Unit of that metric.
        unit: String,
        /// An example of a unit that could be meant.
        example: String,
    },
    /// Skipping leaves no observations of a series.
    #[error(
        "`--skip {skip}` leaves nothing of {}, which has {observations} observations; skip fewer",
        excerpt(.subject)
    )]
    NothingLeft {
        /// Number of observations to leave out.
        skip: usize,
        /// Name of the subject.
        subject: String,
        /// Number of observations that the subject has.
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
