//! Creates a private temporary directory, and explains failures that a full one may have caused.

use crate::output;
use assay_data::system_error::reason;
use assay_measure::room::{Room, is_full};

/// Creates a temporary directory that only this user can access, and that is removed on drop.
///
/// # Errors
/// Fails if the directory for temporary files is not writable.
pub(crate) fn temporary() -> anyhow::Result<Room> {
    Room::temporary().map_err(|(parent, error)| {
        anyhow::anyhow!(
            "{}: {}; set TMPDIR to a directory for temporary files",
            parent.display(),
            reason(&error)
        )
    })
}

/// Returns a remark to print after an error if the directory for temporary files is full, because
/// that may be why a program failed.
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
