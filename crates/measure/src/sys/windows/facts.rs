//! Facts about the machine from the standard library. All other facts are `None`.

pub(crate) use crate::sys::unknown::*;

pub(crate) fn kernel() -> Option<String> {
    None
}

/// Returns the machine's host name.
pub(crate) fn hostname() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// Returns `None`: commands are not run on this system.
pub(crate) fn runner() -> Option<String> {
    None
}

pub(crate) fn load() -> Option<(f64, u64)> {
    None
}

pub(crate) fn memory_and_swap_bytes() -> (Option<u64>, Option<u64>) {
    (None, None)
}
