//! The events that Linux counts, by name, and the descriptors behind `counters`.
//!
//! The names are those of perf-list(1), and perf_event_open(2) describes what they mean to the
//! kernel. This module opens and reads events; `counters` interprets the readings, and words the
//! refusals.

#![expect(unsafe_code, reason = "perf_event_open(2) has no safe wrapper")]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};

use perf_event_open_sys::bindings::{self as kernel, perf_event_attr};

use super::facts;

/// Maximum number of hardware events in a group. Most processors have at least this many free
/// counters.
const GROUP: usize = 4;

/// An event as requested from the kernel, with the numbers of `linux/perf_event.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A hardware counter.
    Hardware(u32),
    /// A hardware counter for reads of a cache: the number of the cache, and whether all accesses
    /// or only misses are counted.
    Cache(u32, u32),
    /// An event that the kernel counts.
    Software(u32),
    /// An event that the kernel counts and that occurs only in kernel mode.
    SoftwareInKernel(u32),
}

impl Source {
    /// The event that [`Opener::anchor`] opens.
    pub(crate) const ANCHOR: Self = Self::Software(kernel::PERF_COUNT_SW_DUMMY);

    /// Returns true if the processor counts the event.
    pub(crate) fn is_hardware(self) -> bool {
        matches!(self, Self::Hardware(_) | Self::Cache(..))
    }

    /// Returns true if the event is a time, which the kernel counts in ns.
    pub(crate) fn is_time(self) -> bool {
        use kernel::{PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK};
        matches!(self, Self::Software(PERF_COUNT_SW_TASK_CLOCK | PERF_COUNT_SW_CPU_CLOCK))
    }

    /// Returns the event's type and its number within the type.
    fn numbers(self) -> (u32, u64) {
        match self {
            Self::Hardware(event) => (kernel::PERF_TYPE_HARDWARE, event.into()),
            Self::Cache(which, result) => {
                let config = which | kernel::PERF_COUNT_HW_CACHE_OP_READ << 8 | result << 16;
                (kernel::PERF_TYPE_HW_CACHE, config.into())
            }
            Self::Software(event) | Self::SoftwareInKernel(event) => {
                (kernel::PERF_TYPE_SOFTWARE, event.into())
            }
        }
    }
}

/// The supported events, the most useful first: the name, perf's alternative name (empty if there
/// is none), and the event.
pub(crate) const KNOWN: [(&str, &str, Source); 25] = {
    use Source::{Cache, Hardware as Hw, Software as Sw, SoftwareInKernel};
    use kernel::*;
    const ACCESS: u32 = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
    const MISS: u32 = PERF_COUNT_HW_CACHE_RESULT_MISS;
    [
        ("instructions", "", Hw(PERF_COUNT_HW_INSTRUCTIONS)),
        ("cycles", "cpu-cycles", Hw(PERF_COUNT_HW_CPU_CYCLES)),
        ("cache-references", "", Hw(PERF_COUNT_HW_CACHE_REFERENCES)),
        ("cache-misses", "", Hw(PERF_COUNT_HW_CACHE_MISSES)),
        ("branches", "branch-instructions", Hw(PERF_COUNT_HW_BRANCH_INSTRUCTIONS)),
        ("branch-misses", "", Hw(PERF_COUNT_HW_BRANCH_MISSES)),
        ("bus-cycles", "", Hw(PERF_COUNT_HW_BUS_CYCLES)),
        ("ref-cycles", "", Hw(PERF_COUNT_HW_REF_CPU_CYCLES)),
        (
            "stalled-cycles-frontend",
            "idle-cycles-frontend",
            Hw(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
        ),
        ("stalled-cycles-backend", "idle-cycles-backend", Hw(PERF_COUNT_HW_STALLED_CYCLES_BACKEND)),
        ("L1-dcache-loads", "", Cache(PERF_COUNT_HW_CACHE_L1D, ACCESS)),
        ("L1-dcache-load-misses", "", Cache(PERF_COUNT_HW_CACHE_L1D, MISS)),
        ("LLC-loads", "", Cache(PERF_COUNT_HW_CACHE_LL, ACCESS)),
        ("LLC-load-misses", "", Cache(PERF_COUNT_HW_CACHE_LL, MISS)),
        ("dTLB-load-misses", "", Cache(PERF_COUNT_HW_CACHE_DTLB, MISS)),
        ("iTLB-load-misses", "", Cache(PERF_COUNT_HW_CACHE_ITLB, MISS)),
        ("task-clock", "", Sw(PERF_COUNT_SW_TASK_CLOCK)),
        ("cpu-clock", "", Sw(PERF_COUNT_SW_CPU_CLOCK)),
        ("page-faults", "faults", Sw(PERF_COUNT_SW_PAGE_FAULTS)),
        ("minor-faults", "", Sw(PERF_COUNT_SW_PAGE_FAULTS_MIN)),
        ("major-faults", "", Sw(PERF_COUNT_SW_PAGE_FAULTS_MAJ)),
        ("context-switches", "cs", SoftwareInKernel(PERF_COUNT_SW_CONTEXT_SWITCHES)),
        ("cpu-migrations", "migrations", SoftwareInKernel(PERF_COUNT_SW_CPU_MIGRATIONS)),
        ("alignment-faults", "", Sw(PERF_COUNT_SW_ALIGNMENT_FAULTS)),
        ("emulation-faults", "", Sw(PERF_COUNT_SW_EMULATION_FAULTS)),
    ]
};

/// The contents of an event's descriptor: totals since it was opened, for the process and all its
/// descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: u64,
    /// Time during which the event should have been counted, in ns.
    pub(crate) enabled: u64,
    /// Time during which the event was counted, in ns. It is less than `enabled` if other events
    /// used the counter in between.
    pub(crate) running: u64,
}

