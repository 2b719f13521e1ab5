//! The one clock of a generator: the kernel's monotonic one, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since some moment before the machine started to run this program.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Seconds as nanoseconds; what is negative or no number is none.
pub(crate) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round().max(0.0) as u64
}
