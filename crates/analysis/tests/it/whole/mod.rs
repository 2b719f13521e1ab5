//! Tests of the crate's public interface. The slow ones are in `simulation`.

mod budgets;
mod invariants;
mod planning;
mod references;
mod series_summaries;
