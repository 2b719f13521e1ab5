//! Waits for a child, and returns its resource usage: wait4(2), which is the same on Linux, macOS
//! and the BSDs. The peak resident memory of this process comes from getrusage(2), which uses the
//! same structure.

#![expect(unsafe_code, reason = "wait4 and getrusage")]

use std::io;
use std::mem::MaybeUninit;

/// Unit of `ru_maxrss`, in bytes: 1024 everywhere except on macOS.
const MEMORY_UNIT: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };

/// A state change of a child.
#[derive(Debug)]
pub(crate) enum Change {
    /// The child ended, with this wait status (`wait(2)`) and this resource usage.
    Ended(i32, Usage),
    /// The child was stopped by this signal.
    Stopped(i32),
    /// The child was continued.
    Continued,
}

/// Resource usage of a process, including that of its descendants that were waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) block_in: u64,
    pub(crate) block_out: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

/// Waits for a state change of a child that has not been reaped. Signals to this process do not end
/// the wait.
///
/// # Errors
///
/// Returns the system's error, for example if the child does not exist.
pub(crate) fn wait(child: libc::pid_t) -> io::Result<Change> {
    let mut status = 0;
    let mut usage: MaybeUninit<libc::rusage> = MaybeUninit::zeroed();
    let all = libc::WUNTRACED | libc::WCONTINUED;
    loop {
        // SAFETY: the kernel writes an integer and a structure of its own layout, both of which
        // live until the call returns.
        let waited = unsafe { libc::wait4(child, &raw mut status, all, usage.as_mut_ptr()) };
        if waited == child {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFCONTINUED(status) {
        return Ok(Change::Continued);
    }
    if libc::WIFSTOPPED(status) {
        return Ok(Change::Stopped(libc::WSTOPSIG(status)));
    }
    // SAFETY: zero bytes are a valid value of the structure, and the kernel has overwritten them.
    Ok(Change::Ended(status, Usage::of(unsafe { usage.assume_init_ref() })))
}

/// Returns the peak resident memory of this process, in bytes.
pub(crate) fn own_peak_memory_bytes() -> u64 {
    let mut usage: MaybeUninit<libc::rusage> = MaybeUninit::zeroed();
    // SAFETY: as in `wait`; zero bytes are a valid value if the call fails.
    unsafe {
        let _zeros_then = libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        Usage::of(usage.assume_init_ref()).max_rss_bytes
    }
}

impl Usage {
    fn of(usage: &libc::rusage) -> Self {
        let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Self {
            user_us: us(usage.ru_utime),
            system_us: us(usage.ru_stime),
            max_rss_bytes: usage.ru_maxrss as u64 * MEMORY_UNIT,
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            block_in: usage.ru_inblock as u64,
            block_out: usage.ru_oublock as u64,
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
        }
    }
}
