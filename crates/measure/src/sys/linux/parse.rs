//! Parses the texts that Linux provides in `/proc` and `/sys`. All functions are pure and return
//! `None` for unknown formats. The formats are those of proc(5), cgroups(7) and the kernel's
//! documentation of sysfs.

/// Parses the first and the fourth field of `/proc/loadavg`: the load average over one minute, and
/// the number of running or ready tasks.
pub(super) fn loadavg(text: &str) -> Option<(f64, u64)> {
    let mut fields = text.split_ascii_whitespace();
    let load = number(fields.next()?)?;
    let (running, _) = fields.nth(2)?.split_once('/')?;
    Some((load, running.parse().ok()?))
}

/// Returns the value of `MemTotal` in `/proc/meminfo`, in bytes.
pub(super) fn memory_total(text: &str) -> Option<u64> {
    kib_field(text, "MemTotal:")
}

/// Returns the value of `SwapTotal` in `/proc/meminfo`, in bytes.
pub(super) fn swap_total(text: &str) -> Option<u64> {
    kib_field(text, "SwapTotal:")
}

/// Returns the value of `VmHWM` in `/proc/PID/status`, in bytes.
pub(super) fn peak_memory(text: &str) -> Option<u64> {
    kib_field(text, "VmHWM:")
}

fn kib_field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The entry of the first processor in `/proc/cpuinfo`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CpuInfo {
    /// Model name; `None` on ARM kernels.
    pub(crate) model: Option<String>,
    /// True if the processor reports that it runs under a hypervisor.
    pub(crate) hypervisor: bool,
}

/// Parses the first processor's entry in `/proc/cpuinfo`.
pub(super) fn cpuinfo(text: &str) -> CpuInfo {
    let first = text.split("\n\n").next().unwrap_or_default();
    let field = |name: &str| {
        first.lines().filter_map(|line| line.split_once(':')).find_map(|(key, value)| {
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim())
        })
    };
    let model = ["model name", "Model", "cpu model", "cpu"].iter().find_map(|name| field(name));
    let hypervisor = field("flags")
        .is_some_and(|flags| flags.split_ascii_whitespace().any(|f| f == "hypervisor"));
    CpuInfo { model: model.map(str::to_owned), hypervisor }
}

/// Returns true if an entry of `/sys/devices/system/cpu` is a processor: `cpu` and its number.
pub(super) fn is_cpu(name: &str) -> bool {
    name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Maximum number of processors in a list.
const MOST_CPUS: usize = 1 << 20;

/// Returns the processors in a list such as `0-3,8`. `None` for other text, and for a list of more
/// than 2^20 processors.
pub(super) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last.checked_sub(first)? as usize >= MOST_CPUS - cpus.len().min(MOST_CPUS) {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// Returns the choice in brackets in a text such as `always [madvise] never`; the text itself if
/// there are no brackets.
pub(super) fn chosen(text: &str) -> Option<&str> {
    let choice = match text.split_once('[') {
        Some((_, rest)) => rest.split_once(']')?.0,
        None => text.trim(),
    };
    (!choice.is_empty()).then_some(choice)
}

/// Returns the number of processors allowed by `cpu.max` of cgroup 2 (`200000 100000`). `None` also
/// if there is no limit (`max 100000`).
pub(super) fn cpu_max(text: &str) -> Option<f64> {
    let mut fields = text.split_ascii_whitespace();
    share(fields.next()?, fields.next()?)
}

/// Returns a quota as a multiple of a period, both in µs; `None` unless both are positive.
pub(super) fn share(quota: &str, period: &str) -> Option<f64> {
    let (quota, period) = (number(quota.trim())?, number(period.trim())?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Returns a memory limit, in bytes; `None` if there is no limit, which cgroup 2 writes as `max`
/// and cgroup 1 as the largest number of whole pages.
pub(super) fn memory_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|&bytes: &u64| bytes < 1 << 60)
}

/// Returns the path of our cgroup in `/proc/self/cgroup`. With `None`, this is the path in version
/// 2; otherwise, the path of the named controller in version 1.
pub(super) fn cgroup_path<'a>(text: &'a str, controller: Option<&str>) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let ours = match controller {
            None => id == "0" && controllers.is_empty(),
            Some(name) => controllers.split(',').any(|c| c == name),
        };
        (ours && path.starts_with('/')).then_some(path)
    })
}

/// Processor time since boot from `/proc/stat`, in clock ticks, summed over all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuTicks {
    /// Time that the hypervisor gave to other machines while this one had work to do.
    pub(super) steal: u64,
    /// Sum of busy, idle and stolen time.
    pub(super) total: u64,
}

/// Parses the first line of `/proc/stat`. Its last two fields, the guest times, are ignored because
/// the first two already include them.
pub(super) fn cpu_ticks(text: &str) -> Option<CpuTicks> {
    let mut fields = text.lines().next()?.split_ascii_whitespace();
    if fields.next()? != "cpu" {
        return None;
    }
    let ticks: Vec<u64> = fields.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let total = ticks.iter().try_fold(0_u64, |sum, &t| sum.checked_add(t))?;
    Some(CpuTicks { steal: *ticks.get(7)?, total })
}

/// Returns the value of `PRETTY_NAME` in `/etc/os-release`.
pub(super) fn pretty_name(text: &str) -> Option<&str> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then_some(value)
}

