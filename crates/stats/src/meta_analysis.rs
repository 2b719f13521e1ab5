//! The random-effects model: pools the effects of several studies (here machines), each with its
//! standard error.
//!
//! The true effects are assumed to vary with a variance τ²; each measured effect has its own error
//! in addition. τ² is estimated by Paule and Mandel's method (1982; the iteration is DerSimonian
//! and Kacker's, "Random-effects model for meta-analysis of clinical trials: an update", 2007): it
//! is the value at which the weighted squares equal their expectation, which does not assume a
//! normal distribution. The interval of the mean is Hartung and Knapp's ("A refined method for the
//! meta-analysis of controlled clinical trials with binary outcome", 2001), with the t
//! distribution. If the effects agree better than their errors suggest, that interval would be
//! narrower than the one with known errors, whose width is then used (R's `metafor` calls this
//! `test = "adhoc"`). Heterogeneity is described by Cochran's Q with its p-value, and by I²
//! (Higgins and Thompson, 2002), the share of the variance of the effects that is not error, from
//! τ² as in `metafor::rma(method = "PM")`.
//!
//! *Note:* DerSimonian and Laird's τ² needs no iteration, but is too small for large heterogeneity,
//! and the coverage of its interval with normal quantiles is too low for the usual five or ten
//! machines.

use crate::{Interval, chi_squared, student_t};

/// Result of pooling several effects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooled {
    /// Number of effects, at least 2.
    pub k: usize,
    /// Estimate of the mean effect.
    pub estimate: f64,
    /// Hartung and Knapp's standard error of the mean effect, or the one computed from the known
    /// errors if that is larger.
    pub standard_error: f64,
    /// Variance of the true effects between studies (τ²).
    pub tau2: f64,
    /// Cochran's Q: the weighted sum of squared deviations from the mean, assuming τ² = 0.
    pub q: f64,
    /// p-value of Q for the hypothesis that all true effects are equal.
    pub q_p: f64,
    /// The share of the variance of the effects that is not due to their errors, in 0..1.
    pub i2: f64,
}

impl Pooled {
    /// Returns the interval for the mean effect at `confidence` (in 0..1).
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Interval {
        self.around(confidence, self.standard_error)
    }

    /// Returns the prediction interval for the true effect on one further machine, at `confidence`
    /// (in 0..1), after Higgins, Thompson and Spiegelhalter (2009), with k − 1 degrees of freedom.
    #[must_use]
    pub fn prediction(&self, confidence: f64) -> Interval {
        self.around(confidence, self.standard_error.hypot(self.tau2.sqrt()))
    }

    fn around(&self, confidence: f64, error: f64) -> Interval {
        let half = student_t::two_sided(confidence, self.k as f64 - 1.0) * error;
        Interval { lower: self.estimate - half, upper: self.estimate + half }
    }
}

/// Maximum number of Newton steps. The iteration converges monotonically, usually in about ten
/// steps.
const STEPS: usize = 100;

/// Pools `effects` with their standard `errors`, given in the same order.
///
/// Returns `None` for fewer than two effects, for lists of different lengths, or if any effect is
/// not finite or any error is not finite and positive. O(k) per step of the iteration.
#[must_use]
pub fn random_effects(effects: &[f64], errors: &[f64]) -> Option<Pooled> {
    let usable = effects.iter().all(|effect| effect.is_finite())
        && errors.iter().all(|error| error.is_finite() && *error > 0.0);
    if effects.len() < 2 || effects.len() != errors.len() || !usable {
        return None;
    }
    let variances: Vec<f64> = errors.iter().map(|error| error * error).collect();
    let df = effects.len() as f64 - 1.0;
    let fixed = weighted(effects, &variances, 0.0);
    let tau2 = paule_mandel(effects, &variances, df);
    let mean = weighted(effects, &variances, tau2);
    // The typical variance of one effect's error (Higgins and Thompson).
    let squares: f64 = variances.iter().map(|v| v.recip().powi(2)).sum();
    let typical = df * fixed.weights / (fixed.weights.powi(2) - squares);
    let spread = (mean.squares / df).max(1.0);
    Some(Pooled {
        k: effects.len(),
        estimate: mean.mean,
        standard_error: (spread / mean.weights).sqrt(),
        tau2,
        q: fixed.squares,
        q_p: chi_squared::upper(fixed.squares, df),
        i2: tau2 / (tau2 + typical),
    })
}

/// Returns the τ² at which the weighted sum of squares equals its degrees of freedom; 0 if the sum
/// is already smaller at τ² = 0. Uses Newton's method starting from 0. The sum of squares is a
/// decreasing convex function of τ², so no step overshoots.
fn paule_mandel(effects: &[f64], variances: &[f64], df: f64) -> f64 {
    let mut tau2 = 0.0;
    for _ in 0..STEPS {
        let now = weighted(effects, variances, tau2);
        let step = (now.squares - df) / now.slope;
        if !step.is_finite() || step <= 1e-14 * tau2 {
            break;
        }
        tau2 += step;
    }
    tau2
}

/// Results of weighting the effects by 1/(v + τ²).
struct Weighted {
    /// The sum of the weights.
    weights: f64,
    /// The weighted mean.
    mean: f64,
    /// The weighted sum of squares about the mean.
    squares: f64,
    /// The rate at which `squares` decreases with τ².
    slope: f64,
}

