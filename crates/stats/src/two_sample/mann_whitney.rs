//! The distribution of the Mann-Whitney statistic, and the two intervals for a shift that it gives.
//!
//! U counts the pairs with y > x. Without ties its distribution is that of a Gaussian binomial
//! coefficient, which is expanded factor by factor (Harding, "An efficient, compact procedure for
//! calculating the Mann-Whitney U distribution", 1984), only as far as the lower tail requires. The
//! results equal those of R's `pwilcox` and `wilcox.test(conf.int = TRUE)`, except that R finds the
//! ends of its large-sample interval with a root finder, while this module uses the closed form.
//! The samples must be independent and, for an interval of exact confidence, differ only by a
//! shift; the placement interval requires less.

use super::difference_interval;
use crate::{Interval, normal, signed_rank::LEVEL_SLACK};

/// The exact distribution is used while n·m·min(n, m) is below this (400 values on each side),
/// which takes about 50 ms at worst.
const EXACT_COST: u128 = 1 << 26;

/// Below this size, on both sides, R's default interval is the exact one.
pub(super) const EXACT_BELOW: usize = 50;

/// Returns the largest k with P(U ≤ k) ≤ `level`/2 for samples of `n` and `m` values without ties
/// that come from one population.
///
/// `level` is two-sided, in 0..1. Returns `None` if even k = 0 is too likely (for fewer than 4 + 4
/// values at 0.05) or a sample is empty. The result is exact up to 400 values on each side, or for
/// one short and one long side; above that, it is ⌊nm/2 − z √(nm(n+m+1)/12) − ½⌋. O(nm·min(n, m)).
#[must_use]
pub fn mann_whitney_critical(n: usize, m: usize, level: f64) -> Option<u64> {
    let (small, large) = (n.min(m), n.max(m));
    if small == 0 || !(0.0..1.0).contains(&level) {
        return None;
    }
    let cost = small as u128 * small as u128 * large as u128;
    if cost > EXACT_COST {
        let (half, sd) = half_and_sd(n, m, 0.0);
        let k = (half - normal::two_sided(1.0 - level) * sd - 0.5).floor();
        return (k >= 0.0).then_some(k as u64);
    }
    let most = level / 2.0 * (1.0 + LEVEL_SLACK);
    let mut sum = 0.0;
    let tail = lower_half(small, large);
    let reached = tail.iter().take_while(|p| {
        sum += **p;
        sum <= most
    });
    (reached.count() as u64).checked_sub(1)
}

/// Returns P(U ≤ k), ascending, for each k from 0 to the middle, nm/2, for samples of `n` and `m`
/// values without ties that come from one population. O(nm·min(n, m)).
pub(crate) fn lower_tail(n: usize, m: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let up_to = |p: f64| {
        sum += p;
        sum
    };
    lower_half(n.min(m), n.max(m)).into_iter().map(up_to).collect()
}

/// Returns P(U = u) for each u from 0 to the middle, nm/2.
///
/// The generating function is the product over i = 1..=small of (1 − q^(large+i)) / (1 − q^i),
/// where each factor is divided by its value at q = 1, so that probabilities remain probabilities.
/// From u = 0 upwards the coefficients grow, so the subtraction costs no digits.
pub(super) fn lower_half(small: usize, large: usize) -> Vec<f64> {
    let middle = small * large / 2;
    let mut row = vec![0.0; middle + 1];
    row[0] = 1.0;
    for i in 1..=small {
        let shift = large + i;
        for u in (shift..=middle).rev() {
            row[u] -= row[u - shift];
        }
        for u in i..=middle {
            row[u] += row[u - i];
        }
        let scale = i as f64 / shift as f64;
        for p in &mut row {
            *p *= scale;
        }
    }
    row
}

/// Returns half of the number of pairs, and the standard deviation of U. `ties` is the sum of c³ −
/// c over groups of c equal values.
pub(super) fn half_and_sd(n: usize, m: usize, ties: f64) -> (f64, f64) {
    let (pairs, all) = (n as f64 * m as f64, (n + m) as f64);
    let variance = pairs / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    (pairs / 2.0, variance.max(0.0).sqrt())
}

