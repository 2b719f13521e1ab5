//! Seeds that the user did not choose. They only have to differ between runs, and are recorded so
//! that results can be reproduced.

use std::ops::RangeTo;

/// Range of valid seeds, which every JSON reader can represent exactly.
pub(crate) const BELOW: RangeTo<u64> = ..1 << 53;

/// Returns a new seed from the clock's nanoseconds and the process id.
pub(crate) fn fresh() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond() as u64;
    (now ^ (u64::from(std::process::id()) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11
}
