//! Differences of two distributions, quantile by quantile, and a check for a tail that differs
//! although the center does not.
//!
//! The numbers are those of [`assay_stats::quantile_difference`]. Blocks are not used, so a
//! slowdown of a whole block only widens the intervals. The verdict remains that of the center.

use crate::comparison::Comparison;
use crate::policy;
use crate::recording::Recording;
use crate::verdict::{Scale, Verdict};
use assay_data::Better;
use assay_stats::quantile_difference::{self, QuantileDifference, SHARES, Side};

/// Returns the differences between the quantiles of two series; empty if a side has fewer than
/// [`policy::QUANTILES_FROM`] values. O(log n).
pub fn of(
    reference: &Recording<'_>,
    other: &Recording<'_>,
    confidence: f64,
) -> Vec<QuantileDifference> {
    if reference.sorted.len().min(other.sorted.len()) < policy::QUANTILES_FROM {
        return Vec::new();
    }
    let [x, y] = [reference, other].map(|r| Side::known(&r.sorted, r.lag1, r.autocorrelation_time));
    quantile_difference::quantile_differences_of(&x, &y, &SHARES, confidence)
}

/// Returns the outermost quantile of the relevant tail that differs by more than the threshold, if
/// the center does not differ or differs in the opposite direction. The test is adjusted for all
/// quantiles. `None` if the center has no interval, or if the tail agrees with it.
pub fn tail(c: &Comparison, better: Better, confidence: f64) -> Option<QuantileDifference> {
    c.decision.interval?;
    let centre = match c.decision.verdict {
        Verdict::Faster | Verdict::Slower => c.decision.estimate.signum(),
        Verdict::Equivalent | Verdict::Inconclusive => 0.0,
    };
    let differs = |q: &&QuantileDifference| {
        let hurts = match better {
            Better::Lower => q.share >= policy::TAIL_FROM,
            Better::Higher => 1.0 - q.share >= policy::TAIL_FROM,
        };
        let beyond = match c.decision.scale {
            Scale::Ratio => q.ratio_interval.map(|i| (i.lower.ln(), i.upper.ln())),
            Scale::Shift => q.interval.map(|i| (i.lower, i.upper)),
        }
        .is_some_and(|(lower, upper)| {
            lower > c.decision.threshold || upper < -c.decision.threshold
        });
        let real = q.adjusted.is_some_and(|p| p <= 1.0 - confidence);
        hurts && beyond && real && q.difference.signum() != centre
    };
    let outermost = |q: &&QuantileDifference| (q.share - 0.5).abs();
    c.quantiles.iter().filter(differs).max_by(|a, b| outermost(a).total_cmp(&outermost(b))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Question;
    use assay_data::{Plan, Threshold};
    use assay_stats::resampling::Stream;

    fn compared(reference: &[f64], other: &[f64], better: Better) -> Comparison {
        let plan = Plan::sequential(0.95, Threshold::default(), 0);
        let end = crate::design::looks::End::Any;
        let question =
            Question { plan: &plan, metric: 0, better, against: 0, of: 1, share: 1.0, end };
        let (reference, other) = (Recording::of(reference), Recording::of(other));
        let mut c = Comparison::of_recordings(question, &reference, &other);
        c.quantiles = of(&reference, &other, 0.95);
        c
    }

    /// Values around 100 with a spread of 1 %, a share of which is shifted by `by`.
    fn drawn(seed: u64, share: f64, by: f64) -> Vec<f64> {
        let mut stream = Stream::new(seed, 0);
        (0..1500)
            .map(|_| 100.0 + stream.normal() + if stream.uniform() < share { by } else { 0.0 })
            .collect()
    }

    #[test]
    fn a_tail_that_moves_alone_is_told_of() {
        let found = compared(&drawn(1, 0.0, 0.0), &drawn(2, 0.03, 15.0), Better::Lower);
        assert_eq!(found.decision.verdict, Verdict::Equivalent);
        let told = tail(&found, Better::Lower, 0.95);
        assert!(told.is_some_and(|q| q.share == 0.99 && q.difference > 10.0), "{told:?}");
    }

    #[test]
    fn a_tail_that_goes_with_the_centre_is_not_worth_a_line() {
        let slower: Vec<f64> = drawn(3, 0.03, 15.0).iter().map(|v| v * 1.1).collect();
        let found = compared(&drawn(1, 0.0, 0.0), &slower, Better::Lower);
        assert_eq!(tail(&found, Better::Lower, 0.95), None);
        let same = compared(&drawn(1, 0.03, 15.0), &drawn(4, 0.03, 15.0), Better::Lower);
        assert_eq!(tail(&same, Better::Lower, 0.95), None);
    }

    #[test]
    fn for_rates_it_is_the_lower_tail_that_hurts() {
        let found = compared(&drawn(1, 0.0, 0.0), &drawn(2, 0.15, -40.0), Better::Higher);
        let told = tail(&found, Better::Higher, 0.95);
        assert!(told.is_some_and(|q| q.share == 0.1 && q.difference < -10.0), "{told:?}");
        assert_eq!(tail(&found, Better::Lower, 0.95), None);
    }

    #[test]
    fn few_values_have_no_quantiles_to_compare() {
        let [few, enough] = [[1.0; 19].as_slice(), &[1.0; 20]].map(Recording::of);
        assert!(of(&few, &enough, 0.95).is_empty());
        assert_eq!(of(&enough, &enough, 0.95).len(), SHARES.len());
    }
}
