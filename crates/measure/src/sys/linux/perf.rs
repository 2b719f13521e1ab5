//! The events that Linux counts by name, and the descriptors behind `counters`.
//!
//! The names are those of perf-list(1); what they mean to the kernel is in perf_event_open(2). This
//! file opens and reads. What a reading means, and the words for a refusal, are `counters`'.

use std::io;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter};

use super::facts;

/// So many hardware events share one group: most processors have this many free counters.
const GROUP: usize = 4;

/// What the kernel has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A counter of the processor.
    Hardware(Hardware),
    /// A counter of the processor about one of its caches: reads that it saw.
    Cache(CacheId, CacheResult),
    /// Counted by the kernel itself.
    Software(Software),
    /// Counted by the kernel, at moments when it is always the kernel that runs.
    SoftwareInKernel(Software),
}

impl Source {
    /// What [`Opener::anchor`] asks for.
    pub(crate) const ANCHOR: Self = Self::Software(Software::DUMMY);

    /// Whether the processor counts it.
    pub(crate) fn is_hardware(self) -> bool {
        matches!(self, Self::Hardware(_) | Self::Cache(..))
    }

    /// Whether the kernel counts it in ns.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Self::Software(Software::TASK_CLOCK | Software::CPU_CLOCK))
    }
}

/// The names, most asked for first, and each with another that perf knows it by, or none.
pub(crate) const KNOWN: [(&str, &str, Source); 25] = {
    use Source::{Cache, Hardware as Hw, Software as Sw, SoftwareInKernel};
    const ACCESS: CacheResult = CacheResult::ACCESS;
    const MISS: CacheResult = CacheResult::MISS;
    [
        ("instructions", "", Hw(Hardware::INSTRUCTIONS)),
        ("cycles", "cpu-cycles", Hw(Hardware::CPU_CYCLES)),
        ("cache-references", "", Hw(Hardware::CACHE_REFERENCES)),
        ("cache-misses", "", Hw(Hardware::CACHE_MISSES)),
        ("branches", "branch-instructions", Hw(Hardware::BRANCH_INSTRUCTIONS)),
        ("branch-misses", "", Hw(Hardware::BRANCH_MISSES)),
        ("bus-cycles", "", Hw(Hardware::BUS_CYCLES)),
        ("ref-cycles", "", Hw(Hardware::REF_CPU_CYCLES)),
        ("stalled-cycles-frontend", "idle-cycles-frontend", Hw(Hardware::STALLED_CYCLES_FRONTEND)),
        ("stalled-cycles-backend", "idle-cycles-backend", Hw(Hardware::STALLED_CYCLES_BACKEND)),
        ("L1-dcache-loads", "", Cache(CacheId::L1D, ACCESS)),
        ("L1-dcache-load-misses", "", Cache(CacheId::L1D, MISS)),
        ("LLC-loads", "", Cache(CacheId::LL, ACCESS)),
        ("LLC-load-misses", "", Cache(CacheId::LL, MISS)),
        ("dTLB-load-misses", "", Cache(CacheId::DTLB, MISS)),
        ("iTLB-load-misses", "", Cache(CacheId::ITLB, MISS)),
        ("task-clock", "", Sw(Software::TASK_CLOCK)),
        ("cpu-clock", "", Sw(Software::CPU_CLOCK)),
        ("page-faults", "faults", Sw(Software::PAGE_FAULTS)),
        ("minor-faults", "", Sw(Software::PAGE_FAULTS_MIN)),
        ("major-faults", "", Sw(Software::PAGE_FAULTS_MAJ)),
        ("context-switches", "cs", SoftwareInKernel(Software::CONTEXT_SWITCHES)),
        ("cpu-migrations", "migrations", SoftwareInKernel(Software::CPU_MIGRATIONS)),
        ("alignment-faults", "", Sw(Software::ALIGNMENT_FAULTS)),
        ("emulation-faults", "", Sw(Software::EMULATION_FAULTS)),
    ]
};

/// What a descriptor says: totals since it was opened, over the process and all that it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: u64,
    /// How long it should have counted, ns.
    pub(crate) enabled: u64,
    /// How long it did count, ns: less where others had the counter meanwhile.
    pub(crate) running: u64,
}

/// One open event.
#[derive(Debug)]
pub(crate) struct Descriptor {
    counter: Counter,
}

impl Descriptor {
    /// One system call.
    pub(crate) fn read(&mut self) -> io::Result<Reading> {
        let data = self.counter.read_full()?;
        let ns = |time: Option<std::time::Duration>| {
            time.and_then(|t| u64::try_from(t.as_nanos()).ok()).unwrap_or_default()
        };
        Ok(Reading {
            value: data.count(),
            enabled: ns(data.time_enabled()),
            running: ns(data.time_running()),
        })
    }
}

