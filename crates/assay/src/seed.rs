//! Seeds that nobody chose. They only have to differ from run to run; they are recorded, so that whatever they led to can be had again.

use std::ops::RangeTo;

/// Seeds stay below this, so that every JSON reader keeps them.
pub(crate) const BELOW: RangeTo<u64> = ..1 << 53;

/// A new seed: from the clock's nanoseconds and the process.
pub(crate) fn fresh() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond() as u64;
    (now ^ (u64::from(std::process::id()) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11
}
