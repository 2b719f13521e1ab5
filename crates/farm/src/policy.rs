//! Every number of the server that is a judgement: how long, how much, how often.

use std::time::Duration;

/// What a lease is without another word.
pub(crate) const LEASE: Duration = Duration::from_secs(60);
/// Heartbeats within a lease: one may be lost, and another late.
pub(crate) const BEATS: u32 = 4;
/// What an agent waits for that was given nothing.
pub(crate) const ASK: Duration = Duration::from_secs(2);
/// Bytes of a log that are kept.
pub(crate) const LOG: u64 = 16 << 20;
/// Bytes of a log in one request, and in one answer.
pub(crate) const LOG_PIECE: usize = 4 << 20;
/// Bytes of a file of samples.
pub(crate) const SAMPLES: usize = 64 << 20;
/// Bytes of any other request.
pub(crate) const BODY: usize = 1 << 20;
/// Requests a second of one token, and how many may come at once.
pub(crate) const RATE: f64 = 50.0;
/// How many seconds' worth may come at once.
pub(crate) const BURST: f64 = 4.0;
/// Requests a second without a token that is known, of one address: to guess one is hopeless, to try costs others.
pub(crate) const STRANGERS: f64 = 10.0;
/// Connections at a time.
pub(crate) const CONNECTIONS: usize = 4_096;
/// Those who follow a log at a time.
pub(crate) const FOLLOWERS: usize = 256;
/// How often it is looked whether a log that is followed has grown.
pub(crate) const LOOK: Duration = Duration::from_millis(250);
/// What the head of a request may take, and each piece of its body.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// What requests may take that are answered when the server is to end.
pub(crate) const ENDING: Duration = Duration::from_secs(10);
/// How often leases are looked at that nobody prolonged.
pub(crate) const SWEEP: Duration = Duration::from_secs(1);
/// Threads that read the store.
pub(crate) const READERS: usize = 3;
/// Threads that write a server's; a file has one writer.
pub(crate) const WRITERS: usize = 4;
/// Requests that wait for a thread; more are told to come again.
pub(crate) const WAITING: usize = 2_048;
/// Bytes of answers that are kept to be given again while what they are made of is as it was.
pub(crate) const KEPT: usize = 64 << 20;
/// Bytes of a body that is too large which are taken and thrown away, and for how long: so that whoever sends them hears why before the line is cut.
pub(crate) const THROWN_AWAY: usize = 32 << 20;
/// How long.
pub(crate) const THROWING: Duration = Duration::from_secs(2);
