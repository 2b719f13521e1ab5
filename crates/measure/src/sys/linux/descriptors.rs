//! Descriptors of this process that programs which it starts shall not have.

#![expect(unsafe_code, reason = "a system call that the libraries do not offer")]

use rustix::fd::{BorrowedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};

/// The first after standard input, output and error.
const FIRST: RawFd = 3;
/// `CLOSE_RANGE_CLOEXEC` of `linux/close_range.h`.
const ON_EXEC: libc::c_uint = 4;

/// Has all that are open from the third on closed where a program is started.
pub(crate) fn close_on_exec() {
    // SAFETY: it takes numbers, and changes nothing but a flag of descriptors.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, FIRST as libc::c_uint, libc::c_uint::MAX, ON_EXEC)
    };
    if done == 0 {
        return;
    }
    // Kernels before 5.11.
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let all = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for own in all.collect::<Vec<RawFd>>().into_iter().filter(|own| *own >= FIRST) {
        // SAFETY: the number is only asked for its flag; one that is closed meanwhile gives an error.
        let borrowed = unsafe { BorrowedFd::borrow_raw(own) };
        let _closed = fcntl_setfd(borrowed, FdFlags::CLOEXEC);
    }
}
