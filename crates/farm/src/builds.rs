//! The data of a farm (owners, projects, versions, targets and the results of builds), and the
//! messages in which programs exchange it.
//!
//! [`Store`] keeps the data in its own tables next to those of the history, in a SQLite file or a
//! PostgreSQL database. The SQL statements (`sql.rs`) are the same for both. Work is a queue of
//! jobs (`lease.rs`). Each job ends exactly once, in one transaction with the update of the counts
//! shown on pages (`ending.rs`).
//!
//! The module has no clock (times are arguments, in ms since 1970), speaks no HTTP, starts no
//! processes and renders nothing. The server, agents, executors and pages are part of the program
//! `assay-farm`. docs/internals/010-farm.md describes the overall design.

mod coded;
mod ending;
mod error;
mod jobs;
mod lease;
pub mod model;
mod names;
mod nodes;
mod order;
mod pages;
mod paging;
pub mod policy;
mod read;
mod secrets;
pub mod shown;
mod sql;
mod stamps;
mod store;
mod things;
mod tokens;
pub mod when;
pub mod wire;

#[cfg(test)]
mod tests;

pub use ending::SubmissionOutcome;
pub use error::FarmError;
pub use lease::SweepResult;
pub use names::{has_pages, plain as check_name};
pub use nodes::Registration;
pub use read::{Filter, history_project};
pub use stamps::Stamp;
pub use store::{Store, StoredThing};
