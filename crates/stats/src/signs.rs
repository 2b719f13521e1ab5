//! Autocorrelation of the signs of a series about its median, and the effective number of values
//! for the median.
//!
//! The number of values below the true median has the variance of n/τ independent values, where τ
//! is the autocorrelation time of the signs: Heidelberger and Lewis, "Quantile estimation in
//! dependent sequences" (1984). It is shorter than that of the values themselves: in a normal
//! first-order autoregression with coefficient φ, the correlation of signs at lag k is 2/π
//! asin(φᵏ). Signs do not depend on how far a value is from the median.

use crate::{autocorrelation, descriptive};
use std::f64::consts::FRAC_2_PI;

/// Up to this number of values, dependence can't be estimated, and an interval is valid only if the
/// values are independent. Of series of twelve values with correlation 0.9, one in two looks
/// independent.
pub const UNKNOWN_TO: usize = 12;

/// Neighbors correlate beyond chance if their correlation exceeds its mean under independence,
/// −1/n, by this many standard errors (1/√n), as in 4 of 100 independent series.
const NOTICED_Z: f64 = 1.7;

/// The signs of values about `median`: −1, 0 or 1.
#[must_use]
pub fn about(xs: &[f64], median: f64) -> Vec<f64> {
    let sign = |x: &f64| f64::from(i8::from(*x > median) - i8::from(*x < median));
    xs.iter().map(sign).collect()
}

/// The autocorrelation time of the signs about the median, at least 1; 1 for up to [`UNKNOWN_TO`]
/// values, for which it is unknown.
///
/// `xs`: in order of measurement; `lag1`: the rank autocorrelation of neighbors. Geyer's sum of the
/// signs' autocorrelations. If neighbors correlate beyond chance, at least the time of an
/// autoregression with their correlation, corrected for the bias of short series, since the sum
/// alone underestimates dependence that is as long as the series. O(40 n).
#[must_use]
pub fn time(xs: &[f64], median: f64, lag1: f64) -> f64 {
    if xs.len() <= UNKNOWN_TO {
        return 1.0;
    }
    let summed = autocorrelation::dependence_of_ranks(&about(xs, median)).time;
    let n = xs.len() as f64;
    if (lag1 + 1.0 / n) * n.sqrt() <= NOTICED_Z {
        return summed;
    }
    summed.max(time_of_autoregression(autocorrelation::coefficient_of_lag1(xs.len(), lag1)))
}

/// 1 + 2 Σ 2/π asin(φᵏ): the autocorrelation time of the signs of a normal autoregression.
fn time_of_autoregression(coefficient: f64) -> f64 {
    let mut power = coefficient;
    let mut time = 1.0;
    while power > 1e-6 {
        time += 2.0 * FRAC_2_PI * power.asin();
        power *= coefficient;
    }
    time
}

/// Like [`time`], computing median and lag-1 correlation from the values. O(n log n).
#[must_use]
pub fn time_of(xs: &[f64]) -> f64 {
    let lag1 = autocorrelation::dependence_of_ranks(&autocorrelation::ranks(xs)).lag1;
    time(xs, descriptive::median(xs), lag1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    fn autoregressive(stream: &mut Stream, n: usize, phi: f64) -> Vec<f64> {
        let mut state = stream.normal();
        let keep = (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                state = phi * state + keep * stream.normal();
                state
            })
            .collect()
    }

    #[test]
    fn the_time_of_long_series_is_its_formula() {
        for (phi, expected) in [(0.0, 1.0), (0.5, 2.3), (0.9, 13.1)] {
            let times: Vec<f64> = (0..20)
                .map(|seed| time_of(&autoregressive(&mut Stream::new(5, seed), 4000, phi)))
                .collect();
            let median = descriptive::median(&times);
            assert!((median / expected - 1.0).abs() < 0.12, "{phi}: {median}");
        }
        // 1 + 4/π Σ asin(2⁻ᵏ), whose first terms are 1/3, 0.1609 and 0.0798 of π/2.
        assert!((time_of_autoregression(0.5) - 2.3072).abs() < 1e-3);
        assert_eq!(time_of_autoregression(0.0), 1.0);
    }

    #[test]
    fn one_huge_value_changes_nothing() {
        let mut xs = autoregressive(&mut Stream::new(6, 0), 30, 0.3);
        let plain = time_of(&xs);
        let largest = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        xs.iter_mut().filter(|x| **x == largest).for_each(|x| *x *= 1e9);
        assert_eq!(time_of(&xs), plain);
    }

    #[test]
    fn of_few_values_nothing_is_known_and_of_constant_ones_there_is_no_dependence() {
        let rising: Vec<f64> = (0..13).map(f64::from).collect();
        assert_eq!(time_of(&rising[..12]), 1.0);
        assert!(time_of(&rising) > 3.0);
        assert_eq!((time_of(&[4.0; 90]), time_of(&[])), (1.0, 1.0));
        assert_eq!(about(&[1.0, 2.0, 3.0], 2.0), [-1.0, 0.0, 1.0]);
    }
}
