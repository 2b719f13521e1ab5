//! The monotonic clock.

use std::sync::OnceLock;
use std::time::Instant;

/// The monotonic clock, ns since it was first read.
pub(crate) fn monotonic_ns() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Processor time that the calling thread has had, ns: not asked for, and taken to be all.
pub(crate) fn thread_cpu_ns() -> u64 {
    monotonic_ns()
}
