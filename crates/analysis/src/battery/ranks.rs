//! Wilcoxon's signed-rank test against a center of 0, for paired differences or for the values of
//! one sample.

use super::{Intervals, intervals};
use assay_stats::signed_rank::{SignedRankTest, pseudo_median};
use assay_stats::{Interval, PValues, descriptive};

/// All forms of Wilcoxon's signed-rank test: R's `wilcox.test(values, conf.int = TRUE)`.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedRanks {
    /// Number of values that are not 0.
    pub n_used: usize,
    /// Sum of the ranks of the positive values.
    pub v: f64,
    /// True if any absolute values are tied.
    pub ties: bool,
    /// True if any value was 0.
    pub zeros: bool,
    /// Exact results; `None` with 50 or more values, with ties, or with zeros.
    pub exact: Option<ExactRanks>,
    /// Asymptotic p-values with continuity correction.
    pub asymptotic: PValues,
    /// Asymptotic p-values without continuity correction.
    pub asymptotic_nocorrect: PValues,
    /// Pseudo-median of the values that are not 0.
    pub estimate: f64,
    /// Asymptotic intervals for `estimate`.
    pub asymptotic_ci: Intervals,
    /// Pseudo-median of all values, including zeros.
    pub pseudomedian: f64,
    /// Share of the rank sum that belongs to positive values minus the share that belongs to
    /// negative ones.
    pub rank_biserial: f64,
}

/// Results from the exact distribution of signed ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactRanks {
    /// Exact p-values.
    pub p: PValues,
    /// Intervals for the pseudo-median, as (confidence, interval, actual confidence).
    pub intervals: Vec<(f64, Interval, f64)>,
}

impl SignedRanks {
    /// Tests whether values are centered on 0; `None` for an empty slice. O(n log n).
    pub fn of(values: &[f64], confidences: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let test = SignedRankTest::of(values);
        let exact = test.exact().map(|p| ExactRanks {
            p,
            intervals: confidences
                .iter()
                .filter_map(|&c| test.exact_interval(c).map(|(i, achieved)| (c, i, achieved)))
                .collect(),
        });
        Some(Self {
            n_used: test.used(),
            v: test.v,
            ties: test.ties,
            zeros: test.zeros,
            exact,
            asymptotic: test.asymptotic(true),
            asymptotic_nocorrect: test.asymptotic(false),
            estimate: test.estimate(),
            asymptotic_ci: intervals(confidences, |c| test.asymptotic_interval(c)),
            pseudomedian: pseudo_median(&descriptive::sorted(values)),
            rank_biserial: test.rank_biserial(),
        })
    }
}
