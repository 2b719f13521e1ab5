//! Negative controls of a suite: rows whose code is the same on both sides ([`Subject::code`]).
//!
//! The change does not affect controls, so their differences show the other influences on these two
//! builds: placement of the code, noise, and drift. With enough controls, a row whose code changed
//! has a direction only if it moved farther than they did (Schuemie, Ryan, DuMouchel, Suchard and
//! Madigan, "Interpreting observational studies: why empirical calibration is needed to correct
//! p-values", Statistics in Medicine 33, 2014). The range of a row without a change is the
//! prediction interval of one more control: Student's t with K − 1 degrees of freedom and the
//! variance factor 1 + 1/K (Hahn and Meeker, "Statistical Intervals", 1991). Schuemie et al. use a
//! fitted normal distribution, for which ten controls are too few. Controls farther than a few
//! robust deviations from the median are clipped to that distance, so that a single control does
//! not hide every difference. A row measured less precisely than a typical control has a wider
//! range.
//!
//! As with any use of negative controls, code that is far more sensitive to placement than all of
//! the controls is not represented.
//!
//! The interval of a judged row covers both its own interval and its effect minus the range, so the
//! verdict is never more confident than with either alone. The judged rows are a separate family,
//! whose adjustments do not assume independence, since all rows share the controls. A control has
//! no direction, because its code did not change; its interval is extended to include no
//! difference.

use crate::comparison::{Comparison, Question, Role};
use crate::verdict::{Scale, Verdict};
use crate::{outlook, policy};
use assay_data::{Better, Samples, Unit};
use assay_stats::{Interval, descriptive, normal, student_t};
use std::rc::Rc;

/// The distribution of the controls of one metric of one side, on the scale of ratios.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Controls {
    count: usize,
    mean: f64,
    spread: f64,
    /// Squared standard error of the effect of a typical control.
    squared_error: f64,
}

/// The role of a family member among the controls of a suite.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Alone,
    Control,
    Judged(Rc<Controls>),
}

impl Controls {
    /// Summarizes the effects of controls, each given with its squared standard error. Returns
    /// `None` if there are fewer than [`policy::FEWEST_CONTROLS`], or if the clipped effects are
    /// all equal.
    pub fn of(found: &[(f64, f64)]) -> Option<Self> {
        if found.len() < policy::FEWEST_CONTROLS {
            return None;
        }
        let (effects, errors): (Vec<f64>, Vec<f64>) = found.iter().copied().unzip();
        let clipped = descriptive::clipped(&effects, policy::CONTROLS_REACH);
        Some(Self {
            count: found.len(),
            mean: descriptive::mean(&clipped),
            spread: descriptive::standard_deviation(&clipped),
            squared_error: descriptive::median(&errors),
        })
        .filter(|own| own.spread > 0.0)
    }

    /// Returns the range of effects expected of one more unchanged row whose effect has the given
    /// squared standard error, at a two-sided level.
    fn range(&self, level: f64, squared_error: f64) -> Interval {
        let k = self.count as f64;
        let more = (squared_error - self.squared_error).max(0.0);
        let error = (self.spread * self.spread * (1.0 + 1.0 / k) + more).sqrt();
        let reach = student_t::two_sided(1.0 - level, k - 1.0) * error;
        Interval { lower: self.mean - reach, upper: self.mean + reach }
    }

    /// Extends the interval of a comparison by the range of effects expected of an unchanged row.
    pub fn judge(&self, mut c: Comparison, question: Question<'_>) -> Comparison {
        let (Some(own), Some((effect, squared_error))) = (c.decision.interval, measured(&c)) else {
            return c;
        };
        // Placement is a single draw, however often it is measured, so the range uses the level of
        // a single evaluation.
        let level = (1.0 - question.plan.confidence) / question.share;
        let range = self.range(level, squared_error);
        let caused = Interval { lower: effect - range.upper, upper: effect - range.lower };
        let had_verdict = c.decision.verdict != Verdict::Inconclusive;
        extend(&mut c, own.covering(caused), question.better);
        let withholds = had_verdict && c.decision.verdict == Verdict::Inconclusive;
        if withholds {
            c.outlook = None;
        }
        c.role = Role::Judged { range, withholds };
        c
    }
}

