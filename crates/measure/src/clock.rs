//! The clock used to relate times between processes and machines.

use crate::sys::clock::monotonic_ns;

/// Returns seconds of the monotonic clock, since an arbitrary origin. On another machine only
/// differences are meaningful.
pub fn now_seconds() -> f64 {
    monotonic_ns() as f64 * 1e-9
}
