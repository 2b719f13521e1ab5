//! The words with which bubblewrap is asked for a policy's walls. What there is on the system is looked at, nothing is made.

use crate::policy::Policy;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// What every program needs of the system, as far as it is there.
const SYSTEM: [&str; 5] = ["/usr", "/etc", "/opt", "/nix/store", "/gnu/store"];
/// Directories that on most systems are links into `/usr`.
const OLD: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// What is seen of the machine's name.
const HOST: &str = "sandbox";
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Words for bubblewrap, in the order in which it takes them: a later one covers earlier ones.
struct Words(Vec<OsString>);

impl Words {
    fn add(&mut self, words: &[&dyn AsRef<OsStr>]) {
        self.0.extend(words.iter().map(|word| word.as_ref().to_owned()));
    }
}

/// All words before the command. `closes`: it can forbid further namespaces within; `opened`: where each of the policy's directories of that name is mounted.
pub(crate) fn of(policy: &Policy, closes: bool, opened: &[PathBuf]) -> Vec<OsString> {
    let mut words = Words(Vec::new());
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
    // Names of hosts: a link into `/run` on many systems, where nothing of it is any more.
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
    // What holds all these places is in memory, without a limit.
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

fn in_memory(words: &mut Words, policy: &Policy, at: &Path) {
    if let Some(bytes) = policy.limits.temporary {
        words.add(&[&"--size", &bytes.to_string()]);
    }
    words.add(&[&"--perms", &"1777", &"--tmpfs", &at]);
}

/// Programs and libraries, as they are on this system.
fn system(words: &mut Words) {
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

/// Words that set limits of each process, before the command. `prlimit` is named by its file: what a command within wrote may lie earlier on its PATH.
/// `has_groups`: memory and processes are limited for all together.
pub(crate) fn limits(policy: &Policy, prlimit: &Path, has_groups: bool) -> Vec<OsString> {
    let limits = &policy.limits;
    let alone = |limit: Option<u64>| limit.filter(|_| !has_groups);
    let of = [
        // Dumps of memory would be written where the machine's settings say.
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

/// What can be read of the system by everybody, so that whoever runs there finds it.
pub(crate) fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().chain(&OLD).any(|system| path.starts_with(system))
}

/// The program of a command as it is found on the usual path.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let usual = OsString::from(PATH);
    let all = std::env::split_paths(&own).chain(std::env::split_paths(&usual)).collect::<Vec<_>>();
    all.into_iter().map(|directory| directory.join(program)).find(|path| path.is_file())
}
