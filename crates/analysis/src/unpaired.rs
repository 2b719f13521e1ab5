//! The interval for samples that were recorded apart.
//!
//! Method: Hodges–Lehmann shift (of logarithms where possible) with an interval from placements, widened by each side's
//! autocorrelation time (Fligner & Policello 1981; Brunner & Munzel 2000 for the variances; Geyer 1992 for the time); below
//! ten values on a side the exact Mann–Whitney law is inverted instead. Nothing computed from two files repairs drift
//! *between* the recordings: the reports say so with every such verdict.

use crate::paired::{clock_step_of_sorted, threshold_on};
use crate::recording::Recording;
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Threshold};
use assay_stats::{Interval, descriptive, sorting, two_sample};

/// Below this many values on a side the exact law is used, and dependence can't be judged.
const EXACT_BELOW: usize = 10;
/// Fewer effective observations than this on a side, and there is no verdict.
pub const FEWEST_EFFECTIVE: f64 = 10.0;

/// True when samples of these sizes are compared by the exact law of the rank test.
pub fn is_exact((n, m): (usize, usize)) -> bool {
    n.min(m) < EXACT_BELOW
}

/// A decision about two recordings, and how many independent observations each was worth.
#[derive(Clone, Debug, PartialEq)]
pub struct UnpairedDecision {
    /// The verdict and its numbers.
    pub decision: Decision,
    /// Effective sample sizes of reference and other.
    pub effective: (f64, f64),
    /// True when successive values hang together so much that no interval is given.
    pub too_dependent: bool,
}

/// Decides between two recordings. O(n log n) typically.
pub fn decide(
    reference: &Recording<'_>,
    other: &Recording<'_>,
    threshold: &Threshold,
    level: f64,
    better: Better,
) -> UnpairedDecision {
    let scale = match threshold {
        Threshold::Relative(_) if reference.is_positive() && other.is_positive() => Scale::Ratio,
        _ => Scale::Shift,
    };
    let (found, estimate) = match scale {
        Scale::Ratio => interval_of_ratio(reference, other, level),
        Scale::Shift => interval_of(reference, other, level),
    };
    let decision = Decision::read(
        scale,
        estimate,
        found.interval,
        threshold_on(scale, threshold, descriptive::median_sorted(&reference.sorted)),
        clock_step_of_sorted(&reference.sorted, &other.sorted, scale),
        better,
    );
    UnpairedDecision { decision, effective: found.effective, too_dependent: found.too_dependent }
}

/// The same interval for the plain shift, other − reference, whatever the scale of the decision.
pub fn shift_interval(reference: &[f64], other: &[f64], level: f64) -> (Option<Interval>, f64) {
    shift_of(&Recording::of(reference), &Recording::of(other), level)
}

/// [`shift_interval`] of recordings that were sorted before.
pub(crate) fn shift_of(
    reference: &Recording<'_>,
    other: &Recording<'_>,
    level: f64,
) -> (Option<Interval>, f64) {
    let (found, estimate) = interval_of(reference, other, level);
    (found.interval, estimate)
}

/// The same of the logarithms; every value must be positive.
pub(crate) fn ratio_of(
    reference: &Recording<'_>,
    other: &Recording<'_>,
    level: f64,
) -> (Option<Interval>, f64) {
    let (found, estimate) = interval_of_ratio(reference, other, level);
    (found.interval, estimate)
}

struct Found {
    interval: Option<Interval>,
    effective: (f64, f64),
    too_dependent: bool,
}

fn interval_of(x: &Recording<'_>, y: &Recording<'_>, level: f64) -> (Found, f64) {
    between((&x.sorted, x.autocorrelation_time), (&y.sorted, y.autocorrelation_time), level)
}

fn interval_of_ratio(x: &Recording<'_>, y: &Recording<'_>, level: f64) -> (Found, f64) {
    // Logarithms keep the order, and so the ranks and how they hang together; should one be rounded out of place, sorting
    // them again finds it at a glance.
    let logs = |recording: &Recording<'_>| {
        let mut logs: Vec<f64> = recording.sorted.iter().map(|v| v.ln()).collect();
        sorting::sort(&mut logs);
        logs
    };
    between((&logs(x), x.autocorrelation_time), (&logs(y), y.autocorrelation_time), level)
}

/// The interval for the shift between two samples, each ascending, with its autocorrelation time.
fn between((x, tau_x): (&[f64], f64), (y, tau_y): (&[f64], f64), level: f64) -> (Found, f64) {
    let sizes = (x.len() as f64, y.len() as f64);
    if x.is_empty() || y.is_empty() {
        return (Found { interval: None, effective: sizes, too_dependent: false }, f64::NAN);
    }
    if is_exact((x.len(), y.len())) {
        let interval = two_sample::mann_whitney_interval(x, y, 1.0 - level);
        let estimate = two_sample::hodges_lehmann(x, y);
        return (Found { interval, effective: sizes, too_dependent: false }, estimate);
    }
    let effective = (sizes.0 / tau_x, sizes.1 / tau_y);
    let too_dependent = effective.0.min(effective.1) < FEWEST_EFFECTIVE;
    let placed = if too_dependent {
        None
    } else {
        two_sample::placement_interval_of((x, tau_x), (y, tau_y), 1.0 - level)
    };
    let estimate = placed.map_or_else(|| two_sample::hodges_lehmann(x, y), |p| p.shift);
    (Found { interval: placed.map(|p| p.interval), effective, too_dependent }, estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn decide_at_95(x: &[f64], y: &[f64]) -> UnpairedDecision {
        decide(&Recording::of(x), &Recording::of(y), &Threshold::default(), 0.05, Better::Lower)
    }

    #[test]
    fn four_against_four_is_the_least_that_can_decide() {
        let four = decide_at_95(&[1.0, 1.1, 1.2, 1.3], &[2.0, 2.1, 2.2, 2.3]);
        assert_eq!(four.decision.verdict, Verdict::Slower);
        let three = decide_at_95(&[1.0, 1.1, 1.2], &[2.0, 2.1, 2.2]);
        assert_eq!(three.decision.verdict, Verdict::Inconclusive);
        assert_eq!(three.decision.interval, None);
    }

    #[test]
    fn a_recording_that_only_drifts_is_refused() {
        let drifting: Vec<f64> = (0..60).map(|i| 1.0 + f64::from(i)).collect();
        let noise: Vec<f64> = (0..60).map(|i| 100.0 + f64::from((i * 37) % 60)).collect();
        let found = decide_at_95(&drifting, &noise);
        assert!(found.too_dependent);
        assert_eq!(found.decision.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn swapping_the_files_turns_the_verdict_round() {
        let x: Vec<f64> = (0..40).map(|i| 100.0 + f64::from((i * 17) % 40) / 40.0).collect();
        let y: Vec<f64> = (0..40).map(|i| 110.0 + f64::from((i * 23) % 40) / 40.0).collect();
        assert_eq!(decide_at_95(&x, &y).decision.verdict, Verdict::Slower);
        assert_eq!(decide_at_95(&y, &x).decision.verdict, Verdict::Faster);
    }
}
