//! The two-sample Kolmogorov-Smirnov test: the largest distance between two empirical distribution
//! functions.
//!
//! Distances are counted in integers, i·m − j·n, so that rounding does not affect the maximum. The
//! exact distribution enumerates all orders of the two samples compatible with the ties (Schröer
//! and Trenkler, "Exact and randomization distributions of Kolmogorov-Smirnov tests two or three
//! samples", 1995), summing the share of those with at least the same distance. As in R's
//! `ks.test`, it is used for n·m < 10000. Otherwise the limit distribution is used with R's
//! stopping rule (terms below 1e-6), which gives R's digits. Unlike in R, the exact one-sided
//! p-value of each direction is that of the distance in that direction; R computes both from the
//! upper distance, which differs with ties.

use super::rank_sum::stairs;
use std::f64::consts::PI;

/// Below this product of the sample sizes the distribution is exact.
const EXACT_BELOW: usize = 10_000;

/// The threshold at which R stops adding terms of the limit distribution.
const LIMIT_TOLERANCE: f64 = 1e-6;

/// The distances of two empirical distribution functions with their p-values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KolmogorovSmirnov {
    /// The largest distance between the distribution functions in either direction, in 0..=1.
    pub d: f64,
    /// The largest amount by which the distribution function of y exceeds that of x.
    pub d_plus: f64,
    /// The largest amount by which the distribution function of y falls below that of x.
    pub d_minus: f64,
    /// p-value of `d`, exact or asymptotic.
    pub p_two: f64,
    /// p-value of `d_minus`, which is small if y is larger.
    pub p_less: f64,
    /// p-value of `d_plus`, which is small if y is smaller.
    pub p_greater: f64,
    /// True if `p_two`, `p_less` and `p_greater` are exact.
    pub exact: bool,
    /// p-value of `d` by the limit distribution, whatever the sample sizes.
    pub p_two_asymptotic: f64,
}

/// Tests y against x, like R's `ks.test(y, x)`. Returns `None` unless both samples are ascending
/// and finite, n ≥ 1 each. O(n + m), or O(n·m) if the distribution is exact.
#[must_use]
pub fn kolmogorov_smirnov(x_sorted: &[f64], y_sorted: &[f64]) -> Option<KolmogorovSmirnov> {
    let (n, m) = (x_sorted.len(), y_sorted.len());
    if n == 0 || m == 0 {
        return None;
    }
    // The largest distances, in units of 1/(n·m), and the ends of the groups of ties, counted from
    // below.
    let (mut above, mut below) = (0_i128, 0_i128);
    let mut ends = vec![false; if n.saturating_mul(m) < EXACT_BELOW { n + m + 1 } else { 0 }];
    for step in stairs(x_sorted, y_sorted) {
        let (i, j) = (step.below_x + step.of_x, step.below_y + step.of_y);
        let distance = j as i128 * n as i128 - i as i128 * m as i128;
        above = above.max(distance);
        below = below.max(-distance);
        if let Some(end) = ends.get_mut(i + j) {
            *end = true;
        }
    }
    let pairs = n as f64 * m as f64;
    let exact = !ends.is_empty();
    let root = (pairs / (n as f64 + m as f64)).sqrt();
    let both = above.max(below);
    let (d, d_plus, d_minus) = (both as f64 / pairs, above as f64 / pairs, below as f64 / pairs);
    let p_two_asymptotic = limit_two_sided(root * d);
    let one_sided = |far: Far, distance: i128, share: f64| {
        if exact {
            exact_upper(n, m, distance as i64, far, &ends)
        } else {
            (-2.0 * (root * share) * (root * share)).exp()
        }
    };
    let p_two =
        if exact { exact_upper(n, m, both as i64, Far::Either, &ends) } else { p_two_asymptotic };
    Some(KolmogorovSmirnov {
        d,
        d_plus,
        d_minus,
        p_two,
        p_less: one_sided(Far::Below, below, d_minus),
        p_greater: one_sided(Far::Above, above, d_plus),
        exact,
        p_two_asymptotic,
    })
}

/// The direction in which the distribution function of y differs from that of x.
#[derive(Clone, Copy)]
enum Far {
    Above,
    Below,
    Either,
}

/// Returns the share of the orders of n and m values that have at least `distance` at the end of
/// some group of ties. All terms are positive, so small shares keep their digits.
fn exact_upper(n: usize, m: usize, distance: i64, side: Far, ends: &[bool]) -> f64 {
    // reached[j] is the share of the paths to i values of x and j values of y that have reached the
    // distance.
    let mut reached = vec![0.0_f64; m + 1];
    for i in 0..=n {
        for j in 0..=m {
            let at = j as i64 * n as i64 - i as i64 * m as i64;
            let far = match side {
                Far::Above => at,
                Far::Below => -at,
                Far::Either => at.abs(),
            };
            reached[j] = if ends[i + j] && far >= distance {
                1.0
            } else {
                let all = (i + j) as f64;
                let from_x = if i > 0 { i as f64 / all * reached[j] } else { 0.0 };
                let from_y = if j > 0 { j as f64 / all * reached[j - 1] } else { 0.0 };
                from_x + from_y
            };
        }
    }
    reached[m]
}

