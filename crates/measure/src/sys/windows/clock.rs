//! The monotonic clock.

use std::sync::OnceLock;
use std::time::Instant;

/// Returns the time of the monotonic clock, in ns since it was first read.
pub(crate) fn monotonic_ns() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the processor time of the calling thread, in ns. It is not measured; the thread is
/// assumed to have been running all the time.
pub(crate) fn thread_cpu_ns() -> u64 {
    monotonic_ns()
}
