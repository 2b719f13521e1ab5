//! The facts of this machine that define a target, as captured by `measure` where possible.
//! Properties that do not affect whether tests pass are not included: names, load, the exact size
//! of memory.

use assay_farm::builds::model::Facts;
use assay_measure::environment;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Facts of the captured environment, and their names in a target.
const CAPTURED: [(&str, &str); 7] = [
    ("kernel", "kernel"),
    ("arch", "arch"),
    ("cpu_model", "cpu"),
    ("virtualisation", "virtualisation"),
    ("smt_active", "setting.smt"),
    ("turbo", "setting.turbo"),
    ("thp", "setting.thp"),
];

/// Returns the facts, without a runtime.
pub(super) fn facts() -> Facts {
    let captured = environment::capture_without_git();
    let of = |name: &str| captured.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let mut facts = Facts::new();
    for (from, to) in CAPTURED {
        if let Some(text) = of(from).and_then(text) {
            facts.insert(to.to_owned(), text);
        }
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    facts.insert("os".to_owned(), system(&release));
    if let Some(text) = of("governor").and_then(text) {
        facts.insert("setting.governor".to_owned(), text);
    }
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if let Some(own) = microcode(&cpuinfo) {
        facts.insert("microcode".to_owned(), own);
    }
    if let Some(libc) = libc() {
        facts.insert("libc".to_owned(), libc);
    }
    if let Some(bytes) = of("memory_total").and_then(Value::as_u64) {
        facts.insert("memory".to_owned(), memory(bytes));
    }
    facts
}

/// Returns the display name of a machine: `debian 12, x86_64`.
pub(super) fn name(facts: &Facts) -> String {
    let of = |name: &str| facts.get(name).map_or("?", String::as_str);
    format!("{}, {}", of("os"), of("arch"))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(yes) => Some(if *yes { "on" } else { "off" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        // Governors: one per CPU, if they differ.
        Value::Array(all) => Some(all.iter().filter_map(text).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// Returns distribution and version from `os-release`.
fn system(release: &str) -> String {
    let of = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(|own| own.trim_matches(['"', '\'']).to_owned())
    };
    let id = of("ID").unwrap_or_else(|| std::env::consts::OS.to_owned());
    // Rolling releases have no version.
    of("VERSION_ID").map_or(id.clone(), |version| format!("{id} {version}"))
}

fn microcode(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("microcode"))?;
    line.split_once(':').map(|(_, own)| own.trim().to_owned())
}

/// Returns the libc: glibc from the first line of `ldd --version`; musl prints it to standard
/// error.
fn libc() -> Option<String> {
    let ran = Command::new("ldd").arg("--version").output().ok()?;
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if said.starts_with("musl") {
        let version = said.lines().find_map(|line| line.strip_prefix("Version "))?;
        return Some(format!("musl {version}"));
    }
    Some(format!("glibc {}", said.lines().next()?.split_whitespace().next_back()?))
}

/// Returns the memory size rounded up to a power of two, so that machines with 15.6 and 15.7 GiB
/// are in the same class.
fn memory(bytes: u64) -> String {
    let mut class = 1_u64;
    while (class << 30) < bytes && class < 1 << 20 {
        class *= 2;
    }
    format!("up to {class} GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_called_as_it_calls_itself() {
        assert_eq!(system("NAME=\"Debian\"\nVERSION_ID=\"12\"\nID=debian\n"), "debian 12");
        assert_eq!(system("ID=arch\n"), "arch");
        assert_eq!(microcode("x : 1\nmicrocode\t: 0xd1\n"), Some("0xd1".to_owned()));
    }

    #[test]
    fn nearly_equal_machines_are_of_one_class() {
        assert_eq!(memory(15 << 30), memory(16 << 30));
        assert_eq!((memory(1), memory(17 << 30)), ("up to 1 GiB".into(), "up to 32 GiB".into()));
    }

    #[test]
    fn this_machine_has_facts_and_no_name() {
        let facts = facts();
        for name in ["os", "kernel", "arch", "memory"] {
            assert!(facts.contains_key(name), "{name}: {facts:?}");
        }
        assert!(!facts.keys().any(|name| name.contains("host") || name.contains("load")));
        assert!(name(&facts).contains(std::env::consts::ARCH));
    }
}
