//! Values that are few different ones: each with how often it came, which says all there is to say
//! of their shape. And the step that all values are multiples of, where there is one.

use crate::policy;
use assay_stats::descriptive::ROBUST_SD;

/// Up to so many different values are listed one by one.
const MOST: usize = 12;
/// How far from a multiple of the step a value may lie, in steps: what rounding to a few digits
/// makes of it.
const OFF: f64 = 0.01;

/// A value that came several times, or once among others that did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepeatedValue {
    /// The value.
    pub value: f64,
    /// How often it came.
    pub count: usize,
}

/// The different values, ascending; none where they are more than twelve, fewer than two, or of
/// fewer than 20 values. O(n).
pub(super) fn of(sorted: &[f64], distinct: usize) -> Vec<RepeatedValue> {
    if !(2..=MOST).contains(&distinct) || sorted.len() < policy::SHAPE_FROM {
        return Vec::new();
    }
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|same| RepeatedValue { value: same[0], count: same.len() }).collect()
}

/// Whether all values are multiples of a step, but for rounding. `step` > 0. O(n).
pub(super) fn are_multiples(sorted: &[f64], step: f64) -> bool {
    sorted.chunk_by(|a, b| a == b).all(|same| {
        let steps = same[0] / step;
        (steps - steps.round()).abs() <= OFF
    })
}

/// How widely values spread that an outlier must not make look wide: the smaller of the standard
/// deviation and what the middle half says of it; of values of which half are equal the standard
/// deviation.
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
