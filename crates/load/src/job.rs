//! The job of a generator: everything about one slice, as plain data that can be sent to another
//! process or machine.

use crate::scenario::Scenario;
use crate::schedule::Arrivals;
use crate::tls::Tls;
use serde::{Deserialize, Serialize};

/// The schedule by which requests are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Open: according to the schedule, regardless of the server.
    Open(Arrivals),
    /// Closed: a fixed number of connections, each of which sends the next request when it is
    /// answered. The server determines the pace.
    Closed {
        /// Number of connections.
        connections: usize,
    },
}

/// The settings of connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionSettings {
    /// Use a new connection for each request (or session).
    pub new: bool,
    /// Maximum number of open connections.
    pub most: usize,
    /// Number of requests sent on a connection before the first is answered (HTTP/1).
    pub pipeline: usize,
    /// Use HTTP/2 with this number of streams per connection; `None` for HTTP/1.1.
    pub http2_streams: Option<usize>,
    /// TLS settings.
    pub tls: Tls,
    /// Time limit for connecting, and for the handshake, in seconds.
    pub connect_timeout: f64,
    /// Time limit for a complete answer after sending the request, in seconds.
    pub timeout: f64,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            new: false,
            most: 10_000,
            pipeline: 1,
            http2_streams: None,
            tls: Tls::default(),
            connect_timeout: 30.0,
            timeout: 30.0,
        }
    }
}

/// Criteria for valid answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Valid statuses; if empty, all below 400.
    pub statuses: Vec<u16>,
    /// Text that the body must contain.
    pub body: Option<String>,
    /// Follow redirections to the same server.
    pub follow: bool,
    /// Keep a digest of every answer ([`Tally::answers`](crate::Tally::answers)); for single
    /// requests that are not measured.
    #[serde(default)]
    pub digest: bool,
}

/// One slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorJob {
    /// The requests.
    pub scenario: Scenario,
    /// The schedule.
    pub load: Load,
    /// Duration of the unmeasured part at the start, in seconds.
    pub settle_seconds: f64,
    /// Duration of the measured part, in seconds.
    pub seconds: f64,
    /// The settings of connections.
    pub connecting: ConnectionSettings,
    /// Criteria for valid answers.
    pub expect: Expect,
    /// Maximum number of single requests that are recorded.
    pub keep_requests: usize,
    /// Index of this generator, from 0, and the number of generators that share the schedule or the
    /// connections.
    pub part: (u64, u64),
}
