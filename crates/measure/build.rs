//! Compiles the launcher and the workload (`c/launcher.c`, `c/workload.c`), which the crate embeds.
//!
//! They are programs of their own and not objects to link, so `cc` only names the compiler and the
//! flags for the target; the rest is one command line. No C library: see the files' own heads.

use std::env;
use std::path::PathBuf;

const PROGRAMS: [&str; 2] = ["launcher", "workload"];

fn main() -> Result<(), String> {
    for program in PROGRAMS {
        println!("cargo::rerun-if-changed=../../c/{program}.c");
        println!("cargo::rerun-if-changed=../../c/kernel.h");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    PROGRAMS.into_iter().try_for_each(compile)
}

fn compile(program: &str) -> Result<(), String> {
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
        .arg(directory("OUT_DIR")?.join(program))
        .arg(directory("CARGO_MANIFEST_DIR")?.join("../../c").join(format!("{program}.c")))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build the {program} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for the {program}: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
