//! Files that exist only in memory.

use std::fs::File;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::io::Errno;

/// Creates an empty file without a path; `name` is only shown in `/proc`. Not inherited on exec.
pub(crate) fn file(name: &str) -> Result<File, Errno> {
    let file = match memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not have the flag for non-executable memory files; later ones may
        // be configured to refuse any other.
        Err(Errno::INVAL) => memfd_create(name, MemfdFlags::CLOEXEC)?,
        other => other?,
    };
    Ok(File::from(file))
}

/// Releases the memory of a part of a file from [`file()`]; that part then reads as zeros, and the
/// length of the file is unchanged.
pub(crate) fn give_back(file: &File, from: u64, length: u64) {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    // If that is refused the memory stays in use until the run ends.
    let _stays = fallocate(file, hole, from, length);
}
