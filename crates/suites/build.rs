//! Compiles what the hooks load that is not text: `c/python_calls.c`, for the interpreters of Python that have no `sys.monitoring`.
//!
//! It is no object to link: `cc` only names the compiler and the flags for the target. The library has no C library and no header of
//! Python; see its own head.

use std::env;
use std::path::PathBuf;

const SOURCE: &str = "../../c/python_calls.c";
const FLAGS: [&str; 12] = [
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-s",
    "-shared",
    "-fPIC",
    "-nostdlib",
    "-ffreestanding",
    "-fvisibility=hidden",
    "-Wl,--build-id=none",
    "-Wl,-z,noexecstack",
    "-Wl,-z,defs",
];

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed={SOURCE}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let compiler = cc::Build::new()
        .opt_level(2)
        .debug(false)
        .pic(true)
        .warnings(false)
        .cargo_metadata(false)
        .get_compiler();
    let status = compiler
        .to_command()
        .args(FLAGS)
        .arg("-o")
        .arg(directory("OUT_DIR")?.join("assay_python_calls.so"))
        .arg(directory("CARGO_MANIFEST_DIR")?.join(SOURCE))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build {SOURCE} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for {SOURCE}: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
