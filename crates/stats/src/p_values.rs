//! The p-values of one test against three alternatives: that the second sample is different,
//! smaller, or larger.
//!
//! Two samples are always compared as second against first (`y` against `x`), and one sample
//! against the tested value.

use crate::normal;

/// p-values of one test against the three alternatives; all NaN if the test is undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PValues {
    /// Two-sided p-value. Small if the samples differ in either direction.
    pub two: f64,
    /// Small if the second sample is smaller than the first.
    pub less: f64,
    /// Small if the second sample is larger than the first.
    pub greater: f64,
}

impl PValues {
    /// Returns the p-values of a statistic that is normally distributed under the null hypothesis.
    /// `centred` is the distance of the statistic from its mean, and `sd` is its standard
    /// deviation. If `corrected`, applies a continuity correction of half a unit, as R's
    /// `wilcox.test` does.
    pub(crate) fn of_normal(centred: f64, sd: f64, corrected: bool) -> PValues {
        let half = if corrected { 0.5 } else { 0.0 };
        let z = corrected_z(centred, sd, corrected);
        PValues {
            two: doubled(normal::cdf(-z.abs())),
            less: normal::cdf((centred + half) / sd),
            greater: normal::cdf((half - centred) / sd),
        }
    }
}

/// Returns twice the tail probability, at most 1; NaN for NaN.
pub(crate) fn doubled(tail: f64) -> f64 {
    let p = 2.0 * tail;
    if p > 1.0 { 1.0 } else { p }
}

/// Returns the standardized statistic, moved half a unit towards 0 if `corrected`; NaN if the
/// statistic cannot vary.
pub(crate) fn corrected_z(centred: f64, sd: f64, corrected: bool) -> f64 {
    let sign = if centred == 0.0 { 0.0 } else { centred.signum() };
    let half = if corrected { 0.5 * sign } else { 0.0 };
    (centred - half) / sd
}
