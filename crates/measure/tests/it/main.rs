//! The integration tests of this crate as one program, so that it is linked only once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

mod allocations;
mod code;
mod common;
mod control;
mod counters;
mod deaths;
mod environment;
mod escapes;
mod guard;
mod kept;
mod machine;
mod runs;
mod workload;