/// Marks a comparison as that of a control, and extends its interval to include no difference.
pub(super) fn as_control(mut c: Comparison, better: Better) -> Comparison {
    c.role = Role::Control;
    if let Some(own) = c.decision.interval.filter(|own| !own.contains(0.0)) {
        extend(&mut c, own.covering(Interval { lower: 0.0, upper: 0.0 }), better);
        c.outlook = None;
    }
    c
}

fn extend(c: &mut Comparison, interval: Interval, better: Better) {
    if c.decision.interval == Some(interval) {
        return;
    }
    c.decision.extend(interval, better);
    if let Some(ratio) = &mut c.ratio {
        ratio.interval =
            Some(Interval { lower: interval.lower.exp(), upper: interval.upper.exp() });
    }
    // Controls give no information about absolute differences.
    c.shift.interval = None;
    c.detectable = outlook::detectable(&c.decision, c.level);
}

/// Returns the effect of a comparison of ratios and its squared standard error, if both are known.
pub(super) fn measured(c: &Comparison) -> Option<(f64, f64)> {
    let is_ratio = c.decision.scale == Scale::Ratio && c.decision.estimate.is_finite();
    let interval = c.decision.interval.filter(|own| is_ratio && own.is_bounded())?;
    let error = interval.half_width() / -normal::quantile(c.level / 2.0);
    Some((c.decision.estimate, error * error))
}

/// Returns true if two subjects have the same code and the metric depends on placement, unlike
/// counts and sizes.
pub(crate) fn has_same_code(samples: &Samples, metric: usize, of: usize, against: usize) -> bool {
    let metric = &samples.metrics[metric];
    let code = |subject: usize| samples.subjects.get(subject)?.code.as_ref();
    let is_placed = !metric.is_count() && metric.unit != Unit::Byte;
    is_placed && code(of).is_some() && code(of) == code(against)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_the_prediction_interval_of_one_more_value() {
        let effects = [0.3, -0.5, 0.1, 0.7, -0.2, 0.0, 0.4, -0.6, 0.2, -0.1];
        let found: Vec<(f64, f64)> = effects.iter().map(|&e| (e, 0.01)).collect();
        let controls = Controls::of(&found).expect("ten controls");
        // R, with these values as x: mean(x) + c(-1, 1) * qt(0.975, 9) * sd(x) * sqrt(1.1)
        let range = controls.range(0.05, 0.01);
        assert!((range.lower - -0.919_357_645_801_956).abs() < 1e-9, "{range:?}");
        assert!((range.upper - 0.979_357_645_801_956).abs() < 1e-9, "{range:?}");
        // A row measured more precisely than the controls has the same range; for a noisier row,
        // the excess of its variance is added.
        assert_eq!(controls.range(0.05, 0.0), range);
        let noisy = controls.range(0.05, 0.01 + 3.0 * controls.spread * controls.spread * 1.1);
        assert!((noisy.half_width() / range.half_width() - 2.0).abs() < 1e-9, "{noisy:?}");
        assert_eq!(Controls::of(&found[..9]), None);
    }

    #[test]
    fn one_wild_control_does_not_hide_everything() {
        let mut found: Vec<(f64, f64)> =
            (0..22).map(|i| (0.001 * f64::from(i % 11 - 5), 1e-8)).collect();
        let calm = Controls::of(&found).expect("enough").range(0.05, 1e-8);
        found.push((0.5, 1e-8));
        let wild = Controls::of(&found).expect("enough").range(0.05, 1e-8);
        let wider = wild.half_width() / calm.half_width();
        assert!((1.0..2.0).contains(&wider), "{wider}");
    }
}
