//! Asks Linux for facts about the machine. What is not there, or not readable, is `None`; what the
//! texts mean is `parse`'s. Nothing is changed and nothing waits.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::thread::{CpuSet, sched_getaffinity};

use super::parse;
use crate::runner::RunnerKind;

const PAGE: usize = 4096;

/// What such a file holds: a page as a rule, which one call reads, where `fs::read_to_string` would
/// ask for a size that the kernel does not say, and feel its way.
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

/// The largest resident memory that a process has had, B.
pub(crate) fn peak_memory_bytes(process: u32) -> Option<u64> {
    parse::peak_memory(&text(format!("/proc/{process}/status"))?)
}

/// The name of the distribution.
pub(crate) fn distribution() -> Option<String> {
    let release = text("/etc/os-release").or_else(|| text("/usr/lib/os-release"))?;
    parse::pretty_name(&release).map(str::to_owned)
}

/// The kernel's release.
pub(crate) fn kernel() -> Option<String> {
    line("/proc/sys/kernel/osrelease")
}

/// The machine's name in the network.
pub(crate) fn hostname() -> Option<String> {
    line("/proc/sys/kernel/hostname")
}

/// What runs the commands, unless what names it is wrong.
pub(crate) fn runner() -> Option<String> {
    RunnerKind::chosen().ok().map(|kind| kind.to_string())
}

/// Processors at work.
pub(crate) fn cpus_online() -> Option<u64> {
    online_cpus().map(|cpus| cpus.len() as u64)
}

/// The numbers of the processors at work, the smallest first. `None` where the system does not say.
pub fn online_cpus() -> Option<Vec<u32>> {
    parse::cpu_list(&text("/sys/devices/system/cpu/online")?)
}

/// Processors that this process may use.
pub(crate) fn cpus_allowed() -> Option<u64> {
    sched_getaffinity(None).ok().map(|set| u64::from(set.count()))
}

/// The numbers of the processors that this process may use, the smallest first.
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    let set = sched_getaffinity(None).ok()?;
    let allowed = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Some(allowed.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// Whether two processors share a core.
pub(crate) fn smt_active() -> Option<bool> {
    integer("/sys/devices/system/cpu/smt/active").map(|active| active != 0)
}

/// The governors of frequency that are in use, each once, in alphabetical order.
pub(crate) fn governors() -> Option<String> {
    let policies = fs::read_dir("/sys/devices/system/cpu/cpufreq").ok()?.flatten();
    let mut found: Vec<String> =
        policies.filter_map(|p| line(p.path().join("scaling_governor"))).collect();
    found.sort();
    found.dedup();
    (!found.is_empty()).then(|| found.join(","))
}

/// Whether processors may go beyond their nominal frequency.
pub(crate) fn turbo() -> Option<bool> {
    let cpu = Path::new("/sys/devices/system/cpu");
    match integer(cpu.join("intel_pstate/no_turbo")) {
        Some(off) => Some(off == 0),
        None => integer(cpu.join("cpufreq/boost")).map(|on| on != 0),
    }
}

/// How much of an address space is placed at random: 0 nothing, 2 everything.
pub(crate) fn aslr() -> Option<i64> {
    integer("/proc/sys/kernel/randomize_va_space")
}

/// The load over one minute, and the tasks running or ready now, this one among them.
pub(crate) fn load() -> Option<(f64, u64)> {
    parse::loadavg(&text("/proc/loadavg")?)
}

/// Memory of the machine, and room for memory that is moved to disk, B.
pub(crate) fn memory_and_swap_bytes() -> (Option<u64>, Option<u64>) {
    let text = text("/proc/meminfo").unwrap_or_default();
    (parse::memory_total(&text), parse::swap_total(&text))
}

/// When huge pages are given unasked: `always`, `madvise` or `never`.
pub(crate) fn transparent_huge_pages() -> Option<String> {
    let text = text("/sys/kernel/mm/transparent_hugepage/enabled")?;
    parse::chosen(&text).map(str::to_owned)
}

/// The groups that this process is in, as the kernel writes them.
pub(crate) fn own_groups() -> String {
    text("/proc/self/cgroup").unwrap_or_default()
}

/// The tightest limit of processor time that our group and those around it set, in processors.
pub(crate) fn cgroup_cpu_quota(own: &str) -> Option<f64> {
    let quotas = groups(own, "cpu").into_iter().filter_map(|group| {
        text(group.join("cpu.max")).and_then(|t| parse::cpu_max(&t)).or_else(|| {
            let quota = text(group.join("cpu.cfs_quota_us"))?;
            parse::share(&quota, &text(group.join("cpu.cfs_period_us"))?)
        })
    });
    quotas.min_by(f64::total_cmp)
}

/// The tightest limit of memory that our group and those around it set, B.
pub(crate) fn cgroup_memory_max(own: &str) -> Option<u64> {
    let limits = groups(own, "memory").into_iter().filter_map(|group| {
        let limit = text(group.join("memory.max"));
        parse::memory_limit(&limit.or_else(|| text(group.join("memory.limit_in_bytes")))?)
    });
    limits.min()
}

/// The directories of our group and of those around it, for both versions of cgroups. In a
/// container the path may be the host's and not be there: then the root is what can be seen.
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

/// What the first processor says of itself. Only the beginning is read: all of it costs milliseconds
/// on a large machine, since the kernel asks every processor for its frequency.
pub(crate) fn first_cpu() -> Option<parse::CpuInfo> {
    let mut start = [0; PAGE];
    let n = fs::File::open("/proc/cpuinfo").ok()?.read(&mut start).ok()?;
    Some(parse::cpuinfo(&String::from_utf8_lossy(&start[..n])))
}

/// The kind of virtual machine this is, or `none` where the processor would say so and does not.
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
    // Only x86 has the flag whose absence means something.
    cfg!(target_arch = "x86_64").then(|| "none".to_owned())
}