/// Returns 1 − K(x), where K is Kolmogorov's limit distribution.
fn limit_two_sided(x: f64) -> f64 {
    if x < f64::EPSILON {
        return 1.0;
    }
    let p = if x < 1.0 {
        let most = (2.0 - LIMIT_TOLERANCE.ln()).sqrt() as u32;
        let z = -(PI * PI / 8.0) / (x * x);
        let sum: f64 = (1..most).step_by(2).map(|k| (f64::from(k * k) * z - x.ln()).exp()).sum();
        1.0 - sum * (2.0 * PI).sqrt()
    } else {
        // The sum of the alternating series is already the upper tail.
        let (mut sum, mut sign, mut k) = (0.0_f64, 1.0, 1.0_f64);
        loop {
            let term = 2.0 * (-2.0 * x * x * k * k).exp();
            sum += sign * term;
            if term <= LIMIT_TOLERANCE {
                break sum;
            }
            sign = -sign;
            k += 1.0;
        }
    };
    p.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_without_overlap_have_the_smallest_p_there_is() {
        let test = kolmogorov_smirnov(&[6., 7., 8., 9., 10.], &[1., 2., 3., 4., 5.]).unwrap();
        assert_eq!((test.d, test.d_plus, test.d_minus), (1.0, 1.0, 0.0));
        // One order of 252 in each direction.
        assert!((test.p_two - 2.0 / 252.0).abs() < 1e-16 && test.exact);
        assert!((test.p_greater - 1.0 / 252.0).abs() < 1e-16);
        assert_eq!(test.p_less, 1.0);
    }

    #[test]
    fn the_exact_distribution_equals_counting_all_orders() {
        // Three x and four y with a tie across both: 35 orders of 7 places, compared only at the
        // ends of ties.
        let (x, y) = ([1.0, 3.0, 5.0], [1.0, 2.0, 4.0, 4.5]);
        let test = kolmogorov_smirnov(&x, &y).unwrap();
        let ends = [false, false, true, true, true, true, true, true];
        let distance = (test.d * 12.0).round() as i64;
        let (mut hits, mut all) = (0, 0);
        for mask in 0..1_u32 << 7 {
            if mask.count_ones() != 4 {
                continue;
            }
            all += 1;
            let mut j = 0_i64;
            let hit = (0..7_i64).any(|place| {
                j += i64::from(mask >> place & 1);
                let i = place + 1 - j;
                ends[place as usize + 1] && (3 * j - 4 * i).abs() >= distance
            });
            hits += usize::from(hit);
        }
        assert!((test.p_two - hits as f64 / f64::from(all)).abs() < 1e-15, "{test:?}");
    }

    #[test]
    fn each_direction_is_counted_by_itself_where_there_are_ties() {
        // By enumeration of all 462 orders: 21 reach this distance below, 322 above.
        let (x, y) = ([1.0, 1.0, 2.0, 3.0, 5.0, 9.0], [5.0, 5.0, 5.0, 5.0, 7.0]);
        let found = kolmogorov_smirnov(&x, &y).unwrap();
        assert!((found.p_less - 21.0 / 462.0).abs() < 1e-15, "{found:?}");
        assert!((found.p_greater - 322.0 / 462.0).abs() < 1e-15, "{found:?}");
        // Swapping the samples swaps the directions.
        let turned = kolmogorov_smirnov(&y, &x).unwrap();
        assert!((turned.p_greater - found.p_less).abs() < 1e-15);
        assert!((turned.p_less - found.p_greater).abs() < 1e-15);
    }

    #[test]
    fn equal_samples_have_no_distance() {
        let test = kolmogorov_smirnov(&[5.0; 10], &[5.0; 12]).unwrap();
        assert_eq!((test.d, test.p_two, test.p_less, test.p_two_asymptotic), (0.0, 1.0, 1.0, 1.0));
        assert!(kolmogorov_smirnov(&[], &[1.0]).is_none());
    }

    #[test]
    fn the_limit_distribution_meets_its_tables() {
        // Smirnov 1948: K(1.36) = 0.9505, K(1.63) = 0.9902; the median is 0.82757.
        assert!((limit_two_sided(1.36) - 0.0495).abs() < 1e-4);
        assert!((limit_two_sided(1.63) - 0.0098).abs() < 1e-4);
        assert!((limit_two_sided(0.827_57) - 0.5).abs() < 1e-4);
    }

    #[test]
    fn each_direction_has_its_own_distance() {
        let found = kolmogorov_smirnov(&[1.0, 5.0, 6.0, 7.0], &[2.0, 3.0, 4.0, 8.0]).unwrap();
        assert_eq!((found.d, found.d_plus, found.d_minus), (0.5, 0.5, 0.25));
    }
}
