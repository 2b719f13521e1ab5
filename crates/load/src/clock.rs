//! The only clock of a generator: the kernel's monotonic clock, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time in nanoseconds since an unspecified moment in the past.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Converts seconds to nanoseconds; negative values and NaN become 0.
pub(crate) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round().max(0.0) as u64
}
