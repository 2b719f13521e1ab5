//! Files that are nowhere but in memory.

use std::fs::File;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::io::Errno;

/// A new, empty file without a path; `name` is only what `/proc` shows. Not inherited on exec.
pub(crate) fn file(name: &str) -> Result<File, Errno> {
    let file = match memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not know that a memory file may be meant never to be executed;
        // later ones may be told to refuse any other.
        Err(Errno::INVAL) => memfd_create(name, MemfdFlags::CLOEXEC)?,
        other => other?,
    };
    Ok(File::from(file))
}

/// Gives back the memory of a part of such a file; what lies there reads as zeros then, and the file is as long as before.
pub(crate) fn give_back(file: &File, from: u64, length: u64) {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    // Where that is refused the memory stays in use until the run ends.
    let _stays = fallocate(file, hole, from, length);
}
