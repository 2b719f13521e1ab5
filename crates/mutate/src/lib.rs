//! The library of `assay mutate`, which divides source files into blocks ([`blocks`]) and generates
//! mutants of source code ([`mutants`]).
//!
//! The library runs nothing, reads no files and prints nothing; the program does all of this. The
//! library exists for the fuzz targets and the integration tests.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

pub mod blocks;
pub mod mutants;
