//! Compiles what the crate embeds: the launcher and the workload (`c/launcher.c`, `c/workload.c`),
//! and the allocation counter (`c/alloc.c`), a library to preload.
//!
//! They are not objects to link, so `cc` only names the compiler and the flags for the target; the
//! rest is one command line. The programs have no C library, the counter lives in that of the
//! program that it counts: see the files' own heads.

use std::env;
use std::path::PathBuf;

const SOURCES: [&str; 5] = ["launcher.c", "workload.c", "alloc.c", "assay_alloc.h", "kernel.h"];
const PROGRAM: [&str; 8] = [
    "-static",
    "-no-pie",
    "-fno-pie",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-Wl,-z,noexecstack",
];
/// Nothing is looked up late, in the middle of a program's allocation, and what the compiler knows
/// of `malloc` is not true of the one that is compiled here.
const LIBRARY: [&str; 6] =
    ["-shared", "-fPIC", "-fno-builtin", "-fvisibility=hidden", "-Wl,-z,noexecstack", "-Wl,-z,now"];

fn main() -> Result<(), String> {
    for source in SOURCES {
        println!("cargo::rerun-if-changed=../../c/{source}");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    compile("launcher", "launcher.c", &PROGRAM)?;
    compile("workload", "workload.c", &PROGRAM)?;
    compile("alloc.so", "alloc.c", &LIBRARY)
}

fn compile(made: &str, source: &str, flags: &[&str]) -> Result<(), String> {
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
        .args(["-std=gnu11", "-Wall", "-Wextra", "-s", "-Wl,--build-id=none"])
        .args(flags)
        .arg("-o")
        .arg(directory("OUT_DIR")?.join(made))
        .arg(directory("CARGO_MANIFEST_DIR")?.join("../../c").join(source))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build {source} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for {source}: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
