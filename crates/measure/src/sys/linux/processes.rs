//! Other processes and the privileges of this one, from `/proc/PID/stat` and `/proc/PID/status` as
//! described in proc(5). This module reads and sleeps; it changes no process.

use super::clock;
use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use super::clock::monotonic_ns;

/// Share of a CPU above which a process is reported.
const WORTH_TELLING: f64 = 0.01;

/// The privileges of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privileges {
    /// CAP_SYS_NICE: real-time scheduling, and any priority.
    pub sys_nice: bool,
    /// CAP_SYS_ADMIN: nearly everything, including `perfmon`.
    pub sys_admin: bool,
    /// CAP_PERFMON: counting events of the kernel and of other processes.
    pub perfmon: bool,
    /// CAP_IPC_LOCK: locking any amount of memory.
    pub ipc_lock: bool,
    /// The highest real-time priority permitted without `sys_nice`; 0 if none is.
    pub rtprio_limit: u64,
    /// Amount of memory that may be locked without `ipc_lock`, in bytes; `u64::MAX` for any amount.
    pub memlock_limit: u64,
    /// True if the effective user is root, who owns the files with the machine's settings.
    pub root: bool,
}

/// Returns the privileges of this process. Capabilities that the system does not report count as
/// absent.
pub fn privileges() -> Privileges {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = effective_capabilities(&status).unwrap_or_default();
    let has = |bit: u32| effective & (1 << bit) != 0;
    let limit = |resource| getrlimit(resource).current.unwrap_or(u64::MAX);
    // The numbers are from linux/capability.h.
    Privileges {
        sys_nice: has(23),
        sys_admin: has(21),
        perfmon: has(38) || has(21),
        ipc_lock: has(14),
        rtprio_limit: limit(Resource::Rtprio),
        memlock_limit: limit(Resource::Memlock),
        root: rustix::process::geteuid().is_root(),
    }
}

/// Returns the bits of `CapEff` in `/proc/PID/status`.
fn effective_capabilities(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(value.trim(), 16).ok()
}

/// A busy process.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// Process ID.
    pub process: u32,
    /// Name of the program, at most 15 characters. The process chooses it, and it may contain any
    /// character.
    pub name: String,
    /// Share of one CPU that the process used; it can exceed 1 if the process has several threads.
    pub share: f64,
}

/// Examines all processes except this one twice, `over` apart, and returns those that used more
/// than 1 % of a CPU in between, busiest first. Kernel threads are included.
///
/// The kernel counts in ticks, which usually last 10 ms. Therefore 1 % can be distinguished from
/// nothing over a second, but not over less. Processes that began and ended in between are not
/// seen. Takes about 10 µs per process.
pub fn busiest(over: Duration) -> Vec<Busy> {
    let (before, start) = (all(), monotonic_ns());
    std::thread::sleep(over);
    let (after, end) = (all(), monotonic_ns());
    let elapsed = end.saturating_sub(start) as f64 / 1e9;
    let own = std::process::id();
    let tick = 1.0 / rustix::param::clock_ticks_per_second() as f64;
    between(&before, &after, elapsed / tick)
        .into_iter()
        .filter(|busy| busy.process != own)
        .collect()
}

/// Returns the processes that were busy between two samples that are `ticks` apart.
fn between(before: &[Process], after: &[Process], ticks: f64) -> Vec<Busy> {
    let had: HashMap<_, _> = before.iter().map(|p| ((p.id, p.started), p.ticks)).collect();
    let mut busy: Vec<Busy> = after
        .iter()
        .map(|p| {
            // A process that is not in the first sample used all its processor time in between.
            let had = had.get(&(p.id, p.started)).copied().unwrap_or_default();
            let share = p.ticks.saturating_sub(had) as f64 / ticks.max(1.0);
            Busy { process: p.id, name: p.name.clone(), share }
        })
        .filter(|busy| busy.share > WORTH_TELLING)
        .collect();
    busy.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.process.cmp(&b.process)));
    busy
}

