//! Compiles what the crate embeds: the launcher and the workload (`c/launcher.c`, `c/workload.c`),
//! and the allocation counter (`c/alloc.c`), a library to preload. Their other rooms are in the
//! directories of the same names.
//!
//! They are not objects to link, so `cc` only names the compiler and the flags for the target; the
//! rest is one command line. The programs have no C library, the counter lives in that of the
//! program that it counts, whichever it is: see the files' own heads.

use std::env;
use std::path::PathBuf;

/// Where the C is, from the crate's directory.
const HOME: &str = "../../c";
/// In the order of their variables in memory: what every launcher touches comes to stand between the
/// two large tables of `guard.c` and `subjects.c`, of which hardly a page is in use.
const LAUNCHER: [&str; 8] = [
    "launcher/guard.c",
    "launcher/settings.c",
    "launcher/run.c",
    "launcher.c",
    "launcher/signals.c",
    "launcher/subjects.c",
    "launcher/processor.c",
    "launcher/strays.c",
];
const WORKLOAD: [&str; 1] = ["workload.c"];
const ALLOC: [&str; 6] = [
    "alloc.c",
    "alloc/next.c",
    "alloc/slots.c",
    "alloc/file.c",
    "alloc/exec.c",
    "alloc/snapshot.c",
];
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
/// of `malloc` is not true of the one that is compiled here. It names no C library and nothing that
/// only one of them has: it is loaded into programs of any.
const LIBRARY: [&str; 9] = [
    "-shared",
    "-fPIC",
    "-nostdlib",
    "-fno-builtin",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-fvisibility=hidden",
    "-Wl,-z,noexecstack",
    "-Wl,-z,now",
];
/// On arm64, atomic operations are instructions, and not calls into the compiler's library.
const LIBRARY_ARM64: [&str; 1] = ["-mno-outline-atomics"];

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed={HOME}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    compile("launcher", &LAUNCHER, &PROGRAM)?;
    compile("workload", &WORKLOAD, &PROGRAM)?;
    let mut library = LIBRARY.to_vec();
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("aarch64") {
        library.extend(LIBRARY_ARM64);
    }
    compile("alloc.so", &ALLOC, &library)
}

fn compile(made: &str, sources: &[&str], flags: &[&str]) -> Result<(), String> {
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let home = directory("CARGO_MANIFEST_DIR")?.join(HOME);
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
        .args(sources.iter().map(|source| home.join(source)))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build the {made} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for the {made}: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
