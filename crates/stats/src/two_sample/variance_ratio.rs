//! Fisher's F test for equal variances of two normal samples, like R's `var.test`.
//!
//! The test is more sensitive to tails than to spreads; Levene's and Fligner and Killeen's tests
//! (`k_sample`) assume less.

use crate::p_values::doubled;
use crate::{descriptive, f_distribution};

/// The ratio of two variances with its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceRatio {
    /// var(y) / var(x): infinite if only x is constant, NaN if both are.
    pub f: f64,
    /// Degrees of freedom of y and x, in this order.
    pub df: (f64, f64),
}

impl VarianceRatio {
    /// Returns the two-sided p-value, which is twice the smaller tail.
    #[must_use]
    pub fn p_two(&self) -> f64 {
        let (of_y, of_x) = self.df;
        let tails =
            (f_distribution::cdf(self.f, of_y, of_x), f_distribution::upper(self.f, of_y, of_x));
        doubled(tails.0.min(tails.1))
    }
}

/// Runs the test. Returns `None` unless both samples are finite, n ≥ 2 each. O(n + m).
#[must_use]
pub fn variance_ratio(x: &[f64], y: &[f64]) -> Option<VarianceRatio> {
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let f = descriptive::variance(y) / descriptive::variance(x);
    Some(VarianceRatio { f, df: ((y.len() - 1) as f64, (x.len() - 1) as f64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_variances_have_the_middle_p() {
        let test = variance_ratio(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert_eq!(test.f, 1.0);
        assert!((test.p_two() - 1.0).abs() < 1e-12);
        let turned = variance_ratio(&[1.0, 2.0, 4.0], &[4.0, 5.0, 6.0]).unwrap();
        let back = variance_ratio(&[4.0, 5.0, 6.0], &[1.0, 2.0, 4.0]).unwrap();
        assert!((turned.p_two() - back.p_two()).abs() < 1e-12);
    }

    #[test]
    fn constant_samples_have_no_ratio() {
        assert!(variance_ratio(&[5.0; 3], &[5.0; 3]).unwrap().p_two().is_nan());
        assert_eq!(variance_ratio(&[5.0; 3], &[5.0, 6.0]).unwrap().p_two(), 0.0);
        assert_eq!(variance_ratio(&[5.0], &[5.0, 6.0]), None);
    }
}