/// Returns the hypervisor that the machine's vendor and product names identify.
pub(super) fn hypervisor_by_name(names: &str) -> Option<&'static str> {
    let names = names.to_ascii_lowercase();
    let known = [
        ("qemu", "qemu"),
        ("kvm", "kvm"),
        ("vmware", "vmware"),
        ("virtualbox", "virtualbox"),
        ("innotek", "virtualbox"),
        ("xen", "xen"),
        ("amazon ec2", "amazon"),
        ("google compute engine", "google"),
        ("microsoft corporation virtual machine", "hyper-v"),
        ("digitalocean", "digitalocean"),
        ("hetzner", "hetzner"),
        ("openstack", "openstack"),
        ("parallels", "parallels"),
        ("bochs", "bochs"),
        ("firecracker", "firecracker"),
    ];
    known.into_iter().find_map(|(part, name)| names.contains(part).then_some(name))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_load_and_the_running_tasks_are_read() {
        assert_eq!(loadavg("1.49 0.72 0.37 2/98 15175\n"), Some((1.49, 2)));
        for garbage in ["", "x", "1 2 3", "1 2 3 4", "nan 1 1 1/2 3"] {
            assert_eq!(loadavg(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn processors_are_told_from_their_neighbours() {
        let entries = ["cpu0", "cpu127", "cpu", "cpufreq", "cpuidle", "online", "cpu-1"];
        assert_eq!(entries.map(is_cpu), [true, true, false, false, false, false, false]);
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(memory_total("MemTotal:  1024 kB\nMemFree: 1 kB\n"), Some(1 << 20));
        assert_eq!(peak_memory("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t     52 kB\n"), Some(52 * 1024));
        assert_eq!(peak_memory("Name:\tx\n"), None);
        assert_eq!(memory_total("MemTotal: 18446744073709551615 kB"), None);
        assert_eq!(swap_total("MemTotal: 9 kB\nSwapTotal:       0 kB\n"), Some(0));
    }

    #[test]
    fn a_processor_is_named_and_tells_of_its_hypervisor() {
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor lahf\n\n\
                   processor\t: 1\nmodel name\t: other\n";
        assert_eq!(cpuinfo(x86), CpuInfo { model: Some("AMD EPYC".to_owned()), hypervisor: true });
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp\n";
        assert_eq!(cpuinfo(arm), CpuInfo { model: None, hypervisor: false });
        assert_eq!(cpuinfo(""), CpuInfo { model: None, hypervisor: false });
    }

    #[test]
    fn a_list_of_processors_is_counted() {
        assert_eq!(cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpu_list("0"), Some(vec![0]));
        for garbage in ["", "a", "3-1", "0-", "0-4294967295", "1,,2", "(null)"] {
            assert_eq!(cpu_list(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn the_choice_in_brackets_is_taken() {
        assert_eq!(chosen("always [madvise] never\n"), Some("madvise"));
        assert_eq!(chosen("performance\n"), Some("performance"));
        assert_eq!(chosen("\n"), None);
        assert_eq!(chosen("a [b"), None);
    }

    #[test]
    fn limits_of_groups_are_read_and_no_limit_is_none() {
        assert_eq!(cpu_max("150000 100000\n"), Some(1.5));
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(cpu_max("1"), None);
        assert_eq!(share("-1\n", "100000\n"), None);
        assert_eq!(share("50000\n", "100000\n"), Some(0.5));
        assert_eq!(memory_limit("1048576\n"), Some(1 << 20));
        assert_eq!(memory_limit("max\n"), None);
        assert_eq!(memory_limit("9223372036854771712\n"), None);
    }

    #[test]
    fn our_group_is_found_in_either_version() {
        let mixed = "4:memory:/a/b\n2:cpu,cpuacct:/c\n1:name=systemd:/d:e\n0::/f\n";
        assert_eq!(cgroup_path(mixed, None), Some("/f"));
        assert_eq!(cgroup_path(mixed, Some("memory")), Some("/a/b"));
        assert_eq!(cgroup_path(mixed, Some("cpu")), Some("/c"));
        assert_eq!(cgroup_path(mixed, Some("name=systemd")), Some("/d:e"));
        assert_eq!(cgroup_path("0::\ngarbage", None), None);
    }

    #[test]
    fn stolen_ticks_are_a_part_of_all_ticks() {
        let text = "cpu  10 20 30 40 50 60 70 5 3 2\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(cpu_ticks(text), Some(CpuTicks { steal: 5, total: 285 }));
        for garbage in ["", "cpu", "cpu 1 2", "cpu0 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"] {
            assert_eq!(cpu_ticks(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn names_are_read() {
        assert_eq!(pretty_name("NAME=x\nPRETTY_NAME=\"Debian 12\"\n"), Some("Debian 12"));
        assert_eq!(pretty_name("NAME=x"), None);
        assert_eq!(hypervisor_by_name("QEMU Standard PC"), Some("qemu"));
        assert_eq!(hypervisor_by_name("Dell Inc. XPS"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "\\PC*|[0-9a-z:/,.\\[\\] \n-]{0,60}") {
            let _ = (loadavg(&text), memory_total(&text), peak_memory(&text), cpuinfo(&text));
            let _ = (cpu_list(&text), chosen(&text), cpu_max(&text), memory_limit(&text));
            let _ = (cgroup_path(&text, None), cgroup_path(&text, Some("cpu")));
            let _ = (cpu_ticks(&text), cpu_ticks(&format!("cpu {text}")), pretty_name(&text));
            let _ = (hypervisor_by_name(&text), memory_total(&format!("MemTotal:{text}")));
        }
    }
}