/// Returns the sum of c³ − c over the groups of c equal values in one ascending sample.
fn tie_sum(sorted: &[f64]) -> f64 {
    sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64).map(|c| c * c * c - c).sum()
}

/// Returns the interval for the shift from `x` to `y` by the exact distribution, from difference
/// number k + 1 to number nm − k.
///
/// Both samples must be ascending and finite; `confidence` is in 0..1. Returns `None` if the
/// samples are too small (95 % needs 4 + 4 values). Conservative with ties.
#[must_use]
pub fn mann_whitney_exact_interval(
    x_sorted: &[f64],
    y_sorted: &[f64],
    confidence: f64,
) -> Option<Interval> {
    let k = mann_whitney_critical(x_sorted.len(), y_sorted.len(), 1.0 - confidence)?;
    let pairs = x_sorted.len() as u64 * y_sorted.len() as u64;
    difference_interval(x_sorted, y_sorted, k + 1, pairs - k)
}

/// Returns the interval for the shift from `x` to `y` by the normal distribution, with continuity
/// correction and with the ties inside each sample, as in R.
///
/// Its ends are the differences numbered by [`mann_whitney_asymptotic_ranks`]. Returns `None` for
/// an empty sample or a confidence outside 0..1.
#[must_use]
pub fn mann_whitney_asymptotic_interval(
    x_sorted: &[f64],
    y_sorted: &[f64],
    confidence: f64,
) -> Option<Interval> {
    let (lower, upper) = mann_whitney_asymptotic_ranks(x_sorted, y_sorted, confidence)?;
    difference_interval(x_sorted, y_sorted, lower, upper)
}

/// Returns the numbers, in ascending order from 1, of the two differences that are the ends of the
/// large-sample interval: ⌈nm/2 − ½ − zσ⌉ and ⌈nm/2 + ½ + zσ⌉, clamped to the first and last
/// numbers.
///
/// Tiny samples thus get the widest possible interval, with less than the requested confidence.
/// Both samples must be ascending. Returns `None` for an empty sample or a confidence outside 0..1.
/// O(n + m).
#[must_use]
pub fn mann_whitney_asymptotic_ranks(
    x_sorted: &[f64],
    y_sorted: &[f64],
    confidence: f64,
) -> Option<(u64, u64)> {
    let (lower, upper) = asymptotic_ranks(x_sorted, y_sorted, confidence)?;
    let pairs = x_sorted.len() as u64 * y_sorted.len() as u64;
    Some((lower.max(1.0) as u64, (upper as u64).min(pairs)))
}

/// Like [`mann_whitney_asymptotic_ranks`], before clamping.
fn asymptotic_ranks(x_sorted: &[f64], y_sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    if x_sorted.is_empty() || y_sorted.is_empty() || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let ties = tie_sum(x_sorted) + tie_sum(y_sorted);
    let (half, sd) = half_and_sd(x_sorted.len(), y_sorted.len(), ties);
    let reach = normal::two_sided(confidence) * sd;
    Some(((half - 0.5 - reach).ceil(), (half + 0.5 + reach).ceil()))
}

