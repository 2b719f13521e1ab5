//! Test suites: what can be learnt about the tests of a project from what their frameworks write.
//!
//! - [`hooks`]: what is loaded into a suite's processes, and writes what happens there;
//! - [`log`]: which test wrote how much into a log, and which lines those are.
//!
//! Pure: bytes in, data out. No process is started, no file opened and no clock read here; nothing is decided or printed.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

pub mod hooks;
pub mod log;
