//! A headless Chromium that opens pages from the disk: the resulting document, and its log. `make
//! test` installs it where possible; without it, tests that need it report that they are skipped.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a part of tests, none of which needs all of it"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the browser, if installed.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path)
        .flat_map(|directory| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| directory.join(name))
        })
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: no chromium");
    }
    found
}

/// Returns the document that the browser made of a page, and its log.
pub fn browsed(
    browser: &Path,
    directory: &Path,
    arguments: &[&str],
    page: &Path,
) -> (String, String) {
    visited(browser, directory, arguments, &format!("file://{}", page.display()))
}

/// Like [`browsed`], for an address.
pub fn visited(
    browser: &Path,
    directory: &Path,
    arguments: &[&str],
    address: &str,
) -> (String, String) {
    let profile = tempfile::tempdir_in(directory).unwrap();
    let run = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--enable-logging=stderr",
        ])
        // Name lookups fail, so a page that needs the network would show it.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("--virtual-time-budget=4000")
        .args(arguments)
        .arg(address)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "{}", text(&run.stderr));
    (text(&run.stdout), text(&run.stderr))
}

/// The script of [`in_windows`].
const WINDOWS: &str = include_str!("windows.js");

/// Creates a page that contains another one in frames of four widths, because a headless window
/// cannot be made as narrow as a phone. The attributes of its body contain the excess width of the
/// page over its frames (`data-overflow`, the sum), the widest element (`data-worst`), texts that
/// are cut off (`data-cut`) or lack contrast (`data-faint`, WCAG AA), and the number of texts in
/// its plots.
pub fn in_windows(directory: &Path, page: &str) -> PathBuf {
    let frame = format!(
        "<!DOCTYPE html><body style=\"margin:0\"><template>{}</template><script>{WINDOWS}</script>",
        page.replace('&', "&amp;").replace('<', "&lt;")
    );
    let path = directory.join("windows.html");
    fs::write(&path, frame).unwrap();
    path
}