/// One open event.
#[derive(Debug)]
pub(crate) struct Descriptor(File);

impl Descriptor {
    /// Reads the descriptor with one system call.
    pub(crate) fn read(&mut self) -> io::Result<Reading> {
        let mut bytes = [0; 24];
        self.0.read_exact(&mut bytes)?;
        let (numbers, _) = bytes.as_chunks();
        let [value, enabled, running] = [0, 1, 2].map(|i| u64::from_ne_bytes(numbers[i]));
        Ok(Reading { value, enabled, running })
    }
}

/// Opens events for a process. Hardware events are opened in groups: the events of a group are
/// counted over exactly the same periods, so that their ratios are valid.
pub(crate) struct Opener {
    process: i32,
    /// True if the kernel refused to count events in kernel mode, so that only user mode is
    /// counted.
    pub(crate) user_only: bool,
    /// Index of the current group's leader among the opened events, and the number of events in the
    /// group.
    group: Option<(usize, usize)>,
}

impl Opener {
    /// Creates an opener without opening anything. An ID that no process can have is treated like
    /// that of a process that is gone.
    pub(crate) fn new(process: u32) -> Self {
        let process = i32::try_from(process).unwrap_or(i32::MAX);
        Self { process, user_only: false, group: None }
    }

    /// Opens the anchor, an event that counts nothing and is not inherited. No event is counted
    /// reliably without it, and it must stay open as long as the others.
    ///
    /// If all events of a process are inherited, the kernel considers its events and those of its
    /// child interchangeable. On a context switch from one to the other, it may then leave the
    /// events in place and swap their owners. If the child then calls `execve`, the original event
    /// is the one that is enabled and loses `enable_on_exec`, and no later child counts anything.
    /// One event that is not inherited makes the two processes different, and nothing is swapped.
    pub(crate) fn anchor(&self) -> io::Result<Descriptor> {
        let mut asked = attributes(Source::ANCHOR);
        asked.set_disabled(1);
        asked.set_exclude_kernel(1);
        asked.set_exclude_hv(1);
        self.call(asked, None)
    }

    /// Opens an event. `opened` contains the events opened so far.
    pub(crate) fn open(&mut self, source: Source, opened: &[Descriptor]) -> io::Result<Descriptor> {
        match self.attempt(source, opened) {
            Err(error) if !self.user_only && is_forbidden(&error) => {
                self.user_only = true;
                let descriptor = self.attempt(source, opened);
                // If the event is also forbidden in user mode, nothing is known about kernel mode.
                self.user_only = descriptor.is_ok();
                descriptor
            }
            other => other,
        }
    }

    fn attempt(&mut self, source: Source, opened: &[Descriptor]) -> io::Result<Descriptor> {
        if !source.is_hardware() {
            return self.call(self.inherited(source, true), None);
        }
        if let Some((leader, members)) = self.group.filter(|&(_, members)| members < GROUP)
            && let Some(leading) = opened.get(leader)
        {
            let joined = self.call(self.inherited(source, false), Some(leading));
            // A processor that has fewer counters, or whose counters do not support every event,
            // refuses to add the event to the group. The event then begins the next group.
            if joined.is_ok() {
                self.group = Some((leader, members + 1));
                return joined;
            }
        }
        let descriptor = self.call(self.inherited(source, true), None)?;
        self.group = Some((opened.len(), 1));
        Ok(descriptor)
    }

    fn inherited(&self, source: Source, leads: bool) -> perf_event_attr {
        let mut asked = attributes(source);
        asked.set_inherit(1);
        // Members of a group count whenever their leader does.
        asked.set_disabled(leads.into());
        asked.set_enable_on_exec(leads.into());
        asked.set_exclude_kernel(self.user_only.into());
        asked.set_exclude_hv(self.user_only.into());
        asked
    }