/// Processor time used by a process and its threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessTimes {
    /// Processor time of the whole process, including ended threads, in seconds.
    pub cpu_seconds: f64,
    /// For each thread, by its ID: its processor time, and the time that it was ready but had no
    /// processor, both in seconds. The latter is 0 if the kernel does not report it.
    pub threads: HashMap<u32, (f64, f64)>,
}

impl ProcessTimes {
    /// Returns the difference from an earlier sample. Threads that did not exist at that time have
    /// used all of their time since then.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let of_thread = |(id, now): (&u32, &(f64, f64))| {
            let then = before.threads.get(id).copied().unwrap_or_default();
            (*id, ((now.0 - then.0).max(0.0), (now.1 - then.1).max(0.0)))
        };
        Self {
            cpu_seconds: (self.cpu_seconds - before.cpu_seconds).max(0.0),
            threads: self.threads.iter().map(of_thread).collect(),
        }
    }
}

/// Returns the processor time of a process itself, without its children, in seconds; also works for
/// a process that has ended but has not been waited for.
pub(crate) fn own_cpu_seconds(process: u32) -> Option<f64> {
    let exactly = clock::process_cpu_ns(process).map(|ns| ns as f64 * 1e-9);
    exactly.filter(|seconds| *seconds > 0.0).or_else(|| had(process).map(|had| had.cpu_seconds))
}

/// Returns the processor time of a process, all its descendants and its session since they began;
/// `None` if the process is gone. Descendants that have ended are included once they have been
/// waited for.
pub(crate) fn had_with_children(process: u32) -> Option<ProcessTimes> {
    let mut sum = ProcessTimes { cpu_seconds: 0.0, ..had(process)? };
    for member in tree_of(process, &HashMap::new()) {
        sum.cpu_seconds += member.cpu_seconds;
        if let Some(own) = had(member.id).filter(|_| member.id != process) {
            sum.threads.extend(own.threads);
        }
    }
    Some(sum)
}

/// Returns the processor time of a process since it began; `None` if it is gone.
pub(crate) fn had(process: u32) -> Option<ProcessTimes> {
    let tick = 1.0 / rustix::param::clock_ticks_per_second() as f64;
    let ticks = |path: String| {
        let stat = fs::read(path).ok()?;
        Some(Process::read(&String::from_utf8_lossy(&stat))?.ticks as f64 * tick)
    };
    let own = format!("/proc/{process}");
    let tasks = fs::read_dir(format!("{own}/task")).into_iter().flatten().flatten();
    let threads = tasks
        .filter_map(|task| {
            let id = task.file_name().to_str()?.parse().ok()?;
            let place = format!("{own}/task/{id}");
            let scheduled = fs::read_to_string(format!("{place}/schedstat")).unwrap_or_default();
            let had = match scheduled_seconds(&scheduled) {
                Some(had) => had,
                None => (ticks(format!("{place}/stat"))?, 0.0),
            };
            Some((id, had))
        })
        .collect();
    Some(ProcessTimes { cpu_seconds: ticks(format!("{own}/stat"))?, threads })
}

/// Returns the first two numbers of `schedstat`, which are in ns, in seconds: the time running, and
/// the time queued for a processor.
fn scheduled_seconds(schedstat: &str) -> Option<(f64, f64)> {
    let mut numbers = schedstat.split_ascii_whitespace().map(|number| number.parse::<u64>());
    let (ran, queued) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((ran as f64 * 1e-9, queued as f64 * 1e-9))
}

/// A process of the tree that [`tree_of`] returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Member {
    /// Process ID.
    pub id: u32,
    /// Start time, in ticks since boot.
    pub started: u64,
    /// Processor time of the process and its ended children, in seconds. The time of the children
    /// is counted in whole ticks.
    pub cpu_seconds: f64,
}

