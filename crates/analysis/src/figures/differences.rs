//! Comparison plots of two subjects: all pairwise differences, differences of quantiles, and
//! differences by block.

use super::{Point, PowerCurve, Trace};
use crate::Comparison;
use crate::protocol::Protocol;
use assay_data::Plan;
use assay_stats::density;
use assay_stats::descriptive::{quantile_sorted, sorted};
use assay_stats::quantile_difference::{QuantileDifference, SHARES, quantile_differences};

/// Maximum number of quantiles per side for pairwise differences.
const QUANTILES: usize = 600;
/// Number of points at which the density is evaluated.
const POINTS: usize = 400;
/// Number of interquartile ranges beyond the quartiles that are shown.
const REACH: f64 = 4.0;

/// One subject compared with another.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// Index of the compared subject among the plotted subjects.
    pub of: usize,
    /// Index of the reference among the plotted subjects.
    pub against: usize,
    /// The comparison.
    pub comparison: Comparison,
    /// Density of the differences, subject minus reference, in the metric's unit: by block if there
    /// are blocks, otherwise of all pairs. Empty if all differences are equal, or if there are
    /// fewer than five.
    pub differences: Vec<Point>,
    /// True if pairs of quantiles were used instead of all pairs of values.
    pub thinned: bool,
    /// Share of the differences outside the plot.
    pub beyond: f64,
    /// The differences between quantiles, if they have an interval.
    pub quantiles: Vec<QuantileDifference>,
    /// Power to detect a difference, if it can be computed.
    pub power: Option<PowerCurve>,
    /// The differences by block, if there are blocks.
    pub blocks: Option<BlockDifferences>,
}

/// The values of a reference and of a subject, in this order.
pub(super) struct Sides<'a> {
    /// The values in ascending order.
    pub sorted: (&'a [f64], &'a [f64]),
    /// The values in their order of measurement.
    pub in_order: (&'a [f64], &'a [f64]),
    /// The two values of each block, if there are blocks.
    pub blocks: Option<&'a [(f64, f64)]>,
}

/// The ratio of each block, or its difference in the metric's unit (as on the decision's scale).
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDifferences {
    /// The ratios or differences in the order of the blocks.
    pub trace: Trace,
    /// True if the trace contains ratios.
    pub ratios: bool,
}

impl Between {
    /// Computes the plots of two subjects. The indices are those of the reference and the subject
    /// among the plotted subjects. O(n log n).
    pub(super) fn of(
        comparison: &Comparison,
        (against, of): (usize, usize),
        sides: &Sides<'_>,
        plan: &Plan,
        chain: Option<&Protocol>,
    ) -> Self {
        let (differences, thinned) = match sides.blocks {
            Some(blocks) => (blocks.iter().map(|(a, b)| b - a).collect(), false),
            None => of_all_pairs(sides.sorted.1, sides.sorted.0),
        };
        let (curve, beyond) = density_of(&sorted(&differences));
        let (x, y) = sides.in_order;
        let mut quantiles = comparison.quantiles.clone();
        if quantiles.is_empty() {
            quantiles = quantile_differences(x, y, &SHARES, plan.confidence);
        }
        // Quantiles too far out for the number of values equal the largest value and carry no
        // information.
        quantiles.retain(|q| q.interval.is_some());
        Self {
            of,
            against,
            comparison: comparison.clone(),
            differences: curve,
            thinned,
            beyond,
            quantiles,
            power: PowerCurve::of(comparison, sides.in_order, sides.blocks, &plan.threshold, chain),
            blocks: sides.blocks.filter(|blocks| !blocks.is_empty()).map(BlockDifferences::of),
        }
    }
}

impl BlockDifferences {
    fn of(blocks: &[(f64, f64)]) -> Self {
        let ratios = blocks.iter().all(|&(a, b)| a > 0.0 && b > 0.0);
        let difference = |&(a, b): &(f64, f64)| if ratios { b / a } else { b - a };
        let values: Vec<f64> = blocks.iter().map(difference).collect();
        Self { trace: Trace::of(&values), ratios }
    }
}

/// Returns all differences between values of the two sides, and whether a side was so long that it
/// was thinned to quantiles.
fn of_all_pairs(of: &[f64], against: &[f64]) -> (Vec<f64>, bool) {
    let (left, right) = (thinned(of), thinned(against));
    let differences =
        left.iter().flat_map(|b| right.iter().map(move |a| b - a)).collect::<Vec<f64>>();
    (differences, of.len().max(against.len()) > QUANTILES)
}

fn thinned(ordered: &[f64]) -> Vec<f64> {
    if ordered.len() <= QUANTILES {
        return ordered.to_vec();
    }
    let middle = |k: usize| (k as f64 + 0.5) / QUANTILES as f64;
    (0..QUANTILES).map(|k| quantile_sorted(ordered, middle(k))).collect()
}

/// Returns the density over the range of most differences, and the share of differences outside it.
fn density_of(ordered: &[f64]) -> (Vec<Point>, f64) {
    let nothing = (Vec::new(), 0.0);
    let (Some(&first), Some(&last)) = (ordered.first(), ordered.last()) else { return nothing };
    if ordered.len() < 5 || first == last {
        return nothing;
    }
    let at = |p| quantile_sorted(ordered, p);
    let spread = (at(0.75) - at(0.25)).max((at(0.975) - at(0.025)) / 4.0);
    let reach = if spread > 0.0 { REACH * spread } else { f64::INFINITY };
    let from = ordered.partition_point(|&d| d < at(0.25) - reach);
    let to = ordered.partition_point(|&d| d <= at(0.75) + reach);
    let seen = &ordered[from..to];
    let share = seen.len() as f64 / ordered.len() as f64;
    let curve =
        density::nrd0(seen).and_then(|bandwidth| density::estimate(seen, bandwidth, POINTS));
    let Some(curve) = curve else { return nothing };
    (curve.x.into_iter().zip(curve.y.into_iter().map(|y| y * share)).collect(), 1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_held_against_each() {
        assert_eq!(of_all_pairs(&[5.0, 7.0], &[1.0, 2.0]), (vec![4.0, 3.0, 6.0, 5.0], false));
        let many: Vec<f64> = (0..4 * QUANTILES).map(|i| i as f64).collect();
        let kept = thinned(&many);
        assert!(kept.len() == QUANTILES && kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(of_all_pairs(&many, &[0.0]).1);
    }
}
