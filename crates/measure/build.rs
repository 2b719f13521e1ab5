//! Compiles the launcher (`c/launcher.c`), which the crate embeds.
//!
//! It is a program of its own and not an object to link, so `cc` only names the compiler and the
//! flags for the target; the rest is one command line. No C library: see the file's own head.

use std::env;
use std::path::PathBuf;

const SOURCE: &str = "../../c/launcher.c";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed={SOURCE}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let compiler = cc::Build::new()
        .opt_level(2)
        .debug(false)
        .pic(false)
        .warnings(false)
        .cargo_metadata(false)
        .get_compiler();
    let status = compiler
        .to_command()
        .args(["-std=gnu11", "-Wall", "-Wextra", "-static", "-s", "-no-pie", "-fno-pie"])
        .args(["-nostdlib", "-ffreestanding", "-fno-stack-protector"])
        .args(["-fno-asynchronous-unwind-tables", "-Wl,--build-id=none", "-Wl,-z,noexecstack"])
        .arg("-o")
        .arg(directory("OUT_DIR")?.join("launcher"))
        .arg(directory("CARGO_MANIFEST_DIR")?.join(SOURCE))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build the launcher ({status})")),
        Err(error) => Err(format!(
            "no C compiler for the launcher: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