/// Returns a process, all its descendants, all processes of its session, and those `known` to have
/// belonged to it (IDs and start times), even if they are elsewhere now. Processes that have ended
/// are not included.
pub(crate) fn tree_of(root: u32, known: &HashMap<u32, u64>) -> Vec<Member> {
    let all = all();
    let parents: HashMap<u32, u32> = all.iter().map(|own| (own.id, own.parent)).collect();
    let belongs = |own: &Process| {
        let mut chain = std::iter::successors(Some(own.id), |id| parents.get(id).copied());
        own.session == root
            || known.get(&own.id) == Some(&own.started)
            || chain.by_ref().take(1000).any(|id| id == root)
    };
    let tick = 1.0 / rustix::param::clock_ticks_per_second() as f64;
    let member = |own: &Process| {
        let exactly = clock::process_cpu_ns(own.id).map(|ns| ns as f64 * 1e-9);
        Member {
            id: own.id,
            started: own.started,
            cpu_seconds: exactly.unwrap_or(own.ticks as f64 * tick)
                + own.ticks_of_children as f64 * tick,
        }
    };
    all.iter().filter(|own| !own.ended && belongs(own)).map(member).collect()
}

/// Returns the memory of a process, including its proportional share of shared memory, in bytes;
/// `None` if it is gone, or owned by another user.
pub(crate) fn memory_bytes(process: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the number of open descriptors of a process; `None` if it is gone, or owned by another
/// user.
pub(crate) fn descriptors(process: u32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64)
}

/// Returns the start time of a process, in ticks since boot; `None` if it has ended. Together with
/// its ID, it identifies a process until the next boot.
pub(crate) fn started(process: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    let process = Process::read(&String::from_utf8_lossy(&stat))?;
    (!process.ended).then_some(process.started)
}

/// Returns the owner of a process if that is another user: the user's name or, if it is unknown,
/// the number.
pub(crate) fn other_owner(process: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let user = effective_user(&status)?;
    if user == rustix::process::geteuid().as_raw() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    Some(name_of_user(&users, user).unwrap_or_else(|| format!("user {user}")))
}

/// Returns the effective user ID: the second number of `Uid` in `/proc/PID/status`.
fn effective_user(status: &str) -> Option<u32> {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Returns the name of a user, given the lines of passwd(5) and the user's ID.
fn name_of_user(users: &str, user: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(user)).then(|| name.to_owned())
    })
}

/// Returns true if a process is an ancestor of this one.
pub(crate) fn is_ancestor(process: u32) -> bool {
    let parent = |id: u32| {
        let stat = fs::read(format!("/proc/{id}/stat")).ok()?;
        Some(Process::read(&String::from_utf8_lossy(&stat))?.parent)
    };
    // The chain ends at 0; an id that is reused in the meantime must not make it endless.
    let mut chain = std::iter::successors(parent(std::process::id()), |&id| parent(id)).take(1000);
    chain.any(|id| id == process)
}

/// Returns the ID that the kernel has given to the current boot.
pub(crate) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// The relevant fields of a line of `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    id: u32,
    name: String,
    /// ID of the parent process.
    parent: u32,
    /// True if the process has ended and is only waiting to be reaped.
    ended: bool,
    /// ID of the session, which is the ID of the process that leads it.
    session: u32,
    /// Processor time of all threads, in ticks.
    ticks: u64,
    /// Processor time of the ended children that were waited for, in ticks.
    ticks_of_children: u64,
    started: u64,
}

