//! Facts about the machine: what the standard library knows. The rest is `None`.

pub(crate) use crate::sys::unknown::*;

pub(crate) fn kernel() -> Option<String> {
    None
}

/// The machine's name in the network.
pub(crate) fn hostname() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// Nothing runs commands.
pub(crate) fn runner() -> Option<String> {
    None
}

pub(crate) fn load() -> Option<(f64, u64)> {
    None
}

pub(crate) fn memory_and_swap_bytes() -> (Option<u64>, Option<u64>) {
    (None, None)
}
