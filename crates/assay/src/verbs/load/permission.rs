//! Checks which hosts may be loaded: this machine, and hosts that the user has permitted. Nothing
//! is sent to any other host.

use super::options::Args;
use anyhow::{Context, bail};
use assay_load::Target;
use assay_measure::directories::config_directory;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Checks that this target may be loaded.
///
/// # Errors
///
/// Returns an error if it is not permitted, or if the file of permitted hosts cannot be read.
pub(super) fn permitted(args: &Args, target: &Target) -> anyhow::Result<()> {
    let host = &target.host;
    if target.is_this_machine()? || args.permission.i_may_load.contains(host) {
        return Ok(());
    }
    let file = file_of_hosts();
    if let Some(path) = &file {
        match fs::read_to_string(path) {
            Ok(text) if names(&text, host) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
    }
    let or = file
        .map_or(String::new(), |path| format!(", or permanently on a line of {}", path.display()));
    bail!(
        "{host} is not this machine: a load test can take a server down. If you are allowed to load it, confirm this: --i-may-load {host}{or}"
    )
}

/// Returns the path of `may-load` in the configuration directory; `None` if there is no such
/// directory.
fn file_of_hosts() -> Option<PathBuf> {
    Some(config_directory()?.join("may-load"))
}

/// Returns true if one of the lines is this host. Text after a `#` is a comment.
fn names(text: &str, host: &str) -> bool {
    text.lines().any(|line| line.split('#').next().unwrap_or_default().trim() == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_line() {
        let text = "# ours\nstaging.example.org  # until May\n\n10.0.0.7\n";
        assert!(names(text, "staging.example.org") && names(text, "10.0.0.7"));
        assert!(!names(text, "example.org") && !names(text, "ours") && !names(text, "until May"));
    }
}
