//! Keeps descriptors of this process from being inherited by programs that it starts.

#![expect(unsafe_code, reason = "descriptors of which only the numbers are known")]

use rustix::fd::{BorrowedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};

/// First descriptor after standard input, output and error.
const FIRST: RawFd = 3;

/// Sets close-on-exec on all open descriptors from 3 on.
pub(crate) fn close_on_exec() {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return };
    let all = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for own in all.collect::<Vec<RawFd>>().into_iter().filter(|own| *own >= FIRST) {
        // SAFETY: the number is used only to set its flag; a descriptor closed in the meantime
        // gives an error.
        let borrowed = unsafe { BorrowedFd::borrow_raw(own) };
        let _closed = fcntl_setfd(borrowed, FdFlags::CLOEXEC);
    }
}
