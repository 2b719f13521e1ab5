//! Anytime-valid statements about a pair in blocks, which hold for any number of looks.
//!
//! They are for measurements that were watched and stopped once the result was pleasing, which
//! invalidates ordinary tests but not these ([`assay_stats::anytime`]). They use the ratio of the
//! subject to the reference in each block, and assume independent blocks. The verdict does not
//! depend on them, since a run that stops by itself has its own interval.

use super::missing::{Computed, Missing};
use assay_stats::{Interval, anytime, descriptive};

/// Number of blocks at which the confidence sequence for the mean is tightest. It must be chosen
/// before looking at the data.
const TUNED_FOR: f64 = 100.0;

/// The statements after the last block.
#[derive(Clone, Debug, PartialEq)]
pub struct Anytime {
    /// The probability of an error at any look: 1 − confidence.
    pub level: f64,
    /// log₁₀ of the e-value against the hypothesis that both sides are faster equally often; blocks
    /// without a difference are ignored.
    pub sign_log10_e: f64,
    /// True if the e-value has reached 1/level.
    pub rejects: bool,
    /// Confidence sequence for the geometric mean of the ratios; `None` below [`anytime::FEWEST`]
    /// blocks.
    pub mean_ratio: Option<Interval>,
    /// Confidence sequence for the median of the ratios; `None` if there are too few blocks to
    /// exclude any value.
    pub median_ratio: Option<Interval>,
}

impl Anytime {
    /// Computes the statements from the blocks in order. O(n log n).
    pub(super) fn of(
        reference: &[f64],
        other: &[f64],
        in_blocks: bool,
        confidence: f64,
    ) -> Computed<Self> {
        if !in_blocks {
            return Err(Missing::NoBlocks);
        }
        if reference.iter().chain(other).any(|v| *v <= 0.0) {
            return Err(Missing::NotPositive);
        }
        if reference.is_empty() {
            return Err(Missing::TooFew);
        }
        let logs: Vec<f64> = reference.iter().zip(other).map(|(x, y)| (y / x).ln()).collect();
        let level = 1.0 - confidence;
        let larger = logs.iter().filter(|log| **log > 0.0).count() as u64;
        let tosses = logs.iter().filter(|log| **log != 0.0).count() as u64;
        let log_e = anytime::sign_log_e(larger, tosses);
        let exp = |i: Interval| Interval { lower: i.lower.exp(), upper: i.upper.exp() };
        Ok(Self {
            level,
            sign_log10_e: log_e / std::f64::consts::LN_10,
            rejects: log_e >= -level.ln(),
            mean_ratio: anytime::mean_sequence(&logs, level, TUNED_FOR).map(exp),
            median_ratio: anytime::median_sequence(&descriptive::sorted(&logs), level).map(exp),
        })
    }
}
