//! Where a change may lie, beside the place that fits best.
//!
//! Hansen, "Sample splitting and threshold estimation" (Econometrica, 2000): the places whose likelihood ratio against the best one stays
//! below −2 ln(1 − √confidence) are a confidence set of the place, which errs on the wide side for changes that are large beside the noise.
//! The likelihood is that of two normal means of normal scores of ranks, as for the changes themselves, so that a stall counts as one
//! high value.

use super::{distinct_ranks, normal_scores};
use crate::resampling::Stream;

/// The first and the last place, as indices of the first value after the change, at which one change in `xs` may lie; `best`, where it was
/// found, is between them. At least one value stays on each side.
///
/// `xs`: finite, in their order, with one change; `best` in 1..n; `confidence` in 0..1. `seed` orders equal values. O(n log n).
#[must_use]
pub fn places(xs: &[f64], best: usize, confidence: f64, seed: u64) -> (usize, usize) {
    let n = xs.len();
    if n < 4 || best == 0 || best >= n {
        return (best, best);
    }
    let scores = normal_scores(&distinct_ranks(xs, &mut Stream::new(seed, 0)));
    let all: f64 = scores.iter().sum();
    let squares: f64 = scores.iter().map(|score| score * score).sum();
    let mut left = 0.0;
    // What two means leave of the squares, for every place from 1 on.
    let residues: Vec<f64> = (1..n)
        .map(|place| {
            left += scores[place - 1];
            let right = all - left;
            squares - left * left / place as f64 - right * right / (n - place) as f64
        })
        .collect();
    let least = residues.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let critical = -2.0 * (1.0 - confidence.sqrt()).ln();
    let may_be = |place: &usize| n as f64 * (residues[place - 1] / least).ln() <= critical;
    let first = (1..n).find(may_be).unwrap_or(best).min(best);
    let last = (1..n).rev().find(may_be).unwrap_or(best).max(best);
    (first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(random: &mut Stream, n: usize, at: usize, size: f64) -> Vec<f64> {
        (0..n).map(|i| random.normal() + if i < at { 0.0 } else { size }).collect()
    }

    #[test]
    fn the_set_holds_the_place_as_often_as_it_says() {
        let mut random = Stream::new(5, 0);
        for size in [1.5, 2.5, 5.0] {
            let mut held = 0;
            let mut wide = 0;
            for _ in 0..400 {
                let xs = step(&mut random, 60, 25, size);
                let (first, last) = places(&xs, 25, 0.95, 1);
                // The best place is not known beforehand.
                let (first_alone, last_alone) = places(&xs, first.midpoint(last), 0.95, 1);
                held += usize::from((first_alone..=last_alone).contains(&25));
                wide += last - first;
            }
            assert!(held >= 376, "{size}: {held} of 400");
            if size > 2.0 {
                assert!(wide < 400 * 6, "{size}: {wide}");
            }
        }
    }

    #[test]
    fn a_clear_step_has_one_place_and_nothing_is_out_of_range() {
        let xs: Vec<f64> =
            (0..40).map(|i| f64::from(i % 5) + if i < 20 { 0.0 } else { 100.0 }).collect();
        let (first, last) = places(&xs, 20, 0.95, 1);
        assert!(first >= 17 && last <= 24 && (first..=last).contains(&20), "{first} {last}");
        assert_eq!(places(&xs, 0, 0.95, 1), (0, 0));
        assert_eq!(places(&xs[..3], 2, 0.95, 1), (2, 2));
    }
}
