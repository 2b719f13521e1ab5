//! A load generator for HTTP: requests that are due by a schedule, whatever the server does, and what came of each.
//!
//! A [`Job`] says all of one slice: what is asked, when, over which connections, and what must come. [`generate`] does it and gives a
//! [`Tally`]: counts, and histograms that add up exactly over generators. There are no statistics here, and nothing is printed.

mod clock;
mod connection;
mod engine;
mod failure;
mod http2;
mod job;
mod probe;
mod raw;
mod reading;
mod response;
mod scenario;
mod schedule;
mod socket;
mod tally;
mod target;
mod tls;

pub use engine::{Hooks, LoadError, Pace, generate};
pub use failure::Failure;
pub use job::{Connecting, Expect, Job, Load};
pub use probe::probe;
pub use raw::Raw;
pub use reading::{ReadingError, Replayed, replay, session_of_har, values};
pub use response::answers_in;
pub use scenario::{Request, Scenario, ScenarioError};
pub use schedule::Arrivals;
pub use tally::{Connections, Second, Tally};
pub use target::{Target, TargetError, without_user};
pub use tls::{Handshakes, Tls, TlsError, Version};
