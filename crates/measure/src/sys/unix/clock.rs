//! The clock that times runs, and the processor time of the calling thread.

use rustix::time::{ClockId, clock_gettime};

fn nanoseconds(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Returns the time of the monotonic clock, in ns since an arbitrary time in the past.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Returns the processor time used by the calling thread, in ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}
