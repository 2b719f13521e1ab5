//! Reads facts about the machine from Linux. Missing or unreadable facts are `None`; `parse`
//! interprets the texts. Nothing is changed and nothing blocks.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::parse;
use crate::runner::RunnerKind;

const PAGE: usize = 4096;

/// Returns the contents of a file in `/proc` or `/sys`. Such a file usually has at most one page,
/// which a single call reads. `fs::read_to_string` would first ask for the size, which the kernel
/// does not report, and then make several reads.
fn text(path: impl AsRef<Path>) -> Option<String> {
    let mut file = fs::File::open(path).ok()?;
    let mut bytes = Vec::with_capacity(PAGE);
    let mut page = [0; PAGE];
    loop {
        match file.read(&mut page) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&page[..n]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    String::from_utf8(bytes).ok()
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = text(path)?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn integer(path: impl AsRef<Path>) -> Option<i64> {
    line(path)?.parse().ok()
}

/// Returns the peak resident memory of a process, in bytes.
pub(crate) fn peak_memory_bytes(process: u32) -> Option<u64> {
    parse::peak_memory(&text(format!("/proc/{process}/status"))?)
}

/// Returns the name of the distribution.
pub(crate) fn distribution() -> Option<String> {
    let release = text("/etc/os-release").or_else(|| text("/usr/lib/os-release"))?;
    parse::pretty_name(&release).map(str::to_owned)
}

/// Returns the kernel's release.
pub(crate) fn kernel() -> Option<String> {
    line("/proc/sys/kernel/osrelease")
}

/// Returns the machine's host name.
pub(crate) fn hostname() -> Option<String> {
    line("/proc/sys/kernel/hostname")
}

/// Returns the kind of runner that runs the commands; `None` if the setting that selects it is
/// invalid.
pub(crate) fn runner() -> Option<String> {
    RunnerKind::chosen().ok().map(|kind| kind.to_string())
}

/// Returns the number of online processors.
pub(crate) fn cpus_online() -> Option<u64> {
    online_cpus().map(|cpus| cpus.len() as u64)
}

/// Returns the numbers of the online processors, in ascending order; `None` if the system does not
/// report them.
pub fn online_cpus() -> Option<Vec<u32>> {
    parse::cpu_list(&text("/sys/devices/system/cpu/online")?)
}

/// Returns the number of processors that this process may use.
pub(crate) fn cpus_allowed() -> Option<u64> {
    sched_getaffinity(None).ok().map(|set| u64::from(set.count()))
}

/// Returns the numbers of the processors that this process may use, in ascending order.
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    let set = sched_getaffinity(None).ok()?;
    let allowed = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Some(allowed.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// Returns true if commands can be restricted to this processor. This needs the launcher, and a
/// sandbox may forbid it.
pub(crate) fn can_pin(cpu: u32) -> bool {
    let mut set = CpuSet::new();
    let applies_settings = RunnerKind::chosen().is_ok_and(|kind| kind == RunnerKind::Launcher);
    if !applies_settings || cpu as usize >= CpuSet::MAX_CPU {
        return false;
    }
    set.set(cpu as usize);
    // The affinity is set for one thread, so a separate thread tries it.
    std::thread::spawn(move || sched_setaffinity(None, &set).is_ok()).join().unwrap_or(false)
}

/// Returns true if several logical processors share a core (SMT).
pub(crate) fn smt_active() -> Option<bool> {
    integer("/sys/devices/system/cpu/smt/active").map(|active| active != 0)
}

/// Returns the frequency governors in use, each once, in alphabetical order, separated by commas.
pub(crate) fn governors() -> Option<String> {
    let policies = fs::read_dir("/sys/devices/system/cpu/cpufreq").ok()?.flatten();
    let mut found: Vec<String> =
        policies.filter_map(|p| line(p.path().join("scaling_governor"))).collect();
    found.sort();
    found.dedup();
    (!found.is_empty()).then(|| found.join(","))
}

/// Returns true if processors may exceed their nominal frequency.
pub(crate) fn turbo() -> Option<bool> {
    let cpu = Path::new("/sys/devices/system/cpu");
    match integer(cpu.join("intel_pstate/no_turbo")) {
        Some(off) => Some(off == 0),
        None => integer(cpu.join("cpufreq/boost")).map(|on| on != 0),
    }
}

/// Returns the level of address space randomization, from 0 (none) to 2 (full).
pub(crate) fn aslr() -> Option<i64> {
    integer("/proc/sys/kernel/randomize_va_space")
}

/// Returns the load average over one minute, and the number of running or ready tasks, including
/// this one.
pub(crate) fn load() -> Option<(f64, u64)> {
    parse::loadavg(&text("/proc/loadavg")?)
}

/// Returns the sizes of memory and swap space, in bytes.
pub(crate) fn memory_and_swap_bytes() -> (Option<u64>, Option<u64>) {
    let text = text("/proc/meminfo").unwrap_or_default();
    (parse::memory_total(&text), parse::swap_total(&text))
}

/// Returns the setting for transparent huge pages: `always`, `madvise` or `never`.
pub(crate) fn transparent_huge_pages() -> Option<String> {
    let text = text("/sys/kernel/mm/transparent_hugepage/enabled")?;
    parse::chosen(&text).map(str::to_owned)
}

/// Returns the cgroups of this process, as written by the kernel; empty if they can't be read.
pub(crate) fn own_groups() -> String {
    text("/proc/self/cgroup").unwrap_or_default()
}

/// Returns the lowest processor time limit of our cgroup and its ancestors, as a number of
/// processors; `None` if there is no limit.
pub(crate) fn cgroup_cpu_quota(own: &str) -> Option<f64> {
    let quotas = groups(own, "cpu").into_iter().filter_map(|group| {
        text(group.join("cpu.max")).and_then(|t| parse::cpu_max(&t)).or_else(|| {
            let quota = text(group.join("cpu.cfs_quota_us"))?;
            parse::share(&quota, &text(group.join("cpu.cfs_period_us"))?)
        })
    });
    quotas.min_by(f64::total_cmp)
}

/// Returns the lowest memory limit of our cgroup and its ancestors, in bytes; `None` if there is no
/// limit.
pub(crate) fn cgroup_memory_max(own: &str) -> Option<u64> {
    let limits = groups(own, "memory").into_iter().filter_map(|group| {
        let limit = text(group.join("memory.max"));
        parse::memory_limit(&limit.or_else(|| text(group.join("memory.limit_in_bytes")))?)
    });
    limits.min()
}

/// Returns the directories of our cgroup and its ancestors, for both versions of cgroups. In a
/// container the path may be the host's and not exist; then only the root is visible.
fn groups(own: &str, controller: &str) -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let mut found = Vec::new();
    for (base, path) in [
        (root.to_owned(), parse::cgroup_path(own, None)),
        (root.join("unified"), parse::cgroup_path(own, None)),
        (root.join(controller), parse::cgroup_path(own, Some(controller))),
    ] {
        let Some(path) = path else { continue };
        let deepest = base.join(path.trim_start_matches('/'));
        found.extend(deepest.ancestors().take_while(|p| p.starts_with(&base)).map(Path::to_owned));
    }
    found
}

/// Reads the first processor's entry in `/proc/cpuinfo`. Only the beginning of the file is read: on
/// a large machine reading it completely takes milliseconds, because the kernel queries the
/// frequency of every processor.
pub(crate) fn first_cpu() -> Option<parse::CpuInfo> {
    let mut start = [0; PAGE];
    let n = fs::File::open("/proc/cpuinfo").ok()?.read(&mut start).ok()?;
    Some(parse::cpuinfo(&String::from_utf8_lossy(&start[..n])))
}

/// Returns the kind of virtual machine. Returns `none` if the processor would report a hypervisor
/// and does not.
pub(crate) fn virtualisation(first_cpu: Option<&parse::CpuInfo>) -> Option<String> {
    let dmi = Path::new("/sys/class/dmi/id");
    let names: Vec<String> =
        ["sys_vendor", "product_name"].iter().filter_map(|name| line(dmi.join(name))).collect();
    let named = parse::hypervisor_by_name(&names.join(" ")).map(str::to_owned);
    if let Some(kind) = named.or_else(|| line("/sys/hypervisor/type")) {
        return Some(kind);
    }
    if first_cpu?.hypervisor {
        return Some("unknown hypervisor".to_owned());
    }
    // Only on x86 does the absence of the flag mean anything.
    cfg!(target_arch = "x86_64").then(|| "none".to_owned())
}

/// Returns the kind of container; `None` if there is no sign of one.
pub(crate) fn container() -> Option<String> {
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let marked = marks.iter().find(|(mark, _)| Path::new(mark).exists());
    marked.map(|(_, kind)| (*kind).to_owned()).or_else(|| line("/run/systemd/container")).or_else(
        || {
            let kubernetes = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
            kubernetes.then(|| "kubernetes".to_owned())
        },
    )
}

/// Returns the fraction of all processor time since boot that the hypervisor gave to other
/// machines.
pub(crate) fn steal_share() -> Option<f64> {
    let ticks = parse::cpu_ticks(&text("/proc/stat")?)?;
    (ticks.total > 0).then(|| ticks.steal as f64 / ticks.total as f64)
}

/// Returns the processor time since boot that the hypervisor gave to other machines, summed over
/// all processors, in seconds.
pub(crate) fn steal_seconds() -> Option<f64> {
    let ticks = parse::cpu_ticks(&text("/proc/stat")?)?;
    Some(ticks.steal as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Returns the kernel's clock source.
pub(crate) fn clock_source() -> Option<String> {
    line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Returns true if the scheduler gives each session an equal share of the processors.
pub(crate) fn sched_autogroup() -> Option<bool> {
    integer("/proc/sys/kernel/sched_autogroup_enabled").map(|on| on != 0)
}

/// Returns the time of each period (usually a second) that real-time tasks may use, in µs; -1 if
/// there is no limit.
pub(crate) fn sched_rt_runtime_us() -> Option<i64> {
    integer("/proc/sys/kernel/sched_rt_runtime_us")
}

/// Returns how much unprivileged users are restricted in using performance counters: -1 means not
/// at all, and higher levels restrict more.
pub(crate) fn perf_event_paranoid() -> Option<i64> {
    integer("/proc/sys/kernel/perf_event_paranoid")
}

/// Returns the processors isolated from the scheduler, as the kernel lists them (`2-3`).
pub(crate) fn isolated_cpus() -> Option<String> {
    line("/sys/devices/system/cpu/isolated")
}

/// Returns the processors that have no timer tick while they run a single task, as the kernel lists
/// them; `None` if the kernel writes `(null)`, because they are not configured.
pub(crate) fn nohz_full() -> Option<String> {
    line("/sys/devices/system/cpu/nohz_full").filter(|list| parse::cpu_list(list).is_some())
}

/// Returns the number of times that processors were throttled because of heat since boot, summed
/// over all of them.
pub(crate) fn thermal_throttle_count() -> Option<i64> {
    let cpus = fs::read_dir("/sys/devices/system/cpu").ok()?.flatten();
    let counts: Vec<i64> = cpus
        .filter(|entry| parse::is_cpu(&entry.file_name().to_string_lossy()))
        .filter_map(|cpu| integer(cpu.path().join("thermal_throttle/core_throttle_count")))
        .collect();
    (!counts.is_empty()).then(|| counts.iter().fold(0_i64, |sum, &n| sum.saturating_add(n)))
}

/// Returns true if the machine has mains power supplies and none of them is plugged in.
pub(crate) fn on_battery() -> Option<bool> {
    let supplies = fs::read_dir("/sys/class/power_supply").ok()?.flatten();
    let online: Vec<i64> = supplies
        .map(|supply| supply.path())
        .filter(|path| line(path.join("type")).is_some_and(|kind| kind == "Mains"))
        .filter_map(|path| integer(path.join("online")))
        .collect();
    (!online.is_empty()).then(|| online.iter().all(|&plugged| plugged == 0))
}
