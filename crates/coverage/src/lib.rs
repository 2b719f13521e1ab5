//! What each test was seen to use of a project, and which tests a change touches.
//!
//! A source file is cut into [`Blocks`] that are known by what they say, by a [`Cutter`] that is handed in: the grammars are large, and few carry
//! them (`assay-blocks`). A [`Map`] has for each test the checksums of the blocks that it
//! entered, and of the files that it opened; [`choose`] holds them against what the files of the [`Project`] say now. The map is kept in a
//! `Store`. docs/design/007-watching.md says what is seen and what is not.
//!
//! Nothing is run here, nobody is watched, and nothing is printed. What a run saw is handed in ([`assay_data::seen`]).
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")
)]
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
pub use choose::{Changed, Choice, Chosen, Why, choose};
pub use language::Language;
pub use map::{Before, Ended, How, Known, Map, Use};
pub use project::{Kept, NOT_WRITTEN, Now, Project, Stamp};
pub use rule::Rule;
#[cfg(feature = "store")]
pub use store::{Store, StoreError};
