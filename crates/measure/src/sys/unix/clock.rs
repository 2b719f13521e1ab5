//! The clock that runs are timed by, and the processor time of the calling thread.

use rustix::time::{ClockId, clock_gettime};

fn nanoseconds(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The monotonic clock, ns since some moment before now.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Processor time that the calling thread has had, ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}
