//! What the preloaded processes of suites (`tests/warm.rs`) and of `assay warm` have in common:
//! timeouts, the environment of a run, and the location of the list of loaded files. Nothing is
//! started here.

use assay_data::private;
use assay_data::system_error::reason;
use assay_measure::Command;
use assay_measure::directories::cache_directory;
use assay_measure::preloaded::Preloaded;
use assay_measure::room::PREFIX;
use assay_suites::coverage::sum;
use assay_suites::preloading::{Preloading, is_read_first};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Maximum time to wait for a process, from when it began to load. After that, the command runs
/// without it while the process continues to load.
pub(crate) const LOADS_WITHIN: Duration = Duration::from_secs(30);
/// Maximum time until a loaded process begins a run, which normally takes milliseconds.
const BEGINS_WITHIN: Duration = Duration::from_secs(10);
/// Maximum time until a process that cannot load reports it.
const REFUSES_WITHIN: Duration = Duration::from_secs(1);
/// Maximum length of a socket's path, in bytes.
const LONGEST: usize = 107;
/// Longest suffix that a socket's path has after the directory.
const BEHIND: &str = "/socket.stages";

/// Returns how a command can be run in a preloaded process.
///
/// # Errors
/// Returns a message with the reason if it cannot.
pub(crate) fn of(command: &Command) -> Result<Preloading, String> {
    Preloading::of(&command.argv, &|name| {
        let own = Command { argv: vec![name.to_owned()], ..command.clone() };
        own.resolve().ok()
    })
}

/// Returns the complete environment of a run, as a newly started process would have it.
///
/// # Errors
/// Returns a message if a variable is not UTF-8 and therefore cannot be passed on.
pub(crate) fn environment(
    command: &Command,
    way: &Preloading,
) -> Result<Vec<(String, String)>, String> {
    let mut env = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => env.insert(name, value),
            _ => return Err("an environment variable is not UTF-8".to_owned()),
        };
    }
    env.extend(command.env.iter().cloned());
    env.extend(way.env.iter().cloned());
    Ok(env.into_iter().collect())
}

/// Returns the absolute path of the directory in which a command runs.
///
/// # Errors
/// Returns a message if the path cannot be resolved, or is not UTF-8 and therefore cannot be passed
/// on.
pub(crate) fn directory(command: &Command) -> Result<String, String> {
    let directory = command.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let path = directory
        .canonicalize()
        .map_err(|error| format!("{}: {}", directory.display(), reason(&error)))?;
    path.into_os_string().into_string().map_err(|_| "the directory's name is not UTF-8".to_owned())
}

/// Returns true if any changed file is of a kind that a process reads first and was not loaded by
/// this process, which therefore cannot detect the change itself.
pub(crate) fn is_another(process: &Preloaded, changed: &[PathBuf]) -> bool {
    changed.iter().any(|path| is_read_first(path) && !process.has_loaded(path))
}

/// Returns the maximum time until a run begins in a process that has loaded everything, or in one
/// that began to load `since` ago and may take `within`.
pub(crate) fn patience(is_loaded: bool, since: Duration, within: Duration) -> Duration {
    match is_loaded {
        true => BEGINS_WITHIN,
        false => within.saturating_sub(since).max(REFUSES_WITHIN),
    }
}

/// Checks whether the path of a socket in a directory is short enough.
///
/// # Errors
/// Returns a message if the path would be too long.
pub(crate) fn fits(directory: &Path) -> Result<(), String> {
    let length = directory.as_os_str().len() + BEHIND.len();
    if length <= LONGEST {
        return Ok(());
    }
    Err(format!(
        "the path {} is too long for a socket; set TMPDIR or XDG_RUNTIME_DIR to a shorter one",
        directory.display()
    ))
}

/// Returns the file in which a process lists the files that its runs loaded, for the process that
/// replaces it; `None` if there is no private cache directory for it.
pub(crate) fn seen(root: &Path, way: &Preloading) -> Option<PathBuf> {
    let directory = cache_directory()?.join("preloaded");
    private::directory(&directory).ok()?;
    Some(directory.join(format!("{:016x}", key(root, way))))
}

/// Returns a key that is the same for a command in every session, although the runner is in a
/// different temporary directory each time.
fn key(root: &Path, way: &Preloading) -> u64 {
    let lasting = |word: &String| -> String {
        let mut parts = Path::new(word).components();
        let is_room = |part: Component<'_>| {
            part.as_os_str().as_encoded_bytes().starts_with(PREFIX.as_bytes())
        };
        match parts.any(is_room) {
            true => parts.as_path().display().to_string(),
            false => word.clone(),
        }
    };
    let kind: Vec<String> = way.kind.iter().map(lasting).collect();
    sum(format!("{}\n{}", root.display(), kind.join("\n")).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_suites::preloading::Interpreter;

    #[test]
    fn a_command_has_one_key_in_every_session() {
        let way = |words: &[&str]| Preloading {
            interpreter: Interpreter::Python,
            kind: words.iter().map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            words: Vec::new(),
        };
        let own = |runner: &str| key(Path::new("/p"), &way(&["python3", runner]));
        let first = own("/tmp/assay-room-1-0/hooks/assay_unittest.py");
        assert_eq!(first, own("/run/user/1/assay-room-22-3/hooks/assay_unittest.py"));
        assert_ne!(first, own("/tmp/assay-room-1-0/hooks/other.py"));
        assert_ne!(own("a.py"), own("b.py"));
    }
}
