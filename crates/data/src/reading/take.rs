//! Reduction of several values of one run to a single value.
//!
//! Runs are independent, but the values within a run are not, so every run must be reduced to one
//! number before anything is decided. These are plain descriptive statistics of a handful of
//! numbers; nothing is inferred here.

use super::error::ReadingError;
use serde::{Deserialize, Serialize};

/// The way in which several values of a run are reduced to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// There must be exactly one value.
    #[default]
    #[serde(skip)]
    One,
    /// The first.
    First,
    /// The last.
    Last,
    /// The sum.
    Sum,
    /// The arithmetic mean.
    Mean,
    /// The median. For an even number of values, the mean of the middle two.
    Median,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The number of values.
    Count,
}

/// The word for each, as used by people and programs.
pub(crate) const WORDS: [(&str, Take); 8] = [
    ("first", Take::First),
    ("last", Take::Last),
    ("sum", Take::Sum),
    ("mean", Take::Mean),
    ("median", Take::Median),
    ("min", Take::Min),
    ("max", Take::Max),
    ("count", Take::Count),
];

impl Take {
    /// Returns the reduction named by a word: `first`, `last`, `sum`, `mean`, `median`, `min`,
    /// `max` or `count`.
    pub fn from_word(word: &str) -> Option<Self> {
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, take)| *take)
    }
}

/// Reduces the values to one. The values must be finite and may be in any order.
///
/// Returns `None` if there are no values (except that their count is 0), and for [`Take::One`]
/// unless there is exactly one value. Sum and mean are infinite if the sum exceeds the range of a
/// double. O(n), or O(n log n) for the median.
pub fn take(values: &[f64], take: Take) -> Option<f64> {
    let sum = || values.iter().sum::<f64>();
    let count = values.len();
    match take {
        Take::Count => Some(count as f64),
        _ if count == 0 => None,
        Take::One => (count == 1).then(|| values[0]),
        Take::First => values.first().copied(),
        Take::Last => values.last().copied(),
        Take::Sum => Some(sum()),
        Take::Mean => Some(sum() / count as f64),
        Take::Median => Some(median(values)),
        Take::Min => values.iter().copied().min_by(f64::total_cmp),
        Take::Max => values.iter().copied().max_by(f64::total_cmp),
    }
}

/// Returns the median of at least one value.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { sorted[middle - 1].midpoint(sorted[middle]) }
}

/// Value of one metric from one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The value of the run. Finite, in the metric's base unit.
    pub value: f64,
    /// All values in order if there were several. Empty if there was only one, or if the values are
    /// only counted. Finite, in the metric's base unit.
    pub all: Vec<f64>,
}

/// Reduces the finite values of a run to one.
pub(crate) fn reading(values: Vec<f64>, kind: Take) -> Result<Reading, ReadingError> {
    let value = take(&values, kind).ok_or(ReadingError::Several { found: values.len() })?;
    if !value.is_finite() {
        return Err(ReadingError::NotFinite);
    }
    // A count is a different kind of number from the values it counts.
    let several = values.len() > 1 && kind != Take::Count;
    let all = if several { values } else { Vec::new() };
    Ok(Reading { value, all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_takes_what_it_says() {
        let values = [3.0, 1.0, 2.0, 10.0];
        let taken = |word| take(&values, Take::from_word(word).expect("a known word"));
        assert_eq!(taken("first"), Some(3.0));
        assert_eq!(taken("last"), Some(10.0));
        assert_eq!(taken("sum"), Some(16.0));
        assert_eq!(taken("mean"), Some(4.0));
        assert_eq!(taken("median"), Some(2.5));
        assert_eq!(taken("min"), Some(1.0));
        assert_eq!(taken("max"), Some(10.0));
        assert_eq!(taken("count"), Some(4.0));
        assert_eq!(take(&[3.0, 1.0, 2.0], Take::Median), Some(2.0));
        assert_eq!(Take::from_word("avg"), None);
    }

    #[test]
    fn one_means_exactly_one_and_nothing_comes_to_nothing() {
        assert_eq!(take(&[4.0], Take::One), Some(4.0));
        assert_eq!(take(&[4.0, 4.0], Take::One), None);
        for (word, kind) in WORDS {
            assert_eq!(take(&[], kind), (word == "count").then_some(0.0), "{word}");
        }
    }
}
