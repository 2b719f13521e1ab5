//! Input files: tables of values, browser recordings (HAR), times to replay. They come from other
//! programs and may contain anything; errors include the position.

mod har;
mod replay;
mod values;

pub use har::session_of_har;
pub use replay::{Replayed, replay};
pub use values::values;

/// The error for a file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadingError(pub(crate) String);

/// Maximum number of entries; more are considered a mistake.
pub(crate) const MOST: usize = 10_000_000;
