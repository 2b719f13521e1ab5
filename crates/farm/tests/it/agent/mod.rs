//! The agent with a fake server that is controlled by the tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a test may fail, and says what it skips"
)]

mod discover;
mod escapes;
mod fake;
mod jobs;
mod kills;
mod tools;
