//! The three p-values of one statistic: for a difference, for a smaller and for a larger second
//! sample.
//!
//! Two samples are always compared as second against first (`y` against `x`), one sample against
//! the tested value.

use crate::normal;

/// p-values of one test; NaN if the test is undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PValues {
    /// Against "no difference": two-sided.
    pub two: f64,
    /// Small if the second sample is smaller than the first.
    pub less: f64,
    /// Small if the second sample is larger than the first.
    pub greater: f64,
}

impl PValues {
    /// The p-values of a statistic that is normal if there is no difference: `centred` is its
    /// distance from its mean, `sd` its standard deviation. Half a unit of continuity correction if
    /// `corrected`, as in R's `wilcox.test`.
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

/// Twice the smaller tail, at most 1; NaN for NaN.
pub(crate) fn doubled(tail: f64) -> f64 {
    let p = 2.0 * tail;
    if p > 1.0 { 1.0 } else { p }
}

/// The statistic in standard deviations, half a unit closer to 0 if corrected; NaN if it cannot
/// vary.
pub(crate) fn corrected_z(centred: f64, sd: f64, corrected: bool) -> f64 {
    let sign = if centred == 0.0 { 0.0 } else { centred.signum() };
    let half = if corrected { 0.5 * sign } else { 0.0 };
    (centred - half) / sd
}
