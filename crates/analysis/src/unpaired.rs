//! The interval for samples that were recorded separately.
//!
//! The method is the Hodges–Lehmann shift (of logarithms if possible). Its interval consists of all
//! shifts that Brunner and Munzel's test accepts, widened by each side's autocorrelation time
//! (Brunner & Munzel 2000; Geyer 1992 for the time). With fewer than 24 values on a side, this test
//! is slightly liberal. The interval then also covers that of the exact Mann–Whitney distribution
//! and, if one side has a much wider spread, that of Welch's t (simulated:
//! `docs/concepts/deciding.md`, section 6). For long series, the placements are computed only once,
//! at the estimate. No computation from two files can correct drift *between* the recordings, which
//! reports state with every such verdict.

use crate::dependence::{Dependence, Order};
use crate::paired::{clock_step_of_sorted, threshold_on};
use crate::policy;
use crate::recording::Recording;
use crate::ticks::Ticks;
use crate::verdict::{Decision, Scale};
use assay_data::{Better, Threshold};
use assay_stats::{Interval, descriptive, sorting, t_test, two_sample};
use std::borrow::Cow;

/// Number of values on the larger side from which the placements are computed once, at the
/// estimate, instead of at every shift. This is faster and gives practically the same result.
const ONCE_FROM: usize = 1000;

/// Returns true if samples of these sizes are also compared using the exact distribution of the
/// rank test.
pub fn is_exact((n, m): (usize, usize)) -> bool {
    n.min(m) < policy::TESTED_FROM
}

/// Returns the minimum number of values per side with which the rank test can detect a difference
/// at a two-sided level: enough for the most extreme order to be rarer than the level. O(result).
pub fn fewest(level: f64) -> usize {
    // The probability of one of the C(2n, n) ways to divide 2n ranks, and of its mirror image.
    let mut chance = 2.0;
    let mut n = 0;
    while chance > level && n < 1000 {
        n += 1;
        chance *= n as f64 / (4 * n - 2) as f64;
    }
    n
}

/// A decision about two recordings, with their effective sample sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct UnpairedDecision {
    /// The verdict with its interval.
    pub decision: Decision,
    /// Effective sample sizes of the reference and of the other recording.
    pub effective: (f64, f64),
    /// Dependence of successive values on the more dependent side.
    pub dependence: Dependence,
    /// True if a side has too few values for its dependence to be tested.
    pub untested: bool,
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
    let untested = [reference, other].iter().any(|side| !Order::of_recording(side).is_tested());
    let UnpairedInterval { effective, dependence, .. } = found;
    UnpairedDecision { decision, effective, dependence, untested }
}

/// Returns the interval of the plain shift, `other` − `reference`, regardless of the scale of the
/// decision, and the estimate.
pub fn shift_interval(reference: &[f64], other: &[f64], level: f64) -> (Option<Interval>, f64) {
    shift_of(&Recording::of(reference), &Recording::of(other), level)
}

/// Like [`shift_interval`], for recordings that are already sorted.
pub(crate) fn shift_of(
    reference: &Recording<'_>,
    other: &Recording<'_>,
    level: f64,
) -> (Option<Interval>, f64) {
    let (found, estimate) = interval_of(reference, other, level);
    (found.interval, estimate)
}

/// Returns the interval of the ratio and the estimate, both as logarithms. Every value must be
/// positive.
pub(crate) fn ratio_of(
    reference: &Recording<'_>,
    other: &Recording<'_>,
    level: f64,
) -> (Option<Interval>, f64) {
    let (found, estimate) = interval_of_ratio(reference, other, level);
    (found.interval, estimate)
}

struct UnpairedInterval {
    interval: Option<Interval>,
    effective: (f64, f64),
    dependence: Dependence,
}

fn interval_of(x: &Recording<'_>, y: &Recording<'_>, level: f64) -> (UnpairedInterval, f64) {
    between_readings(Scale::Shift, x, y, level, |sorted| sorted)
}

