//! Processor time of ended children.

#![expect(unsafe_code, reason = "getrusage")]

use std::mem::MaybeUninit;

/// Returns the user and system time of all children of this process that were waited for, and of
/// their descendants that were waited for, in seconds.
pub(crate) fn children_cpu_seconds() -> f64 {
    let mut usage: MaybeUninit<libc::rusage> = MaybeUninit::zeroed();
    // SAFETY: the kernel writes into a structure of its own layout; zero bytes are a valid value of
    // it if the call fails.
    let usage = unsafe {
        let _zeros_then = libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
