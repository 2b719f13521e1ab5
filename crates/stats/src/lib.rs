//! Mathematics on slices of numbers: order statistics, ranks, exact laws, intervals.
//!
//! This crate is the ground floor of `assay`: pure functions of `&[f64]`. It reads no file and no
//! clock, draws random numbers only in [`resampling`] and from seeds that are passed in, and knows
//! nothing of subjects, metrics or verdicts; those belong to the crates above it. Every module names
//! the paper, book or R function that it follows, and `tests/oracle` holds the results to what R
//! answers for the same data.
//!
//! Values must be finite wherever a precondition says so. Values that are not give results without
//! meaning, but never a panic and never an endless loop: checking what comes from outside is the
//! caller's duty, where a file and a line can be named.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

pub mod adjust;
pub mod anytime;
pub mod autocorrelation;
pub mod binomial;
pub mod change_points;
pub mod dependent;
pub mod descriptive;
pub mod groups;
mod interval;
pub mod levels;
pub mod normal;
pub mod order;
pub mod power;
pub mod proportion;
pub mod quantile_difference;
pub mod resampling;
mod selection;
pub mod signed_rank;
pub mod special;
pub mod steady_state;
pub mod student_t;
pub mod suite;
pub mod trend;
pub mod two_sample;

pub use interval::Interval;
