//! The three p-values of one statistic: for a difference, for a smaller and for a larger second
//! sample.
//!
//! Two samples are always told as second against first (`y` against `x`), one sample against the
//! value that it is tested for. Nothing here says what is small enough.

use crate::normal;

/// p-values of one test; NaN where the test has no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PValues {
    /// Against "no difference": as far out on either side.
    pub two: f64,
    /// Small when the second sample is smaller than the first.
    pub less: f64,
    /// Small when the second sample is larger than the first.
    pub greater: f64,
}

impl PValues {
    /// Of a statistic that is normal when there is no difference: `centred` away from its mean,
    /// `sd` its standard deviation, with half a unit of continuity correction if asked, as R's
    /// `wilcox.test` has it.
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

/// Twice the smaller tail, at most 1; a NaN remains one.
pub(crate) fn doubled(tail: f64) -> f64 {
    let p = 2.0 * tail;
    if p > 1.0 { 1.0 } else { p }
}

/// The statistic in standard deviations, half a unit nearer to 0 if corrected; NaN when it cannot
/// vary.
pub(crate) fn corrected_z(centred: f64, sd: f64, corrected: bool) -> f64 {
    let sign = if centred == 0.0 { 0.0 } else { centred.signum() };
    let half = if corrected { 0.5 * sign } else { 0.0 };
    (centred - half) / sd
}
