//! The chi-squared distribution: the distribution of sums of squares, of Kruskal and Wallis' H, of
//! Ljung and Box' Q.
//!
//! A gamma distribution of shape df/2 (Abramowitz and Stegun 26.4.19), accurate in both tails.
//! Equal to R's `pchisq`. Quantiles are not implemented, since nothing needs them.

use crate::special;

/// P(X ≤ x) with `df` > 0 degrees of freedom, whole or not; about 1e-13 relative in the lower tail.
///
/// 0 for x ≤ 0; NaN for a NaN or for df ≤ 0.
#[must_use]
pub fn cdf(x: f64, df: f64) -> f64 {
    special::incomplete_gamma(df / 2.0, from_zero(x) / 2.0).0
}

/// P(X > x) with `df` > 0 degrees of freedom: the p-value of a statistic; about 1e-13 relative in
/// the upper tail.
///
/// 1 for x ≤ 0; NaN for a NaN or for df ≤ 0.
#[must_use]
pub fn upper(x: f64, df: f64) -> f64 {
    special::incomplete_gamma(df / 2.0, from_zero(x) / 2.0).1
}

/// Returns `x`, or 0 for a negative value, which a sum of squares never takes; NaN remains NaN.
pub(crate) fn from_zero(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_degrees_of_freedom_are_an_exponential_distribution() {
        for x in [1e-9, 0.3, 2.0, 40.0, 700.0, 1380.0] {
            let expected = (-x / 2.0_f64).exp();
            assert!((upper(x, 2.0) - expected).abs() <= 1e-12 * expected, "{x}");
            assert!((cdf(x, 2.0) + (-x / 2.0).exp_m1()).abs() <= 1e-13 * cdf(x, 2.0), "{x}");
        }
    }

    #[test]
    fn one_degree_of_freedom_is_a_squared_normal() {
        for z in [0.1, 1.0, 2.5, 10.0, 30.0] {
            let expected = 2.0 * crate::normal::cdf(-z);
            assert!((upper(z * z, 1.0) - expected).abs() <= 1e-12 * expected, "{z}");
        }
    }

    #[test]
    fn the_tail_agrees_with_r() {
        // R: kruskal.test on iris$Sepal.Length by species.
        let p = upper(96.937_436_000_648_22, 2.0);
        assert!((p - 8.918_734_332_462_456e-22).abs() <= 1e-12 * p, "{p:e}");
    }

    #[test]
    fn both_tails_agree_with_a_second_implementation() {
        use statrs::distribution::{ChiSquared, ContinuousCDF};
        for df in [0.7, 3.0, 11.5, 120.0] {
            let second = ChiSquared::new(df).unwrap();
            for i in 1..80 {
                let x = df * f64::from(i) / 25.0;
                assert!((cdf(x, df) - second.cdf(x)).abs() < 1e-11, "{df} {x}");
                assert!((upper(x, df) - second.sf(x)).abs() < 1e-11, "{df} {x}");
            }
        }
    }

    #[test]
    fn arguments_out_of_range_give_no_number() {
        assert!(
            cdf(1.0, 0.0).is_nan() && upper(f64::NAN, 2.0).is_nan() && upper(1.0, -1.0).is_nan()
        );
        assert_eq!((cdf(-1.0, 2.0), upper(-1.0, 2.0)), (0.0, 1.0));
        assert_eq!(upper(f64::INFINITY, 2.0), 0.0);
    }
}
