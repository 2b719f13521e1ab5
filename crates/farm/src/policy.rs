//! Tunable constants of the server: durations, sizes and rates.

use std::time::Duration;

/// Default duration of a lease, after which a job is given to another agent unless its agent renews
/// the lease.
pub(crate) const LEASE: Duration = Duration::from_secs(60);
/// Number of heartbeats within a lease, so that one can be lost and another one late.
pub(crate) const BEATS: u32 = 4;
/// Default interval at which an agent without a job asks for one.
pub(crate) const ASK: Duration = Duration::from_secs(2);
/// Maximum size of a log, bytes.
pub(crate) const LOG: u64 = 16 << 20;
/// Maximum number of bytes of a log in one request or answer.
pub(crate) const LOG_PIECE: usize = 4 << 20;
/// Maximum size of a file of samples, bytes.
pub(crate) const SAMPLES: usize = 64 << 20;
/// Maximum size of any other request, bytes.
pub(crate) const BODY: usize = 1 << 20;
/// Default maximum number of requests per second with one token.
pub(crate) const RATE: f64 = 50.0;
/// Capacity of a rate limit, in seconds' worth of requests.
pub(crate) const BURST: f64 = 4.0;
/// Maximum requests per second without a valid token from one address. Guessing a token is
/// hopeless, but the attempts slow down other clients.
pub(crate) const STRANGERS: f64 = 10.0;
/// Maximum number of simultaneous connections.
pub(crate) const CONNECTIONS: usize = 4_096;
/// Maximum number of clients that follow logs at the same time.
pub(crate) const FOLLOWERS: usize = 256;
/// Interval between checks for new output in a followed log.
pub(crate) const LOOK: Duration = Duration::from_millis(250);
/// Time limit for receiving the head of a request, and for receiving each piece of its body.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Time limit for completing requests in progress when the server stops.
pub(crate) const ENDING: Duration = Duration::from_secs(10);
/// Interval between checks for expired leases.
pub(crate) const SWEEP: Duration = Duration::from_secs(1);
/// Number of threads that read from the store.
pub(crate) const READERS: usize = 3;
/// Number of threads that write to a PostgreSQL store. A store in a file has a single writer.
pub(crate) const WRITERS: usize = 4;
/// Maximum number of requests that wait for a thread. Further requests are refused with the advice
/// to retry later.
pub(crate) const WAITING: usize = 2_048;
/// Maximum total size of cached answers, bytes.
pub(crate) const KEPT: usize = 64 << 20;
/// Number of bytes of an oversized body that are read and discarded, so that the client can receive
/// the answer before the connection is closed.
pub(crate) const THROWN_AWAY: usize = 32 << 20;
/// Time limit for reading and discarding an oversized body.
pub(crate) const THROWING: Duration = Duration::from_secs(2);
