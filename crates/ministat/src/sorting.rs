//! Sorts points in ascending order. Equal points keep the original's order where it is visible:
//! zeros of both signs, and NaN, which compares as equal to everything, so that its position
//! depends on glibc's merging.

use std::cmp::Ordering;

/// Sorts points in place. O(n log n). Allocates only if there are NaN or negative zeros.
pub(crate) fn sort(points: &mut [f64]) {
    let has_nan = points.iter().any(|point| point.is_nan());
    let has_negative_zero = points.iter().any(|point| *point == 0.0 && point.is_sign_negative());
    if has_nan {
        merge_sort(points, &mut Vec::new());
    } else if has_negative_zero {
        // Stable: equal zeros keep their order.
        points.sort_by(compare);
    } else if points.iter().all(|point| point.is_sign_positive()) {
        // The bits of nonnegative numbers have the same order as the numbers, and integers are
        // sorted twice as fast.
        points.sort_unstable_by_key(|point| point.to_bits());
    } else {
        points.sort_unstable_by(compare);
    }
}

fn compare(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

/// Sorts like glibc's merge sort. The left half is the smaller one if the halves are unequal, and
/// the left element comes first unless it is greater.
fn merge_sort(points: &mut [f64], merged: &mut Vec<f64>) {
    if points.len() < 2 {
        return;
    }
    let (left, right) = points.split_at_mut(points.len() / 2);
    merge_sort(left, merged);
    merge_sort(right, merged);
    merged.clear();
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(&&first), Some(&&second)) = (a.peek(), b.peek()) {
        merged.push(if first > second { second } else { first });
        if first > second {
            b.next();
        } else {
            a.next();
        }
    }
    merged.extend(a.chain(b));
    points.copy_from_slice(merged);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zeros_of_both_signs_stay_as_they_came() {
        for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
            let mut points = vec![3.0, zeros[0], zeros[1], -1.0];
            sort(&mut points);
            let bits = points.iter().map(|point| point.to_bits());
            assert!(bits.eq([-1.0, zeros[0], zeros[1], 3.0].map(f64::to_bits)));
        }
    }

    #[test]
    fn a_nan_is_equal_to_everything() {
        // Left half [1, NaN], right half [3, 2] becomes [2, 3]; 1 stays before 2, and so does NaN,
        // which is equal to it.
        let mut points = vec![1.0, f64::NAN, 3.0, 2.0];
        sort(&mut points);
        assert_eq!([points[0], points[2], points[3]], [1.0, 2.0, 3.0]);
        assert!(points[1].is_nan());
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same_order(
            mut points in proptest::collection::vec(-1e3_f64..1e3, 0..50),
            is_positive: bool,
        ) {
            if is_positive {
                points.iter_mut().for_each(|point| *point = point.abs());
            }
            let mut merged = points.clone();
            merge_sort(&mut merged, &mut Vec::new());
            sort(&mut points);
            prop_assert!(points.is_sorted());
            prop_assert_eq!(points, merged);
        }
    }
}
