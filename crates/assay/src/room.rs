//! Creates a private temporary directory, and explains a failure.

use crate::output;
use assay_data::system_error::reason;
use assay_measure::room::{Room, is_full};

/// Returns a directory that only this user can access, removed on drop.
///
/// # Errors
/// If the directory for temporary files is not writable.
pub(crate) fn temporary() -> anyhow::Result<Room> {
    Room::temporary().map_err(|(parent, error)| {
        anyhow::anyhow!(
            "{}: {}; set TMPDIR to a directory for temporary files",
            parent.display(),
            reason(&error)
        )
    })
}

/// Returns a remark to print after an error if the directory for temporary files is full, since that
/// may be why the program named by the error failed.
pub(crate) fn why_else(error: &anyhow::Error) -> Option<String> {
    let place = std::env::temp_dir();
    let is_news = || !output::told(error).contains("TMPDIR");
    (is_full(&place) && is_news()).then(|| {
        format!(
            "  {} is full, which may be why: set TMPDIR to another directory for temporary files",
            place.display()
        )
    })
}
