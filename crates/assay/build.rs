//! What the binary says of itself (`assay --version --verbose`), and how it is linked where it is what people start: a start of the tool is itself
//! measured, and its size is seen.
//!
//! - The commit is that of ASSAY_COMMIT, of the package, or of the repository that this is the source of; else `unknown`. It is no more than the
//!   source that is built, so two builds of one source are the same. Builds for tests don't ask, since each commit would have them linked anew.
//! - At a fixed address: a position-independent program of this size touches fifty pages more to start, only to write addresses into
//!   them.
//! - Without tables for unwinding, a tenth of the file: a panic ends the program. Those who build what is handed out leave them out of every
//!   program.
//! - Without libgcc_s, which would be loaded for unwinding alone: `c/unwind.c` stands for it.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const UNWINDER: &str = "../../c/unwind.c";
const WITHOUT_TABLES: &str = "without-tables.ld";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={UNWINDER}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    println!("cargo::rustc-env=ASSAY_COMMIT={}", commit(is("PROFILE", "release")));
    println!("cargo::rustc-env=ASSAY_TARGET={}", env::var("TARGET").unwrap_or_default());
    let features = env::var("CARGO_CFG_FEATURE").unwrap_or_default().replace(',', ", ");
    println!("cargo::rustc-env=ASSAY_FEATURES={features}");
    // Tests run the binary as well, but nobody times them.
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release")) {
        return Ok(());
    }
    // Both profiles that are given out say `panic = "abort"`, which a build script is not told. (In `cargo test --release` a failed
    // unit test of the binary ends all of them.)
    if !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if the_usual_linker() {
        never_unwind()?;
    }
    Ok(())
}

/// The commit that is built, in twelve digits; or, where it was given, what was given.
fn commit(looks: bool) -> String {
    println!("cargo::rerun-if-env-changed=ASSAY_COMMIT");
    let given = env::var("ASSAY_COMMIT").ok().filter(|text| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+.".contains(&b))
    });
    let found = || if looks { of_package().or_else(of_repository) } else { None };
    let shortened = || Some(found()?.get(..12)?.to_owned());
    given.or_else(shortened).unwrap_or_else(|| "unknown".to_owned())
}

/// What cargo notes in a package that it makes.
fn of_package() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// That of the repository whose top is two directories above: one that merely holds an unpacked source is another.
fn of_repository() -> Option<String> {
    let top = fs::canonicalize("../..").ok()?;
    let asked = ["rev-parse", "--show-toplevel", "--git-path", "logs/HEAD", "HEAD"];
    let output = Command::new("git").args(asked).current_dir(&top).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let [own, log, commit] = text.lines().collect::<Vec<_>>()[..] else { return None };
    if Path::new(own) != top {
        return None;
    }
    // Where there is none cargo would do all this anew at every build.
    let log = top.join(log);
    if log.is_file() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    Some(commit.to_owned())
}

/// Whether the linker is the one that Rust takes by itself: not every other one (mold, for one) understands such a script.
fn the_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    env::var_os("RUSTC_LINKER").is_none() && !flags.contains("link")
}

fn never_unwind() -> Result<(), String> {
    let objects = cc::Build::new()
        .file(UNWINDER)
        .std("gnu11")
        .flag("-fno-asynchronous-unwind-tables")
        .cargo_metadata(false)
        .try_compile_intermediates()
        .map_err(|e| format!("no C compiler for {UNWINDER}: {e}. Install one or name it in CC."))?;
    for object in objects {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    let tables =
        env::current_dir().map_err(|e| format!("no current directory: {e}"))?.join(WITHOUT_TABLES);
    println!("cargo::rerun-if-changed={WITHOUT_TABLES}");
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", tables.display());
    Ok(())
}
