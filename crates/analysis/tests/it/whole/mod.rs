//! The crate from outside, as one program, so that it is linked once. What takes long is
//! `simulation.rs`.

mod budgets;
mod invariants;
mod planning;
mod references;
mod series_summaries;
