//! The order in which revisions are measured, chosen so that a partial backfill shows as much as
//! possible: first both ends, then repeatedly the middle of the widest gap between measured
//! revisions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns the indices of the items that are not done, in the order in which to measure them. O(n
/// log n).
pub(super) fn order(done: &[bool]) -> Vec<usize> {
    let Some(last) = done.len().checked_sub(1) else { return Vec::new() };
    let mut order: Vec<usize> = [last, 0].into_iter().filter(|&end| !done[end]).collect();
    order.dedup();
    let mut gaps = BinaryHeap::new();
    let note = |gaps: &mut BinaryHeap<_>, from: usize, to: usize| {
        if to - from > 1 {
            // Among equally wide gaps, the latest comes first, because recent changes matter more.
            gaps.push((to - from, Reverse(last - to), from));
        }
    };
    let mut before = 0;
    for at in (1..done.len()).filter(|&at| done[at] || at == last) {
        note(&mut gaps, before, at);
        before = at;
    }
    while let Some((width, _, from)) = gaps.pop() {
        let middle = from + width / 2;
        order.push(middle);
        note(&mut gaps, from, middle);
        note(&mut gaps, middle, from + width);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_come_first_and_then_the_middle_of_the_widest_gap() {
        assert_eq!(order(&[false; 9]), [8, 0, 4, 6, 2, 7, 5, 3, 1]);
        assert_eq!(order(&[false; 2]), [1, 0]);
        assert_eq!(order(&[false]), [0]);
        assert!(order(&[]).is_empty() && order(&[true; 5]).is_empty());
    }

    #[test]
    fn what_is_done_is_left_out_and_parts_the_gaps() {
        let done = [true, false, false, false, false, true, false, false, true];
        let mut all = order(&done);
        assert_eq!(all[0], 2, "the middle of the gap of five");
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4, 6, 7]);
    }
}
