//! Compresses the long texts that the program includes but rarely shows; `src/packed.rs` unpacks
//! them.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Paths relative to the crate's directory.
const TEXTS: [&str; 1] = ["src/json/schemas.json"];

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = |name| env::var_os(name).map(PathBuf::from).ok_or(format!("no {name}"));
    let (from, to) = (directory("CARGO_MANIFEST_DIR")?, directory("OUT_DIR")?);
    for text in TEXTS {
        println!("cargo::rerun-if-changed={text}");
        pack(&from.join(text), &to).map_err(|error| format!("{text}: {error}"))?;
    }
    Ok(())
}

fn pack(text: &Path, to: &Path) -> std::io::Result<()> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&fs::read(text)?)?;
    let name = text.with_extension("deflate");
    fs::write(to.join(name.file_name().unwrap_or_default()), packed.finish()?)
}
