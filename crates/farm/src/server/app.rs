//! The state shared by all requests of the server.

use super::hosts::Hosts;
use super::limits::Limits;
use super::pool::Pool;
use super::request::Context;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// The server's state, shared by all requests.
pub(crate) struct App {
    pub context: Arc<Context>,
    pub reads: Pool,
    pub writes: Pool,
    pub slow: Pool,
    pub hosts: Hosts,
    /// True if reading requires no token.
    pub is_public: bool,
    pub tokens: Limits<i64>,
    pub strangers: Limits<IpAddr>,
    pub followers: Arc<Semaphore>,
    /// Becomes true when the server stops.
    pub ending: watch::Receiver<bool>,
}