    fn call(
        &self,
        mut asked: perf_event_attr,
        leader: Option<&Descriptor>,
    ) -> io::Result<Descriptor> {
        const ANY_CPU: i32 = -1;
        let leader = leader.map_or(-1, |leader| leader.0.as_raw_fd());
        let flags = kernel::PERF_FLAG_FD_CLOEXEC.into();
        // SAFETY: the structure is initialized and outlives the call, and the kernel writes at most
        // `size` bytes to it.
        let descriptor = unsafe {
            perf_event_open_sys::perf_event_open(&mut asked, self.process, ANY_CPU, leader, flags)
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just created the descriptor, and nothing else owns it.
        Ok(Descriptor(unsafe { File::from_raw_fd(descriptor) }))
    }
}

/// Returns the attributes of an event, with a reading format that includes the times in
/// [`Reading`].
fn attributes(source: Source) -> perf_event_attr {
    let (kind, config) = source.numbers();
    perf_event_attr {
        type_: kind,
        size: size_of::<perf_event_attr>() as u32,
        config,
        read_format: (kernel::PERF_FORMAT_TOTAL_TIME_ENABLED
            | kernel::PERF_FORMAT_TOTAL_TIME_RUNNING)
            .into(),
        ..perf_event_attr::default()
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// Returns the reason why the kernel refused an event, in plain words, with a remedy.
/// `other_hardware` is true if this processor counts any hardware event.
pub(crate) fn why_refused(error: &io::Error, source: Source, other_hardware: bool) -> String {
    refusal(error, source, other_hardware, facts::perf_event_paranoid())
}

fn refusal(
    error: &io::Error,
    source: Source,
    other_hardware: bool,
    paranoid: Option<i64>,
) -> String {
    let Some(code) = error.raw_os_error() else { return error.to_string() };
    let text = match code {
        libc::EACCES | libc::EPERM => return forbidden(paranoid),
        libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::ENXIO if source.is_hardware() => {
            if other_hardware {
                "this CPU does not count this event"
            } else {
                "this virtual machine (or CPU) offers no hardware counters"
            }
        }
        libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => "this kernel does not count this event",
        libc::EINVAL => "this kernel or CPU cannot count this event for a process and its children",
        libc::EBUSY => {
            "another tool has exclusive use of the counters (perf, a watchdog, a profiler)"
        }
        libc::EMFILE => "too many open files for one process: raise `ulimit -n`",
        libc::ENFILE => "too many open files on this machine: raise sysctl fs.file-max",
        libc::ENOSYS => "this kernel was built without performance events",
        libc::ESRCH => "the process to be observed is gone",
        libc::ENOSPC => "all hardware counters are in use",
        _ => return error.to_string(),
    };
    text.to_owned()
}

/// Returns the reason why the kernel forbids an event. Up to level 2, all users may count events in
/// the user code of their own processes; this has been tried before.
fn forbidden(paranoid: Option<i64>) -> String {
    match paranoid {
        Some(now) if now > 2 => {
            format!("needs CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2 (now {now})")
        }
        Some(now) => format!(
            "forbidden although kernel.perf_event_paranoid is {now}: a container's filter or a security module denies perf_event_open; needs CAP_PERFMON"
        ),
        None => "this kernel was built without performance events".to_owned(),
    }
}

/// Returns the reason why counting only in user code would miss an event that happens in the
/// kernel.
pub(crate) fn why_not_in_user_code() -> String {
    let now = facts::perf_event_paranoid();
    let now = now.map_or(String::new(), |now| format!(" (now {now})"));
    format!(
        "happens in the kernel, which may not be counted: needs CAP_PERFMON, or sysctl \
         kernel.perf_event_paranoid=1{now}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_in_plain_words_what_is_missing() {
        let hardware = Source::Hardware(kernel::PERF_COUNT_HW_CPU_CYCLES);
        let software = Source::Software(kernel::PERF_COUNT_SW_PAGE_FAULTS);
        let say = |code, source, other, paranoid| {
            refusal(&io::Error::from_raw_os_error(code), source, other, paranoid)
        };
        let none = "this virtual machine (or CPU) offers no hardware counters";
        assert_eq!(say(libc::ENOENT, hardware, false, Some(2)), none);
        assert_eq!(say(libc::EOPNOTSUPP, hardware, false, Some(2)), none);
        let this = "this CPU does not count this event";
        assert_eq!(say(libc::ENOENT, hardware, true, Some(2)), this);
        assert_eq!(
            say(libc::EACCES, hardware, false, Some(4)),
            "needs CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2 (now 4)"
        );
        assert!(say(libc::EPERM, software, false, Some(2)).contains("a container's filter"));
        assert!(say(libc::EMFILE, software, false, None).contains("ulimit -n"));
        assert!(say(libc::ENOSYS, software, false, None).contains("performance events"));
        // An unknown error is reported in the system's words, never left out.
        assert!(!say(libc::EIO, hardware, true, None).is_empty());
        let theirs = io::Error::other("its own words");
        assert_eq!(refusal(&theirs, hardware, true, None), "its own words");
    }

    #[test]
    fn no_two_events_share_a_name() {
        let mut names: Vec<&str> = KNOWN.iter().flat_map(|known| [known.0, known.1]).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
