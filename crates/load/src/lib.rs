//! A load generator for HTTP: sends requests according to a schedule, regardless of the server's
//! pace, and records the outcome of each.
//!
//! A [`GeneratorJob`] describes one slice completely: the requests, their schedule, the connections
//! and the expected answers. [`generate`] runs it and returns a [`Tally`]: counts and histograms,
//! which can be added up exactly across generators. This crate computes no statistics and prints
//! nothing.
#![cfg_attr(
    not(feature = "generator"),
    allow(dead_code, reason = "readers have what only the generator asks of them")
)]

mod clock;
#[cfg(feature = "generator")]
mod connection;
#[cfg(feature = "generator")]
mod engine;
mod failure;
#[cfg(feature = "generator")]
mod http2;
#[cfg(feature = "generator")]
mod job;
#[cfg(feature = "generator")]
mod probe;
#[cfg(feature = "generator")]
mod raw;
mod reading;
mod response;
mod scenario;
#[cfg(feature = "generator")]
mod schedule;
#[cfg(feature = "generator")]
mod socket;
#[cfg(feature = "generator")]
mod tally;
mod target;
#[cfg(feature = "generator")]
mod tls;

#[cfg(feature = "generator")]
pub use engine::{Hooks, LoadError, Pace, generate};
pub use failure::Failure;
#[cfg(feature = "generator")]
pub use job::{ConnectionSettings, Expect, GeneratorJob, Load};
#[cfg(feature = "generator")]
pub use probe::probe;
#[cfg(feature = "generator")]
pub use raw::Raw;
pub use reading::{ReadingError, Replayed, replay, session_of_har, values};
pub use response::answers_in;
pub use scenario::{Request, Scenario, ScenarioError};
#[cfg(feature = "generator")]
pub use schedule::Arrivals;
#[cfg(feature = "generator")]
pub use tally::{AnswerDigest, Connections, Second, Tally};
pub use target::{Target, TargetError, without_user};
#[cfg(feature = "generator")]
pub use tls::{Handshakes, Tls, TlsError, Version};
