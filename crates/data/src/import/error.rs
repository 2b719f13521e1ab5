//! Why samples could not be imported. Errors of single lines are [`ReadError`]s; here is what concerns whole files, tables,
//! and files together.

use super::ColumnRef;
use crate::excerpt::{excerpt, visible};
use crate::read_error::{Place, ReadError};
use crate::select::FilterError;

/// Which columns of a table to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumns {
    /// The one that names the subjects.
    pub by: Option<ColumnRef>,
    /// The one with the values.
    pub value: ColumnRef,
}

fn advised(columns: Option<&TableColumns>) -> String {
    let Some(TableColumns { by, value }) = columns else { return String::new() };
    // As a shell takes it.
    let word = |column: &ColumnRef| column.to_string().trim_matches('`').to_owned();
    let by = by.as_ref().map(|by| format!("--by {} ", word(by))).unwrap_or_default();
    format!("; `{}--value {}` reads this file", visible(&by), visible(&word(value)))
}

/// Why samples could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The filter does not fit what was read.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A file could not be read, or one of its lines is wrong.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No input was named.
    #[error("no input; name at least one file, or `-` for standard input")]
    NoInput,
    /// Standard input can be read once only.
    #[error("`-` stands twice; standard input can be read only once")]
    StdinTwice,
    /// The file is not text.
    #[error("`{file}` is {what}")]
    Binary {
        /// The file.
        file: String,
        /// What it is, and what to do.
        what: &'static str,
    },
    /// The file holds more than is read.
    #[error("`{file}` {problem}")]
    TooMany {
        /// The file.
        file: String,
        /// Of what there is too much, and what to do.
        problem: String,
    },
    /// The file has numbers, but none that could be compared.
    #[error("`{file}` {what}")]
    Refused {
        /// The file.
        file: String,
        /// What it is, and what to do: the rest of a sentence.
        what: &'static str,
    },
    /// The file is text of no known format.
    #[error("`{file}` {seen}; that is no known format. Known are:{known}")]
    Unknown {
        /// The file.
        file: String,
        /// What it is or how it begins: the rest of a sentence.
        seen: String,
        /// The formats that are known, on lines of their own.
        known: String,
    },
    /// A directory, and not one of those that can be read.
    #[error(
        "`{file}` is a directory; name a file in it, or a directory of criterion's such as `target/criterion`: there is no `new/sample.json` below this one"
    )]
    Directory {
        /// The directory.
        file: String,
    },
    /// The file is of a known format in a version that is not.
    #[error(
        "`{file}` is {format} of version {}; known here is {known}: update assay, or have the tool write that",
        excerpt(.version)
    )]
    NewerFormat {
        /// The file.
        file: String,
        /// What it is.
        format: &'static str,
        /// The version that it claims.
        version: String,
        /// What is read here.
        known: &'static str,
    },
    /// A name for a metric, where the file has names for all.
    #[error(
        "--metric {name}: `{file}` names its metrics itself, and --metric names that of bare numbers; to choose among them: --primary {name}"
    )]
    MetricsNamed {
        /// The file.
        file: String,
        /// The name that was given.
        name: String,
    },
    /// The file is of a known format, and something in it is wrong.
    #[error("`{file}`: {}", visible(.problem))]
    Content {
        /// The file.
        file: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// The user's regular expression cannot be used.
    #[error("`--pattern`: {problem}")]
    Pattern {
        /// What is wrong with it, and how it should be.
        problem: String,
    },
    /// There are lines, but no number among them.
    #[error("`{file}` holds no numbers, only {holds}")]
    NoNumbers {
        /// The file.
        file: String,
        /// What it holds instead.
        holds: &'static str,
    },
    /// A column was named that the table does not have.
    #[error("{place}: there is no column {wanted}; there are {}", visible(.available))]
    NoSuchColumn {
        /// The first line of the table.
        place: Place,
        /// What was asked for.
        wanted: ColumnRef,
        /// The columns that there are.
        available: String,
    },
    /// The table has several columns and it is not clear which holds the values.
    #[error("{place}: {}{}", visible(.problem), advised(.advice.as_ref()))]
    WhichColumn {
        /// The first line of the table.
        place: Place,
        /// What is not clear.
        problem: String,
        /// What was tried, and reads the file.
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
        /// The unit there.
        first_unit: String,
        /// The file with the other unit.
        second: String,
        /// The unit there.
        second_unit: String,
    },
    /// Numbers without a unit stand beside a metric that has one.
    #[error(
        "the numbers in `{file}` have no unit, but `{}` in `{other}` is in {}; say their unit, as in `--unit {}`",
        excerpt(.metric), excerpt(.unit), excerpt(.example)
    )]
    UnitNeeded {
        /// The file of bare numbers.
        file: String,
        /// The metric they would be compared with.
        metric: String,
        /// The file that has it.
        other: String,
        /// Its unit.
        unit: String,
        /// A unit that could be meant.
        example: String,
    },
    /// So much was to be left out that nothing remains of a series.
    #[error(
        "`--skip {skip}` leaves nothing of {}, which has {observations} observations; skip fewer",
        excerpt(.subject)
    )]
    NothingLeft {
        /// How many were to be left out.
        skip: usize,
        /// The subject.
        subject: String,
        /// How many observations it has.
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
