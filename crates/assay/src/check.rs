//! Prepares and runs the measurements of `assay check`: reads the project's settings, finds the
//! revision to compare with and the benchmarks that can be built and run, and measures them with
//! `assay bench` and `assay run`.
//!
//! Nothing is decided here: `analysis::check` combines the verdicts of the measurements.

mod base;
mod config;
mod event;
mod found;
pub(crate) mod hook;
mod measuring;

pub(crate) use base::{Base, find as find_base};
pub(crate) use config::{Config, FILE};
pub(crate) use found::{Program, ProgramGroup, ProjectBenchmarks, line_of};
pub(crate) use measuring::{Measured, Measuring};
