//! Files that exist only in memory.

use std::fs::File;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::io::Errno;

/// Creates an empty file without a path, which is closed on exec. `name` is shown only in `/proc`.
pub(crate) fn file(name: &str) -> Result<File, Errno> {
    let file = match memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not have the flag for non-executable memory files. Later ones may
        // be configured to refuse files without it.
        Err(Errno::INVAL) => memfd_create(name, MemfdFlags::CLOEXEC)?,
        other => other?,
    };
    Ok(File::from(file))
}

/// Releases the memory of a part of a file created by [`file()`]. That part then reads as zeros,
/// and the length of the file is unchanged.
pub(crate) fn give_back(file: &File, from: u64, length: u64) {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    // If that is refused the memory stays in use until the run ends.
    let _stays = fallocate(file, hole, from, length);
}
