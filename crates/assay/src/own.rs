//! This program itself, for what starts it once more. Nothing is started here.

use anyhow::Context;
use std::path::PathBuf;

/// A path that starts the program that runs at this moment, as long as it runs.
///
/// Where the system has one (`/proc/PID/exe` of Linux), it leads to the file that was started, also when that was deleted or another
/// stands in its place since: a measurement of hours outlives the build that replaces the binary.
///
/// # Errors
/// When the system does not say where the program is.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    let kept = format!("/proc/{}/exe", std::process::id());
    // The link itself: where it leads may be gone, and it works nevertheless.
    if std::fs::read_link(&kept).is_ok() {
        return Ok(kept.into());
    }
    std::env::current_exe().context("the system does not say where the program assay itself is")
}
