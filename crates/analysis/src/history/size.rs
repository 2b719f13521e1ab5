//! Size of a difference between two groups of runs of a series.

use crate::comparison::Effect;
use crate::verdict::Verdict;
use assay_data::Better;
use assay_stats::{Interval, descriptive, two_sample};

/// The size of a difference between two groups of runs.
pub(super) struct Size {
    pub ratio: Option<Effect>,
    pub shift: Effect,
    pub verdict: Verdict,
}

/// Compares the runs after a change with those before; `None` if either is empty.
pub(super) fn size(before: &[f64], after: &[f64], better: Better, confidence: f64) -> Option<Size> {
    size_of_dependent((before, after), 1.0, better, confidence)
}

/// Like [`size`], for runs with this autocorrelation time.
pub(super) fn size_of_dependent(
    (before, after): (&[f64], &[f64]),
    time: f64,
    better: Better,
    confidence: f64,
) -> Option<Size> {
    let [before, after] = [before, after].map(descriptive::sorted);
    let of = |before: &[f64], after: &[f64]| -> Option<(f64, Option<Interval>)> {
        let (shift, exact) = two_sample::shift_with_interval(before, after, confidence)?;
        let widened = (time > 1.0)
            .then(|| two_sample::studentized_interval((before, time), (after, time), confidence));
        let interval = match widened {
            Some(widened) => widened.map(|widened| widened.covering(exact)),
            None => Some(exact),
        };
        Some((shift, interval.filter(Interval::is_bounded)))
    };
    let (shift, interval) = of(&before, &after)?;
    let is_positive = before[0] > 0.0 && after[0] > 0.0;
    let logs = |sorted: &[f64]| sorted.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let ratio = is_positive.then(|| of(&logs(&before), &logs(&after))).flatten();
    let ratio = ratio.map(|(shift, interval)| Effect {
        estimate: shift.exp(),
        interval: interval.map(|i| Interval { lower: i.lower.exp(), upper: i.upper.exp() }),
    });
    let is_worse = (shift > 0.0) == (better == Better::Lower);
    Some(Size {
        ratio,
        shift: Effect { estimate: shift, interval },
        verdict: if is_worse { Verdict::Slower } else { Verdict::Faster },
    })
}
