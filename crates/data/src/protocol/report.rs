//! The values that a program reported by the sample protocol.

use crate::Metric;
use crate::reading::{Reading, ReadingError, Take, reading};

/// Maximum length of a line, in bytes, without its ending.
pub const MAX_LINE: usize = 1024 * 1024;

/// Maximum number of metrics and regions of one run.
pub const MAX_METRICS: usize = 1000;

/// Maximum length of the name of a metric or region, in characters.
pub const MAX_NAME: usize = 100;

/// Maximum number of problems kept. Further ones are only counted.
pub const MAX_PROBLEMS: usize = 20;

/// Values of one metric from one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedMetric {
    /// The metric in its base unit. A region is in seconds. If the program states no unit, the
    /// metric is a plain number.
    pub metric: Metric,
    /// How the values are reduced to one per run. By default, the median for values and the sum for
    /// regions.
    pub take: Take,
    /// At least one value, in the order of their lines. Finite, in the base unit.
    pub values: Vec<f64>,
}

impl ReportedMetric {
    /// Returns the single value of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if the values are so large that their sum is not finite.
    pub fn reading(&self) -> Result<Reading, ReadingError> {
        reading(self.values.clone(), self.take)
    }
}

/// Everything that one run reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Metrics and regions with values, in order of first appearance.
    pub given: Vec<ReportedMetric>,
    /// The first problems in the order in which they were found, at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// Number of further problems, which are not in `problems`.
    pub more_problems: usize,
}

/// A problem with a line, usually the reason why the line was not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Problem {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the problem and its remedy, as a single line without control characters.
    pub what: String,
}
