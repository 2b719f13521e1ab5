//! Order statistics of several ascending samples taken together, without merging them, so that
//! comparing long recordings needs little memory in addition to the recordings themselves.
//!
//! An order statistic of all values is found by bisecting the range of doubles, mapped to integers
//! that have the same order. Results equal those of sorting all values together.

use crate::descriptive::midpoint;
use crate::sorting;

/// Returns an iterator over the values of two ascending samples, in ascending order. O(1) per
/// value.
pub fn merge<'a>(x_sorted: &'a [f64], y_sorted: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || match (x_sorted.get(i), y_sorted.get(j)) {
        (Some(&x), other) if other.is_none_or(|&y| x <= y) => {
            i += 1;
            Some(x)
        }
        (_, Some(&y)) => {
            j += 1;
            Some(y)
        }
        // Unreachable: the first match arm covers an exhausted `y`.
        (Some(&x), None) => {
            i += 1;
            Some(x)
        }
        (None, None) => None,
    })
}

/// Returns the number of distinct values in two ascending samples. O(n + m).
#[must_use]
pub fn distinct(x_sorted: &[f64], y_sorted: &[f64]) -> usize {
    let mut last = None;
    merge(x_sorted, y_sorted).filter(|&value| last.replace(value) != Some(value)).count()
}

/// Returns the smallest distance between two distinct values of the combined samples; `None` if all
/// values are equal. Both samples must be ascending. O(n + m).
#[must_use]
pub fn smallest_gap(x_sorted: &[f64], y_sorted: &[f64]) -> Option<f64> {
    let mut last = None;
    let gaps = merge(x_sorted, y_sorted).filter_map(|v| last.replace(v).map(|before| v - before));
    gaps.filter(|gap| *gap > 0.0).min_by(f64::total_cmp)
}

/// Returns the value at `index` (from 0) of all samples sorted together; `None` if there are too
/// few values. Each sample must be ascending. O(samples · log n).
#[must_use]
pub fn order_statistic(samples: &[&[f64]], index: usize) -> Option<f64> {
    let ends = samples.iter().filter_map(|s| s.first().zip(s.last()));
    let ends = ends.map(|(&a, &b)| (sorting::key(a), sorting::key(b)));
    let (mut least, mut most) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let at_most = |key: u64| -> usize {
        samples.iter().map(|s| s.partition_point(|&value| sorting::key(value) <= key)).sum()
    };
    if at_most(most) <= index {
        return None;
    }
    while least < most {
        let middle = least + (most - least) / 2;
        if at_most(middle) > index {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    Some(sorting::of_key(least))
}

/// Returns the type 7 quantile of all samples taken together; NaN if there are no values. Each
/// sample must be ascending, and `p` in 0..=1.
#[must_use]
pub fn quantile(samples: &[&[f64]], p: f64) -> f64 {
    let count: usize = samples.iter().map(|s| s.len()).sum();
    let position = count.saturating_sub(1) as f64 * p;
    let below = position.floor() as usize;
    let at = |index: usize| order_statistic(samples, index).unwrap_or(f64::NAN);
    let (low, fraction) = (at(below), position - below as f64);
    if fraction == 0.0 { low } else { low + fraction * (at(below + 1) - low) }
}

/// Returns the median of all samples taken together (the mean of the two middle values for an even
/// number); NaN if there are no values. Each sample must be ascending.
#[must_use]
pub fn median(samples: &[&[f64]]) -> f64 {
    let count: usize = samples.iter().map(|s| s.len()).sum();
    let at = |index: usize| order_statistic(samples, index).unwrap_or(f64::NAN);
    let upper = at(count / 2);
    if count % 2 == 1 { upper } else { midpoint(at((count / 2).saturating_sub(1)), upper) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptive;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_median_and_no_gap() {
        assert!(median(&[]).is_nan() && quantile(&[&[], &[]], 0.5).is_nan());
        assert_eq!((smallest_gap(&[], &[]), distinct(&[], &[])), (None, 0));
        assert_eq!(order_statistic(&[&[1.0]], 1), None);
        assert_eq!(merge(&[f64::NAN], &[1.0, f64::NAN]).count(), 3);
    }

    proptest! {
        #[test]
        fn all_is_as_if_sorted_together(
            a in prop::collection::vec((-9..9_i32).prop_map(|v| f64::from(v) / 4.0), 0..30),
            b in prop::collection::vec(-3.0..3.0_f64, 1..30),
            p in 0.0..=1.0_f64,
        ) {
            let all = descriptive::sorted(&[a.as_slice(), &b].concat());
            let (a, b) = (descriptive::sorted(&a), descriptive::sorted(&b));
            prop_assert_eq!(merge(&a, &b).collect::<Vec<_>>(), all.clone());
            prop_assert_eq!(smallest_gap(&a, &b), descriptive::smallest_gap(&all));
            prop_assert_eq!(quantile(&[&a, &b], p), descriptive::quantile_sorted(&all, p));
            prop_assert_eq!(median(&[&a, &b]), descriptive::median(&all));
            let mut deduplicated = all;
            deduplicated.dedup();
            prop_assert_eq!(distinct(&a, &b), deduplicated.len());
        }
    }

    #[test]
    fn quantiles_of_parts_are_those_of_the_whole() {
        let (x, y) = ([1.0, 4.0, 9.0], [2.0, 3.0, 16.0, 20.0]);
        let all = crate::descriptive::sorted(&[&x[..], &y[..]].concat());
        for p in [0.0, 0.1, 0.25, 0.5, 0.6, 0.99, 1.0] {
            let expected = crate::descriptive::quantile_sorted(&all, p);
            assert!((quantile(&[&x, &y], p) - expected).abs() < 1e-12, "{p}");
        }
    }
}
