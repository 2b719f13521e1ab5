//! The directories of a user in which `assay` keeps files. A directory is `None` if neither the
//! variable that names it nor `HOME` is an absolute path.

use std::env;
use std::path::PathBuf;

/// Returns the directory for files that can be recreated.
pub fn cache_directory() -> Option<PathBuf> {
    below("XDG_CACHE_HOME", ".cache")
}

/// Returns the directory for persistent state.
pub fn state_directory() -> Option<PathBuf> {
    below("XDG_STATE_HOME", ".local/state")
}

/// Returns the directory for settings.
pub fn config_directory() -> Option<PathBuf> {
    below("XDG_CONFIG_HOME", ".config")
}

fn below(variable: &str, at_home: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(variable).or_else(|| Some(absolute("HOME")?.join(at_home)))?;
    Some(base.join("assay"))
}
