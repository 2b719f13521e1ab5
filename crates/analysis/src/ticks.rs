//! The error of readings that come in steps, such as those of a coarse clock or numbers with too
//! few digits.
//!
//! A reading rounded to a step is off by up to half a step, and so is the median of readings that
//! all fall on one or two steps. The difference of two such medians is off by up to a whole step,
//! however many readings there are. If readings spread over several steps, their rounding errors
//! are like independent noise and cancel (Widrow and Kollár, "Quantization Noise", 2008: from a
//! standard deviation of about half a step). Ranks then only need the ties resolved. A clock that
//! is read at the start and at the end is off by less than a step in each reading; these errors
//! cancel in the mean but not in the median, and a whole step covers them. Exact counts have no
//! rounding.

use crate::policy;
use crate::recording::Recording;
use crate::verdict::Scale;
use assay_stats::{Interval, descriptive, merged};
use std::borrow::Cow;

/// Tolerance for decimal rounding, as a share of the step: a distance that is this close to a
/// multiple of the step counts as one.
const ROUNDING: f64 = 1e-3;

/// Minimum common divisor of all distances, as a share of the smallest distance. A finer divisor is
/// accidental, and such readings have no step.
const FINEST: f64 = 0.01;

/// Steps in the readings of two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ticks {
    /// The step, in the unit of the readings; 0 if it does not matter.
    step: f64,
    /// True if nearly all readings of at least one side are on two neighboring steps.
    hides: bool,
}

impl Ticks {
    /// Determines the steps in the readings of two sides, each ascending. O(n log n).
    pub fn of_sorted(first: &[f64], second: &[f64]) -> Self {
        let n = first.len() + second.len();
        let Some(step) = common_step(first, second, n) else { return Self::default() };
        let hides = hardly_leaves(first, step) || hardly_leaves(second, step);
        let spread =
            descriptive::interquartile_range(first).max(descriptive::interquartile_range(second));
        // A step much finer than the error of the center has no effect.
        let is_large = step * (n as f64 / 2.0).sqrt() >= spread;
        // A reading below half a step might get no logarithm when it is spread over its step.
        let least = first.iter().chain(second).copied().fold(f64::INFINITY, f64::min);
        let may_spread = least <= 0.0 || least > step / 2.0;
        if hides || is_large && may_spread { Self { step, hides } } else { Self::default() }
    }

    /// Determines the steps in the readings of two recordings; exact counts have none.
    pub(crate) fn of_recordings(first: &Recording<'_>, second: &Recording<'_>) -> Self {
        match first.is_exact || second.is_exact {
            true => Self::default(),
            false => Self::of_sorted(&first.sorted, &second.sorted),
        }
    }

    /// Returns the step of two constant sides: one unit of their last decimal place, at most the
    /// gap between them; 0 for equal whole numbers, which may be counts. `None` unless each side
    /// has at least two readings, all of them equal.
    pub fn between_constants(first: &[f64], second: &[f64]) -> Option<f64> {
        let constant = |side: &[f64]| {
            side.first().copied().filter(|value| side.len() > 1 && side.last() == Some(value))
        };
        let (a, b) = constant(first).zip(constant(second))?;
        let digit = last_digit(a).min(last_digit(b));
        Some(match a == b {
            true => digit,
            false if digit == 0.0 => (a - b).abs().min(1.0),
            false => digit.min((a - b).abs()),
        })
    }

    /// Returns true if ties must be resolved, because the readings spread over several steps that
    /// are large compared with the error of the center.
    fn is_dithered(self) -> bool {
        self.step > 0.0 && !self.hides
    }

