//! The integration tests of this crate, as one program, so that it is linked once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

mod blocks;
mod choosing;
mod compiled;
mod coupling;
mod equivalents;
mod exits;
mod forks_of_ruby;
mod hand;
mod mutate;
mod project;
mod vitest;
