//! Waits until a server is done with what an earlier slice left: requests that nobody waits for any more would delay those of the next slice,
//! and a server would be judged by the order of its slices.

use super::generators::Generators;
use crate::run_error::RunError;
use assay_load::{Failure, Job, Tally};
use assay_measure::interrupt;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long it is waited for, s.
const LONGEST: f64 = 30.0;
/// By how much shorter it is waited for the next time, and the shortest time, s.
const IMPATIENCE: f64 = 6.0;
const SHORTEST: f64 = 1.0;
/// How long between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// A server is itself again when one request takes at most so many times the shortest that one took,
const TIMES: f64 = 2.0;
/// and so much more, s.
const MORE: f64 = 0.005;

/// A side, and its server where it was started here.
pub(super) type Whose = (usize, Option<usize>);

/// What is known of servers between slices.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// The shortest time that one request alone took, s.
    shortest: BTreeMap<Whose, f64>,
    overloaded: BTreeSet<Whose>,
    /// Servers that did not recover in time, with the patience that is left for them, s: one that is dead must not cost half a minute each
    /// time.
    patience: BTreeMap<Whose, f64>,
    /// Slices before which a server was not itself again in time.
    pub still_busy: u32,
}

impl Recovery {
    /// Hears what a slice did to a server.
    pub fn after(&mut self, whose: Whose, tally: &Tally) {
        let given_up = [Failure::Timeout, Failure::ConnectTimeout, Failure::TlsTimeout];
        if given_up.into_iter().any(|failure| tally.failed_as(failure) > 0) {
            self.overloaded.insert(whose);
        }
    }

    /// Waits until a server that was overloaded answers a single request as it did when it was idle. It calls `waits` while it waits.
    /// Returns how much longer than usual its first answer was waited for, s.
    ///
    /// # Errors
    /// When a generator is lost, or the user interrupts.
    pub fn before(
        &mut self,
        whose: Whose,
        job: &Job,
        generators: &mut Generators,
        waits: &mut dyn FnMut(),
    ) -> Result<f64, RunError> {
        let overloaded = self.overloaded.remove(&whose);
        if !overloaded && self.shortest.contains_key(&whose) {
            return Ok(0.0);
        }
        let usual = self.shortest.get(&whose).map_or(f64::INFINITY, |own| TIMES * own + MORE);
        let mut silent: Option<f64> = None;
        let (began, came) = (Instant::now(), interrupt::count());
        loop {
            let longest = self.patience.get(&whose).copied().unwrap_or(LONGEST);
            let left = (longest - began.elapsed().as_secs_f64()).max(0.1);
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
                if took <= TIMES * known + MORE {
                    self.patience.remove(&whose);
                    return Ok(silent.unwrap_or(0.0));
                }
            }
            // A server whose single requests fail is the slice's to report.
            if !overloaded {
                return Ok(0.0);
            }
            let waited = began.elapsed().as_secs_f64();
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
