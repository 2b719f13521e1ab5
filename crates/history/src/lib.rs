//! The store of recorded runs: what was measured of which revision, on which machine, with all samples.
//!
//! A run is kept whole, as the text of its `.assay` file, deflated; beside it stand small rows for what is asked most: one for each metric
//! of each benchmark, the verdict, the findings. A run is known by its content, so that adding it twice changes nothing, and adding costs
//! the same however much is there. Everything about a run is written in one transaction: it is there whole or not at all, whatever
//! happens meanwhile.
//!
//! A store is a file of SQLite, or for a team a database of PostgreSQL: the same tables and the same statements ([`Place`] says which).
//!
//! It has no clock, knows no repository and decides nothing: times and places of revisions are handed in; what runs come to over the
//! revisions is the business of [`assay_analysis::history`].

mod add;
mod bless;
mod copying;
pub mod db;
mod error;
mod packed;
mod pages;
mod place;
mod project;
mod query;
mod salvage;
#[cfg(feature = "postgresql")]
mod server;
#[cfg(not(feature = "postgresql"))]
#[path = "server_absent.rs"]
mod server;
mod sql;
mod store;

#[cfg(test)]
mod tests;

pub use add::{Added, NewRun};
pub use copying::CopyError;
pub use error::StoreError;
pub use place::{Place, without_password};
pub use project::MachineState;
pub use query::Wanted;
pub use salvage::{Saved, salvage};
pub use store::{Access, Store};
