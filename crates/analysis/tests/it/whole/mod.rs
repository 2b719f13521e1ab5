//! Tests of the crate's public interface. Slow tests are in `simulation`.

mod budgets;
mod invariants;
mod planning;
mod references;
mod series_summaries;