impl Process {
    /// Parses a line of `/proc/PID/stat`. The process's name may contain blanks and parentheses,
    /// and ends at the last `)`.
    fn read(stat: &str) -> Option<Self> {
        let (id, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The first field here is number 3 in proc(5).
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            id: id.parse().ok()?,
            name: name.to_owned(),
            parent: number(4)?.try_into().ok()?,
            ended: matches!(*fields.first()?, "Z" | "X"),
            session: number(6)?.try_into().ok()?,
            ticks: number(14)?.saturating_add(number(15)?),
            ticks_of_children: number(16)?.saturating_add(number(17)?),
            started: number(22)?,
        })
    }
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered = entries.filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()))
    });
    numbered
        .filter_map(|entry| {
            // A process that has ended since is ignored.
            let stat = fs::read(entry.path().join("stat")).ok()?;
            Process::read(&String::from_utf8_lossy(&stat))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;

    fn process(id: u32, started: u64, ticks: u64) -> Process {
        Process {
            id,
            name: format!("p{id}"),
            parent: 1,
            ended: false,
            session: 1,
            ticks,
            ticks_of_children: 0,
            started,
        }
    }

    #[test]
    fn a_name_with_blanks_and_parentheses_does_not_shift_the_fields() {
        let stat = "12 (a) S (b c) R 7 1 1 0 -1 0 0 0 0 0 40 2 9 9 20 0 1 0 777 0 0";
        let read = Process::read(stat).unwrap();
        assert_eq!(read.name, "a) S (b c");
        assert_eq!((read.id, read.ticks, read.started, read.ended), (12, 42, 777, false));
        assert_eq!(read.parent, 7);
        assert!(Process::read("12 (a) R 1 1").is_none());
        assert!(Process::read("").is_none());
    }

    #[test]
    fn the_busiest_come_first_and_the_idle_not_at_all() {
        let before = [process(1, 5, 1000), process(2, 5, 10), process(3, 5, 70)];
        let after =
            [process(1, 5, 1001), process(2, 5, 60), process(3, 900, 30), process(4, 950, 100)];
        let busy = between(&before, &after, 100.0);
        let shares: Vec<(u32, f64)> = busy.iter().map(|b| (b.process, b.share)).collect();
        // 3 is a different process than before, with the same number.
        assert_eq!(shares, [(4, 1.0), (2, 0.5), (3, 0.3)]);
    }

    #[test]
    fn capabilities_are_read_from_their_line() {
        assert_eq!(
            effective_capabilities("CapPrm:\tff\nCapEff:\t0000000000800000\n"),
            Some(1 << 23)
        );
        assert_eq!(effective_capabilities("CapEff:\tnone"), None);
        assert_eq!(effective_capabilities(""), None);
    }

    #[test]
    fn a_process_is_ours_or_that_of_a_user_with_a_name() {
        assert_eq!(other_owner(std::process::id()), None);
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t0\t0\n"), Some(0));
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\nnobody:x:65534:65534::/:/bin/false\n";
        assert_eq!(name_of_user(users, 65534).as_deref(), Some("nobody"));
        assert_eq!(name_of_user(users, 7), None);
    }

    #[test]
    fn this_process_has_a_start_and_none_has_the_largest_number() {
        assert!(started(std::process::id()).unwrap() > 0);
        assert_eq!(started(u32::MAX), None);
    }

    #[test]
    fn who_started_this_process_is_its_ancestor_and_it_itself_is_not() {
        assert!(is_ancestor(std::os::unix::process::parent_id()));
        assert!(!is_ancestor(std::process::id()) && !is_ancestor(u32::MAX));
    }

    #[test]
    fn what_this_process_had_of_the_processors_grows_by_what_it_works() {
        let before = had(std::process::id()).unwrap();
        let end = monotonic_ns() + 60_000_000;
        while monotonic_ns() < end {}
        let since = had(std::process::id()).unwrap().since(&before);
        let of_threads: f64 = since.threads.values().map(|own| own.0 + own.1).sum();
        assert!(of_threads > 0.03 && since.cpu_seconds < 60.0, "{since:?}");
        assert_eq!(had(u32::MAX), None);
        assert_eq!(scheduled_seconds("2000000000 500000000 7\n"), Some((2.0, 0.5)));
        assert_eq!(scheduled_seconds(""), None);
    }

    #[test]
    fn the_limits_are_those_that_the_system_tells_of_us() {
        let limits = fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max locked memory")).unwrap();
        let soft = line.split_ascii_whitespace().nth(3).unwrap();
        let told = if soft == "unlimited" { u64::MAX } else { soft.parse().unwrap() };
        let found = privileges();
        assert_eq!(found.memlock_limit, told);
        assert!(!found.sys_admin || found.perfmon);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(
            text in "\\PC*|[0-9]{1,25} \\([a-z() ]{0,9}\\) [RSZ]( -?[0-9]{1,25}){0,30}",
        ) {
            let _ = Process::read(&text);
            let _ = effective_capabilities(&text);
            let _ = effective_capabilities(&format!("CapEff:{text}"));
        }
    }
}
