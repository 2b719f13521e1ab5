//! A headless Chromium that opens pages from the disk: what it made of one, and what it said. `make test` installs it where it can; without one the
//! tests that need it say that they are skipped.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a part of tests, none of which needs all of it"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The browser, where there is one.
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

/// What the browser made of a page, and what it said meanwhile.
pub fn browsed(
    browser: &Path,
    directory: &Path,
    arguments: &[&str],
    page: &Path,
) -> (String, String) {
    visited(browser, directory, arguments, &format!("file://{}", page.display()))
}

/// The same of an address.
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
        // Whoever looks anything up gets no answer: a page that needs the net would show it.
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

/// A page that holds another one in a frame of a phone's width and says by how much that one is wider. A headless window can't be made
/// as narrow as a phone.
pub fn on_a_phone(directory: &Path, page: &str) -> PathBuf {
    let frame = format!(
        "<!DOCTYPE html><body style=\"margin:0\"><iframe id=f style=\"width:390px;height:800px;border:0\" srcdoc=\"{}\"></iframe>\
         <script>f.onload=function(){{var d=f.contentDocument,r=d.documentElement,w=r.scrollWidth-r.clientWidth,worst='';\
         d.querySelectorAll('main *').forEach(function(e){{if(!e.closest('.scroll')&&!e.closest('svg')&&!e.closest('pre')&&e.getBoundingClientRect().right>r.clientWidth+.5)worst=e.tagName+'.'+e.className}});\
         document.body.setAttribute('data-overflow',w);document.body.setAttribute('data-worst',worst);\
         document.body.setAttribute('data-figures',d.querySelectorAll('figure svg text').length)}}</script>",
        page.replace('&', "&amp;").replace('"', "&quot;")
    );
    let path = directory.join("phone.html");
    fs::write(&path, frame).unwrap();
    path
}
