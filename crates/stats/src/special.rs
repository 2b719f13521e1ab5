//! Special functions for the distributions: the error of Stirling's formula for the gamma function,
//! the logarithm of the beta function, and the regularized incomplete beta and gamma functions.
//!
//! All functions are based on the error of Stirling's formula, because differences of large
//! log-gammas lose digits that differences of small errors keep. This is how Loader ("Fast and
//! accurate computation of binomial probabilities", 2000) gets full accuracy for tails of any size.
//! The continued fraction of the incomplete beta function is number 26.5.8 of Abramowitz and
//! Stegun, evaluated by Lentz's method. The incomplete gamma function is the series 6.5.29 below
//! its mean and the continued fraction 6.5.31 above. Only the distributions of this crate use this
//! module.

const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// From this argument on, seven terms of the asymptotic series are accurate to the last bit.
const SERIES_FROM: f64 = 15.0;

/// Returns ln Γ(x) minus Stirling's approximation `(x − ½) ln x − x + ½ ln 2π`, for `x` > 0.
///
/// The absolute error is about 1e-15, even for small `x`, for which a recursion reaches arguments
/// where the series is accurate.
#[must_use]
pub fn stirling_error(x: f64) -> f64 {
    let mut climbed = 0.0;
    let mut x = x;
    while x < SERIES_FROM {
        climbed += (x + 0.5) * (1.0 / x).ln_1p() - 1.0;
        x += 1.0;
    }
    let w = 1.0 / (x * x);
    // Bernoulli numbers divided by 2k(2k−1).
    let series = 1.0 / 12.0
        - w * (1.0 / 360.0
            - w * (1.0 / 1260.0
                - w * (1.0 / 1680.0
                    - w * (1.0 / 1188.0 - w * (691.0 / 360_360.0 - w * (1.0 / 156.0))))));
    climbed + series / x
}

/// Returns the logarithm of the beta function for `a`, `b` > 0, without the cancellation of three
/// log-gammas.
#[must_use]
pub fn ln_beta(a: f64, b: f64) -> f64 {
    // The larger argument comes first, so that the logarithm of its share is near zero, where ln_1p
    // is accurate.
    let (a, b) = if a >= b { (a, b) } else { (b, a) };
    let sum = a + b;
    (a - 0.5) * (-b / sum).ln_1p() + b * (b / sum).ln() - 0.5 * b.ln()
        + HALF_LN_TWO_PI
        + (stirling_error(a) + stirling_error(b) - stirling_error(sum))
}

/// Returns the regularized incomplete beta function I_x(a, b), with `y` = 1 − x passed separately
/// so that neither loses digits.
///
/// `a`, `b` > 0, 0 ≤ x ≤ 1. The result is in 0..=1, with a relative error of about 1e-13 in the
/// lower tail, where the continued fraction is used directly. The number of steps grows with the
/// square root of the larger parameter. Returns NaN for parameters out of range.
#[must_use]
pub fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    if x == 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    // Uses ln_1p with the smaller share, which has more accurate digits.
    let (ln_x, ln_y) = if x < y { (x.ln(), (-x).ln_1p()) } else { ((-y).ln_1p(), y.ln()) };
    let front = (a * ln_x + b * ln_y - ln_beta(a, b)).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, y) / b
    }
}

