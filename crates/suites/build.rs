//! Compiles what the hooks of Ruby load (`c/marks.c`): a library without Ruby's headers and without a C library, so that it is the same for
//! every Ruby. It is no object to link: `cc` only names the compiler and the flags for the target.

use std::env;
use std::path::PathBuf;

/// Where the C is, from the crate's directory.
const SOURCE: &str = "../../c/marks.c";
const FLAGS: [&str; 14] = [
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-s",
    "-shared",
    "-fPIC",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fvisibility=hidden",
    "-fno-asynchronous-unwind-tables",
    "-Wl,--build-id=none",
    "-Wl,-z,noexecstack",
    "-Wl,-z,now",
];

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed={SOURCE}");
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let made = directory("OUT_DIR")?.join("assay_marks.so");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        // The hooks do without: Ruby can't load it, and notes marks itself.
        return std::fs::write(made, "").map_err(|error| error.to_string());
    }
    let compiler = cc::Build::new()
        .opt_level(2)
        .debug(false)
        .pic(false)
        .warnings(false)
        .cargo_metadata(false)
        .get_compiler();
    let source = directory("CARGO_MANIFEST_DIR")?.join(SOURCE);
    let status = compiler.to_command().args(FLAGS).arg("-o").arg(made).arg(source).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build {SOURCE} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for {SOURCE}: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
