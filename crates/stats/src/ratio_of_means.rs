//! The ratio of two means from pairs, with Fieller's interval: the share of one quantity in
//! another.
//!
//! Fieller ("Some problems in interval estimation", Journal of the Royal Statistical Society B 16,
//! 1954): the interval contains every ratio r for which the mean of `y − r·x` is not significantly
//! different from zero by Student's t. Unlike a quotient of two intervals, it accounts for the
//! correlation of the two. It is unbounded if the mean of the denominators is itself not
//! significantly different from zero: the ratio may then have any value.

use crate::{Interval, descriptive, student_t};

/// Minimum number of effective pairs for estimating the spread.
const FEWEST: f64 = 3.0;

/// A ratio of means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioOfMeans {
    /// The mean of the numerators divided by the mean of the denominators.
    pub estimate: f64,
    /// The interval of the ratio.
    pub interval: Interval,
}

/// Returns the mean of `numerators` divided by the mean of `denominators`, which are pairs.
/// `effective` is the effective number of independent pairs, at most their number; `confidence` is
/// in 0..1. O(n).
///
/// `None` for fewer than three effective pairs, for lists of different lengths, or if the interval
/// is unbounded.
pub fn of_pairs(
    numerators: &[f64],
    denominators: &[f64],
    effective: f64,
    confidence: f64,
) -> Option<RatioOfMeans> {
    let n = effective.min(numerators.len() as f64);
    if numerators.len() != denominators.len() || n < FEWEST || n.is_nan() {
        return None;
    }
    let (y, x) = (descriptive::mean(numerators), descriptive::mean(denominators));
    let error = |square: f64| square / n;
    let (yy, xx) =
        (error(descriptive::variance(numerators)), error(descriptive::variance(denominators)));
    let products: Vec<f64> =
        numerators.iter().zip(denominators).map(|(a, b)| (a - y) * (b - x)).collect();
    let xy = error(descriptive::sum(&products) / (products.len() as f64 - 1.0));
    let t = student_t::two_sided(confidence, n - 1.0);
    // The ends are the roots of (x² − t²·xx)·r² − 2·(x·y − t²·xy)·r + (y² − t²·yy).
    let squared = t * t;
    // The first coefficient is not positive if the mean of the denominators may be 0.
    let (a, b, c) = (x * x - squared * xx, x * y - squared * xy, y * y - squared * yy);
    // Rounding may make a difference of zero negative.
    let reach = (b * b - a * c).max(0.0).sqrt();
    let interval = Interval { lower: (b - reach) / a, upper: (b + reach) / a };
    let estimate = y / x;
    (a > 0.0 && estimate.is_finite() && interval.is_bounded())
        .then_some(RatioOfMeans { estimate, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;
    use crate::t_test;

    #[test]
    fn with_an_exact_denominator_it_is_the_interval_of_a_mean() {
        let y = [1.0, 2.5, 3.0, 4.5, 2.0];
        let found = of_pairs(&y, &[2.0; 5], 5.0, 0.9).unwrap();
        let own = t_test::one_sample(&y).and_then(|test| test.interval(0.9)).unwrap();
        assert!((found.estimate - 1.3).abs() < 1e-12);
        assert!((found.interval.lower - own.lower / 2.0).abs() < 1e-9, "{found:?} {own:?}");
        assert!((found.interval.upper - own.upper / 2.0).abs() < 1e-9, "{found:?} {own:?}");
    }

    #[test]
    fn a_part_that_is_always_the_same_share_is_known_exactly() {
        let x = [3.0, 5.0, 4.0, 6.0];
        let y: Vec<f64> = x.iter().map(|x| 0.25 * x).collect();
        let found = of_pairs(&y, &x, 4.0, 0.99).unwrap();
        assert!((found.interval.lower - 0.25).abs() < 1e-6, "{found:?}");
        assert!((found.interval.upper - 0.25).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn nothing_is_said_about_a_share_of_what_may_be_nothing() {
        let (y, x) = ([1.0, 1.2, 0.9, 1.1], [0.5, -0.4, 0.3, -0.2]);
        assert_eq!(of_pairs(&y, &x, 4.0, 0.95), None);
        assert_eq!(of_pairs(&y[..2], &x[..2], 2.0, 0.95), None);
        assert_eq!(of_pairs(&y, &x[..3], 3.0, 0.95), None);
    }

    #[test]
    fn the_interval_holds_as_often_as_it_says() {
        // A whole of two independent parts; the first is 30 % of it.
        let mut stream = Stream::new(11, 0);
        let (runs, blocks) = (2000, 15);
        let held = (0..runs)
            .filter(|_| {
                let (mut part, mut whole) = (Vec::new(), Vec::new());
                for _ in 0..blocks {
                    let own = 3.0 + 2.0 * stream.normal();
                    part.push(own);
                    whole.push(own + 7.0 + 4.0 * stream.normal());
                }
                let found = of_pairs(&part, &whole, f64::from(blocks), 0.95);
                found.is_none_or(|found| found.interval.contains(0.3))
            })
            .count();
        // 95 % of 2,000, within three standard errors.
        assert!((1870..=1930).contains(&held), "{held} of {runs}");
    }
}