    /// Returns the readings of a side, which must be ascending, with ties spread evenly over their
    /// step if necessary. The result is ascending. O(n).
    pub fn spread_sorted(self, sorted: &[f64]) -> Cow<'_, [f64]> {
        if !self.is_dithered() {
            return Cow::Borrowed(sorted);
        }
        let spread = sorted.chunk_by(|a, b| a == b).flat_map(|tied| {
            let n = tied.len() as f64;
            tied.iter()
                .enumerate()
                .map(move |(i, value)| value + self.step * ((i as f64 + 0.5) / n - 0.5))
        });
        Cow::Owned(spread.collect())
    }

    /// Returns the readings of two paired sides with their ties spread over their step, in an order
    /// that is unrelated between the sides (two additive recurrences); `None` if this is not
    /// necessary. O(n).
    pub fn spread_pairs(self, first: &[f64], second: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        // The golden ratio, and the silver ratio of Pell's numbers.
        const RATIOS: [f64; 2] = [0.618_033_988_749_894_9, 0.414_213_562_373_095_1];
        self.is_dithered().then(|| {
            let spread = |values: &[f64], ratio: f64| {
                let at = |(i, value): (usize, &f64)| {
                    value + self.step * (((i as f64 + 0.5) * ratio).fract() - 0.5)
                };
                values.iter().enumerate().map(at).collect()
            };
            (spread(first, RATIOS[0]), spread(second, RATIOS[1]))
        })
    }

    /// Widens the interval of a difference, second against first, by the rounding: half a step per
    /// side. `centres` are the centers of both sides.
    pub fn widen(self, scale: Scale, interval: Interval, centres: (f64, f64)) -> Interval {
        if !self.hides {
            return interval;
        }
        // Two sides exactly a step apart may be equal; floating-point rounding must not exclude
        // this.
        let half = self.step / 2.0 * (1.0 + 1e-9);
        match scale {
            Scale::Shift => {
                Interval { lower: interval.lower - 2.0 * half, upper: interval.upper + 2.0 * half }
            }
            Scale::Ratio => {
                let (first, second) = (half / centres.0.abs(), half / centres.1.abs());
                // A center below half a step may be 0.
                let less =
                    |share: f64| if share < 1.0 { (-share).ln_1p() } else { f64::NEG_INFINITY };
                Interval {
                    lower: interval.lower + less(second) - first.ln_1p(),
                    upper: interval.upper + second.ln_1p() - less(first),
                }
            }
        }
    }

    /// Returns the part of a difference that may be due to rounding, in the unit of the readings: a
    /// whole step, or 0.
    pub fn hidden(self) -> f64 {
        if self.hides { self.step } else { 0.0 }
    }
}

/// Returns the step of which all distances between readings are multiples; `None` if there is none,
/// or if neither enough readings are tied nor each side is constant.
fn common_step(first: &[f64], second: &[f64], n: usize) -> Option<f64> {
    if let Some(step) = Ticks::between_constants(first, second) {
        return Some(step).filter(|step| *step > 0.0);
    }
    let distinct = merged::distinct(first, second);
    if distinct as f64 > policy::STEPPED_BELOW * n as f64 {
        return None;
    }
    let smallest = merged::smallest_gap(first, second)?;
    let mut last: Option<f64> = None;
    let gaps = merged::merge(first, second)
        .filter_map(|v| last.replace(v).map(|before| v - before))
        .filter(|gap| *gap > 0.0);
    let mut step = smallest;
    for gap in gaps {
        step = divisor(step, gap, ROUNDING * smallest);
        if step < FINEST * smallest {
            return None;
        }
    }
    Some(step)
}

/// Returns the largest length of which both lengths are multiples, within `tolerance`.
fn divisor(mut a: f64, mut b: f64, tolerance: f64) -> f64 {
    while b > tolerance {
        let rest = a % b;
        // A length slightly less than a multiple also counts.
        (a, b) = (b, rest.min(b - rest));
    }
    a
}

/// Returns true if nearly all readings of a side, which must be ascending, are on two neighboring
/// steps.
fn hardly_leaves(sorted: &[f64], step: f64) -> bool {
    let most = (0..sorted.len()).map(|from| {
        let reach = sorted[from] + step * (1.0 + ROUNDING);
        sorted.partition_point(|v| *v <= reach) - from
    });
    let most = most.max().unwrap_or(0);
    most as f64 > policy::WITHIN_TWO_STEPS * sorted.len() as f64
}

/// Returns one unit in the last decimal place of a fraction; 0 for whole numbers.
pub(crate) fn last_digit(value: f64) -> f64 {
    let digits = format!("{value}");
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if decimals == 0 { 0.0 } else { 10f64.powi(-(decimals as i32)) }
}

#[cfg(test)]
mod tests;
