//! Compiles the programs that the crate embeds: the launcher and the workload (`c/launcher.c`,
//! `c/workload.c`), and the allocation counter (`c/alloc.c`), a library to preload. Their other
//! sources are in the directories of the same names.
//!
//! They are not linked into the crate, so `cc` only provides the compiler and the flags for the
//! target; each source is compiled by one command, and another one links. The programs have no C
//! library; the counter uses that of the counted program, whichever it is: see the comments at the
//! top of the files.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The C sources, relative to the crate's directory.
const HOME: &str = "../../c";
/// In the order of their variables in memory: data that every launcher touches are placed between
/// the two large tables of `guard.c` and `subjects.c`, which hardly use a page.
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
/// Flags for compiling the sources of a program or of the library, and for linking the objects.
/// They are separate commands, since a compiler invoked to link without a C library may not find
/// its headers either.
struct Flags {
    compiling: &'static [&'static str],
    linking: &'static [&'static str],
}
const PROGRAM: Flags = Flags {
    compiling: &[
        "-fno-pie",
        "-ffreestanding",
        "-fno-stack-protector",
        "-fno-asynchronous-unwind-tables",
    ],
    linking: &["-static", "-no-pie", "-nostdlib", "-Wl,-z,noexecstack"],
};
/// No symbol is resolved lazily during an allocation of the program, and the compiler's knowledge
/// of `malloc` does not apply to the one compiled here. The library references no C library and
/// nothing specific to one, since it is loaded into programs with any C library.
const LIBRARY: Flags = Flags {
    compiling: &[
        "-fPIC",
        "-fno-builtin",
        "-fno-stack-protector",
        "-U_FORTIFY_SOURCE",
        "-fvisibility=hidden",
    ],
    linking: &["-shared", "-nostdlib", "-Wl,-z,noexecstack", "-Wl,-z,now"],
};
/// For both, on arm64: atomic operations are inlined instead of calling the compiler's library.
const ARM64: &str = "-mno-outline-atomics";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed={HOME}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    compile("launcher", &LAUNCHER, &PROGRAM)?;
    compile("workload", &WORKLOAD, &PROGRAM)?;
    compile("alloc.so", &ALLOC, &LIBRARY)
}

fn compile(made: &str, sources: &[&str], flags: &Flags) -> Result<(), String> {
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let (home, out) = (directory("CARGO_MANIFEST_DIR")?.join(HOME), directory("OUT_DIR")?);
    let compiler = cc::Build::new()
        .opt_level(2)
        .debug(false)
        .pic(false)
        .warnings(false)
        .cargo_metadata(false)
        .get_compiler();
    let is_arm64 = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("aarch64");
    let mut objects = Vec::new();
    for source in sources {
        let object = out.join(format!("{made}-{}.o", source.replace('/', "-")));
        let mut command = compiler.to_command();
        command.args(["-std=gnu11", "-Wall", "-Wextra", "-c"]).args(flags.compiling);
        command.args(is_arm64.then_some(ARM64));
        run(made, command.arg("-o").arg(&object).arg(home.join(source)))?;
        objects.push(object);
    }
    let mut command = compiler.to_command();
    command.args(["-s", "-Wl,--build-id=none"]).args(flags.linking);
    run(made, command.arg("-o").arg(out.join(made)).args(objects))
}

fn run(made: &str, command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build the {made} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for the {made}: `{}`: {error}. Install one or name it in CC.",
            Path::new(command.get_program()).display()
        )),
    }
}
