//! The sample file (`.assay`, version 1): JSON Lines, one record per line, appended while
//! measuring.
//!
//! The format is specified in `docs/reference/sample-file.md`; this module is its only
//! implementation. [`Writer`] appends records to any byte sink; [`read`] turns a file into
//! [`Samples`](crate::Samples), one line at a time. A crash loses at most the observation being
//! written: its incomplete line is dropped on reading, with a finding.
//!
//! Not handled here: where files are stored, which ones are deleted, and what the numbers mean.

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

/// Version of the format that this module reads and writes.
pub const VERSION: u64 = 1;
