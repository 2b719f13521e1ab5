//! Waits until a server has finished the requests left over from an earlier slice. Otherwise,
//! abandoned requests would delay those of the next slice, and the result would depend on the order
//! of the slices.

use super::generators::Generators;
use crate::run_error::RunError;
use assay_load::{Failure, GeneratorJob, Tally};
use assay_measure::interrupt;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Maximum time to wait, in seconds.
const LONGEST: f64 = 30.0;
/// Maximum time to wait, in slice durations. The backlog of a short slice is soon processed.
const LONGEST_IN_SLICES: f64 = 10.0;
/// Divisor that shortens the maximum waiting time after each failure to recover.
const IMPATIENCE: f64 = 6.0;
/// Lower limit of the maximum waiting time, in seconds.
const SHORTEST: f64 = 1.0;
/// Time between two checks.
const PAUSE: Duration = Duration::from_millis(20);
/// A server has recovered once a request takes at most this many times the shortest time of a
/// single request, plus [`MORE`].
const TIMES: f64 = 2.0;
/// Allowance added to [`TIMES`] times the shortest time of a single request, in seconds.
const MORE: f64 = 0.005;

/// Number of consecutive quick answers after which an overloaded server has recovered. A single
/// quick answer may have overtaken older requests, for example on another thread.
const QUICK_ANSWERS: u32 = 3;

/// Index of a side, and the index of its server if that was started by this process.
pub(super) type Whose = (usize, Option<usize>);

/// What is known about the servers between slices.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// The shortest time that a single request took, in seconds.
    shortest: BTreeMap<Whose, f64>,
    overloaded: BTreeSet<Whose>,
    /// Maximum waiting time, in seconds, of servers that did not recover in time. It is shortened
    /// so that a dead server does not cost half a minute in every slice.
    patience: BTreeMap<Whose, f64>,
    /// Number of slices before which a server had not recovered in time.
    pub still_busy: u32,
}

/// Returns the additional time, in seconds, that the slices of one server may take if it hangs: the
/// time limit of its last requests, and the wait for its recovery.
pub(crate) fn longest_hanging(slices: u32, slice_seconds: f64, timeout: f64) -> f64 {
    let longest = longest(slice_seconds);
    f64::from(slices) * (timeout + SHORTEST) + longest * (1.0 + 1.0 / IMPATIENCE)
}

fn longest(slice_seconds: f64) -> f64 {
    LONGEST.min(LONGEST_IN_SLICES * slice_seconds).max(SHORTEST)
}

impl Recovery {
    /// Records whether a slice left a server overloaded.
    pub fn after(&mut self, whose: Whose, tally: &Tally) {
        let given_up = [Failure::Timeout, Failure::ConnectTimeout, Failure::TlsTimeout];
        if given_up.into_iter().any(|failure| tally.failed_as(failure) > 0) {
            self.overloaded.insert(whose);
        }
    }

    /// Waits up to `most` seconds until an overloaded server answers single requests as quickly as
    /// when it was idle. Calls `waits` repeatedly while waiting. Returns by how many seconds the
    /// first answer took longer than usual.
    ///
    /// # Errors
    /// Fails if a generator is lost, or the user interrupts the run.
    pub fn before(
        &mut self,
        whose: Whose,
        job: &GeneratorJob,
        generators: &mut Generators,
        most: f64,
        waits: &mut dyn FnMut(),
    ) -> Result<f64, RunError> {
        let overloaded = self.overloaded.remove(&whose);
        if !overloaded && self.shortest.contains_key(&whose) {
            return Ok(0.0);
        }
        let usual = self.shortest.get(&whose).map_or(f64::INFINITY, |own| TIMES * own + MORE);
        let wanted = if overloaded { QUICK_ANSWERS } else { 1 };
        let (mut silent, mut quick): (Option<f64>, u32) = (None, 0);
        let (began, came) = (Instant::now(), interrupt::count());
        loop {
            let longest = self.patience.get(&whose).copied().unwrap_or(longest(job.seconds));
            let left = (longest.min(most) - began.elapsed().as_secs_f64()).max(0.1);
            let tally = generators.probe(job, left)?;
            if interrupt::count() > came {
                return Err(RunError::Interrupted("between two slices".to_owned()));
            }
            let took = tally.latency.longest_seconds();
            let shortest = self.shortest.get(&whose).copied();
            if tally.answered > 0 {
                silent.get_or_insert((began.elapsed().as_secs_f64() - usual).max(0.0));
                let known = shortest.unwrap_or(took);
                self.shortest.insert(whose, known.min(took));
                quick = if took <= TIMES * known + MORE { quick + 1 } else { 0 };
                if quick == wanted {
                    self.patience.remove(&whose);
                    return Ok(silent.unwrap_or(0.0));
                }
            } else {
                quick = 0;
            }
            // If single requests fail, the slice reports it.
            if !overloaded {
                return Ok(0.0);
            }
            let waited = began.elapsed().as_secs_f64();
            if waited > most {
                // No slice follows, so the server still counts as overloaded.
                self.overloaded.insert(whose);
                return Ok(0.0);
            }
            if waited > longest {
                self.patience.insert(whose, (longest / IMPATIENCE).max(SHORTEST));
                self.still_busy += 1;
                return Ok(silent.unwrap_or((waited - usual).max(0.0)));
            }
            waits();
            sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_a_server_is_in_proportion_to_the_slices() {
        assert_eq!([0.01, 0.5, 5.0].map(longest), [1.0, 5.0, 30.0]);
        // Each slice waits for its own requests; the wait for the server gets shorter.
        assert_eq!(longest_hanging(7, 0.6, 1.0), 14.0 + 6.0 + 1.0);
    }
}
