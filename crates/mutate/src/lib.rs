//! The library of `assay mutate`: the division of source files into blocks ([`blocks`]), and the
//! mutants of source code ([`mutants`]).
//!
//! The library runs nothing, reads no files and prints nothing; this is done by the program. The
//! library exists for the fuzz targets and the integration tests.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]

pub mod blocks;
pub mod mutants;
