//! Creates a private temporary directory, and explains a failure.

use assay_measure::room::Room;

/// Returns a directory that only this user can access, removed on drop.
///
/// # Errors
/// If the directory for temporary files is not writable.
pub(crate) fn temporary() -> anyhow::Result<Room> {
    Room::temporary().map_err(|(parent, error)| {
        anyhow::anyhow!(
            "{}: {error}; let TMPDIR name a directory for temporary files",
            parent.display()
        )
    })
}
