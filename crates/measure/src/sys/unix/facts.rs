//! Reads facts about the machine from uname(3), getloadavg(3) and sysconf(3). All other facts are
//! `None`.

#![expect(unsafe_code, reason = "getloadavg and sysconf")]

use crate::runner::RunnerKind;
pub(crate) use crate::sys::unknown::*;

/// Returns the name of the system, and its release.
pub(crate) fn kernel() -> Option<String> {
    let own = rustix::system::uname();
    Some(format!("{} {}", own.sysname().to_str().ok()?, own.release().to_str().ok()?))
}

/// Returns the machine's host name.
pub(crate) fn hostname() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// Returns the kind of runner that runs the commands; `None` if the setting that selects it is
/// invalid.
pub(crate) fn runner() -> Option<String> {
    RunnerKind::chosen().ok().map(|kind| kind.to_string())
}

/// Returns the load average over one minute, and an estimate of the number of running tasks, which
/// the system does not report: the rounded load plus this process.
pub(crate) fn load() -> Option<(f64, u64)> {
    let mut loads = [0.0];
    // SAFETY: one number is written into an array of one.
    let written = unsafe { libc::getloadavg(loads.as_mut_ptr(), 1) };
    (written == 1).then(|| (loads[0], loads[0].round() as u64 + 1))
}

/// Returns the size of the machine's memory, in bytes. The size of its swap space is unknown.
pub(crate) fn memory_and_swap_bytes() -> (Option<u64>, Option<u64>) {
    // SAFETY: both take a number and return one.
    let (pages, size) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let known = |n: libc::c_long| u64::try_from(n).ok().filter(|n| *n > 0);
    (known(pages).zip(known(size)).map(|(pages, size)| pages * size), None)
}

/// Returns `None`: only how many processors are online is known, not which.
pub fn online_cpus() -> Option<Vec<u32>> {
    None
}
