//! Sets how release builds of every program are linked. Each build script includes this file. The
//! startup of the tool is itself measured, and its size matters, so programs are linked:
//!
//! - At a fixed address: a position-independent program of this size touches fifty more pages at
//!   startup, only to write addresses into them.
//! - Without tables for unwinding, which are a tenth of the file: a panic ends the program. Release
//!   packagers leave them out of every program.
//! - Without libgcc_s, which would be loaded only for unwinding: `c/unwind.c` replaces it.

use std::env;

const UNWINDER: &str = "../../c/unwind.c";
const WITHOUT_TABLES: &str = "../assay/without-tables.ld";

/// Tells cargo how to link the programs of a package, if this is a release build for Linux.
pub fn release() -> Result<(), String> {
    println!("cargo::rerun-if-changed={UNWINDER}");
    println!("cargo::rerun-if-changed={WITHOUT_TABLES}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Tests run the programs as well, but do not time their startup. Both distributed profiles set
    // `panic = "abort"`, which a build script cannot see. (In `cargo test --release`, a unit test
    // of a program that fails ends all of them.)
    let is_distributed = is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release");
    if !is_distributed || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if the_usual_linker() {
        never_unwind()?;
    }
    Ok(())
}

/// Returns true if the linker is Rust's default. Others, such as mold, may not understand such a
/// linker script.
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
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", tables.display());
    Ok(())
}
