//! Summary of a series for which the measuring tool kept no samples.
//!
//! A summary consists of a handful of numbers. It never becomes observations, since these would
//! have to be invented.

use serde::{Deserialize, Serialize};

/// The summary of one metric of one subject, as printed by a tool; numbers that it did not print
/// are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Index of the subject.
    pub subject: usize,
    /// Name of the metric. The numbers are in its base unit.
    pub metric: String,
    /// Number of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Mean of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation of the values, with the denominator n − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// The standard error of the mean, if the tool states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Median of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// The smallest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Summary {
    /// Returns the center of the values: the mean or, if unknown, the median.
    pub fn location(&self) -> Option<f64> {
        self.mean.or(self.median)
    }

    /// Returns the standard error of the mean, either as stated by the tool or computed from the
    /// standard deviation and count.
    pub fn error_of_mean(&self) -> Option<f64> {
        let from_sd = || Some(self.sd? / (self.count.filter(|&n| n > 1)? as f64).sqrt());
        self.standard_error.or_else(from_sd)
    }

    /// Returns all numbers that the summary has except the count, for checking or converting them.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        [self.mean, self.sd, self.standard_error, self.median, self.min, self.max]
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_mean_needs_a_number_of_values_unless_the_tool_gave_it() {
        let of = |count, standard_error| Summary {
            sd: Some(6.0),
            count,
            standard_error,
            ..Summary::default()
        };
        assert_eq!(of(Some(9), None).error_of_mean(), Some(2.0));
        assert_eq!(of(Some(1), None).error_of_mean(), None);
        assert_eq!(of(None, None).error_of_mean(), None);
        assert_eq!(of(None, Some(0.5)).error_of_mean(), Some(0.5));
    }

    #[test]
    fn a_median_does_where_there_is_no_mean() {
        let summary = Summary { median: Some(2.0), ..Summary::default() };
        assert_eq!(summary.location(), Some(2.0));
        assert_eq!(Summary { mean: Some(3.0), ..summary }.location(), Some(3.0));
    }
}
