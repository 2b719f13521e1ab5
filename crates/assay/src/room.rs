//! Asks for a room of our own for temporary files, and says in words why there is none.

use assay_measure::room::{Room, is_full};

/// A directory that is this user's alone, and goes when it is dropped.
///
/// # Errors
/// When the directory for temporary files can't be written.
pub(crate) fn temporary() -> anyhow::Result<Room> {
    Room::temporary().map_err(|(parent, error)| {
        anyhow::anyhow!(
            "{}: {error}; let TMPDIR name a directory for temporary files",
            parent.display()
        )
    })
}

/// What is said behind an error where temporary files have no room: it may be why a program failed that the error names.
pub(crate) fn why_else(error: &anyhow::Error) -> Option<String> {
    let place = std::env::temp_dir();
    let is_news = || !format!("{error:#}").contains("TMPDIR");
    (is_full(&place) && is_news()).then(|| {
        format!(
            "  {} is full, which may be why: let TMPDIR name another directory for temporary files",
            place.display()
        )
    })
}