/// Returns the interval for the shift from `x` to `y`, which is exact if both samples have fewer
/// than 50 values, and uses the normal distribution otherwise.
///
/// Both samples must be ascending and finite, and `confidence` in 0..1. Returns `None` if the
/// samples are too small. R also uses the normal distribution if there are ties; the exact
/// distribution is kept here, since ties can only make it too wide.
#[must_use]
pub fn mann_whitney_interval(
    x_sorted: &[f64],
    y_sorted: &[f64],
    confidence: f64,
) -> Option<Interval> {
    if x_sorted.len() < EXACT_BELOW && y_sorted.len() < EXACT_BELOW {
        return mann_whitney_exact_interval(x_sorted, y_sorted, confidence);
    }
    let (lower, _) = asymptotic_ranks(x_sorted, y_sorted, confidence)?;
    if lower < 1.0 {
        return None;
    }
    mann_whitney_asymptotic_interval(x_sorted, y_sorted, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(U = u) from the recursion over the largest value, which only adds.
    fn by_recursion(n: usize, m: usize) -> Vec<f64> {
        if n == 0 || m == 0 {
            return vec![1.0];
        }
        let mut row = vec![0.0; n * m + 1];
        let (of_x, of_y) = (by_recursion(n - 1, m), by_recursion(n, m - 1));
        let all = (n + m) as f64;
        // The largest of all values is an x (adding no pair to U) or a y (adding n pairs).
        for (u, p) in of_x.iter().enumerate() {
            row[u] += p * n as f64 / all;
        }
        for (u, p) in of_y.iter().enumerate() {
            row[u + n] += p * m as f64 / all;
        }
        row
    }

    #[test]
    fn tails_ties_and_intervals_are_counted_by_hand() {
        // Of the 6 orders of two and two values, U is 0 and 1 in one each, and 2 in two.
        let tail = lower_tail(2, 2);
        assert_eq!(tail.len(), 3);
        let by_hand = [1.0 / 6.0, 2.0 / 6.0, 4.0 / 6.0];
        assert!(tail.iter().zip(by_hand).all(|(p, q)| (p - q).abs() < 1e-15), "{tail:?}");
        // 2³ − 2 and 3³ − 3.
        assert_eq!((tie_sum(&[1.0, 1.0, 2.0, 3.0, 3.0, 3.0]), tie_sum(&[1.0, 2.0])), (30.0, 0.0));
        // For four and four values the widest interval covers the shift with more than 95 %, for
        // three and three with less.
        let (x, y) = ([1.0, 2.0, 3.0, 4.0], [11.0, 12.0, 13.0, 14.5]);
        let whole = Interval { lower: 7.0, upper: 13.5 };
        assert_eq!(mann_whitney_exact_interval(&x, &y, 0.95), Some(whole));
        assert_eq!(mann_whitney_exact_interval(&x[..3], &y[..3], 0.95), None);
    }

    #[test]
    fn the_distribution_and_its_critical_values_equal_the_recursion() {
        for n in 1..=7 {
            for m in 1..=8 {
                let expected = by_recursion(n, m);
                let ours = lower_half(n.min(m), n.max(m));
                for (u, p) in ours.iter().enumerate() {
                    assert!((p - expected[u]).abs() <= 1e-13 * expected[u], "{n} {m} {u}");
                }
                for level in [0.01, 0.05, 0.1, 0.4] {
                    let mut sum = 0.0;
                    let reached = expected
                        .iter()
                        .take_while(|p| {
                            sum += **p;
                            sum <= level / 2.0 * (1.0 + 1e-12)
                        })
                        .count();
                    assert_eq!(mann_whitney_critical(n, m, level), (reached as u64).checked_sub(1));
                }
            }
        }
    }

    #[test]
    fn critical_values_equal_r_and_the_tables() {
        // R: qwilcox(0.025, n, m) - 1
        for (n, m, k) in [(4, 4, 0), (5, 5, 2), (8, 8, 13), (10, 10, 23), (20, 20, 127)] {
            assert_eq!(mann_whitney_critical(n, m, 0.05), Some(k), "{n} {m}");
            assert_eq!(mann_whitney_critical(m, n, 0.05), Some(k), "{n} {m}");
        }
        assert_eq!(mann_whitney_critical(3, 3, 0.05), None);
        assert_eq!(mann_whitney_critical(0, 3, 0.05), None);
        assert_eq!(mann_whitney_critical(9, 9, 1.0), None);
    }

    #[test]
    fn the_smallest_probability_keeps_its_digits_at_200_values_a_side() {
        let row = lower_half(200, 200);
        // 1 over C(400, 200).
        let mut expected = 1.0;
        for i in 1..=200 {
            expected *= f64::from(i) / f64::from(200 + i);
        }
        assert!((row[0] - expected).abs() <= 1e-12 * expected);
        assert!(row.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-10)));
        // The number of pairs is even: the middle counts once, everything else twice.
        let total = 2.0 * row.iter().sum::<f64>() - row[row.len() - 1];
        assert!((total - 1.0).abs() < 1e-10, "{total}");
        let (half, sd) = half_and_sd(200, 200, 0.0);
        let normal = (half - normal::two_sided(0.95) * sd - 0.5).floor();
        let exact = mann_whitney_critical(200, 200, 0.05).unwrap() as f64;
        assert!((exact - normal).abs() <= 3.0, "{exact} {normal}");
    }

    #[test]
    fn samples_too_small_for_the_confidence_get_no_interval() {
        let (x, y) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        assert_eq!(mann_whitney_interval(&x, &y, 0.95), None);
        let many: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(mann_whitney_interval(&[0.5], &many, 0.99), None);
        assert!(mann_whitney_interval(&[0.5, 1.5, 2.5, 3.5], &many, 0.95).is_some());
        assert_eq!(mann_whitney_interval(&[], &many, 0.95), None);
    }

    #[test]
    fn all_values_equal_give_the_point() {
        let (x, y) = ([5.0; 60], [5.0; 70]);
        let point = Some(Interval { lower: 0.0, upper: 0.0 });
        assert_eq!(mann_whitney_interval(&x, &y, 0.95), point);
        assert_eq!(mann_whitney_asymptotic_interval(&x[..2], &y[..2], 0.95), point);
    }

    #[test]
    fn from_fifty_values_on_the_normal_distribution_decides() {
        let values =
            |n: i32, by: f64| -> Vec<f64> { (0..n).map(|i| f64::from(i * i) * by).collect() };
        // For 6 and 9 values, R's qwilcox gives difference number 11, the normal distribution
        // number 10.
        let (x, y) = (values(6, 0.3), values(9, 0.31));
        let exact = mann_whitney_exact_interval(&x, &y, 0.95);
        assert_eq!(exact, difference_interval(&x, &y, 11, 44));
        assert_eq!(mann_whitney_interval(&x, &y, 0.95), exact);
        assert_eq!(mann_whitney_asymptotic_ranks(&x, &y, 0.95), Some((10, 45)));
        let (x, y) = (values(50, 0.3), values(14, 30.0));
        let asymptotic = mann_whitney_asymptotic_interval(&x, &y, 0.95);
        assert!(asymptotic.is_some());
        assert_eq!(mann_whitney_interval(&x, &y, 0.95), asymptotic);
    }

    #[test]
    fn ties_in_either_sample_make_the_interval_narrower() {
        // Groups of 4 in 12 values, and of 2 in 10: 3 · 60 + 5 · 6 = 210, of 22 · 21.
        let x: Vec<f64> = (0..12).map(|i| f64::from(i / 4)).collect();
        let y: Vec<f64> = (0..10).map(|i| f64::from(i / 2) + 0.5).collect();
        let sd = (120.0_f64 / 12.0 * (23.0 - 210.0 / (22.0 * 21.0))).sqrt();
        assert!((half_and_sd(12, 10, 210.0).1 - sd).abs() < 1e-12);
        let reach = 1.959_963_984_540_054 * sd;
        let ranks = mann_whitney_asymptotic_ranks(&x, &y, 0.95);
        assert_eq!(ranks, Some(((59.5 - reach).ceil() as u64, (60.5 + reach).ceil() as u64)));
        // Groups of 10 make a difference of several ranks.
        let tied: Vec<f64> = (0..10).map(|_| 1.0).collect();
        let sd = (120.0_f64 / 12.0 * (23.0 - (180.0 + 990.0) / (22.0 * 21.0))).sqrt();
        let reach = 1.959_963_984_540_054 * sd;
        let ranks = mann_whitney_asymptotic_ranks(&x, &tied, 0.95);
        assert_eq!(ranks, Some(((59.5 - reach).ceil() as u64, (60.5 + reach).ceil() as u64)));
        assert_eq!(mann_whitney_asymptotic_ranks(&tied, &x, 0.95), ranks);
    }
}
