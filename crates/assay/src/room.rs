//! Asks for a room of our own for temporary files, and says in words why there is none.

use assay_measure::room::Room;

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
