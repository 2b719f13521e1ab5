//! Kernel settings that forbid inspecting processes.

use super::processes::privileges;
use std::fs;

/// Lowest level of `kernel.perf_event_paranoid` at which unprivileged users may not sample at all
/// (Debian's kernel refuses at 3).
const REFUSED_FROM: i64 = 3;

/// Lowest level of `kernel.perf_event_paranoid` at which unprivileged users may not sample inside
/// the kernel.
const KERNEL_HIDDEN_FROM: i64 = 2;

/// Returns the level of `kernel.perf_event_paranoid` if it forbids this process to sample code in
/// the kernel; otherwise `None`.
pub(crate) fn perf_without_kernel() -> Option<i64> {
    let level = setting("/proc/sys/kernel/perf_event_paranoid")?;
    (level >= KERNEL_HIDDEN_FROM && !privileges().perfmon).then_some(level)
}

/// Returns the level of `kernel.perf_event_paranoid` if it forbids this process to sample at all;
/// otherwise `None`.
pub(crate) fn perf_refused() -> Option<i64> {
    let level = setting("/proc/sys/kernel/perf_event_paranoid")?;
    (level >= REFUSED_FROM && !privileges().perfmon).then_some(level)
}

/// Returns the level of `kernel.yama.ptrace_scope`; `None` if the kernel does not have this
/// setting.
pub(crate) fn ptrace_scope() -> Option<i64> {
    setting("/proc/sys/kernel/yama/ptrace_scope")
}

fn setting(path: &str) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
