//! The weighted pseudo-median of differences that are not all equally reliable.
//!
//! A block has weight 1 / (1 + e), where e is the excess of its worse run over the usual count in
//! interquartile ranges (of at least 1), or the percentage of stolen time. So one unusual switch
//! halves a block's weight, ten leave about a tenth, and no block is ever discarded: a rule that
//! removes runs would have to be right about each of them, whereas this one must be right only
//! overall. A Walsh average has the product of its two blocks' weights, and the estimate is the
//! weighted median of all Walsh averages, a weighted Hodges-Lehmann estimate. With equal weights it
//! equals the deciding pseudo-median. It deliberately has no interval, since weights that depend on
//! the runs would require a different method.

/// Number of bisections that locate a double to its last digit.
const HALVINGS: usize = 100;

/// The weight, in 0..=1, of a block whose worse run has this excess.
pub(super) fn weight(excess: f64) -> f64 {
    1.0 / (1.0 + excess.max(0.0))
}

/// The weighted median of the Walsh averages of (difference, weight) pairs, which are sorted in
/// place; `None` if there are no blocks.
///
/// Differences must be finite, weights positive. O(n log n + 200 n), without storing the averages.
pub(super) fn pseudo_median(blocks: &mut [(f64, f64)]) -> Option<f64> {
    blocks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (&(least, _), &(most, _)) = (blocks.first()?, blocks.last()?);
    let half = weight_up_to(blocks, most) / 2.0;
    // If exactly half of the weight is below a gap, the median is the middle of that gap.
    let slack = half * 1e-11;
    let lower = first_where(least, most, |x| weight_up_to(blocks, x) >= half - slack);
    let upper = first_where(least, most, |x| weight_up_to(blocks, x) > half + slack);
    Some(lower + (upper - lower) / 2.0)
}

/// Weight of the Walsh averages at or below `x`, counting every pair once, including each block
/// with itself.
fn weight_up_to(sorted: &[(f64, f64)], x: f64) -> f64 {
    let mut total = 0.0;
    // The weight of the blocks before `end`, which decreases while `i` increases.
    let mut end = sorted.len();
    let mut below: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut before = 0.0;
    for (i, &(difference, weight)) in sorted.iter().enumerate() {
        while end > i && (difference + sorted[end - 1].0) / 2.0 > x {
            end -= 1;
            below -= sorted[end].1;
        }
        if end <= i {
            break;
        }
        total += weight * (below - before);
        before += weight;
    }
    total
}

/// The smallest double at which a monotone condition is true; `most` if it never is.
fn first_where(least: f64, most: f64, condition: impl Fn(f64) -> bool) -> f64 {
    let (mut no, mut yes) = (least, most);
    if condition(least) {
        return least;
    }
    for _ in 0..HALVINGS {
        let middle = no + (yes - no) / 2.0;
        if middle <= no || middle >= yes {
            break;
        }
        if condition(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::signed_rank;
    use proptest::prelude::*;

    /// A direct computation: sorts all Walsh averages and returns the one at which half of the
    /// weight is reached.
    fn plainly(blocks: &[(f64, f64)]) -> (f64, f64) {
        let mut all = Vec::new();
        for (i, a) in blocks.iter().enumerate() {
            all.extend(blocks[i..].iter().map(|b| ((a.0 + b.0) / 2.0, a.1 * b.1)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = all.iter().map(|(_, w)| w).sum::<f64>() / 2.0;
        let reached = |limit: f64| {
            let mut sum = 0.0;
            let at = all.iter().find(|(_, w)| {
                sum += w;
                sum > limit
            });
            at.map_or(f64::NAN, |(x, _)| *x)
        };
        (reached(half * (1.0 - 1e-9)), reached(half * (1.0 + 1e-9)))
    }

    proptest! {
        #[test]
        fn with_equal_weights_it_is_the_pseudo_median(values in prop::collection::vec(-5.0..5.0f64, 1..40)) {
            let mut blocks: Vec<_> = values.iter().map(|&v| (v, 0.25)).collect();
            let found = pseudo_median(&mut blocks).unwrap_or(f64::NAN);
            let sorted = assay_stats::descriptive::sorted(&values);
            prop_assert!((found - signed_rank::pseudo_median(&sorted)).abs() < 1e-9);
        }

        #[test]
        fn it_is_the_weighted_median_of_all_walsh_averages(
            mut blocks in prop::collection::vec((-5.0..5.0f64, 0.05..1.0f64), 1..25)
        ) {
            let found = pseudo_median(&mut blocks).unwrap_or(f64::NAN);
            let (lower, upper) = plainly(&blocks);
            prop_assert!(found >= lower - 1e-9 && found <= upper + 1e-9, "{found} {lower} {upper}");
        }
    }

    #[test]
    fn a_disturbed_block_pulls_less() {
        let mut blocks: Vec<_> = (0..9).map(|i| (f64::from(i), 1.0)).collect();
        blocks.extend([(100.0, weight(9.0)), (101.0, weight(9.0))]);
        let mut equal: Vec<_> = blocks.iter().map(|b| (b.0, 1.0)).collect();
        let (weighed, plain) = (pseudo_median(&mut blocks), pseudo_median(&mut equal));
        assert!(weighed < plain && weighed >= Some(4.0), "{weighed:?} {plain:?}");
        assert_eq!(pseudo_median(&mut []), None);
    }
}
