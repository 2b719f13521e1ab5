//! Fisher's F distribution: the distribution of a ratio of two variances, with any positive degrees
//! of freedom, whole or not.
//!
//! Each tail is an incomplete beta function (Abramowitz and Stegun 26.6.2); both of its arguments
//! are computed as quotients, so that neither loses digits. Equal to R's `pf`.

use crate::chi_squared::{self, from_zero};
use crate::special;

/// P(F ≤ x) with `df1` and `df2` > 0 degrees of freedom; about 1e-12 relative in the lower tail.
///
/// 0 for x ≤ 0; NaN for a NaN or degrees of freedom that are not positive.
#[must_use]
pub fn cdf(x: f64, df1: f64, df2: f64) -> f64 {
    if df2 == f64::INFINITY {
        return chi_squared::cdf(x * df1, df1);
    }
    match shares(x, df1, df2) {
        Some((of_x, rest)) => special::incomplete_beta(df1 / 2.0, df2 / 2.0, of_x, rest),
        None => f64::NAN,
    }
}

/// P(F > x) with `df1` and `df2` > 0 degrees of freedom: the p-value of a statistic; about 1e-12
/// relative in the upper tail.
///
/// 1 for x ≤ 0; NaN for a NaN or degrees of freedom that are not positive.
#[must_use]
pub fn upper(x: f64, df1: f64, df2: f64) -> f64 {
    if df2 == f64::INFINITY {
        return chi_squared::upper(x * df1, df1);
    }
    match shares(x, df1, df2) {
        Some((of_x, rest)) => special::incomplete_beta(df2 / 2.0, df1 / 2.0, rest, of_x),
        None => f64::NAN,
    }
}

/// df1·x / (df1·x + df2) and its complement.
fn shares(x: f64, df1: f64, df2: f64) -> Option<(f64, f64)> {
    let x = from_zero(x);
    if x.is_nan() || !(df1 > 0.0 && df2 > 0.0) {
        return None;
    }
    let ratio = df1 / df2 * x;
    if ratio <= 1.0 {
        return Some((ratio / (1.0 + ratio), 1.0 / (1.0 + ratio)));
    }
    let inverse = 1.0 / ratio;
    Some((1.0 / (1.0 + inverse), inverse / (1.0 + inverse)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, expected: f64, tolerance: f64) {
        assert!((ours - expected).abs() <= tolerance * expected.abs(), "{ours:e} {expected:e}");
    }

    #[test]
    fn one_degree_of_freedom_is_a_squared_t() {
        for df in [1.0, 3.5, 40.0, 900.0] {
            for t in [0.01, 0.7, 2.0, 12.0] {
                close(upper(t * t, 1.0, df), 2.0 * crate::student_t::cdf(-t, df), 1e-11);
            }
        }
    }

    #[test]
    fn tails_agree_with_r() {
        // R: oneway.test on iris$Sepal.Length by species, both forms.
        close(upper(119.264_502_184_504_62, 2.0, 147.0), 1.669_669_190_769_422e-31, 1e-11);
        close(
            upper(138.908_285_268_938_22, 2.0, 92.211_145_320_457_38),
            1.505_058_962_745_097_8e-28,
            1e-11,
        );
    }

    #[test]
    fn the_tails_change_places_when_the_ratio_is_turned_over() {
        for (df1, df2) in [(2.0, 7.0), (59_999.0, 59_999.0), (0.5, 300.0)] {
            for x in [1e-6, 0.2, 0.98, 1.0, 1.02, 3.0, 1e5] {
                close(upper(x, df1, df2), cdf(1.0 / x, df2, df1), 1e-9);
                assert!(
                    (upper(x, df1, df2) + cdf(x, df1, df2) - 1.0).abs() < 1e-9,
                    "{df1} {df2} {x}"
                );
            }
        }
    }

    #[test]
    fn both_tails_agree_with_a_second_implementation() {
        use statrs::distribution::{ContinuousCDF, FisherSnedecor};
        for (df1, df2) in [(1.0, 4.0), (5.0, 2.5), (30.0, 60.0)] {
            let second = FisherSnedecor::new(df1, df2).unwrap();
            for i in 1..60 {
                let x = f64::from(i) / 12.0;
                assert!((cdf(x, df1, df2) - second.cdf(x)).abs() < 1e-10, "{df1} {df2} {x}");
            }
        }
    }

    #[test]
    fn arguments_out_of_range_give_no_number() {
        assert!(cdf(1.0, 0.0, 2.0).is_nan() && upper(f64::NAN, 2.0, 2.0).is_nan());
        assert_eq!((cdf(-1.0, 2.0, 3.0), upper(-1.0, 2.0, 3.0)), (0.0, 1.0));
        assert_eq!(upper(f64::INFINITY, 2.0, 3.0), 0.0);
        close(upper(3.0, 2.0, f64::INFINITY), (-3.0_f64).exp(), 1e-12);
    }

    #[test]
    fn no_degrees_of_freedom_give_no_number() {
        assert!(upper(1.0, 0.0, 2.0).is_nan() && upper(1.0, 2.0, 0.0).is_nan());
    }
}
