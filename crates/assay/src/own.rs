//! The path of this program, which other modules use to start it again.

use anyhow::Context;
use std::path::PathBuf;

/// Returns a path from which the running program can be started again. The path is valid while the
/// program runs.
///
/// On Linux, this is `/proc/PID/exe`, which refers to the file that was started even if the file
/// has since been deleted or replaced. A long measurement therefore survives a build that replaces
/// the binary.
///
/// # Errors
/// Fails if the system does not report where the program is.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let kept = format!("/proc/{}/exe", std::process::id());
    // Reads only the link, which works even if its target is gone.
    if std::fs::read_link(&kept).is_ok() {
        return Ok(kept.into());
    }
    std::env::current_exe().context("the system does not say where the program assay itself is")
}
