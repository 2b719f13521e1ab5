//! The bracket of a running search for the highest rate: a rate that was sustained, and one that
//! was not.

use assay_report::number;

/// Ratio of missed to sustained rate at which the search ends.
const CLOSE: f64 = 1.04;
/// Factor by which the step grows with each rate tried, and the largest step.
const GROWTH: (f64, f64) = (1.2, 4.0);

/// The two rates between which the capacity lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bracket {
    /// The last sustained rate in requests per second, with its 99 % quantile of latency in
    /// seconds.
    pub held: Option<(f64, f64)>,
    /// The last rate that was not sustained, in requests per second.
    pub missed: Option<f64>,
    /// Factor between successive rates while only one end of the bracket is known.
    step: f64,
}

impl Bracket {
    pub fn new(step: f64) -> Self {
        Self { held: None, missed: None, step }
    }

    /// Returns the rate to try after `rate`; `None` if the search is over. The caller limits the
    /// rate to `most`. Rates below `least` cannot be judged.
    pub fn next(&mut self, rate: f64, most: f64, least: f64) -> Option<f64> {
        let next = match (self.held, self.missed) {
            (Some((held, _)), Some(missed)) if missed / held <= CLOSE => return None,
            (Some((held, _)), Some(missed)) => (held * missed).sqrt(),
            (Some((held, _)), None) if held >= most => return None,
            (Some((held, _)), None) => held * self.step,
            (None, _) if rate < least => return None,
            (None, _) => rate / self.step,
        };
        if self.held.is_none() || self.missed.is_none() {
            // A search that takes this long started far from its result.
            self.step = (self.step * GROWTH.0).min(GROWTH.1);
        }
        Some(next)
    }

    /// Returns the number of rates that are still to be tried, and true if it is exact rather than
    /// the minimum.
    pub fn tries_left(&self) -> (u32, bool) {
        let halvings = |ratio: f64| (ratio.ln() / CLOSE.ln()).log2().ceil().max(1.0) as u32;
        match (self.held, self.missed) {
            (Some((held, _)), Some(missed)) => (halvings(missed / held), true),
            _ => (1 + halvings(self.step), false),
        }
    }

    /// Returns what is known about the capacity, as in `between 400 and 800 requests/s`.
    pub fn words(&self) -> String {
        let rate = |rate: f64| number::count(rate);
        match (self.held, self.missed) {
            (Some((held, _)), Some(missed)) => {
                format!("between {} and {} requests/s", rate(held), rate(missed))
            }
            (Some((held, _)), None) => format!("at least {} requests/s", rate(held)),
            (None, Some(missed)) => format!("below {} requests/s", rate(missed)),
            (None, None) => "unknown".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracket_says_what_is_known_and_how_much_is_left() {
        let known = |held: Option<f64>, missed| Bracket {
            held: held.map(|rate| (rate, 0.01)),
            missed,
            ..Bracket::new(2.0)
        };
        let all =
            [(Some(400.0), Some(800.0)), (Some(800.0), None), (None, Some(50.0)), (None, None)];
        let words = all.map(|(held, missed)| known(held, missed).words());
        assert_eq!(
            words,
            [
                "between 400 and 800 requests/s",
                "at least 800 requests/s",
                "below 50 requests/s",
                "unknown"
            ]
        );
        // 400 to 800: five halvings on a logarithmic scale leave less than 4 %.
        assert_eq!(known(Some(400.0), Some(800.0)).tries_left(), (5, true));
        let mut bracket = known(Some(400.0), Some(800.0));
        let mut tries = 0;
        while let Some(rate) = bracket.next(0.0, 1e6, 0.0) {
            (bracket.missed, tries) = (Some(rate), tries + 1);
        }
        assert_eq!(tries, 5);
        assert_eq!(known(Some(800.0), None).tries_left(), (6, false));
    }
}
