//! Asks the system for facts about the machine: what uname(3), getloadavg(3) and sysconf(3) know. The rest is `None`.

#![expect(unsafe_code, reason = "getloadavg and sysconf")]

use crate::runner::RunnerKind;
pub(crate) use crate::sys::unknown::*;

/// The name of the system, and its release.
pub(crate) fn kernel() -> Option<String> {
    let own = rustix::system::uname();
    Some(format!("{} {}", own.sysname().to_str().ok()?, own.release().to_str().ok()?))
}

/// The machine's name in the network.
pub(crate) fn hostname() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// What runs the commands, unless what names it is wrong.
pub(crate) fn runner() -> Option<String> {
    RunnerKind::chosen().ok().map(|kind| kind.to_string())
}

/// The load over one minute; how many tasks run now is not known, and taken for this one and others.
pub(crate) fn load() -> Option<(f64, u64)> {
    let mut loads = [0.0];
    // SAFETY: one number is written into an array of one.
    let written = unsafe { libc::getloadavg(loads.as_mut_ptr(), 1) };
    (written == 1).then(|| (loads[0], loads[0].round() as u64 + 1))
}

/// Memory of the machine, B; of room on the disk nothing is known.
pub(crate) fn memory_and_swap_bytes() -> (Option<u64>, Option<u64>) {
    // SAFETY: both take a number and give one.
    let (pages, size) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let known = |n: libc::c_long| u64::try_from(n).ok().filter(|n| *n > 0);
    (known(pages).zip(known(size)).map(|(pages, size)| pages * size), None)
}

/// The numbers of the processors at work: only how many is known.
pub fn online_cpus() -> Option<Vec<u32>> {
    None
}
