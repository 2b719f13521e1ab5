//! The user's options for inputs.

use crate::samples::{Better, Metric};
use crate::select::Filter;
use std::str::FromStr;

/// The user's settings for reading inputs. By default, everything is detected from the contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Column of a table that names the subject of each row.
    pub by: Option<ColumnRef>,
    /// Column of a table that holds the values.
    pub value: Option<ColumnRef>,
    /// Number of the column that holds the values, counted from 1. It is ignored if
    /// [`value`](Self::value) is set.
    pub column: Option<usize>,
    /// Unit of the numbers, such as `ns`, from which they are converted to its base unit. It is
    /// ignored for files that state their units.
    pub unit: Option<String>,
    /// Name of the metric that the numbers measure.
    pub metric: Option<String>,
    /// Whether lower or higher numbers are better, for numbers whose unit does not imply it.
    pub better: Option<Better>,
    /// Number of observations to leave out at the beginning of every series, or number of blocks if
    /// the series were measured in blocks.
    pub skip: usize,
    /// Regular expression that finds the values in lines of any text. Its groups are `value`,
    /// `unit`, `name`, and any parameters.
    pub pattern: Option<String>,
    /// Benchmarks and metrics to keep, or `None` to keep all.
    pub filter: Option<Filter>,
}

impl ImportOptions {
    /// Returns the metric with the direction that the user gave, or unchanged if the user gave
    /// none.
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
