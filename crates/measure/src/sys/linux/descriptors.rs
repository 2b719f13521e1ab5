//! Keeps descriptors of this process from being inherited by programs that it starts.

#![expect(unsafe_code, reason = "a system call that the libraries do not offer")]

use rustix::fd::{BorrowedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};

/// First descriptor after standard input, output and error.
const FIRST: RawFd = 3;
/// `CLOSE_RANGE_CLOEXEC` from `linux/close_range.h`.
const ON_EXEC: libc::c_uint = 4;

/// Sets close-on-exec on all open descriptors from 3 on.
pub(crate) fn close_on_exec() {
    // SAFETY: the call takes numbers, and changes only a flag of descriptors.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, FIRST as libc::c_uint, libc::c_uint::MAX, ON_EXEC)
    };
    if done == 0 {
        return;
    }
    // Kernels before 5.11 do not support the flag.
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let all = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for own in all.collect::<Vec<RawFd>>().into_iter().filter(|own| *own >= FIRST) {
        // SAFETY: the number is used only to set its flag; a descriptor closed in the meantime
        // gives an error.
        let borrowed = unsafe { BorrowedFd::borrow_raw(own) };
        let _closed = fcntl_setfd(borrowed, FdFlags::CLOEXEC);
    }
}
