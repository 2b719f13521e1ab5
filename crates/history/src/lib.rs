//! The store of recorded runs: all samples, with the measured revision and the machine.
//!
//! A run is stored as a whole, as the compressed text of its `.assay` file. Small rows alongside it
//! serve the most frequent queries: one for each metric of each benchmark, the verdict, and the
//! findings. A run is identified by its contents, so that adding it twice changes nothing, and the
//! cost of adding does not depend on the size of the store. Everything about a run is written in
//! one transaction, so it is stored completely or not at all, even after a crash.
//!
//! A store is an SQLite file or, for a team, a PostgreSQL database, with the same tables and
//! statements (see [`StoreLocation`]).
//!
//! The store uses neither a clock nor a repository and makes no decisions: the caller supplies
//! times and the positions of revisions. Analyzing runs across revisions is the task of
//! [`assay_analysis::history`]. [`site`] generates the pages of a store.

mod add;
mod bless;
mod copying;
pub mod db;
mod error;
mod location;
mod packed;
mod pages;
mod project;
mod query;
mod salvage;
#[cfg(feature = "postgresql")]
mod server;
#[cfg(not(feature = "postgresql"))]
#[path = "server_absent.rs"]
mod server;
pub mod site;
mod sql;
mod store;
mod trouble;
mod value;

#[cfg(test)]
mod tests;

pub use add::{Added, NewRun};
pub use copying::CopyError;
pub use error::StoreError;
pub use location::{StoreLocation, without_password};
pub use project::MachineState;
pub use query::SeriesSelection;
pub use salvage::{SalvagedStore, salvage};
pub use store::{Access, Store};
