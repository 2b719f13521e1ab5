//! The integration tests of this crate as one program, so that it is linked only once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail loudly, and says when it is skipped"
)]

#[path = "../../../assay/tests/it/browser/mod.rs"]
mod browser;
mod calibration;
mod charts;
mod check;
mod common;
mod describe;
mod doctor;
mod documents;
mod farm;
mod loads;
mod mutation;
mod planning;
mod profiles;
mod progress;
mod properties;
mod protocol;
mod replication;
mod screens;
mod sentences;
mod suites;
mod test_suites;
