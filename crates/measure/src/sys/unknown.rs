//! Facts about the machine that are read only on Linux.

macro_rules! unknown {
    ($($name:ident: $kind:ty),* $(,)?) => {
        $(pub(crate) fn $name() -> Option<$kind> {
            None
        })*
    };
}

unknown! {
    distribution: String,
    smt_active: bool,
    governors: String,
    turbo: bool,
    aslr: i64,
    transparent_huge_pages: String,
    container: String,
    steal_share: f64,
    steal_seconds: f64,
    clock_source: String,
    sched_autogroup: bool,
    sched_rt_runtime_us: i64,
    perf_event_paranoid: i64,
    isolated_cpus: String,
    nohz_full: String,
    thermal_throttle_count: i64,
    on_battery: bool,
    allowed_cpus: Vec<u32>,
}

/// Facts about a processor.
pub(crate) struct CpuInfo {
    pub(crate) model: Option<String>,
}

pub(crate) fn first_cpu() -> Option<CpuInfo> {
    None
}

pub(crate) fn own_groups() -> String {
    String::new()
}

pub(crate) fn cgroup_cpu_quota(_own: &str) -> Option<f64> {
    None
}

pub(crate) fn cgroup_memory_max(_own: &str) -> Option<u64> {
    None
}

pub(crate) fn virtualisation(_first_cpu: Option<&CpuInfo>) -> Option<String> {
    None
}

/// Returns the number of processors that this process may use.
pub(crate) fn cpus_allowed() -> Option<u64> {
    std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u64)
}

pub(crate) fn can_pin(_cpu: u32) -> bool {
    false
}

/// Returns the number of processors that this process may use, because the number of online
/// processors is unknown here.
pub(crate) fn cpus_online() -> Option<u64> {
    cpus_allowed()
}