/// Returns the interval on a scale, widened by the rounding of a coarse clock, and the estimate.
/// `on_scale` transforms ascending readings to the scale.
fn between_readings<'a>(
    scale: Scale,
    x: &'a Recording<'_>,
    y: &'a Recording<'_>,
    level: f64,
    on_scale: impl Fn(Cow<'a, [f64]>) -> Cow<'a, [f64]>,
) -> (UnpairedInterval, f64) {
    let ticks = Ticks::of_recordings(x, y);
    let [of_x, of_y] = [x, y].map(|side| on_scale(ticks.spread_sorted(&side.sorted)));
    let sides = [(&*of_x, Order::of_recording(x)), (&*of_y, Order::of_recording(y))];
    let (found, estimate) = between(sides[0], sides[1], level);
    let [first, second] = [x, y].map(|side| descriptive::median_sorted(&side.sorted));
    let interval = found.interval.map(|own| ticks.widen(scale, own, (first, second)));
    (UnpairedInterval { interval, ..found }, estimate)
}

fn interval_of_ratio(x: &Recording<'_>, y: &Recording<'_>, level: f64) -> (UnpairedInterval, f64) {
    // Logarithms preserve the order, and with it the ranks and their correlation. If rounding swaps
    // any values, sorting again is cheap.
    between_readings(Scale::Ratio, x, y, level, |sorted| {
        let mut logs: Vec<f64> = sorted.iter().map(|v| v.ln()).collect();
        sorting::sort(&mut logs);
        logs.into()
    })
}

/// Returns the interval for the shift between two ascending samples with a known serial dependence,
/// and the estimate.
fn between(
    (x, of_x): (&[f64], Order),
    (y, of_y): (&[f64], Order),
    level: f64,
) -> (UnpairedInterval, f64) {
    let effective = (of_x.effective(), of_y.effective());
    let dependence = of_x.dependence().max(of_y.dependence());
    if x.is_empty() || y.is_empty() {
        return (UnpairedInterval { interval: None, effective, dependence }, f64::NAN);
    }
    let estimate = two_sample::hodges_lehmann(x, y);
    let (x, y) = ((x, of_x.time()), (y, of_y.time()));
    let interval = (dependence != Dependence::TooStrong)
        .then(|| {
            if is_exact((x.0.len(), y.0.len())) {
                of_few(x, y, level)
            } else {
                of_many(x, y, level)
            }
        })
        .flatten();
    (UnpairedInterval { interval, effective, dependence }, estimate)
}

/// Returns the interval for samples that are large enough. Each side consists of its ascending
/// values and its autocorrelation time.
fn of_many(x: (&[f64], f64), y: (&[f64], f64), level: f64) -> Option<Interval> {
    if x.0.len().max(y.0.len()) < ONCE_FROM {
        return two_sample::studentized_interval(x, y, 1.0 - level);
    }
    two_sample::placement_interval_of(x, y, 1.0 - level).map(|placed| placed.interval)
}

/// Returns the interval for few values, which covers the intervals of all methods that apply.
fn of_few(x: (&[f64], f64), y: (&[f64], f64), level: f64) -> Option<Interval> {
    let mut interval = two_sample::mann_whitney_interval(x.0, y.0, 1.0 - level)?;
    // With fewer than two values, a side has no spread.
    if x.0.len().min(y.0.len()) > 1 {
        interval = interval.covering(of_many(x, y, level)?);
    }
    if spread_unlike(x.0, y.0)
        && let Some(welch) = t_test::welch(x.0, y.0).and_then(|t| t.interval(1.0 - level))
    {
        interval = interval.covering(welch);
    }
    Some(interval)
}

/// Returns true if the spreads of the sides differ clearly, measured by their interquartile ranges,
/// which a single stall does not affect. With only a handful of values, the spreads are unknown and
/// assumed to differ.
fn spread_unlike(x_sorted: &[f64], y_sorted: &[f64]) -> bool {
    if x_sorted.len().min(y_sorted.len()) < policy::SPREAD_FROM {
        return true;
    }
    let [x, y] = [x_sorted, y_sorted].map(descriptive::interquartile_range);
    x.max(y) > policy::UNLIKE_SPREADS * x.min(y)
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
        assert_eq!(found.dependence, Dependence::TooStrong);
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
