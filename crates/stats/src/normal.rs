//! The standard normal distribution: its distribution function and quantiles, accurate far into
//! both tails.
//!
//! Near the middle the distribution function is the power series of Abramowitz and Stegun 26.2.11,
//! whose terms are all positive; in the tail it is Laplace's continued fraction for Mills' ratio
//! (26.2.14). Quantiles start from the rational approximation 26.2.23 and are refined by Halley
//! steps on the accurate function. Equal to R's `pnorm` and `qnorm`.

use std::f64::consts::TAU;

/// Returns the density at `x`; 0 for |x| > 40, where it underflows.
#[must_use]
pub fn density(x: f64) -> f64 {
    // x² is split into an exact part and a remainder, since rounding the square would lose digits
    // in far tails.
    if x.abs() > 40.0 {
        return 0.0;
    }
    let coarse = (x * 16.0).trunc() / 16.0;
    let rest = (x - coarse) * (x + coarse);
    (-0.5 * coarse * coarse).exp() * (-0.5 * rest).exp() / TAU.sqrt()
}

/// Returns P(Z ≤ x), with a relative error of about 1e-14 in either tail. NaN for NaN.
#[must_use]
pub fn cdf(x: f64) -> f64 {
    /// Largest |x| for which the series is used. Up to this point it loses at most two digits of
    /// the tail probability.
    const SERIES_TO: f64 = 2.0;
    if x.is_nan() {
        f64::NAN
    } else if x.abs() <= SERIES_TO {
        0.5 + centre(x)
    } else if x < 0.0 {
        tail(-x)
    } else {
        1.0 - tail(x)
    }
}

/// Φ(x) − ½ = φ(x) (x + x³/3 + x⁵/(3·5) + ...).
fn centre(x: f64) -> f64 {
    let square = x * x;
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-18 * sum.abs() {
        odd += 2.0;
        term *= square / odd;
        sum += term;
    }
    density(x) * sum
}

/// Returns P(Z > x) for x ≥ 2.
fn tail(x: f64) -> f64 {
    density(x) / mills_denominator(x)
}

/// φ(x) / P(Z > x) for x ≥ 2: x + 1/(x + 2/(x + 3/(x + ...))).
fn mills_denominator(x: f64) -> f64 {
    /// Number of levels of the continued fraction. At x = 2, the worst case, this many give full
    /// accuracy. For larger x fewer would be enough.
    const LEVELS: f64 = 120.0;
    let levels = (12.0 + 640.0 / (x * x)).min(LEVELS) as u32;
    let mut fraction = x;
    for level in (1..=levels).rev() {
        fraction = x + f64::from(level) / fraction;
    }
    fraction
}

/// Returns log₁₀ P(Z > z), even if the probability itself underflows.
///
/// The relative error is about 1e-13 for z > 0. −∞ for ∞, NaN for NaN.
#[must_use]
pub fn log10_upper(z: f64) -> f64 {
    if z < 2.0 || z == f64::INFINITY {
        return cdf(-z).log10();
    }
    let ln_density = -0.5 * z * z - 0.5 * TAU.ln();
    (ln_density - mills_denominator(z).ln()) / std::f64::consts::LN_10
}

/// Returns the quantile: the value that a standard normal variable does not exceed with probability
/// `p`. The relative error is about 1e-14, except near p = ½, where the quantile is 0.
///
/// −∞ for 0, ∞ for 1, NaN outside 0..=1.
#[must_use]
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    let (small, sign) = if p < 0.5 { (p, -1.0) } else { (1.0 - p, 1.0) };
    if small == 0.0 {
        return sign * f64::INFINITY;
    }
    let t = (-2.0 * small.ln()).sqrt();
    let mut x = t
        - (2.515_517 + t * (0.802_853 + t * 0.010_328))
            / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    // The initial approximation has an error below 5e-4, and every Halley step cubes it.
    for _ in 0..3 {
        let error = (cdf(-x) - small) / density(x);
        x += error / (1.0 + 0.5 * x * error);
    }
    sign * x
}

/// Returns the two-sided normal quantile of a confidence level, for example 1.96 for 0.95.
///
/// `confidence` is in 0..1; NaN outside 0..=1.
#[must_use]
pub fn two_sided(confidence: f64) -> f64 {
    -quantile((1.0 - confidence) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: f64, expected: f64, tolerance: f64) {
        assert!((ours - expected).abs() <= tolerance * expected.abs(), "{ours} {expected}");
    }

    #[test]
    fn the_distribution_function_agrees_with_r_far_into_the_tail() {
        // R: print(pnorm(-c(1, 2, 2.5, 5, 10, 30)), digits = 17)
        close(cdf(-1.0), 0.158_655_253_931_457_05, 1e-14);
        close(cdf(-2.0), 0.022_750_131_948_179_21, 1e-13);
        close(cdf(-2.5), 0.006_209_665_325_776_135, 1e-13);
        close(cdf(-5.0), 2.866_515_718_791_94e-7, 1e-13);
        close(cdf(-10.0), 7.619_853_024_160_526e-24, 1e-13);
        close(cdf(-30.0), 4.906_713_927_148_187e-198, 1e-13);
        assert_eq!(cdf(40.0), 1.0);
        assert_eq!(cdf(f64::INFINITY), 1.0);
        assert_eq!(cdf(f64::NEG_INFINITY), 0.0);
        assert!(cdf(f64::NAN).is_nan());
    }

    #[test]
    fn logarithms_of_tails_go_beyond_the_smallest_number() {
        // R: pnorm(c(1, 5, 30, 100, 1000), lower.tail = FALSE, log.p = TRUE) / log(10)
        close(log10_upper(1.0), 0.158_655_253_931_457_05_f64.log10(), 1e-13);
        close(log10_upper(5.0), 2.866_515_718_791_94e-7_f64.log10(), 1e-13);
        close(log10_upper(30.0), 4.906_713_927_148_187e-198_f64.log10(), 1e-13);
        close(log10_upper(-3.0), cdf(3.0).log10(), 1e-10);
        assert!(log10_upper(1000.0) < -217_000.0 && log10_upper(1000.0) > -217_200.0);
        assert_eq!(log10_upper(f64::INFINITY), f64::NEG_INFINITY);
        assert_eq!(log10_upper(f64::NEG_INFINITY), 0.0);
        assert!(log10_upper(f64::NAN).is_nan());
    }

    #[test]
    fn series_and_fraction_meet() {
        let fraction = tail(2.0);
        close(0.5 - centre(2.0), fraction, 1e-14);
    }

    #[test]
    fn quantiles_agree_with_r() {
        close(quantile(0.975), 1.959_963_984_540_054, 1e-14);
        close(quantile(0.999), 3.090_232_306_167_813, 1e-13);
        close(quantile(1e-10), -6.361_340_902_404_056, 1e-13);
        close(two_sided(0.95), 1.959_963_984_540_054, 1e-13);
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(1.5).is_nan() && quantile(f64::NAN).is_nan());
    }

    #[test]
    fn quantiles_invert_the_distribution_function() {
        for exponent in 1..300 {
            let p = 0.4 * 10_f64.powi(-exponent);
            close(cdf(quantile(p)), p, 1e-11);
        }
        for i in 1..1000 {
            let p = f64::from(i) / 1000.0;
            close(cdf(quantile(p)), p, 1e-13);
        }
    }
}
