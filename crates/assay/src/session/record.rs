//! The file that observations are recorded in as they are measured. When it can't be written any more, measuring goes on.

use assay_data::assay_file::Writer;
use std::fs::File;
use std::path::PathBuf;

/// Where observations are recorded as they are measured.
pub(crate) struct Record {
    /// The file; `None` once writing failed.
    pub writer: Option<Writer<File>>,
    /// Its path.
    pub path: PathBuf,
    /// Why writing failed.
    pub failure: Option<String>,
    /// How many of the samples' findings stand in the file already.
    pub findings_written: usize,
}

impl Record {
    /// Does something with the writer; after the first failure nothing more is written, and measuring goes on.
    pub fn write(&mut self, step: impl FnOnce(&mut Writer<File>) -> std::io::Result<()>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = step(writer) {
            self.failure = Some(error.to_string());
            self.writer = None;
        }
    }
}
