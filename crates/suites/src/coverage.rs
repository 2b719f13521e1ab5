//! Records which parts of a project each test uses, and selects the tests affected by a change.
//!
//! A [`Cutter`] supplied by the caller divides a source file into [`Blocks`], which are identified
//! by their content. The grammars that a cutter needs are large, so few programs include them
//! (crate `assay-mutate`). A [`Map`] has, for each test, the checksums of the blocks it entered and
//! of the files it opened. [`choose`] compares them with the current files of the [`Project`]. The
//! map is kept in a [`Store`]. docs/internals/007-watching.md describes what is recorded and what
//! is not.
//!
//! Nothing is run, traced or printed here. The caller provides the observations of a run
//! ([`assay_data::seen`]).
#![cfg_attr(
    not(feature = "store"),
    allow(dead_code, reason = "names are numbered for the store alone")
)]

mod blocks;
mod choose;
mod extent;
mod language;
mod map;
mod project;
mod rule;
pub mod rules;
mod started;
#[cfg(feature = "store")]
mod store;
mod taking;
pub mod wire;

pub use blocks::{ABSENT, Block, Blocks, Cutter, Sum, UNKNOWN, lines, sum, sum_of};
pub use choose::{ChangedPaths, Choice, SelectedTest, SelectionReason, choose};
pub use language::Language;
pub use map::{CompletedTest, Map, ProjectSnapshot, TestRecord, Use, UseKind};
pub use project::{FileRecord, FileState, NOT_WRITTEN, Project, Stamp};
pub use rule::Rule;
#[cfg(feature = "store")]
pub use store::{Store, StoreError};
