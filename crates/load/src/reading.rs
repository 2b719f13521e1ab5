//! Files that say what to ask: tables of values, recordings of a browser (HAR), moments to replay. Each is somebody else's, and may hold
//! anything: what can't be used is said with its place.

mod har;
mod replay;
mod values;

pub use har::session_of_har;
pub use replay::{Replayed, replay};
pub use values::values;

/// Why a file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadingError(pub(crate) String);

/// More entries than these can't be meant.
pub(crate) const MOST: usize = 10_000_000;
