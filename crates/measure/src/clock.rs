//! The clock whose times are compared between processes and machines.

use crate::sys::clock::monotonic_ns;

/// Returns the time of the monotonic clock in seconds, since an arbitrary origin. Only differences
/// are meaningful between machines.
pub fn now_seconds() -> f64 {
    monotonic_ns() as f64 * 1e-9
}
