//! The noncentral t distribution: the distribution of (Z + δ) / √(χ²/df), which gives the power of
//! every t test.
//!
//! Given the scale u = √(χ²/df), the distribution is normal, so P(T ≤ t) is computed as the average
//! of Φ(t u − δ) over u: with y = ln u the density of u is proportional to exp(df (y − (e^{2y} −
//! 1)/2)), smooth and decaying on both sides, for which the trapezoid rule converges exponentially
//! fast. All terms are positive, so that small tails keep their digits; R's `pt` with `ncp`
//! (Lenth's Algorithm AS 243) loses them beyond 1e-12.

use crate::normal;

/// Log density below which the sum is truncated. It is very low because the outermost terms
/// determine the digits of a small tail probability.
const NOTHING: f64 = -110.0;
/// Maximum step of the sum in y = ln u. The integrand's nearest singularities are π/2 away from the
/// real axis.
const LARGEST_STEP: f64 = 0.1;
/// Maximum number of terms of the sum. A noncentrality that would need more is so large that the
/// power is 0 or 1 to all digits.
const MOST_POINTS: f64 = 20_000.0;

/// Returns P(T ≤ t) for `df` > 0 degrees of freedom and noncentrality `delta`. The relative error
/// is about 1e-11 for tails down to 1e-25. NaN for NaN arguments, df ≤ 0 and infinite `delta`.
/// Takes microseconds to milliseconds, increasing with `t` and `delta`.
#[must_use]
pub fn cdf(t: f64, df: f64, delta: f64) -> f64 {
    average(t, df, delta, |t, u| normal::cdf(t * u - delta))
}

/// Returns P(T > t) without the cancellation that 1 − [`cdf`] would suffer.
#[must_use]
pub fn upper_tail(t: f64, df: f64, delta: f64) -> f64 {
    average(t, df, delta, |t, u| normal::cdf(delta - t * u))
}

fn average(t: f64, df: f64, delta: f64, given: impl Fn(f64, f64) -> f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 || !delta.is_finite() {
        return f64::NAN;
    }
    if t.is_infinite() || df == f64::INFINITY {
        return given(t, 1.0);
    }
    // At most 0, with the maximum 0 at y = 0. There, `exp_m1` avoids cancellation.
    let log_density = |y: f64| df * (y - 0.5 * (2.0 * y).exp_m1());
    let spread = 1.0 / (2.0 * df).sqrt();
    // Φ(t eʸ − δ) rises from 0 to 1 within about 1/|δ| of the y at which t eʸ = δ.
    let climb = 1.0 / (1.0 + delta.abs().max(t.abs().min(delta.abs() + 40.0)));
    let from = edge(-spread, log_density);
    let to = edge(spread, log_density);
    let step = (0.5 * spread.min(climb)).min(LARGEST_STEP).max((to - from) / MOST_POINTS);
    let (mut weights, mut sum) = (0.0, 0.0);
    let points = ((to - from) / step).ceil() as i64;
    for point in 0..=points {
        let y = from + point as f64 * step;
        let weight = log_density(y).exp();
        weights += weight;
        sum += weight * given(t, y.exp());
    }
    sum / weights
}

/// Returns the point in this `direction` beyond which the density is negligible.
fn edge(direction: f64, log_density: impl Fn(f64) -> f64) -> f64 {
    let mut inside = 0.0;
    let mut outside = direction;
    while log_density(outside) > NOTHING && outside.abs() < f64::MAX / 4.0 {
        inside = outside;
        outside *= 2.0;
    }
    for _ in 0..6 {
        let middle = 0.5 * (inside + outside);
        if log_density(middle) > NOTHING { inside = middle } else { outside = middle }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student_t;

    fn close(ours: f64, expected: f64, tolerance: f64) {
        assert!((ours / expected - 1.0).abs() <= tolerance, "{ours:e} {expected:e}");
    }

    #[test]
    fn without_noncentrality_it_is_students_distribution() {
        for df in [0.3, 1.0, 2.5, 9.0, 120.0, 3e4, 1e8] {
            for t in [-9.0, -3.1, -0.2, 0.0, 1.7, 8.0] {
                let tolerance = 1e-11;
                close(cdf(t, df, 0.0), student_t::cdf(t, df), tolerance);
                close(upper_tail(t, df, 0.0), student_t::cdf(-t, df), tolerance);
            }
        }
    }

    #[test]
    fn the_two_tails_are_one_another_mirrored_and_add_up() {
        for (t, df, delta) in [(2.0, 3.0, 1.5), (-1.0, 18.0, 4.0), (30.0, 2.0, 9.0)] {
            close(cdf(t, df, delta), upper_tail(-t, df, -delta), 1e-13);
            close(cdf(t, df, delta) + upper_tail(t, df, delta), 1.0, 1e-12);
        }
    }

    #[test]
    fn at_zero_it_is_normal_and_with_two_degrees_of_freedom_it_has_a_closed_form() {
        for delta in [0.5, 3.0, 8.0, -2.0] {
            close(cdf(0.0, 7.3, delta), normal::cdf(-delta), 1e-12);
            for t in [0.3, 2.0, 11.0] {
                // u² is exponential with mean 1: ∫ Φ(t √v − δ) e^(−v) dv by parts.
                let root = (t * t + 2.0_f64).sqrt();
                let share: f64 = delta * std::f64::consts::SQRT_2 / root;
                let expected = normal::cdf(-delta)
                    + t / root * (-0.5 * share * share).exp() * normal::cdf(delta * t / root);
                close(cdf(t, 2.0, delta), expected, 1e-11);
            }
        }
    }

    #[test]
    fn any_arguments_give_an_answer() {
        for x in [0.0, 1.0, -1e300, f64::MAX, f64::INFINITY, f64::NAN, 1e-300] {
            for df in [1e-3, 1.0, 1e15, f64::INFINITY, f64::NAN, 0.0] {
                for delta in [0.0, 1e5, -1e300, f64::NAN] {
                    let (below, above) = (cdf(x, df, delta), upper_tail(x, df, delta));
                    let known = |p: f64| p.is_nan() || (0.0..=1.0 + 1e-12).contains(&p);
                    assert!(known(below) && known(above), "{x} {df} {delta}: {below} {above}");
                }
            }
        }
    }

    #[test]
    fn arguments_out_of_range_give_no_number() {
        for (t, df, delta) in
            [(f64::NAN, 2.0, 1.0), (1.0, f64::NAN, 1.0), (1.0, 0.0, 1.0), (1.0, 2.0, f64::INFINITY)]
        {
            assert!(
                cdf(t, df, delta).is_nan() && upper_tail(t, df, delta).is_nan(),
                "{t} {df} {delta}"
            );
        }
    }
}
