//! Mathematics on slices of numbers: order statistics, ranks, exact distributions, intervals.
//!
//! This crate is the foundation of `assay`: pure functions of `&[f64]`. It reads no files and no
//! clock, and contains no notion of subjects, metrics or verdicts, which belong to the crates above
//! it. Random numbers come only from [`resampling::Stream`], with seeds passed in by the caller;
//! they are used by [`bootstrap`], [`change_points`], [`dependent`], [`rank_power`] and [`suite`].
//! [`bootstrap`] and [`rank_power`] use threads, with results that do not depend on their number.
//! Every module names the paper, book or R function that it follows, and `tests/it/oracle` compares
//! the results with R's for the same data.
//!
//! Values must be finite wherever a precondition says so. Other values give meaningless results,
//! but never a panic or an endless loop: callers must check the input, since they can report its
//! file and line.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

pub mod adjust;
pub mod anytime;
pub mod autocorrelation;
pub mod binomial;
pub mod bootstrap;
pub mod change_points;
pub mod chi_squared;
pub mod crossed;
pub mod density;
pub mod dependent;
pub mod descriptive;
pub mod dip;
pub mod f_distribution;
pub mod group_sequential;
pub mod groups;
pub mod independence;
mod interval;
pub mod k_sample;
pub mod kolmogorov;
pub mod levels;
pub mod merged;
pub mod meta_analysis;
pub mod noncentral_t;
pub mod normal;
pub mod normality;
pub mod order;
mod p_values;
pub mod periodic;
pub mod power;
pub mod power_t;
pub mod proportion;
pub mod quantile_difference;
pub mod rank_power;
mod ranks;
pub mod ratio_of_means;
pub mod resampling;
mod selection;
pub mod shapiro_wilk;
pub mod signed_rank;
pub mod signs;
pub mod sorting;
pub mod special;
pub mod steady_state;
pub mod step_place;
pub mod student_t;
pub mod suite;
pub mod summaries;
pub mod t_test;
mod threads;
pub mod trend;
pub mod two_sample;

pub use interval::Interval;
pub use p_values::PValues;
