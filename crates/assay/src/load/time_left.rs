//! The time budget of a search. The duration of a search depends on the server, so the budget is
//! checked before each slice.

use std::time::{Duration, Instant};

/// A budget that starts with the first slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLeft {
    seconds: f64,
    ends: Option<Instant>,
}

impl TimeLeft {
    /// Creates a budget of this many seconds; `None` means that time is not limited.
    pub fn new(seconds: Option<f64>) -> Self {
        Self { seconds: seconds.unwrap_or(f64::INFINITY), ends: None }
    }

    /// Returns the whole budget in seconds.
    pub fn whole(&self) -> f64 {
        self.seconds
    }

    /// Returns the remaining time in seconds.
    pub fn left(&self) -> f64 {
        let now = Instant::now();
        self.ends.map_or(self.seconds, |ends| (ends.saturating_duration_since(now)).as_secs_f64())
    }

    /// Starts the budget if it has not been started, and returns true if a slice of this duration
    /// fits into the remaining time. The first slice always fits, because without it nothing would
    /// be known.
    pub fn has_room(&mut self, seconds: f64) -> bool {
        match self.ends {
            Some(_) => self.left() >= seconds,
            None => {
                let span = Duration::try_from_secs_f64(self.seconds.max(seconds)).ok();
                self.ends = span.and_then(|span| Instant::now().checked_add(span));
                true
            }
        }
    }

    /// Returns the time at which a slice of this duration is ended even if it is still waiting for
    /// answers. The budget may be exceeded by one slice.
    pub fn breaks_off(&self, seconds: f64) -> Option<Instant> {
        self.ends?.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_slice_may_be_longer_than_the_budget() {
        let mut budget = TimeLeft::new(Some(0.5));
        assert!(budget.has_room(2.0));
        assert!(budget.left() > 1.9 && budget.has_room(1.0) && !budget.has_room(2.5));
        assert!(budget.breaks_off(1.0).is_some_and(|at| at > Instant::now()));
        let mut none = TimeLeft::new(None);
        assert!(none.has_room(1e9) && none.has_room(1e9) && none.breaks_off(1.0).is_none());
    }
}
