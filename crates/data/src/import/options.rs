//! The user's options for inputs.

use crate::samples::{Better, Metric};
use crate::select::Filter;
use std::str::FromStr;

/// The user's settings for the inputs; by default everything is detected from the content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Column of a table whose distinct values are the subjects.
    pub by: Option<ColumnRef>,
    /// Column of a table that holds the values.
    pub value: Option<ColumnRef>,
    /// Column that holds the values, counted from 1: an alternative to [`value`](Self::value),
    /// which takes precedence.
    pub column: Option<usize>,
    /// Unit of the numbers, as in `ns`; they are converted to its base unit. Not applied to files
    /// that state their units.
    pub unit: Option<String>,
    /// Name of the metric that the numbers measure.
    pub metric: Option<String>,
    /// The direction in which the numbers improve, for numbers whose unit does not imply one.
    pub better: Option<Better>,
    /// Number of observations to leave out at the beginning of every series, or of blocks if
    /// measured in blocks.
    pub skip: usize,
    /// Regular expression that finds the values in lines of any text, by its groups `value`,
    /// `unit`, `name`, and parameters.
    pub pattern: Option<String>,
    /// Benchmarks and metrics to keep; `None` for all.
    pub filter: Option<Filter>,
}

impl ImportOptions {
    /// Returns the metric with the direction that the user gave; unchanged without one.
    pub(super) fn directed(&self, metric: Metric) -> Metric {
        metric.directed(self.better)
    }

    pub(super) fn value_column(&self) -> Option<ColumnRef> {
        self.value.clone().or(self.column.map(ColumnRef::Number))
    }
}

/// A column, by its name in the header or its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRef {
    /// By number, counted from 1.
    Number(usize),
    /// By name, as in the header.
    Name(String),
}

impl FromStr for ColumnRef {
    type Err = std::convert::Infallible;

    /// Parses digits alone as a number, any other text as a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

impl std::fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}
