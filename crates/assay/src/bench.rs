//! Measures suites of benchmarks. The programs of all sides list their benchmarks, run each of them
//! once as a trial, and then run alternately, one process of one benchmark at a time, in the order
//! that [`assay_analysis::design`] chooses.
//!
//! `assay-harness` makes the requests and reads the answers, the analysis decides which side is
//! next, and `assay-measure` starts and ends processes. This module joins the three. It computes no
//! statistics and draws nothing.

mod asker;
mod benchmarks;
mod catalogue;
mod code;
mod counting;
mod delayed;
mod executed;
mod functions;
mod go_modules;
mod libraries;
mod reached;
mod scripts;
mod sensitivity;
mod sides;
mod tree;
mod trial;
mod turns;

pub(crate) use asker::{Asker, Question, Ran};
pub(crate) use benchmarks::Benchmarks;
pub(crate) use catalogue::{BenchmarkSelection, Catalogue, driver_of};
pub(crate) use code::Codes;
pub(crate) use counting::{Passes, TIMES};
pub(crate) use executed::{Executed, has_same_sources};
pub(crate) use go_modules::module_path;
pub(crate) use libraries::{Proof, check_differ};
pub(crate) use sides::{Build, Side, all_differ, named, numbered};
pub(crate) use trial::Trial;
