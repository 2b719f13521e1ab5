//! The clock that the launcher uses, and the processor time of the calling thread and of other
//! processes.

#![expect(
    unsafe_code,
    reason = "the clock of another process's processor time, which rustix does not name"
)]

use rustix::time::{ClockId, clock_gettime};

fn nanoseconds(clock: ClockId) -> u64 {
    let t = clock_gettime(clock);
    t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned()
}

/// Returns the time of the monotonic clock, in ns since an arbitrary time in the past.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Returns the processor time used by the calling thread, in ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// Returns the processor time used by all threads of a process, including those that have ended, in
/// ns; `None` if the process is gone. Children are not included. Works for any process
/// (clock_getcpuclockid(3)).
pub(crate) fn process_cpu_ns(process: u32) -> Option<u64> {
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls write only to their reference arguments; an invalid id is refused.
    let known = unsafe {
        libc::clock_getcpuclockid(process.cast_signed(), &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    known.then(|| time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_asked_for_what_it_had_in_less_than_ticks() {
        let own = || process_cpu_ns(std::process::id()).expect("it is there");
        let first = own();
        let mut sum = 0u64;
        while own() == first {
            sum = std::hint::black_box(sum + 1);
        }
        // Whole ticks would always be whole milliseconds.
        assert!((0..10).any(|_| own() % 1_000_000 != 0));
        // Process ids do not exceed 2^22.
        assert_eq!(process_cpu_ns((1 << 22) + 1), None);
    }
}
