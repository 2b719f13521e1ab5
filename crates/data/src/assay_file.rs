//! The sample file (`.assay`, version 1): JSON Lines, one record a line, appended as it is measured.
//!
//! The format is specified in `docs/reference/sample-file.md`; this folder is its one implementation. [`Writer`] appends
//! records to any byte sink; [`read`] turns a file into [`Samples`](crate::Samples), one line at a time. A crash loses at
//! most the observation in flight: what is left of its line is dropped on reading, with a finding.
//!
//! Not its task: where files are kept, which of them are deleted, and what the numbers mean.

mod number;
mod read;
mod record;
mod resume;
mod write;

#[cfg(test)]
pub(crate) mod any;
#[cfg(test)]
mod tests;

pub use crate::finding::shared::TRUNCATED_FILE;
pub(crate) use number::push_number;
pub(crate) use read::read_input;
pub use read::{MAX_METRICS, read, read_from};
pub use resume::resume;
pub use write::{Header, Writer, write, write_without_sources};

/// The version of the format that is written and read here.
pub const VERSION: u64 = 1;
