//! One request, to see whether a server is there and answers.

use crate::engine::{Hooks, LoadError, generate};
use crate::job::{Job, Load};
use crate::schedule::Arrivals;
use crate::tally::Tally;

/// Makes the first request of a job once, and waits for its answer for at most so many seconds.
///
/// # Errors
/// When it can't begin.
pub fn probe(job: &Job, seconds: f64, stop: &dyn Fn() -> bool) -> Result<Tally, LoadError> {
    let mut job = Job {
        load: Load::Open(Arrivals::Replay { times: vec![0.0] }),
        settle_seconds: 0.0,
        seconds: 1e-3,
        part: (0, 1),
        ..job.clone()
    };
    job.connecting.timeout = seconds;
    job.connecting.connect_timeout = seconds;
    generate(&job, &Hooks { stop, pace: &|_| () })
}
