//! The verdict that follows from an interval.
//!
//! The interval of the difference is compared with zero and with the threshold on both sides. The
//! same interval is printed next to the verdict, so the two cannot disagree.

use crate::policy;
use assay_data::Better;
use assay_stats::Interval;

/// The verdict on a subject compared with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The metric is better than that of the reference, which for times means less.
    Faster,
    /// The metric is worse than the reference's.
    Slower,
    /// The difference is smaller than the threshold.
    Equivalent,
    /// The interval is too wide for another verdict, or there is none.
    Inconclusive,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 4] = [Self::Faster, Self::Slower, Self::Equivalent, Self::Inconclusive];

    /// Parses a word returned by [`Verdict::word`].
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }

    /// Returns the word used in JSON and by `--fail-if`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Returns true if the verdict is `faster` or `slower`.
    pub fn is_directional(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// The scale on which differences are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Logarithms of ratios: the default, for positive values and a relative threshold.
    Ratio,
    /// Differences in the metric's unit, for values that may be zero or negative, and for absolute
    /// thresholds.
    Shift,
}

/// A verdict and the numbers behind it. All numbers are on `scale`: natural logarithms for ratios,
/// base units for shifts.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The scale of the numbers below.
    pub scale: Scale,
    /// Best estimate of the difference, second against first.
    pub estimate: f64,
    /// Interval of the estimate; `None` if the observations are too few, or too dependent, for this
    /// level.
    pub interval: Option<Interval>,
    /// The threshold; NaN if it can't be expressed on this scale, as for a fraction of a reference
    /// of zero.
    pub threshold: f64,
    /// The step of the clock. The interval includes the rounding that it causes.
    pub clock_step: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// True if the direction is known, but the difference may be below the threshold.
    pub possibly_below_threshold: bool,
}

impl Decision {
    /// Derives the verdict from an interval. An end equal to zero or to the threshold does not
    /// exclude it, so ties can only err towards inconclusive.
    pub fn read(
        scale: Scale,
        estimate: f64,
        interval: Option<Interval>,
        threshold: f64,
        clock_step: f64,
        better: Better,
    ) -> Self {
        let (verdict, possibly_below_threshold) = match interval {
            None => (Verdict::Inconclusive, false),
            Some(interval) => read(interval, threshold, better),
        };
        Self { scale, estimate, interval, threshold, clock_step, verdict, possibly_below_threshold }
    }

    /// Replaces the interval and derives the verdict from the new one.
    pub(crate) fn extend(&mut self, interval: Interval, better: Better) {
        self.interval = Some(interval);
        (self.verdict, self.possibly_below_threshold) = read(interval, self.threshold, better);
    }

    /// Returns true if the size of the difference is known, and not only its direction: the half
    /// width of the interval is at most half of the estimate ([`policy::SIZE_KNOWN`]). Otherwise
    /// only a lower bound can be stated.
    pub fn size_is_known(&self) -> bool {
        let size = self.estimate.abs();
        self.interval.is_some_and(|i| i.half_width() <= policy::SIZE_KNOWN * size)
    }

    /// Returns true if the direction is known but the difference may be below the threshold; false
    /// without a threshold.
    pub fn may_not_matter(&self) -> bool {
        self.possibly_below_threshold && self.threshold.is_finite()
    }

    /// Returns the end of the interval that is nearer to no difference; `None` if there is no
    /// interval.
    pub fn least(&self) -> Option<f64> {
        let Interval { lower, upper } = self.interval?;
        Some(if lower.abs() < upper.abs() { lower } else { upper })
    }

    /// Returns true if further measuring would not change the verdict: the difference is beyond the
    /// threshold or within it, or its direction is known and its size is known to half a threshold.
    pub fn is_settled(&self) -> bool {
        match self.verdict {
            Verdict::Inconclusive => false,
            Verdict::Equivalent => true,
            Verdict::Faster | Verdict::Slower => {
                !self.possibly_below_threshold
                    || self.interval.is_some_and(|i| i.half_width() <= self.threshold / 2.0)
            }
        }
    }
}

