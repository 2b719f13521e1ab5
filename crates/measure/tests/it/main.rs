//! The integration tests of this crate, as one program, so that it is linked once.

mod allocations;
mod code;
mod common;
mod control;
mod counters;
mod deaths;
mod environment;
mod guard;
mod kept;
mod machine;
mod runs;
mod workload;