/// The kind of container this is, as far as it leaves a trace.
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

/// The share of all processor time since boot that the hypervisor gave to others.
pub(crate) fn steal_share() -> Option<f64> {
    let ticks = parse::cpu_ticks(&text("/proc/stat")?)?;
    (ticks.total > 0).then(|| ticks.steal as f64 / ticks.total as f64)
}

/// Processor time that the hypervisor gave to others, over all processors since boot, s.
pub(crate) fn steal_seconds() -> Option<f64> {
    let ticks = parse::cpu_ticks(&text("/proc/stat")?)?;
    Some(ticks.steal as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// What the kernel's clock counts by.
pub(crate) fn clock_source() -> Option<String> {
    line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Whether each session gets an equal share of the processors.
pub(crate) fn sched_autogroup() -> Option<bool> {
    integer("/proc/sys/kernel/sched_autogroup_enabled").map(|on| on != 0)
}

/// Of each second, how many µs real-time tasks may take; -1: all.
pub(crate) fn sched_rt_runtime_us() -> Option<i64> {
    integer("/proc/sys/kernel/sched_rt_runtime_us")
}

/// How much of performance counters is forbidden to everybody: from -1, nothing, upwards.
pub(crate) fn perf_event_paranoid() -> Option<i64> {
    integer("/proc/sys/kernel/perf_event_paranoid")
}

/// Processors that the scheduler leaves alone, as the kernel lists them (`2-3`).
pub(crate) fn isolated_cpus() -> Option<String> {
    line("/sys/devices/system/cpu/isolated")
}

/// Processors without a timer tick while one task has them, as the kernel lists them. A kernel
/// that could and was not asked to writes `(null)`.
pub(crate) fn nohz_full() -> Option<String> {
    line("/sys/devices/system/cpu/nohz_full").filter(|list| parse::cpu_list(list).is_some())
}

/// How often since boot processors were slowed down because they were hot, over all of them.
pub(crate) fn thermal_throttle_count() -> Option<i64> {
    let cpus = fs::read_dir("/sys/devices/system/cpu").ok()?.flatten();
    let counts: Vec<i64> = cpus
        .filter(|entry| parse::is_cpu(&entry.file_name().to_string_lossy()))
        .filter_map(|cpu| integer(cpu.path().join("thermal_throttle/core_throttle_count")))
        .collect();
    (!counts.is_empty()).then(|| counts.iter().fold(0_i64, |sum, &n| sum.saturating_add(n)))
}

/// True when there is a mains supply and none is plugged in.
pub(crate) fn on_battery() -> Option<bool> {
    let supplies = fs::read_dir("/sys/class/power_supply").ok()?.flatten();
    let online: Vec<i64> = supplies
        .map(|supply| supply.path())
        .filter(|path| line(path.join("type")).is_some_and(|kind| kind == "Mains"))
        .filter_map(|path| integer(path.join("online")))
        .collect();
    (!online.is_empty()).then(|| online.iter().all(|&plugged| plugged == 0))
}
