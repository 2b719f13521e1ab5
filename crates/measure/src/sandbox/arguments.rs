//! The bubblewrap arguments for a policy. This module inspects the system, but creates nothing.

use crate::sandbox::policy::Policy;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// System directories that every program needs. Missing ones are skipped.
const SYSTEM: [&str; 5] = ["/usr", "/etc", "/opt", "/nix/store", "/gnu/store"];
/// Directories that most systems have as links to directories in `/usr`.
const OLD: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Host name inside the sandbox.
const HOST: &str = "sandbox";
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Arguments for bubblewrap. Later arguments override earlier ones.
struct BubblewrapArguments(Vec<OsString>);

impl BubblewrapArguments {
    fn add(&mut self, words: &[&dyn AsRef<OsStr>]) {
        self.0.extend(words.iter().map(|word| word.as_ref().to_owned()));
    }
}

/// Returns all arguments before the command. `closes` is true if bubblewrap can forbid further
/// namespaces inside; `opened` lists the mount points of the policy's `opened` directories.
pub(crate) fn of(policy: &Policy, closes: bool, opened: &[PathBuf]) -> Vec<OsString> {
    let mut words = BubblewrapArguments(Vec::new());
    words.add(&[&"--unshare-user", &"--unshare-ipc", &"--unshare-pid", &"--unshare-uts"]);
    words.add(&[&"--unshare-cgroup-try", &"--hostname", &HOST]);
    if closes {
        words.add(&[&"--disable-userns"]);
    }
    if !policy.network {
        words.add(&[&"--unshare-net"]);
    }
    words.add(&[&"--die-with-parent", &"--new-session", &"--cap-drop", &"ALL"]);
    system(&mut words);
    words.add(&[&"--proc", &"/proc", &"--dev", &"/dev"]);
    in_memory(&mut words, policy, Path::new("/dev/shm"));
    in_memory(&mut words, policy, Path::new("/tmp"));
    in_memory(&mut words, policy, Path::new("/run"));
    // On many systems, the configuration of host name resolution is a link into `/run`, which is
    // not mounted inside.
    if policy.network
        && let Ok(names) = fs::canonicalize("/etc/resolv.conf")
        && !is_of_system(&names)
    {
        words.add(&[&"--ro-bind", &names, &names]);
    }
    for path in &policy.reads {
        words.add(&[&"--ro-bind", path, path]);
    }
    for (path, mounted) in policy.opened.iter().zip(opened) {
        words.add(&[&"--ro-bind", mounted, path]);
    }
    for path in &policy.writes {
        words.add(&[&"--bind", path, path]);
    }
    for path in &policy.hides {
        match path.is_dir() {
            true => words.add(&[&"--tmpfs", path, &"--remount-ro", path]),
            false => words.add(&[&"--ro-bind", &"/dev/null", path]),
        }
    }
    // The directories that contain all these mounts are in memory and have no size limit.
    words.add(&[&"--remount-ro", &"/dev", &"--remount-ro", &"/"]);
    words.add(&[&"--chdir", &policy.directory, &"--clearenv"]);
    for (name, value) in [("PATH", PATH), ("HOME", "/tmp"), ("TMPDIR", "/tmp")] {
        words.add(&[&"--setenv", &name, &value]);
    }
    for (name, value) in &policy.environment {
        words.add(&[&"--setenv", name, value]);
    }
    words.0
}

fn in_memory(words: &mut BubblewrapArguments, policy: &Policy, at: &Path) {
    if let Some(bytes) = policy.limits.temporary {
        words.add(&[&"--size", &bytes.to_string()]);
    }
    words.add(&[&"--perms", &"1777", &"--tmpfs", &at]);
}

/// Adds the system's programs and libraries at their usual paths.
fn system(words: &mut BubblewrapArguments) {
    for path in SYSTEM {
        words.add(&[&"--ro-bind-try", &path, &path]);
    }
    for path in OLD {
        match fs::read_link(path) {
            Ok(target) => words.add(&[&"--symlink", &target, &path]),
            Err(_) => words.add(&[&"--ro-bind-try", &path, &path]),
        }
    }
}

/// Returns the words that set the limits of each process, to be put before the command to run.
/// `prlimit` is an absolute path, because the PATH inside may contain programs written by the
/// command. `has_groups` means that memory and processes are limited for all processes together.
pub(crate) fn limits(policy: &Policy, prlimit: &Path, has_groups: bool) -> Vec<OsString> {
    let limits = &policy.limits;
    let alone = |limit: Option<u64>| limit.filter(|_| !has_groups);
    let of = [
        // The machine determines where core dumps are written.
        ("core", Some(0)),
        ("data", alone(limits.memory)),
        ("nproc", alone(limits.processes)),
        ("fsize", limits.file),
        ("nofile", limits.descriptors),
        ("cpu", limits.cpu_seconds),
    ];
    let of = of.into_iter().filter_map(|(name, most)| Some(format!("--{name}={}", most?)));
    std::iter::once(prlimit.into()).chain(of.map(OsString::from)).collect()
}

/// Returns true for paths in system directories that are available inside and that everybody can
/// read.
pub(crate) fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().chain(&OLD).any(|system| path.starts_with(system))
}

/// Returns the path of a program in the caller's PATH or on the usual search path.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let usual = OsString::from(PATH);
    let all = std::env::split_paths(&own).chain(std::env::split_paths(&usual)).collect::<Vec<_>>();
    all.into_iter().map(|directory| directory.join(program)).find(|path| path.is_file())
}
