//! An interval of real numbers, used by this crate for all uncertainties.
//!
//! It consists of two ends; the confidence is not stored.

/// A closed interval from `lower` to `upper`; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end, at most `upper`.
    pub lower: f64,
    /// The upper end, at least `lower`.
    pub upper: f64,
}

impl Interval {
    /// The whole real line.
    pub const UNBOUNDED: Interval = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// Returns true if `value` is between the ends, both included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Half of the distance between the ends; infinite if an end is.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.upper - self.lower) / 2.0
    }

    /// The smallest interval that contains both.
    #[must_use]
    pub fn covering(&self, other: Interval) -> Interval {
        Interval { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }

    /// Returns true if both ends are finite.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.lower.is_finite() && self.upper.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_contains_its_ends_and_nothing_beyond() {
        let interval = Interval { lower: -1.0, upper: 2.0 };
        assert!(interval.contains(-1.0) && interval.contains(2.0) && interval.contains(0.0));
        assert!(!interval.contains(2.1) && !interval.contains(f64::NAN));
        assert_eq!(interval.half_width(), 1.5);
        assert!(interval.is_bounded());
        let both = interval.covering(Interval { lower: 0.0, upper: 3.0 });
        assert_eq!(both, Interval { lower: -1.0, upper: 3.0 });
    }

    #[test]
    fn the_unbounded_interval_contains_everything_finite() {
        assert!(Interval::UNBOUNDED.contains(f64::MAX) && Interval::UNBOUNDED.contains(f64::MIN));
        assert!(!Interval::UNBOUNDED.is_bounded());
        assert_eq!(Interval::UNBOUNDED.half_width(), f64::INFINITY);
    }
}
