//! Records version details of the binary (`assay --version --verbose`), and sets how release builds
//! of it are linked.
//!
//! The commit is taken from the variable ASSAY_COMMIT, from the package, or from the repository
//! that contains this source; otherwise it is `unknown`. It only identifies the source, so two
//! builds of one source are the same. Builds for tests do not look it up, since they would be
//! relinked at each commit.

mod linking;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    println!("cargo::rustc-env=ASSAY_COMMIT={}", commit(is("PROFILE", "release")));
    println!("cargo::rustc-env=ASSAY_TARGET={}", env::var("TARGET").unwrap_or_default());
    let features = env::var("CARGO_CFG_FEATURE").unwrap_or_default().replace(',', ", ");
    println!("cargo::rustc-env=ASSAY_FEATURES={features}");
    linking::release()
}

/// Returns the value of ASSAY_COMMIT, or the commit being built in twelve digits, which is looked
/// up only if `looks` is true; otherwise `unknown`.
fn commit(looks: bool) -> String {
    println!("cargo::rerun-if-env-changed=ASSAY_COMMIT");
    let given = env::var("ASSAY_COMMIT").ok().filter(|text| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+.".contains(&b))
    });
    let found = || if looks { of_package().or_else(of_repository) } else { None };
    let shortened = || Some(found()?.get(..12)?.to_owned());
    given.or_else(shortened).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the commit that cargo recorded in a package.
fn of_package() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// Returns the commit of the repository whose root is two directories up. A repository that merely
/// contains an unpacked copy of the source does not count.
fn of_repository() -> Option<String> {
    let top = fs::canonicalize("../..").ok()?;
    let asked = ["rev-parse", "--show-toplevel", "--git-path", "logs/HEAD", "HEAD"];
    let output = Command::new("git").args(asked).current_dir(&top).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let [own, log, commit] = text.lines().collect::<Vec<_>>()[..] else { return None };
    if Path::new(own) != top {
        return None;
    }
    // If the file did not exist, cargo would run this script again in every build.
    let log = top.join(log);
    if log.is_file() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    Some(commit.to_owned())
}
