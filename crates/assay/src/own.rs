//! The path of this program, for starting it again. Nothing is started here.

use anyhow::Context;
use std::path::PathBuf;

/// Returns a path from which the running program can be started again; valid while it runs.
///
/// If the system has one (`/proc/PID/exe` of Linux), it leads to the file that was started, even
/// if that was deleted or replaced since: a measurement of hours outlives a build that replaces the
/// binary.
///
/// # Errors
/// If the system does not report where the program is.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let kept = format!("/proc/{}/exe", std::process::id());
    // The link itself, which works even if its target is gone.
    if std::fs::read_link(&kept).is_ok() {
        return Ok(kept.into());
    }
    std::env::current_exe().context("the system does not say where the program assay itself is")
}
