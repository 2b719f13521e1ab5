//! Running the test suites of projects: a side is a suite under some settings, one run of it one observation of each of its tests.
//!
//! How a framework is asked and how its answer is read is `assay-suites`'s; whose turn it is, the analysis's; starting and ending processes,
//! `assay-measure`'s. Here these three are joined. No statistics, no screen.

mod asker;
mod live;
pub(crate) mod polluters;
mod side;
mod stopped;
mod suite;
mod warm;

pub(crate) use asker::{Asker, Attending, Limits, Ran, directory_of, prepared, told};
pub(crate) use live::Live;
#[allow(unused_imports, reason = "sides get settings by toggles")]
pub(crate) use side::Setting;
pub(crate) use side::Side;
pub(crate) use suite::{Suite, first_lines, order_of};
pub(crate) use warm::Warm;
