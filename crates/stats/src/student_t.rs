//! Student's t distribution with any positive number of degrees of freedom, not necessarily whole.
//!
//! The tail is an incomplete beta function (Abramowitz and Stegun 26.7.1). For many degrees of
//! freedom, where that loses digits, it is the normal tail of a transformed t (Hill, "Student's
//! t-distribution", Algorithm 395, 1970). Quantiles are found by Newton's method on the logarithm
//! of the tail, kept inside a bracket. The results equal those of R's `pt` and `qt`.

use crate::{normal, special};

/// Returns the z ≥ 0 whose normal tail is the tail of `t` ≥ 0, or `None` if the omitted terms are
/// not negligible.
///
/// With a = df − ½, b = 48 a² and w = √(a ln(1 + t²/df)): z = w + (w³ + 3w)/b − (4w⁷ + 33w⁵ + 240w³
/// + 855w)/(10 b²), with an error of about w¹¹/(3 b³).
fn normal_equivalent(t: f64, df: f64) -> Option<f64> {
    const MANY: f64 = 1000.0;
    if df < MANY {
        return None;
    }
    let a = df - 0.5;
    let b = 48.0 * a * a;
    let square = a * (t / df * t).ln_1p();
    if square * square > 7e-5 * b {
        return None;
    }
    let first = (square + 3.0) / b;
    let second = (((4.0 * square + 33.0) * square + 240.0) * square + 855.0) / (10.0 * b * b);
    Some(square.sqrt() * (1.0 + first - second))
}

/// Returns P(T > t) for `t` ≥ 0.
fn upper_tail(t: f64, df: f64) -> f64 {
    if let Some(z) = normal_equivalent(t, df) {
        return normal::cdf(-z);
    }
    // Both shares are computed as quotients, so that neither is a difference of close numbers. For
    // large t the square may overflow, hence the second form.
    let ratio = t / df * t;
    let (x, y) = if ratio < 1.0 {
        (1.0 / (1.0 + ratio), ratio / (1.0 + ratio))
    } else {
        let inverse = df / t / t;
        (inverse / (1.0 + inverse), 1.0 / (1.0 + inverse))
    };
    0.5 * special::incomplete_beta(df / 2.0, 0.5, x, y)
}

fn density(t: f64, df: f64) -> f64 {
    (-0.5 * (df + 1.0) * (t / df * t).ln_1p() - special::ln_beta(df / 2.0, 0.5)).exp() / df.sqrt()
}

/// Returns P(T ≤ t) with `df` > 0 degrees of freedom, with a relative error of about 1e-12 in the
/// lower tail, or NaN if `df` is NaN or not positive.
///
/// An infinite `df` gives the normal distribution.
#[must_use]
pub fn cdf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df == f64::INFINITY {
        return normal::cdf(t);
    }
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    if t <= 0.0 { upper_tail(-t, df) } else { 1.0 - upper_tail(t, df) }
}

/// Returns the value that T does not exceed with probability `p`, for `df` > 0. The relative error
/// is about 1e-12 away from p = ½.
///
/// Returns −∞ for 0, ∞ for 1, and NaN for `p` outside 0..=1 or df ≤ 0.
#[must_use]
pub fn quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df == f64::INFINITY {
        return normal::quantile(p);
    }
    if p == 0.5 {
        return 0.0;
    }
    let (small, sign) = if p < 0.5 { (p, -1.0) } else { (1.0 - p, 1.0) };
    if small == 0.0 {
        return sign * f64::INFINITY;
    }
    sign * upper_quantile(small, df)
}

/// Returns the t > 0 that is exceeded with probability `q` in 0..½.
fn upper_quantile(q: f64, df: f64) -> f64 {
    let z = -normal::quantile(q);
    // The t distribution has heavier tails, so the normal quantile is a lower bound.
    let (mut low, mut high) = (0.0, (1.0 + z).max(1.0));
    while upper_tail(high, df) > q && high < f64::MAX / 4.0 {
        low = high;
        high *= 2.0;
    }
    // First terms of the expansion in 1/df (26.7.5): a good start, except for a small df, where the
    // bracket limits it.
    let start = z + z * (z * z + 1.0) / (4.0 * df);
    let mut t = if start > low && start < high { start } else { 0.5 * (low + high) };
    for _ in 0..200 {
        let tail = upper_tail(t, df);
        if tail > q {
            low = t
        } else {
            high = t
        }
        // Newton's method on ln(tail) as a function of ln(t), in which heavy tails are straight
        // lines.
        let slope = density(t, df) * t / tail;
        let next = t * ((tail / q).ln() / slope).exp();
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - t).abs() <= 2e-16 * t {
            return next;
        }
        t = next;
    }
    t
}

