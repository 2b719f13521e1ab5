//! Runs the test suites of projects: a side is a suite under some settings, and one run of it is
//! one observation of each of its tests.
//!
//! `assay-suites` knows how to ask a framework and read its answer, the analysis decides whose turn
//! it is, and `assay-measure` starts and ends processes; this module joins the three. It computes
//! no statistics and draws nothing.

mod asker;
mod live;
pub(crate) mod polluters;
mod ran;
mod side;
mod stopped;
mod suite;
mod warm;

pub(crate) use asker::{Asker, Attending, Limits, directory_of, prepared, told};
pub(crate) use live::{Live, first_lines, key_lines};
pub(crate) use ran::Ran;
#[allow(unused_imports, reason = "sides get settings by toggles")]
pub(crate) use side::Setting;
pub(crate) use side::Side;
pub(crate) use suite::{Suite, order_of};
pub(crate) use warm::Warm;
