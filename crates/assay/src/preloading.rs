//! What processes that are kept loaded have in common, those of suites (`tests/warm.rs`) and those of `assay warm`: how long they are waited for, the
//! environment of a run, and where what they loaded is kept. Nothing is started here.

use crate::revisions::cache_directory;
use assay_coverage::sum;
use assay_data::private;
use assay_measure::Command;
use assay_measure::preloaded::Preloaded;
use assay_measure::room::PREFIX;
use assay_suites::preloading::{Preloading, is_read_first};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A process that loads is waited for so long since it began to; then the command runs as it is, and the process goes on.
pub(crate) const LOADS_WITHIN: Duration = Duration::from_secs(30);
/// One that has loaded all begins a run within this; it takes milliseconds.
const BEGINS_WITHIN: Duration = Duration::from_secs(10);
/// And one that can't load says so within this.
const REFUSES_WITHIN: Duration = Duration::from_secs(1);
/// The longest path that a socket may have, and what stands behind the directory in it.
const LONGEST: usize = 107;
const BEHIND: &str = "/socket.stages";

/// How a command is run in a preloaded process.
///
/// # Errors
/// Why it can't be, in words.
pub(crate) fn of(command: &Command) -> Result<Preloading, String> {
    Preloading::of(&command.argv, &|name| {
        let own = Command { argv: vec![name.to_owned()], ..command.clone() };
        own.resolve().ok()
    })
}

/// All of the environment of a run, as a process that is started would have it.
///
/// # Errors
/// When it can't be handed on.
pub(crate) fn environment(
    command: &Command,
    way: &Preloading,
) -> Result<Vec<(String, String)>, String> {
    let mut env = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => env.insert(name, value),
            _ => return Err("a variable of the environment is not UTF-8".to_owned()),
        };
    }
    env.extend(command.env.iter().cloned());
    env.extend(way.env.iter().cloned());
    Ok(env.into_iter().collect())
}

/// Where a command runs, from the root.
///
/// # Errors
/// When it can't be handed on.
pub(crate) fn directory(command: &Command) -> Result<String, String> {
    let directory = command.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let path =
        directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
    path.into_os_string().into_string().map_err(|_| "the directory's name is not UTF-8".to_owned())
}

/// Whether what changed makes a process another one from the beginning on, of which it has no notion itself: a file that it would have read first.
pub(crate) fn is_another(process: &Preloaded, changed: &[PathBuf]) -> bool {
    changed.iter().any(|path| is_read_first(path) && !process.has_loaded(path))
}

/// How long a run may take to begin: of a process that has loaded all; or of one that began to load so long ago, and has `within` for that.
pub(crate) fn patience(is_loaded: bool, since: Duration, within: Duration) -> Duration {
    match is_loaded {
        true => BEGINS_WITHIN,
        false => within.saturating_sub(since).max(REFUSES_WITHIN),
    }
}

/// Whether a socket can lie in a directory.
///
/// # Errors
/// When its path is too long for that.
pub(crate) fn fits(directory: &Path) -> Result<(), String> {
    let length = directory.as_os_str().len() + BEHIND.len();
    if length <= LONGEST {
        return Ok(());
    }
    Err(format!(
        "the path {} is too long for a socket; let TMPDIR, or XDG_RUNTIME_DIR, name a shorter one",
        directory.display()
    ))
}

/// The file in which a process notes what its runs loaded, for the next one of its kind; `None`: there is no place for it.
pub(crate) fn seen(root: &Path, way: &Preloading) -> Option<PathBuf> {
    let directory = cache_directory()?.join("preloaded");
    private::directory(&directory).ok()?;
    Some(directory.join(format!("{:016x}", key(root, way))))
}

/// The same for one command in every session: a runner of ours lies in a room of its own each time.
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
