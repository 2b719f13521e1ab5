//! What a generator is asked to do: everything of one slice, as plain data that can go to another process or machine.

use crate::scenario::Scenario;
use crate::schedule::Arrivals;
use crate::tls::Tls;
use serde::{Deserialize, Serialize};

/// Which requests come when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Open: when the schedule says, whatever the server does.
    Open(Arrivals),
    /// Closed: so many connections, each of which asks again once it is answered. The server sets the pace.
    Closed {
        /// How many at once.
        connections: usize,
    },
}

/// How connections are made and used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connecting {
    /// A new one for each request (or session).
    pub new: bool,
    /// Most that are open at once.
    pub most: usize,
    /// How many requests are sent on one before the first is answered (HTTP/1).
    pub pipeline: usize,
    /// HTTP/2, with so many streams on a connection; `None`: HTTP/1.1.
    pub http2_streams: Option<usize>,
    /// TLS.
    pub tls: Tls,
    /// Longest time to a connection, and to the end of its handshake, s.
    pub connect_timeout: f64,
    /// Longest time to the end of an answer, s, from the sending.
    pub timeout: f64,
}

impl Default for Connecting {
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

/// Which answers are taken for answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// Statuses; none: below 400.
    pub statuses: Vec<u16>,
    /// What the body has to hold.
    pub body: Option<String>,
    /// Whether redirections on the same server are followed.
    pub follow: bool,
}

/// One slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What is asked.
    pub scenario: Scenario,
    /// When.
    pub load: Load,
    /// Seconds at the start that don't count.
    pub settle_seconds: f64,
    /// Seconds that count.
    pub seconds: f64,
    /// Over which connections.
    pub connecting: Connecting,
    /// What must come.
    pub expect: Expect,
    /// Single requests that are kept, at most.
    pub keep_requests: usize,
    /// Which generator this is, from 0, of how many that share the schedule or the connections.
    pub part: (u64, u64),
}
