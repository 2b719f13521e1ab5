//! Groups of consecutive values, and the classical interval over their medians.
//!
//! If a series drifts, medians of a few long groups are more nearly independent than single values
//! (batch means, as in simulation practice); Student's t over them is then valid while the interval
//! over single values is not.

use crate::{Interval, descriptive, student_t};

/// The medians of `groups` runs of consecutive values, whose sizes differ by at most one; empty for
/// no groups or fewer values than groups.
///
/// `xs`: in order of measurement; O(n).
#[must_use]
pub fn group_medians(xs: &[f64], groups: usize) -> Vec<f64> {
    if groups == 0 || xs.len() < groups {
        return Vec::new();
    }
    let (size, larger) = (xs.len() / groups, xs.len() % groups);
    let mut rest = xs;
    (0..groups)
        .map(|group| {
            let (head, tail) = rest.split_at(size + usize::from(group < larger));
            rest = tail;
            descriptive::median(head)
        })
        .collect()
}

/// Student's interval for the mean: x̄ ± t s/√n with n − 1 degrees of freedom, as in R's `t.test`.
///
/// `xs`: finite, n ≥ 2 (otherwise `None`), any order; `confidence` in 0..1. Constant values give a
/// point, for which R gives an error.
#[must_use]
pub fn t_interval(xs: &[f64], confidence: f64) -> Option<Interval> {
    if xs.len() < 2 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let n = xs.len() as f64;
    let centre = descriptive::mean(xs);
    let reach = student_t::two_sided(confidence, n - 1.0) * (descriptive::variance(xs) / n).sqrt();
    Some(Interval { lower: centre - reach, upper: centre + reach })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_consecutive_and_as_equal_as_possible() {
        let xs: Vec<f64> = (1..=11).map(f64::from).collect();
        // Sizes 3 3 3 2.
        assert_eq!(group_medians(&xs, 4), [2.0, 5.0, 8.0, 10.5]);
        assert_eq!(group_medians(&xs, 11), xs);
        assert_eq!(group_medians(&xs, 12), Vec::<f64>::new());
        assert_eq!(group_medians(&xs, 0), Vec::<f64>::new());
    }

    #[test]
    fn the_t_interval_needs_two_values() {
        assert_eq!(t_interval(&[1.0], 0.95), None);
        let interval = t_interval(&[1.0, 3.0], 0.95).unwrap();
        // t with one degree of freedom: 12.7062.
        assert!((interval.upper - 14.706_204_736_432_1).abs() < 1e-9, "{interval:?}");
        assert_eq!(t_interval(&[4.0; 5], 0.95), Some(Interval { lower: 4.0, upper: 4.0 }));
    }
}