/// Opens events on a process, hardware events in groups, so that those of one group are counted
/// over the very same moments and ratios of them hold.
pub(crate) struct Opener {
    process: i32,
    /// Whether the kernel refused to have its own work counted.
    pub(crate) user_only: bool,
    /// The place of the current group's leader among those opened, and how many it has.
    group: Option<(usize, usize)>,
}

impl Opener {
    /// Nothing is opened yet. A number that no process can have is as one that is gone.
    pub(crate) fn new(process: u32) -> Self {
        let process = i32::try_from(process).unwrap_or(i32::MAX);
        Self { process, user_only: false, group: None }
    }

    /// Opens the anchor, an event that counts nothing and is not inherited. Nothing can be counted
    /// reliably without it, and it must stay open as long as the others.
    ///
    /// Where all events of a process are inherited, the kernel takes its and its child's for
    /// interchangeable, and at a change of task from one to the other it may leave the events where
    /// they are and swap their owners instead. If the child then calls `execve`, it is the
    /// original event that is awake and has forgotten `enable_on_exec`, and no later child counts
    /// anything. One event that is not inherited makes the two different, and nothing is swapped.
    pub(crate) fn anchor(&self) -> io::Result<Descriptor> {
        let mut builder = Builder::new(Software::DUMMY);
        builder.observe_pid(self.process).any_cpu();
        Ok(Descriptor { counter: builder.build()? })
    }

    /// Opens one more event, after those of `opened`.
    pub(crate) fn open(
        &mut self,
        source: Source,
        opened: &mut [Descriptor],
    ) -> io::Result<Descriptor> {
        let counter = match self.attempt(source, opened) {
            Err(error) if !self.user_only && is_forbidden(&error) => {
                self.user_only = true;
                let counter = self.attempt(source, opened);
                // What is forbidden altogether says nothing about the kernel's part of it.
                self.user_only = counter.is_ok();
                counter?
            }
            other => other?,
        };
        Ok(Descriptor { counter })
    }

    fn attempt(&mut self, source: Source, opened: &mut [Descriptor]) -> io::Result<Counter> {
        if !source.is_hardware() {
            return self.builder(source, true).build();
        }
        if let Some((leader, members)) = self.group.filter(|&(_, members)| members < GROUP)
            && let Some(leading) = opened.get_mut(leader)
        {
            let joined = self.builder(source, false).build_with_group(&mut leading.counter);
            // A processor with fewer counters, or with counters that cannot do everything, refuses
            // the group and not the event: it then begins the next group.
            if let Ok(counter) = joined {
                self.group = Some((leader, members + 1));
                return Ok(counter);
            }
        }
        let counter = self.builder(source, true).build()?;
        self.group = Some((opened.len(), 1));
        Ok(counter)
    }

    fn builder(&self, source: Source, leads: bool) -> Builder<'static> {
        let mut builder = match source {
            Source::Hardware(event) => Builder::new(event),
            Source::Cache(which, result) => {
                Builder::new(Cache { which, operation: CacheOp::READ, result })
            }
            Source::Software(event) | Source::SoftwareInKernel(event) => Builder::new(event),
        };
        builder.observe_pid(self.process).any_cpu().inherit(true);
        // Members of a group count whenever their leader does.
        builder.enabled(!leads).enable_on_exec(leads);
        builder.exclude_kernel(self.user_only).exclude_hv(self.user_only);
        builder
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// In plain words why the kernel refused an event, and what can be done. `other_hardware`: whether
/// this processor counts anything at all.
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
        libc::EBUSY => "another tool holds the counters for itself (perf, a watchdog, a profiler)",
        libc::EMFILE => "too many open files for one process: raise `ulimit -n`",
        libc::ENFILE => "too many open files on this machine: raise sysctl fs.file-max",
        libc::ENOSYS => "this kernel was built without performance events",
        libc::ESRCH => "the process to be observed is gone",
        libc::ENOSPC => "all hardware counters are in use",
        _ => return error.to_string(),
    };
    text.to_owned()
}

/// Up to 2 everybody may count in user code of his own processes, and that is asked for too.
fn forbidden(paranoid: Option<i64>) -> String {
    match paranoid {
        Some(now) if now > 2 => {
            format!("needs CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2 (now {now})")
        }
        Some(now) => format!(
            "forbidden although kernel.perf_event_paranoid is {now}: a container's filter or a \
             security module refuses perf_event_open; needs CAP_PERFMON"
        ),
        None => "this kernel was built without performance events".to_owned(),
    }
}

/// Why a count in user code alone would be no count of this event: it happens in the kernel.
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
        let hardware = Source::Hardware(Hardware::CPU_CYCLES);
        let software = Source::Software(Software::PAGE_FAULTS);
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
        // What is not known is said in the system's words, never left out.
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
