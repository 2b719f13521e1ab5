//! Descriptors of this process that programs which it starts shall not have.

#![expect(unsafe_code, reason = "descriptors of which only the numbers are known")]

use rustix::fd::{BorrowedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};

/// The first after standard input, output and error.
const FIRST: RawFd = 3;

/// Has all that are open from the third on closed where a program is started.
pub(crate) fn close_on_exec() {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return };
    let all = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for own in all.collect::<Vec<RawFd>>().into_iter().filter(|own| *own >= FIRST) {
        // SAFETY: the number is only asked for its flag; one that is closed meanwhile gives an error.
        let borrowed = unsafe { BorrowedFd::borrow_raw(own) };
        let _closed = fcntl_setfd(borrowed, FdFlags::CLOEXEC);
    }
}
