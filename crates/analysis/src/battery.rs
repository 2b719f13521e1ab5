//! Classical tests in addition to the verdict, on request (`compare --all`).
//!
//! There is one [`PairTests`] for each comparison of the primary metric and one [`GroupTests`] for
//! all subjects together. Both contain final numbers, so reports only have to format them. Each
//! number equals R's for the same data. No verdict depends on these tests: the verdict has its own
//! interval, and p-values to choose from are not evidence. Effects are those of the second subject
//! relative to the first, as everywhere else.

mod anytime;
mod groups;
mod missing;
mod pair;
mod ranks;

pub use anytime::Anytime;
pub use assay_stats::k_sample::{ChiSquaredTest, FTest};
pub use assay_stats::t_test::TTest;
pub use assay_stats::two_sample::{EffectSize, Equivalence, KolmogorovSmirnov};
pub use assay_stats::{Interval, PValues};
pub use groups::{GroupTests, Pairwise};
pub use missing::{Computed, Missing};
pub use pair::{
    MannWhitney, Means, PairTests, Pairing, Placements, Ratio, ShiftEstimate, Variances,
};
pub use ranks::{ExactRanks, SignedRanks};

use crate::comparison::Comparison;
use crate::evidence::Evidence;
use assay_data::{Plan, Samples};

/// Confidences at which every interval is given, in addition to the requested one.
pub const CONFIDENCES: [f64; 3] = [0.90, 0.95, 0.99];

/// Intervals at several confidences; each is `None` if it is undefined.
pub type Intervals = Vec<(f64, Option<Interval>)>;

/// All classical tests of one set of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Battery {
    /// The comparisons of the primary metric, in the order of the analysis.
    pub pairs: Vec<PairTests>,
    /// Tests of all subjects with values; `None` for a suite, or for fewer than two.
    pub groups: Option<GroupTests>,
}

/// Returns the confidences at which intervals are given: [`CONFIDENCES`], and the requested one if
/// not among them.
pub fn confidences(asked: f64) -> Vec<f64> {
    let mut all = CONFIDENCES.to_vec();
    if all.iter().all(|known| (known - asked).abs() > 1e-9) {
        all.push(asked);
    }
    all
}

/// Runs all tests of the primary metric, over the blocks that both sides have, or over all values
/// if there are no blocks. `together` also tests all subjects together, which makes no sense for
/// the rows of a suite. O(n log n), plus O(k²) for k subjects tested together.
pub(crate) fn of(
    samples: &Samples,
    evidence: &Evidence<'_>,
    primary: usize,
    plan: &Plan,
    comparisons: &[Comparison],
    together: bool,
) -> Battery {
    let in_blocks = evidence.is_in_blocks();
    let confidences = confidences(plan.confidence);
    let confidences = (plan.confidence, confidences.as_slice());
    let values = |subject| evidence.index().values(subject, primary);
    let pairs = comparisons
        .iter()
        .map(|c| {
            if in_blocks {
                let paired = evidence.in_blocks(c.against, c.of, primary);
                let (x, y) = (paired.reference(), paired.other());
                PairTests::of(x, y, true, &plan.threshold, confidences)
            } else {
                let (x, y) = (values(c.against), values(c.of));
                PairTests::of(&x, &y, false, &plan.threshold, confidences)
            }
        })
        .collect();
    let groups = together.then(|| {
        let rows = in_blocks.then(|| samples.complete_blocks(primary));
        let series = (0..samples.subjects.len()).map(|subject| match &rows {
            Some(rows) => rows.iter().map(|row| row.values[subject]).collect(),
            None => values(subject),
        });
        let series: Vec<Vec<f64>> = series.collect();
        let names: Vec<&str> = samples.subjects.iter().map(|s| s.name.as_str()).collect();
        GroupTests::of(&names, &series)
    });
    Battery { pairs, groups: groups.flatten() }
}

/// Intervals at several confidences.
fn intervals(confidences: &[f64], at: impl Fn(f64) -> Option<Interval>) -> Intervals {
    confidences.iter().map(|&confidence| (confidence, at(confidence))).collect()
}

#[cfg(test)]
mod tests;