/// Returns the two-sided quantile of a confidence level: 2.2622 for 0.95 with nine degrees of
/// freedom.
#[must_use]
pub fn two_sided(confidence: f64, df: f64) -> f64 {
    -quantile((1.0 - confidence) / 2.0, df)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, expected: f64, tolerance: f64) {
        assert!((ours - expected).abs() <= tolerance * expected.abs(), "{ours} {expected}");
    }

    #[test]
    fn the_density_is_that_of_cauchy_and_of_the_textbook() {
        use std::f64::consts::PI;
        close(density(0.0, 1.0), 1.0 / PI, 1e-14);
        close(density(-1.0, 1.0), 0.5 / PI, 1e-14);
        close(density(0.0, 3.0), 2.0 / (PI * 3f64.sqrt()), 1e-14);
        // With two degrees of freedom, the density is (2 + t²)^(−3/2).
        close(density(2.0, 2.0), 6f64.powf(-1.5), 1e-14);
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_closed_forms() {
        for i in 1..400 {
            let t = f64::from(i) * f64::from(i) * 0.01;
            close(cdf(-t, 1.0), (1.0 / t).atan() / std::f64::consts::PI, 1e-13);
            let root = (2.0 + t * t).sqrt();
            close(cdf(-t, 2.0), 1.0 / (root * (root + t)), 1e-13);
        }
        let p = 0.01_f64;
        close(quantile(p, 1.0), -1.0 / (std::f64::consts::PI * p).tan(), 1e-13);
    }

    #[test]
    fn quantiles_agree_with_r() {
        // R: qt(.975, c(9, 59, 5.5)), qt(.995, 98)
        close(quantile(0.975, 9.0), 2.262_157_162_798_205, 1e-12);
        close(quantile(0.975, 59.0), 2.000_995_378_088_268, 1e-12);
        close(quantile(0.975, 5.5), 2.501_858_617_589_24, 1e-12);
        close(quantile(0.995, 98.0), 2.626_931_095_756_374, 1e-12);
    }

    #[test]
    fn tails_keep_their_digits_for_many_degrees_of_freedom() {
        // The incomplete beta function in 40 digits (mpmath).
        for (t, df, expected) in [
            (2.5, 1e3, 0.006_289_283_900_545_398),
            (9.0, 1e3, 5.564_538_585_935_75e-19),
            (3.0, 2e3, 0.001_366_571_881_016_4),
            (12.0, 2e3, 2.182_851_247_608_713e-32),
            (30.0, 1e4, 1.022_163_523_712_785e-189),
            (2.0, 1e7, 0.022_750_145_445_921_48),
            (20.0, 1e7, 2.764_715_603_478_851e-89),
            (0.1, 1e5, 0.460_172_262_953_363_1),
        ] {
            close(cdf(-t, df), expected, 1e-11);
        }
    }

    #[test]
    fn quantiles_invert_the_distribution_function_for_real_degrees_of_freedom() {
        for df in [0.3, 0.7, 1.0, 1.5, 2.0, 3.7, 10.0, 113.2, 5e3, 7e4, 1e7] {
            for p in [1e-30, 1e-12, 1e-3, 0.025, 0.2, 0.499, 0.6, 0.975, 0.999] {
                let t = quantile(p, df);
                let back = if p < 0.5 { cdf(t, df) } else { 1.0 - cdf(-t, df) };
                close(back, p, 1e-11);
            }
        }
    }

    #[test]
    fn many_degrees_of_freedom_approach_the_normal_distribution() {
        close(quantile(0.975, 1e12), normal::quantile(0.975), 1e-10);
        close(quantile(0.975, f64::INFINITY), normal::quantile(0.975), 1e-15);
    }

    #[test]
    fn the_distribution_function_agrees_with_a_second_implementation() {
        use statrs::distribution::{ContinuousCDF, StudentsT};
        for df in [0.5, 1.7, 4.0, 12.3, 300.0] {
            let second = StudentsT::new(0.0, 1.0, df).unwrap();
            for i in -40..=40 {
                let t = f64::from(i) * 0.17;
                close(cdf(t, df), second.cdf(t), 1e-10);
            }
        }
    }

    #[test]
    fn arguments_out_of_range_give_no_number() {
        assert!(
            cdf(1.0, 0.0).is_nan() && cdf(f64::NAN, 1.0).is_nan() && quantile(0.2, -1.0).is_nan()
        );
        assert!(quantile(1.2, 3.0).is_nan());
        assert_eq!(quantile(0.0, 3.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!(cdf(f64::INFINITY, 3.0), 1.0);
        assert_eq!(cdf(-f64::MAX, 3.0), 0.0);
    }

    #[test]
    fn everything_lies_above_minus_infinity() {
        assert_eq!((cdf(f64::NEG_INFINITY, 3.0), quantile(0.5, 3.0)), (0.0, 0.0));
    }
}