/// Evaluates the continued fraction of the incomplete beta function, which converges quickly for x
/// < (a+1)/(a+b+2).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_STEPS: u32 = 100_000;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// Returns the regularized incomplete gamma functions P and Q = 1 − P, where P(a, x) is the
/// probability that a gamma variable of shape `a` is at most `x`.
///
/// `a` > 0, `x` ≥ 0 (1 and 0 if infinite). Both are in 0..=1; the smaller one has a relative error
/// of about 1e-13 down to the smallest positive doubles. Takes O(√a) steps near the mean and few
/// elsewhere. Returns NaN for arguments out of range.
#[must_use]
pub fn incomplete_gamma(a: f64, x: f64) -> (f64, f64) {
    if !(a > 0.0 && a.is_finite() && x >= 0.0) {
        return (f64::NAN, f64::NAN);
    }
    if x == 0.0 {
        return (0.0, 1.0);
    }
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    // x^a e^(−x) / Γ(a), from the deviance of x from a, because near the mean the large logarithms
    // would cancel.
    let deviance = if (x - a).abs() < 0.5 * a {
        let share = (x - a) / a;
        a * (share - share.ln_1p())
    } else {
        x - a - a * (x / a).ln()
    };
    let front = (-deviance - stirling_error(a)).exp() * (a / std::f64::consts::TAU).sqrt();
    if x < a + 1.0 {
        let lower = (front * gamma_series(a, x)).min(1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (front * gamma_fraction(a, x)).min(1.0);
        (1.0 - upper, upper)
    }
}

/// Returns 1/a + x/(a(a+1)) + x²/(a(a+1)(a+2)) + ..., whose terms are all positive.
fn gamma_series(a: f64, x: f64) -> f64 {
    const MOST_STEPS: u32 = 10_000_000;
    let (mut term, mut sum, mut shape) = (1.0 / a, 1.0 / a, a);
    for _ in 0..MOST_STEPS {
        shape += 1.0;
        term *= x / shape;
        sum += term;
        if term <= 1e-17 * sum {
            break;
        }
    }
    sum
}

/// Returns 1/(x + 1 − a − 1(1−a)/(x + 3 − a − 2(2−a)/(x + 5 − a − ...))), for x > a + 1.
fn gamma_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_STEPS: u32 = 10_000_000;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / away_from_zero(b);
    let mut value = d;
    for step in 1..=MOST_STEPS {
        let i = f64::from(step);
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / away_from_zero(numerator * d + b);
        c = away_from_zero(b + numerator / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln Γ(x), from the error of Stirling's formula.
    fn ln_gamma(x: f64) -> f64 {
        (x - 0.5) * x.ln() - x + HALF_LN_TWO_PI + stirling_error(x)
    }

    #[test]
    fn log_gamma_agrees_with_factorials_and_with_half_integers() {
        let mut factorial = 1.0_f64;
        for n in 1..=150_u32 {
            let expected = factorial.ln();
            assert!(
                (ln_gamma(f64::from(n)) - expected).abs() <= 2e-14 * expected.abs().max(1.0),
                "{n}"
            );
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-14);
    }

    #[test]
    fn log_gamma_agrees_with_a_second_implementation() {
        for i in 1..2000 {
            let x = f64::from(i) * f64::from(i) * 0.0137;
            let (ours, theirs) = (ln_gamma(x), statrs::function::gamma::ln_gamma(x));
            assert!(
                (ours - theirs).abs() <= 1e-13 * theirs.abs().max(10.0),
                "{x}: {ours} {theirs}"
            );
        }
    }

    #[test]
    fn the_incomplete_beta_function_agrees_with_a_second_implementation() {
        for (a, b) in [(0.5, 0.5), (1.0, 3.0), (2.5, 0.5), (40.0, 60.0), (500.0, 0.5), (3.3, 7.1)] {
            for i in 1..50 {
                let x = f64::from(i) / 50.0;
                let (ours, theirs) =
                    (incomplete_beta(a, b, x, 1.0 - x), statrs::function::beta::beta_reg(a, b, x));
                assert!(
                    (ours - theirs).abs() <= 1e-11 * theirs + 1e-16,
                    "{a} {b} {x}: {ours} {theirs}"
                );
            }
        }
    }

    #[test]
    fn the_incomplete_gamma_function_agrees_with_a_second_implementation() {
        for a in [0.3, 0.5, 1.0, 2.5, 10.0, 63.5, 400.0] {
            for i in 1..60 {
                let x = a * f64::from(i) / 20.0;
                let (p, q) = incomplete_gamma(a, x);
                let (their_p, their_q) = (
                    statrs::function::gamma::gamma_lr(a, x),
                    statrs::function::gamma::gamma_ur(a, x),
                );
                assert!((p - their_p).abs() <= 1e-10 * their_p + 1e-15, "{a} {x}: {p} {their_p}");
                assert!((q - their_q).abs() <= 1e-10 * their_q + 1e-15, "{a} {x}: {q} {their_q}");
                assert!((p + q - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn the_gamma_tails_of_whole_shapes_are_poisson_sums() {
        // Q(a, x) is the probability of fewer than a events if x are expected.
        for a in [1_u32, 2, 5, 30] {
            for x in [0.1, 1.0, 7.0, 60.0, 500.0, 690.0] {
                let mut term = f64::exp(-x);
                let mut sum = term;
                for k in 1..a {
                    term *= x / f64::from(k);
                    sum += term;
                }
                let (_, q) = incomplete_gamma(f64::from(a), x);
                assert!((q - sum).abs() <= 1e-11 * sum, "{a} {x}: {q:e} {sum:e}");
            }
        }
    }

    #[test]
    fn parameters_out_of_range_give_no_number() {
        for (a, x) in [(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(incomplete_gamma(a, x).0.is_nan(), "{a} {x}");
        }
        assert_eq!(incomplete_gamma(2.0, 0.0), (0.0, 1.0));
        assert_eq!(incomplete_gamma(2.0, f64::INFINITY), (1.0, 0.0));
        assert!(incomplete_beta(-1.0, 1.0, 0.5, 0.5).is_nan());
        assert!(incomplete_beta(1.0, 1.0, f64::NAN, 0.5).is_nan());
        assert_eq!(incomplete_beta(1.0, 1.0, 0.0, 1.0), 0.0);
        assert_eq!(incomplete_beta(1.0, 1.0, 1.0, 0.0), 1.0);
    }
}
