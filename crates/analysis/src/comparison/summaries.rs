//! The comparison of summaries: Welch's interval for the means.
//!
//! The mathematics is in [`assay_stats::summaries`]; the ratio is computed on the log scale if both
//! means are positive, as everywhere else. Every stall affects a mean, so this is less reliable
//! than ranks of the values, but a summary allows no more. If the number of values or the spread is
//! unknown, there is a ratio but no interval.

use super::{Basis, Comparison, Effect, Question, Role, Wins, exponentiated};
use crate::dependence::Dependence;
use crate::outlook;
use crate::paired::threshold_on;
use crate::verdict::{Decision, Scale};
use assay_data::{Design, Summary, Threshold};
use assay_stats::summaries::{self, Summarised};
use assay_stats::{Interval, descriptive};

/// The known statistics of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side {
    /// The mean, or the median if the mean is unknown.
    pub location: f64,
    /// The median of the values; NaN if unknown.
    pub median: f64,
    /// True if `location` is a mean.
    pub is_mean: bool,
    /// The standard error of the mean; NaN if unknown.
    pub standard_error: f64,
    /// Number of values; 0 if unknown.
    pub count: usize,
}

impl Side {
    /// Converts a recorded summary. Returns `None` if it has no finite mean or median.
    pub(crate) fn of_summary(summary: &Summary) -> Option<Self> {
        Some(Self {
            location: summary.location().filter(|l| l.is_finite())?,
            median: summary.median.unwrap_or(f64::NAN),
            is_mean: summary.mean.is_some(),
            standard_error: summary.error_of_mean().unwrap_or(f64::NAN),
            count: summary.count.and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
        })
    }

    /// Summarizes values for comparison with a summary. Returns `None` for an empty slice.
    pub(crate) fn of_values(values: &[f64]) -> Option<Self> {
        (!values.is_empty()).then(|| Self {
            location: descriptive::mean(values),
            median: descriptive::median(values),
            is_mean: true,
            standard_error: Summarised::of(values).map_or(f64::NAN, |s| s.standard_error),
            count: values.len(),
        })
    }

    /// Returns the side with its median as location, for comparison with a side that has no mean.
    fn by_median(self) -> Self {
        Self { location: self.median, is_mean: false, ..self }
    }

    /// Returns the statistics that tests need; `None` if the location is a median.
    pub(crate) fn summarised(&self) -> Option<Summarised> {
        let Self { location: mean, standard_error, count, .. } = *self;
        self.is_mean.then_some(Summarised { mean, standard_error, count: count as f64 })
    }

    fn mean(&self) -> f64 {
        if self.is_mean { self.location } else { f64::NAN }
    }
}

/// Makes both sides use means or both medians, since a mean can't be compared with a median.
pub(crate) fn alike(x: Side, y: Side) -> (Side, Side) {
    if x.is_mean == y.is_mean { (x, y) } else { (x.by_median(), y.by_median()) }
}

/// Decides between two summaries, and also returns the two-sided level. O(1).
pub(crate) fn decide(question: Question<'_>, reference: &Side, other: &Side) -> (Decision, f64) {
    let level = (1.0 - question.plan.confidence) / question.share;
    let threshold = &question.plan.threshold;
    let relative = matches!(threshold, Threshold::Relative(_));
    let scale = if relative && is_ratio(reference, other) { Scale::Ratio } else { Scale::Shift };
    let Effect { estimate, interval } = effect_on(scale, reference, other, level);
    let threshold = threshold_on(scale, threshold, reference.location);
    let decision = Decision::read(scale, estimate, interval, threshold, 0.0, question.better);
    (decision, level)
}

impl Comparison {
    /// Compares summaries, or a summary with the summary of values. O(1).
    pub(crate) fn of_summaries(question: Question<'_>, reference: &Side, other: &Side) -> Self {
        let (decision, level) = decide(question, reference, other);
        let ratio = is_ratio(reference, other).then(|| {
            let logs = effect_on(Scale::Ratio, reference, other, level);
            exponentiated(logs.estimate, logs.interval)
        });
        Self {
            metric: question.metric,
            of: question.of,
            against: question.against,
            design: Design::Summary,
            basis: Basis::Summary,
            blocks: None,
            counts: (reference.count, other.count),
            level,
            share: question.share,
            ratio,
            shift: effect_on(Scale::Shift, reference, other, level),
            medians: (reference.median, other.median),
            means: (reference.mean(), other.mean()),
            p99: (f64::NAN, f64::NAN),
            quantiles: Vec::new(),
            wins: Wins { better: 0.0, worse: 0.0, of: 0.0 },
            effective: reference.count.min(other.count) as f64,
            dependence: Dependence::Untested,
            untested: true,
            lag1: f64::NAN,
            failing: None,
            mixed: false,
            distinct: 0,
            layout: None,
            detectable: outlook::detectable(&decision, level),
            outlook: None,
            weighted: None,
            fewest_blocks: 0,
            role: Role::Alone,
            decision,
        }
    }
}

