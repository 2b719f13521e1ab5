//! Series with few distinct values. Each value and its count together describe the shape
//! completely. The module also detects whether all values are multiples of a step.

use crate::policy;
use assay_stats::descriptive::ROBUST_SD;

/// Maximum number of distinct values listed.
const MOST: usize = 12;
/// Maximum distance of a value from a multiple of the step, in steps. Values may be rounded to a
/// few digits.
const OFF: f64 = 0.01;

/// A value with its count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepeatedValue {
    /// The value.
    pub value: f64,
    /// Number of occurrences.
    pub count: usize,
}

/// Returns the distinct values with their counts, ascending; empty unless there are two to twelve
/// of them and at least 20 values in total. O(n).
pub(super) fn of(sorted: &[f64], distinct: usize) -> Vec<RepeatedValue> {
    if !(2..=MOST).contains(&distinct) || sorted.len() < policy::SHAPE_FROM {
        return Vec::new();
    }
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|same| RepeatedValue { value: same[0], count: same.len() }).collect()
}

/// Returns true if all values are multiples of `step` > 0, up to rounding. O(n).
pub(super) fn are_multiples(sorted: &[f64], step: f64) -> bool {
    sorted.chunk_by(|a, b| a == b).all(|same| {
        let steps = same[0] / step;
        (steps - steps.round()).abs() <= OFF
    })
}

/// Returns a robust spread: the smaller of the standard deviation and its estimate from the middle
/// half of the values, or only the standard deviation if the middle half has no spread.
pub(super) fn spread(sd: f64, interquartile_range: f64) -> f64 {
    let middle = interquartile_range / 2.0 * ROBUST_SD;
    if middle > 0.0 { middle.min(sd) } else { sd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_different_values_are_counted_one_by_one() {
        let mut values = [[3.0; 12].as_slice(), &[4.0; 6], &[5.0; 2]].concat();
        let found = of(&values, 3);
        let counts: Vec<(f64, usize)> = found.iter().map(|h| (h.value, h.count)).collect();
        assert_eq!(counts, [(3.0, 12), (4.0, 6), (5.0, 2)]);
        assert!(of(&values, 13).is_empty() && of(&values, 1).is_empty());
        values.truncate(19);
        assert!(of(&values, 3).is_empty());
    }

    #[test]
    fn multiples_are_told_from_values_that_only_lie_apart() {
        assert!(are_multiples(&[0.3, 0.3, 0.4, 0.7], 0.1));
        assert!(!are_multiples(&[3.5, 4.3, 4.3], 0.8));
    }
}
