//! How the binary is linked where it is what people start: a start of the tool is itself measured, and its size is seen.
//!
//! - At a fixed address: a position-independent program of this size touches fifty pages more to start, only to write addresses into
//!   them.
//! - Without tables for unwinding, a tenth of the file: a panic ends the program.
//! - Without libgcc_s, which would be loaded for unwinding alone: `c/unwind.c` stands for it.

use std::path::{Path, PathBuf};
use std::{env, fs};

const UNWINDER: &str = "../../c/unwind.c";
const WITHOUT_TABLES: &str = "\
SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;
";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={UNWINDER}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Tests run the binary as well, but nobody times them.
    if !(is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release"))
    {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Both profiles that are given out say `panic = "abort"`, which a build script is not told. (In `cargo test --release` a failed
    // unit test of the binary ends all of them.)
    if the_usual_linker() {
        let directory = env::var_os("OUT_DIR").map(PathBuf::from).ok_or("no OUT_DIR")?;
        never_unwind(&directory)?;
    }
    Ok(())
}

/// Whether the linker is the one that Rust takes by itself: not every other one (mold, for one) understands such a script.
fn the_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    env::var_os("RUSTC_LINKER").is_none() && !flags.contains("link")
}

fn never_unwind(directory: &Path) -> Result<(), String> {
    let script = directory.join("without-tables.ld");
    fs::write(&script, WITHOUT_TABLES).map_err(|e| format!("{}: {e}", script.display()))?;
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
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr,-T,{}", script.display());
    Ok(())
}
