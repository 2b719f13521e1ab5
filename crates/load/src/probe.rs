//! A single request that checks whether a server responds.

use crate::job::{GeneratorJob, Load};
use crate::schedule::Arrivals;

/// Returns a job that sends the first request of another job once and waits for its answer for at
/// most `seconds`.
pub fn probe(job: &GeneratorJob, seconds: f64) -> GeneratorJob {
    let mut probe = GeneratorJob {
        load: Load::Open(Arrivals::Replay { times: vec![0.0] }),
        settle_seconds: 0.0,
        seconds: 1e-3,
        keep_requests: 0,
        part: (0, 1),
        ..job.clone()
    };
    probe.connecting.timeout = seconds;
    probe.connecting.connect_timeout = seconds;
    probe
}