fn weighted(effects: &[f64], variances: &[f64], tau2: f64) -> Weighted {
    let weight = |variance: &f64| (variance + tau2).recip();
    let weights: f64 = variances.iter().map(weight).sum();
    let sum: f64 = effects.iter().zip(variances).map(|(effect, v)| weight(v) * effect).sum();
    let mean = sum / weights;
    let (mut squares, mut slope) = (0.0, 0.0);
    for (effect, variance) in effects.iter().zip(variances) {
        let w = weight(variance);
        let square = (effect - mean).powi(2);
        squares += w * square;
        slope += w * w * square;
    }
    Weighted { weights, mean, squares, slope }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    fn close(ours: f64, expected: f64) {
        assert!((ours - expected).abs() <= 1e-12 * expected.abs().max(1e-12), "{ours} {expected}");
    }

    #[test]
    fn equal_errors_make_it_the_t_interval_of_the_effects() {
        // R: t.test(c(.1, .3, .2, .6, .4))$conf.int. With equal errors, Hartung and Knapp's
        // interval equals the t interval of the mean.
        let effects = [0.1, 0.3, 0.2, 0.6, 0.4];
        let pooled = random_effects(&effects, &[0.01; 5]).unwrap();
        close(pooled.estimate, 0.32);
        let sd = 0.192_353_840_616_713_44;
        close(pooled.standard_error, sd / 5.0_f64.sqrt());
        // τ² is the variance of the effects minus that of their errors.
        close(pooled.tau2, sd * sd - 1e-4);
        close(pooled.i2, (sd * sd - 1e-4) / (sd * sd));
    }

    #[test]
    fn effects_that_agree_have_no_variance_of_their_own() {
        let pooled = random_effects(&[0.10, 0.11, 0.10], &[0.05, 0.04, 0.05]).unwrap();
        assert_eq!((pooled.tau2, pooled.i2), (0.0, 0.0));
        // With known errors, the standard error is 1/√Σw.
        let weights = 2.0 / 0.0025 + 1.0 / 0.0016;
        close(pooled.standard_error, 1.0 / f64::sqrt(weights));
        assert_eq!(pooled.prediction(0.9), pooled.interval(0.9));
        assert!(pooled.q_p > 0.9);
    }

    #[test]
    fn scale_and_shift_go_through() {
        let (effects, errors) = ([0.3, -0.1, 0.7, 0.2], [0.1, 0.2, 0.05, 0.1]);
        let one = random_effects(&effects, &errors).unwrap();
        let other =
            random_effects(&effects.map(|e| 4.0 * e - 2.0), &errors.map(|e| 4.0 * e)).unwrap();
        close(other.estimate, 4.0 * one.estimate - 2.0);
        close(other.standard_error, 4.0 * one.standard_error);
        close(other.tau2, 16.0 * one.tau2);
        close(other.q, one.q);
        close(other.i2, one.i2);
    }

    #[test]
    fn the_interval_holds_the_mean_of_all_machines() {
        let mut held = 0;
        for number in 0..2000 {
            let mut stream = Stream::new(24, number);
            let errors: Vec<f64> = (0..7).map(|_| 0.005 + 0.02 * stream.uniform()).collect();
            let effects: Vec<f64> = errors
                .iter()
                .map(|error| 0.05 + 0.02 * stream.normal() + error * stream.normal())
                .collect();
            let pooled = random_effects(&effects, &errors).unwrap();
            held += u32::from(pooled.interval(0.95).contains(0.05));
        }
        // 95 % of the 2,000 runs, within three standard errors.
        assert!((1870..=1960).contains(&held), "{held}");
    }

    #[test]
    fn weights_that_differ_by_seven_orders_cost_no_digits() {
        // Computed with exact fractions.
        let pooled =
            random_effects(&[-3.0, 0.0, 10.0, 200.0, 0.5], &[0.1, 0.2, 0.3, 5.0, 0.001]).unwrap();
        assert!((pooled.q / 3_825.975_802_921_125_7 - 1.0).abs() < 1e-14, "{}", pooled.q);
    }

    #[test]
    fn what_has_no_mean_is_refused() {
        assert_eq!(random_effects(&[0.1], &[0.1]), None);
        assert_eq!(random_effects(&[0.1, 0.2], &[0.1]), None);
        assert_eq!(random_effects(&[0.1, f64::NAN], &[0.1, 0.1]), None);
        assert_eq!(random_effects(&[0.1, 0.2], &[0.1, 0.0]), None);
        assert_eq!(random_effects(&[0.1, 0.2], &[0.1, f64::INFINITY]), None);
    }

    #[test]
    fn the_interval_has_a_degree_of_freedom_less_than_effects() {
        // For two equal effects with error 2, the mean has the error √2. R: qt(0.975, 1).
        let found = random_effects(&[3.0, 3.0], &[2.0, 2.0]).unwrap().interval(0.95);
        let half = 12.706_204_736_432_1 * 2f64.sqrt();
        assert!(
            (found.lower - (3.0 - half)).abs() < 1e-9 && (found.upper - (3.0 + half)).abs() < 1e-9
        );
    }
}