fn read(interval: Interval, threshold: f64, better: Better) -> (Verdict, bool) {
    let (less, more) = match better {
        Better::Lower => (Verdict::Faster, Verdict::Slower),
        Better::Higher => (Verdict::Slower, Verdict::Faster),
    };
    if interval.lower == 0.0 && interval.upper == 0.0 {
        // There is no difference, with or without a threshold.
        return (Verdict::Equivalent, false);
    }
    // All comparisons with a NaN threshold are false, so only "no effect" can be excluded.
    if interval.lower > threshold {
        (more, false)
    } else if interval.upper < -threshold {
        (less, false)
    } else if interval.lower > -threshold && interval.upper < threshold {
        (Verdict::Equivalent, false)
    } else if interval.lower > 0.0 {
        (more, true)
    } else if interval.upper < 0.0 {
        (less, true)
    } else {
        (Verdict::Inconclusive, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lower: f64, upper: f64) -> (Verdict, bool) {
        read(Interval { lower, upper }, 0.01, Better::Lower)
    }

    #[test]
    fn the_interval_and_the_threshold_give_the_verdict() {
        assert_eq!(verdict(0.02, 0.03), (Verdict::Slower, false));
        assert_eq!(verdict(-0.03, -0.02), (Verdict::Faster, false));
        assert_eq!(verdict(0.002, 0.004), (Verdict::Equivalent, false));
        assert_eq!(verdict(0.002, 0.02), (Verdict::Slower, true));
        assert_eq!(verdict(-0.02, -0.001), (Verdict::Faster, true));
        assert_eq!(verdict(-0.02, 0.003), (Verdict::Inconclusive, false));
    }

    #[test]
    fn an_end_that_touches_zero_or_the_threshold_excludes_neither() {
        assert_eq!(verdict(0.0, 0.02), (Verdict::Inconclusive, false));
        assert_eq!(verdict(-0.01, 0.005), (Verdict::Inconclusive, false));
        assert_eq!(verdict(0.01, 0.02), (Verdict::Slower, true));
    }

    #[test]
    fn more_requests_a_second_are_faster() {
        let higher = read(Interval { lower: 0.02, upper: 0.03 }, 0.01, Better::Higher);
        assert_eq!(higher, (Verdict::Faster, false));
    }

    #[test]
    fn without_a_threshold_only_a_direction_can_be_known() {
        let at = |lower, upper| read(Interval { lower, upper }, f64::NAN, Better::Lower).0;
        assert_eq!(at(1.0, 2.0), Verdict::Slower);
        assert_eq!(at(-1e-9, 1e-9), Verdict::Inconclusive);
    }

    #[test]
    fn each_verdict_has_its_word_and_is_found_by_it() {
        let words = ["faster", "slower", "equivalent", "inconclusive"];
        assert_eq!(Verdict::ALL.map(Verdict::word), words);
        assert_eq!(words.map(Verdict::of), Verdict::ALL.map(Some));
        assert_eq!(Verdict::of("else"), None);
        assert_eq!(Verdict::ALL.map(Verdict::is_directional), [true, true, false, false]);
    }

    #[test]
    fn a_size_is_known_to_half_of_it_and_the_least_is_the_end_nearer_to_zero() {
        let decision = |lower, upper| Decision {
            scale: Scale::Ratio,
            estimate: -0.04,
            interval: Some(Interval { lower, upper }),
            threshold: 0.01,
            clock_step: 0.0,
            verdict: Verdict::Faster,
            possibly_below_threshold: false,
        };
        assert!(decision(-0.05, -0.03).size_is_known() && !decision(-0.07, -0.02).size_is_known());
        assert_eq!(decision(-0.05, -0.03).least(), Some(-0.03));
        assert_eq!(decision(0.02, 0.05).least(), Some(0.02));
        let none = Decision { interval: None, ..decision(0.0, 0.0) };
        assert!(!none.size_is_known() && none.least().is_none());
    }
}
