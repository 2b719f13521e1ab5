//! The interval for samples that were recorded apart.
//!
//! Method: Hodges–Lehmann shift (of logarithms where possible) with an interval from placements,
//! widened by each side's autocorrelation time (Fligner & Policello 1981; Brunner & Munzel 2000 for
//! the variances; Geyer 1992 for the time); below ten values on a side the exact Mann–Whitney
//! distribution is inverted instead. Nothing computed from two files repairs drift *between* the
//! recordings: the reports say so with every such verdict.

use crate::dependence::is_beyond_chance;
use crate::paired::{clock_step_of_sorted, threshold_on};
use crate::policy;
use crate::recording::Recording;
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Threshold};
use assay_stats::{Interval, descriptive, sorting, two_sample};

/// Up to here the exact distribution is asked where placements have no answer.
const EXACT_STILL_BELOW: usize = 50;

/// True when samples of these sizes are compared by the exact distribution of the rank test.
pub fn is_exact((n, m): (usize, usize)) -> bool {
    n.min(m) < policy::DEPENDENCE_FROM
}

/// The fewest values on each side at which the rank test can tell anything at a two-sided level: as many as make the most
/// extreme of all orders rarer than that. O(result).
pub fn fewest(level: f64) -> usize {
    // One of the C(2n, n) ways to share 2n ranks, and its mirror image.
    let mut chance = 2.0;
    let mut n = 0;
    while chance > level && n < 1000 {
        n += 1;
        chance *= n as f64 / (4 * n - 2) as f64;
    }
    n
}

/// A decision about two recordings, and how many independent observations each was worth.
#[derive(Clone, Debug, PartialEq)]
pub struct UnpairedDecision {
    /// The verdict and its numbers.
    pub decision: Decision,
    /// Effective sample sizes of reference and other.
    pub effective: (f64, f64),
    /// True when successive values are correlated so much that no interval is given.
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
    between((&x.sorted, Order::of(x)), (&y.sorted, Order::of(y)), level)
}

fn interval_of_ratio(x: &Recording<'_>, y: &Recording<'_>, level: f64) -> (Found, f64) {
    // Logarithms keep the order, and so the ranks and how they are correlated; should one be
    // rounded out of place, sorting them again finds it at a glance.
    let logs = |recording: &Recording<'_>| {
        let mut logs: Vec<f64> = recording.sorted.iter().map(|v| v.ln()).collect();
        sorting::sort(&mut logs);
        logs
    };
    between((&logs(x), Order::of(x)), (&logs(y), Order::of(y)), level)
}

/// What the order of a recording tells.
#[derive(Clone, Copy)]
struct Order {
    tau: f64,
    lag1: f64,
}

impl Order {
    fn of(recording: &Recording<'_>) -> Self {
        Self { tau: recording.autocorrelation_time, lag1: recording.lag1 }
    }

    /// Whether n values are worth too few independent ones, and not by chance alone, which a dozen may well seem to be.
    fn refuses(self, n: f64) -> bool {
        n / self.tau < policy::FEWEST_EFFECTIVE && self.hangs_together(n)
    }

    fn hangs_together(self, n: f64) -> bool {
        is_beyond_chance(n as usize, n / self.tau, self.lag1)
    }
}

/// The interval for the shift between two samples, each ascending, with what its order tells.
fn between((x, of_x): (&[f64], Order), (y, of_y): (&[f64], Order), level: f64) -> (Found, f64) {
    let (tau_x, tau_y) = (of_x.tau, of_y.tau);
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
    let too_dependent = of_x.refuses(sizes.0) || of_y.refuses(sizes.1);
    let placed = if too_dependent {
        None
    } else {
        two_sample::placement_interval_of((x, tau_x), (y, tau_y), 1.0 - level)
    };
    let estimate = placed.map_or_else(|| two_sample::hodges_lehmann(x, y), |p| p.shift);
    // At the strict levels of a suite the variances of a dozen placements reach no end, where the
    // exact distribution still does.
    let exact = || {
        let usable = !too_dependent && x.len().max(y.len()) < EXACT_STILL_BELOW;
        let usable = usable && !of_x.hangs_together(sizes.0) && !of_y.hangs_together(sizes.1);
        usable.then(|| two_sample::mann_whitney_interval(x, y, 1.0 - level)).flatten()
    };
    let interval = placed.map(|p| p.interval).or_else(exact);
    (Found { interval, effective, too_dependent }, estimate)
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
    fn the_fewest_values_are_those_whose_clearest_order_is_rare_enough() {
        // 2 / C(2n, n): 0.1, 0.029, 0.0079, 0.0022, ...
        assert_eq!([0.1, 0.05, 0.01, 0.05 / 30.0].map(fewest), [3, 4, 5, 7]);
        let apart = |n: usize| -> (Vec<f64>, Vec<f64>) {
            ((0..n).map(|i| i as f64).collect(), (0..n).map(|i| 100.0 + i as f64).collect())
        };
        for level in [0.05, 0.01, 0.001] {
            let n = fewest(level);
            let decided = |n| {
                let (x, y) = apart(n);
                let (x, y) = (Recording::of(x), Recording::of(y));
                let threshold = Threshold::default();
                decide(&x, &y, &threshold, level, Better::Lower).decision.interval.is_some()
            };
            assert!(decided(n) && !decided(n - 1), "{level}");
        }
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
