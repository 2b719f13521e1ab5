//! Tests for serial independence.
//!
//! The portmanteau test of Ljung and Box ("On a measure of lack of fit in time series models",
//! Biometrika 65, 1978; R's `Box.test(type = "Ljung-Box")`), and Wald and Wolfowitz' test of the
//! runs above and below the median. In a long series both detect even negligible dependence; the
//! *size* of the dependence is given by [`crate::autocorrelation::effective_sample_size`].

use crate::{autocorrelation, chi_squared, descriptive, normal};

/// Ljung and Box' statistic up to one lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LjungBox {
    /// Number of lags summed, which is also the degrees of freedom.
    pub lags: usize,
    /// Q ≥ 0; NaN for a constant series.
    pub q: f64,
    /// p-value for independent values; NaN for a constant series.
    pub p: f64,
}

/// Ljung and Box' statistic for the autocorrelations at the lags 1, 2, ... of a series of n values.
///
/// `acf`: from [`autocorrelation::autocorrelation`], fewer than n. O(lags).
#[must_use]
pub fn ljung_box(acf: &[f64], n: usize) -> LjungBox {
    let size = n as f64;
    let sum: f64 = acf.iter().enumerate().map(|(i, r)| r * r / (size - (i + 1) as f64)).sum();
    let q = size * (size + 2.0) * sum;
    LjungBox { lags: acf.len(), q, p: chi_squared::upper(q, acf.len() as f64) }
}

/// The runs of values above and below the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Runs {
    /// Number of runs.
    pub runs: usize,
    /// Number of values above the median; those equal to it are ignored.
    pub above: usize,
    /// Number of values below the median.
    pub below: usize,
    /// Expected number of runs of independent values; NaN if all are equal.
    pub expected: f64,
    /// Excess of runs in standard deviations; NaN if their number can't vary.
    pub z: f64,
    /// Two-sided p-value by the normal distribution without continuity correction; NaN if `z` is
    /// NaN.
    pub p: f64,
}

/// Counts the runs. `xs`: finite, in order of measurement. O(n).
#[must_use]
pub fn runs(xs: &[f64]) -> Runs {
    runs_about(xs, descriptive::median(xs))
}

/// Like [`runs`], with a known median. O(n), without a copy.
#[must_use]
pub fn runs_about(xs: &[f64], median: f64) -> Runs {
    let mut sides = xs.iter().filter(|x| **x != median).map(|x| *x > median);
    let (mut runs, mut above, mut below) = (0, 0, 0);
    let mut last = None;
    for side in &mut sides {
        runs += usize::from(last != Some(side));
        last = Some(side);
        if side {
            above += 1;
        } else {
            below += 1;
        }
    }
    let (a, b) = (above as f64, below as f64);
    let n = a + b;
    let pairs = 2.0 * a * b;
    let expected = pairs / n + 1.0;
    let variance = pairs * (pairs - n) / (n * n * (n - 1.0));
    let z = (runs as f64 - expected) / variance.sqrt();
    // If only one arrangement is possible, z is 0/0 or infinite.
    let z = if z.is_finite() { z } else { f64::NAN };
    Runs { runs, above, below, expected, z, p: 2.0 * normal::cdf(-z.abs()) }
}

/// The default maximum lag of R's `acf`: 10 log₁₀ n, below n.
#[must_use]
pub fn default_lags(n: usize) -> usize {
    if n < 2 { 0 } else { ((10.0 * (n as f64).log10()).floor() as usize).min(n - 1) }
}

/// The bound that contains 95 % of the autocorrelations of independent values: 1.96/√n.
#[must_use]
pub fn acf_bound(n: usize) -> f64 {
    1.96 / (n as f64).sqrt()
}

/// Like [`autocorrelation::autocorrelation`], but NaN for a constant series, as in R.
#[must_use]
pub fn acf_or_nan(xs: &[f64], max_lag: usize) -> Vec<f64> {
    let mut acf = autocorrelation::autocorrelation(xs, max_lag);
    if xs.iter().all(|x| *x == xs[0]) {
        acf.fill(f64::NAN);
    }
    acf
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternation_has_too_many_runs_and_a_rise_too_few() {
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let found = runs(&alternating);
        assert_eq!((found.runs, found.above, found.below), (40, 20, 20));
        assert!(found.z > 5.0 && found.p < 1e-6);
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(runs(&rising).runs == 2 && runs(&rising).z < -5.0);
    }

    #[test]
    fn nothing_is_known_of_equal_values() {
        assert!(runs(&[2.0; 9]).z.is_nan() && runs(&[]).p.is_nan());
        let acf = acf_or_nan(&[2.0; 9], 3);
        assert!(acf.len() == 3 && acf.iter().all(|r| r.is_nan()) && ljung_box(&acf, 9).p.is_nan());
        let rising: Vec<f64> = (0..9).map(f64::from).collect();
        assert_eq!(acf_or_nan(&rising, 3), autocorrelation::autocorrelation(&rising, 3));
        assert_eq!((default_lags(1), default_lags(3), default_lags(100)), (0, 2, 20));
    }

    #[test]
    fn the_bound_is_two_standard_errors_of_no_correlation() {
        assert_eq!((acf_bound(1), acf_bound(100)), (1.96, 0.196));
    }

    #[test]
    fn a_slow_wave_is_not_independent() {
        let wave: Vec<f64> = (0..300).map(|i| f64::from(i).mul_add(0.05, 0.0).sin()).collect();
        let acf = autocorrelation::autocorrelation(&wave, 10);
        let found = ljung_box(&acf, 300);
        assert!(found.lags == 10 && found.q > 1000.0 && found.p < 1e-100);
    }

    #[test]
    fn ljung_and_box_are_those_of_r() {
        // R: Box.test(x, lag = 3, type = "Ljung").
        let xs = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0];
        let found = ljung_box(&autocorrelation::autocorrelation(&xs, 3), 12);
        assert!((found.q - 1.618_079_333_743_271).abs() < 1e-12, "{found:?}");
        assert!((found.p - 0.655_297_435_426_271).abs() < 1e-12, "{found:?}");
    }
}
