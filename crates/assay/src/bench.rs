//! Measuring suites of benchmarks: the programs of the sides are asked what they hold, tried once, and then run by turns, one
//! process of one benchmark at a time, as [`assay_analysis::design`] says.
//!
//! What to ask and how to read the answer is `assay-harness`'s; whose turn it is, the analysis's; starting and ending processes,
//! `assay-measure`'s. Here these three are joined. No statistics, no screen.

mod asker;
mod benchmarks;
mod catalogue;
mod code;
mod counting;
mod libraries;
mod sides;
mod trial;

pub(crate) use asker::{Asker, Question, Ran};
pub(crate) use benchmarks::Benchmarks;
pub(crate) use catalogue::{Catalogue, Wanted, driver_of};
pub(crate) use counting::{Passes, TIMES};
pub(crate) use libraries::Proof;
pub(crate) use sides::{Build, Side, all_differ, check_differ, named, numbered};
pub(crate) use trial::Trial;
