//! Keeps files in memory, so that a program that is run repeatedly is not read from the disk again
//! because something else needed memory. Uses mmap(2) and mlock(2), which read the whole file.

#![expect(unsafe_code, reason = "mapping files and locking the pages")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null_mut};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap, munmap};

use super::processes::{Privileges, privileges};

/// A file that stays in memory until this is dropped.
#[derive(Debug)]
pub struct PinnedFile {
    address: NonNull<std::ffi::c_void>,
    length: usize,
}

// SAFETY: the mapping is never read; it is only unmapped, once, by its owner.
unsafe impl Send for PinnedFile {}
// SAFETY: as above; a shared reference gives access only to the length.
unsafe impl Sync for PinnedFile {}

impl PinnedFile {
    /// Returns the size of the file when it was locked, in bytes.
    pub fn bytes(&self) -> usize {
        self.length
    }
}

impl Drop for PinnedFile {
    fn drop(&mut self) {
        // SAFETY: the address and length are those of our own mapping, to which nothing refers. A
        // failure would leave it mapped, which is harmless.
        let _ = unsafe { munmap(self.address.as_ptr(), self.length) };
    }
}

/// Locks files in memory, each independently of the others. For a file that can't be locked, the
/// reason is returned. Contents that are not yet in memory are first read from the disk.
///
/// An error names the limit if it is too low. For a file that is empty or not regular, the error is
/// `InvalidInput`.
pub fn lock_files(paths: &[PathBuf]) -> Vec<(PathBuf, Result<PinnedFile, io::Error>)> {
    paths.iter().map(|path| (path.clone(), lock(path))).collect()
}

fn lock(path: &Path) -> io::Result<PinnedFile> {
    // A plain open of something other than a regular file could block.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let metadata = file.metadata()?;
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
    if !metadata.is_file() {
        return Err(invalid("not a regular file: only those can be locked in memory"));
    }
    if metadata.len() == 0 {
        return Err(invalid("the file is empty: there is nothing to lock"));
    }
    let length =
        usize::try_from(metadata.len()).map_err(|_| invalid("larger than the address space"))?;
    let locked = map(&file, length)?;
    // SAFETY: the range is exactly our own mapping. Locking changes no contents; and if the file
    // shrinks, the pages that are then missing are never accessed.
    match unsafe { mlock(locked.address.as_ptr(), length) } {
        Ok(()) => Ok(locked),
        Err(error) => Err(why_refused(length, error, &privileges())),
    }
}

/// Adds the limit to the error if it may be the reason. Memory that is already locked counts toward
/// the limit, so the length alone does not show whether the limit was exceeded.
fn why_refused(length: usize, error: Errno, privileges: &Privileges) -> io::Error {
    let limited = !privileges.ipc_lock && privileges.memlock_limit < u64::MAX;
    if !limited || !matches!(error, Errno::NOMEM | Errno::PERM | Errno::AGAIN) {
        return error.into();
    }
    let (needed, limit) = (length.div_ceil(1024), privileges.memlock_limit / 1024);
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        format!(
            "locking {needed} KiB exceeds RLIMIT_MEMLOCK ({limit} KiB for all files together): \
             raise `ulimit -l`, or grant CAP_IPC_LOCK"
        ),
    )
}

fn map(file: &File, length: usize) -> io::Result<PinnedFile> {
    // SAFETY: a new mapping at an address that the kernel chooses touches none of our memory, and
    // is never read.
    let address =
        unsafe { mmap(null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file.as_fd(), 0)? };
    let address = NonNull::new(address).expect("a mapping is never at address zero");
    Ok(PinnedFile { address, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_limit_where_there_is_one() {
        let limited = Privileges {
            sys_nice: false,
            sys_admin: false,
            perfmon: false,
            ipc_lock: false,
            rtprio_limit: 0,
            memlock_limit: 64 << 10,
            root: false,
        };
        assert_eq!(
            why_refused(70_000, Errno::NOMEM, &limited).to_string(),
            "locking 69 KiB exceeds RLIMIT_MEMLOCK (64 KiB for all files together): raise \
             `ulimit -l`, or grant CAP_IPC_LOCK"
        );
        let free = Privileges { ipc_lock: true, ..limited };
        let code = |privileges| why_refused(1, Errno::NOMEM, privileges).raw_os_error();
        assert_eq!(code(&free), Some(libc::ENOMEM));
        let other = why_refused(1, Errno::INVAL, &limited);
        assert_eq!(other.raw_os_error(), Some(libc::EINVAL));
    }
}
