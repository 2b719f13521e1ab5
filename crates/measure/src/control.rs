//! Settings of a command's processes before they start: processors, priorities, layout.
//!
//! This module only describes the settings, checks them as far as possible without querying the
//! system, and explains refusals by the system. The launcher applies them
//! (`c/launcher/settings.c`): it sets the processors, the real-time priority and the fixed layout
//! for itself before the clock is read, so that the command inherits them at no cost in time. Two
//! settings cost the command a system call: `nice`, which could not be reverted without privileges,
//! and the step down from the launcher's priority, which is one above the command's.

use std::fmt;

use rustix::io::Errno;

/// Number of processors that can be named, starting from 0.
pub(crate) const MOST_CPUS: usize = 1024;

/// Settings of a command's processes. Descendants inherit all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// The processors that the command may use, 0 to 1023, in any order; inherited if empty.
    pub cpus: Vec<u32>,
    /// The real-time priority for `SCHED_FIFO`, 1 to 99. Nothing can be above 99: a command with
    /// that priority that never sleeps and has no other processor can't be ended at its time limit.
    pub fifo: Option<u8>,
    /// The nice value, -20 to 19; not relative to that of `assay`.
    pub nice: Option<i8>,
    /// If true, programs, libraries and stacks have the same addresses in every run.
    pub no_aslr: bool,
}

/// A kind of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The processors.
    Pin,
    /// The real-time priority.
    Fifo,
    /// The nice value.
    Nice,
    /// The fixed layout of the address space.
    Aslr,
}

impl Control {
    /// Returns the first setting with an invalid value.
    pub(crate) fn out_of_range(&self) -> Option<Setting> {
        if self.mask().is_none() {
            Some(Setting::Pin)
        } else if self.fifo.is_some_and(|priority| !(1..=99).contains(&priority)) {
            Some(Setting::Fifo)
        } else if self.nice.is_some_and(|nice| !(-20..=19).contains(&nice)) {
            Some(Setting::Nice)
        } else {
            None
        }
    }

    /// Returns the processors as a bit mask for the kernel; `None` if a number exceeds the mask.
    pub(crate) fn mask(&self) -> Option<[u64; MOST_CPUS / 64]> {
        let mut mask = [0; MOST_CPUS / 64];
        for &cpu in &self.cpus {
            *mask.get_mut(cpu as usize / 64)? |= 1_u64 << (cpu % 64);
        }
        Some(mask)
    }
}

impl Setting {
    /// Returns what the system requires for this setting, in words for the user.
    pub(crate) fn needs(self, error: Errno) -> &'static str {
        match (self, error) {
            (Self::Pin, Errno::INVAL) => {
                "existing processors that assay may use: see `taskset -cp $$`"
            }
            (Self::Pin, _) => "permission to call sched_setaffinity, which a sandbox may deny",
            (Self::Fifo, Errno::INVAL) => "a priority of 1 to 99",
            (Self::Fifo, _) => {
                "CAP_SYS_NICE, or an rtprio limit (`ulimit -r`); in a container also a share of \
                 real-time"
            }
            (Self::Nice, Errno::INVAL) => "a nice value of -20 to 19",
            (Self::Nice, _) => "CAP_SYS_NICE, or a nice limit (`ulimit -e`), to go below its own",
            (Self::Aslr, _) => {
                "permission to call personality, which sandboxes and containers deny"
            }
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pin => "the processors",
            Self::Fifo => "the real-time priority",
            Self::Nice => "the nice value",
            Self::Aslr => "the fixed layout of memory",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_become_bits() {
        let control = Control { cpus: vec![0, 63, 64, 1023, 63], ..Control::default() };
        let mut expected = [0; 16];
        expected[0] = 1 | 1 << 63;
        expected[1] = 1;
        expected[15] = 1 << 63;
        assert_eq!(control.mask(), Some(expected));
        assert_eq!(Control::default().mask(), Some([0; 16]));
    }

    #[test]
    fn a_value_that_no_system_knows_is_found() {
        let find = |control: Control| control.out_of_range();
        for cpu in [1024, u32::MAX] {
            let control = Control { cpus: vec![0, cpu], ..Control::default() };
            assert_eq!(find(control), Some(Setting::Pin));
        }
        for (fifo, found) in [(0, true), (1, false), (99, false), (100, true)] {
            let control = Control { fifo: Some(fifo), ..Control::default() };
            assert_eq!(find(control), found.then_some(Setting::Fifo), "{fifo}");
        }
        for (nice, found) in [(-21, true), (-20, false), (19, false), (20, true)] {
            let control = Control { nice: Some(nice), ..Control::default() };
            assert_eq!(find(control), found.then_some(Setting::Nice), "{nice}");
        }
    }
}
