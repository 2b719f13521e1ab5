//! The integration tests of this crate, as one program so that it is linked only once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

mod frames;
mod hostile;
mod hostile_http2;
mod http2;
mod nginx;
mod servers;
mod support;
