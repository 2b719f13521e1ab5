//! What a farm knows: whose projects, which versions, on which targets, what came of each; and what is said of it over the wire.
//!
//! [`Store`] keeps it in tables of its own beside those of the history, in a file of SQLite or a database of PostgreSQL: the same statements
//! (`sql.rs`) on either. What is to be done is a queue of jobs (`lease.rs`), each of which ends exactly once, in one transaction with the sums that
//! pages are made of (`ending.rs`).
//!
//! It has no clock (times are handed in, ms since 1970), speaks no HTTP, starts nothing and draws nothing: server, agents, executors and pages are
//! the program's, `assay-farm`. docs/design/010-farm.md has the whole picture.

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

pub use ending::Ended;
pub use error::FarmError;
pub use lease::Swept;
pub use names::{has_pages, plain as check_name};
pub use nodes::Greeted;
pub use read::{Filter, history_project};
pub use stamps::Stamp;
pub use store::{Put, Store};
