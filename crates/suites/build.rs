//! Compresses the hooks (`src/hooks`) and compiles the libraries that they load: `c/marks.c` for
//! Ruby, and `c/python_calls.c` for Python interpreters without `sys.monitoring`.
//!
//! The libraries use neither the C library nor headers of Ruby or Python, so each works with every
//! interpreter; see the comments in their sources. They are not object files to link: `cc` only
//! determines the compiler and the flags for the target.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Directory of the hooks, relative to the crate.
const HOOKS: &str = "src/hooks";
/// For each library, its C source relative to the crate, its file name, and the flags specific to
/// it.
const LIBRARIES: [(&str, &str, &[&str]); 2] = [
    (
        "../../c/marks.c",
        "assay_marks.so",
        &["-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-Wl,-z,now"],
    ),
    ("../../c/python_calls.c", "assay_python_calls.so", &["-Wl,-z,defs"]),
];
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
    // Fuzz targets are compiled with a sanitizer, whose runtime exists only in the fuzz programs.
    "-fno-sanitize=all",
];

fn main() -> Result<(), String> {
    for (source, _, _) in LIBRARIES {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rerun-if-changed={HOOKS}");
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let (from, to) = (directory("CARGO_MANIFEST_DIR")?, directory("OUT_DIR")?);
    pack(&from.join(HOOKS), &to).map_err(|error| format!("{HOOKS}: {error}"))?;
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Ok(());
    }
    let compiler = cc::Build::new()
        .opt_level(2)
        .debug(false)
        .pic(false)
        .warnings(false)
        .cargo_metadata(false)
        .get_compiler();
    LIBRARIES.iter().try_for_each(|(source, made, flags)| {
        compile(&compiler, &from.join(source), flags, &to.join(made))
    })
}

/// Writes the compressed concatenation of all hooks, and a table of their names and lengths, to the
/// directory `to`.
fn pack(hooks: &Path, to: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for (language, below) in [("javascript", ""), ("python", ""), ("python", "warm/"), ("ruby", "")]
    {
        for entry in fs::read_dir(hooks.join(language).join(below))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                files.push((below.to_owned() + &name.to_string_lossy(), fs::read(&path)?));
            }
        }
    }
    files.sort();
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    files.iter().try_for_each(|(_, text)| packed.write_all(text))?;
    fs::write(to.join("hooks.deflate"), packed.finish()?)?;
    let table: Vec<(&str, usize)> =
        files.iter().map(|(name, text)| (name.as_str(), text.len())).collect();
    let table = format!("static FILES: [(&str, usize); {}] = {table:?};\n", table.len());
    fs::write(to.join("hooks.rs"), table)
}

fn compile(compiler: &cc::Tool, source: &Path, flags: &[&str], made: &Path) -> Result<(), String> {
    let status =
        compiler.to_command().args(FLAGS).args(flags).arg("-o").arg(made).arg(source).status();
    let source = source.display();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C compiler could not build {source} ({status})")),
        Err(error) => Err(format!(
            "no C compiler for {source}: `{}`: {error}. Install one or name it in CC.",
            compiler.path().display()
        )),
    }
}