fn is_ratio(reference: &Side, other: &Side) -> bool {
    reference.location > 0.0 && other.location > 0.0
}

/// Returns the difference on a scale, with its interval if both sides have enough statistics.
fn effect_on(scale: Scale, reference: &Side, other: &Side, level: f64) -> Effect {
    let estimate = match scale {
        Scale::Ratio => (other.location / reference.location).ln(),
        Scale::Shift => other.location - reference.location,
    };
    let test = match scale {
        Scale::Ratio => summaries::log_ratio,
        Scale::Shift => summaries::welch,
    };
    let sides = reference.summarised().zip(other.summarised());
    let interval: Option<Interval> =
        sides.and_then(|(x, y)| test(&x, &y)?.interval(1.0 - level)).filter(Interval::is_bounded);
    Effect { estimate, interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::NoInterval;
    use crate::verdict::Verdict;
    use assay_data::{Better, Plan, StopRule};

    fn compared(x: &Side, y: &Side) -> Comparison {
        let stop = StopRule::Fixed { blocks: 0 };
        let plan = Plan { stop, ..Plan::sequential(0.95, Threshold::default(), 0) };
        let better = Better::Lower;
        let end = crate::design::looks::End::Any;
        let question =
            Question { plan: &plan, metric: 0, better, against: 0, of: 1, share: 1.0, end };
        Comparison::of_summaries(question, x, y)
    }

    fn side(mean: f64, sd: Option<f64>, count: Option<u64>) -> Side {
        let summary = Summary { mean: Some(mean), sd, count, ..Summary::default() };
        Side::of_summary(&summary).expect("it has a mean")
    }

    #[test]
    fn means_with_spread_and_number_decide() {
        let (x, y) = (side(10.0, Some(1.0), Some(16)), side(12.0, Some(1.2), Some(16)));
        let found = compared(&x, &y);
        assert_eq!((found.design, &found.basis), (Design::Summary, &Basis::Summary));
        assert_eq!(found.decision.verdict, Verdict::Slower);
        let ratio = found.ratio.expect("both are positive");
        assert!((ratio.estimate - 1.2).abs() < 1e-12 && found.shift.estimate == 2.0);
        assert_eq!(compared(&y, &x).decision.verdict, Verdict::Faster);
        assert!(found.medians.0.is_nan() && found.no_interval().is_none());
    }

    #[test]
    fn what_is_lacking_is_said() {
        let good = side(10.0, Some(1.0), Some(16));
        let reason = |other: &Side| compared(&good, other).no_interval();
        assert_eq!(reason(&side(20.0, Some(1.0), None)), Some(NoInterval::NoCount));
        assert_eq!(reason(&side(20.0, None, Some(9))), Some(NoInterval::NoSpread));
        assert_eq!(reason(&side(20.0, None, Some(1))), Some(NoInterval::TooFew { needed: 2 }));
        let without = compared(&good, &side(20.0, Some(1.0), None));
        assert_eq!(without.decision.verdict, Verdict::Inconclusive);
        assert!(without.ratio.is_some_and(|r| r.estimate == 2.0 && r.interval.is_none()));
    }

    #[test]
    fn medians_alone_have_a_ratio_and_nothing_more() {
        let summary = Summary { median: Some(3.0), count: Some(9), ..Summary::default() };
        let median = Side::of_summary(&summary).expect("it has a median");
        let found = compared(&median, &median);
        assert_eq!(found.no_interval(), Some(NoInterval::NoSpread));
        assert!(found.means.0.is_nan() && found.medians == (3.0, 3.0));
        assert_eq!(Side::of_summary(&Summary::default()), None);
    }

    #[test]
    fn values_against_a_summary_are_summarised() {
        let values: Vec<f64> = (0..16).map(|i| 9.0 + f64::from(i * 7 % 16) / 8.0).collect();
        let x = Side::of_values(&values).expect("there are values");
        assert_eq!(x.count, 16);
        assert!(compared(&x, &side(20.0, Some(1.0), Some(8))).decision.verdict == Verdict::Slower);
        assert_eq!(Side::of_values(&[]), None);
    }
}
