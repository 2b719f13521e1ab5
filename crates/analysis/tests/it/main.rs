//! Integration tests of this crate, as one program so that it is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

mod builds;
mod discovering;
mod own_source;
mod sessions;
mod simulation;
mod whole;
