//! The clock by which machines and processes tell each other when something begins.

use crate::sys::clock::monotonic_ns;

/// Seconds of the monotonic clock, since some moment before now. Of another machine only differences are worth anything.
pub fn now_seconds() -> f64 {
    monotonic_ns() as f64 * 1e-9
}
