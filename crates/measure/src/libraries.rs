//! Finds the shared libraries that a program actually loads in the environment of its measurement.
//!
//! The program's own loader is queried as by ldd(1): with `LD_TRACE_LOADED_OBJECTS`, it resolves
//! all libraries, prints where it found them, and starts nothing. Only glibc's loader supports
//! that. Libraries that a program opens later (dlopen(3)) are not covered. This module does not
//! judge what equal or different lists mean.

mod elf;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::{Command, Output};
use crate::error::MeasureError;
use crate::fingerprint::{Fingerprints, located};
use crate::runner::{RunOptions, Runner};

/// Time limit for the loader, which needs only a few milliseconds. It guards against file systems
/// that do not respond.
const PATIENCE: Duration = Duration::from_secs(20);

/// A library that a program loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The requested name, without directories.
    pub name: String,
    /// The path reported by the loader, or `None` if the library was not found. It is relative if
    /// an environment variable names a relative directory.
    pub path: Option<PathBuf>,
    /// The file's digest, as [`Fingerprints`] returns it. `None` if the file is missing or
    /// unreadable.
    pub digest: Option<String>,
}

/// The libraries that a program loads, if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loads {
    /// These libraries, in the loader's order.
    Libraries {
        /// The libraries, one per name.
        libraries: Vec<Library>,
        /// The loader's complaints, such as a missing preloaded file; may be empty.
        said: String,
    },
    /// The program is linked statically and loads no libraries, so the loader's variables have no
    /// effect on it.
    Static,
    /// The libraries are unknown. The text gives the reason as a clause.
    Unknown(String),
}

/// The library directories linked into a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPaths {
    /// `DT_RPATH`: searched before `LD_LIBRARY_PATH`, and ignored if there is a `DT_RUNPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`: searched after `LD_LIBRARY_PATH`.
    pub runpath: Option<String>,
}

/// Returns the libraries that the loader of a command's program would load. Takes about 5 ms.
///
/// # Errors
///
/// Returns an error if the program can't be found, or if no process can be started.
pub fn loaded(command: &Command, files: &mut Fingerprints) -> Result<Loads, MeasureError> {
    let program = command.resolve()?;
    let Some(known) = known_of(&program) else {
        return Ok(Loads::Unknown(format!("`{}` is no ELF program", program.display())));
    };
    let Some(loader) = known.interpreter else { return Ok(Loads::Static) };
    let name = file_name(Path::new(&loader));
    if name.starts_with("ld-musl") {
        return Ok(Loads::Unknown(format!("musl's loader (`{loader}`) does not list them")));
    }
    let asking = Command {
        argv: vec![loader.clone().into(), program.into_os_string()],
        env: [&command.env[..], &[("LD_TRACE_LOADED_OBJECTS".to_owned(), "1".to_owned())]].concat(),
        output: Output::Null,
        keep_output: true,
        keep_errors: true,
        ..command.clone()
    };
    let mut runner = Runner::start()?;
    let subject = runner.add(&asking)?;
    let options = RunOptions { timeout: Some(PATIENCE), ..RunOptions::default() };
    let result = runner.run(subject, options)?;
    let text = |kept: Option<crate::KeptOutput>| {
        let bytes = kept.map(|kept| kept.bytes).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    };
    let (output, said) = (text(result.output), text(result.errors));
    let mut libraries = parsed(&output);
    if libraries.is_empty() {
        let said = said.lines().next().unwrap_or("nothing").to_owned();
        return Ok(Loads::Unknown(format!(
            "the loader `{loader}` does not list them; it said: {said}"
        )));
    }
    for library in &mut libraries {
        let path = library.path.as_deref();
        let path = path.and_then(|path| located(path, command.cwd.as_deref()));
        library.digest = path.and_then(|path| files.digest(path));
    }
    Ok(Loads::Libraries { libraries, said })
}

/// Returns the library directories linked into a program, or `None` if it is not an ELF file.
pub fn search_paths(program: &Path) -> Option<SearchPaths> {
    known_of(program).map(|known| known.search)
}

fn known_of(program: &Path) -> Option<elf::ElfLinking> {
    let file = File::open(program).ok()?;
    elf::read(&|offset, length| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    })
}

/// Parses the loader's output. Lines are `name => path (0x…)`, `name => not found`, or `path (0x…)`
/// for libraries requested by path. Libraries that the kernel provides have no path and are left
/// out.
fn parsed(output: &str) -> Vec<Library> {
    let mut libraries: Vec<Library> = Vec::new();
    for line in output.lines().map(str::trim) {
        let (name, found) = match line.split_once(" => ") {
            Some((name, found)) => (name, found),
            None if line.contains('/') => (line, line),
            None => continue,
        };
        let without_address = |text: &str| match text.rfind(" (0x") {
            Some(at) => text[..at].trim().to_owned(),
            None => text.trim().to_owned(),
        };
        let missing = found.trim() == "not found";
        let (name, path) = (without_address(name), without_address(found));
        // Older versions list the kernel's own with an address only.
        if !missing && !path.contains('/') {
            continue;
        }
        let name = file_name(Path::new(&name));
        if libraries.iter().all(|known| known.name != name) {
            let path = (!missing).then(|| PathBuf::from(path));
            libraries.push(Library { name, path, digest: None });
        }
    }
    libraries
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\t./a/pre load.so (0x7f01)\n\tlibx.so.1 => a b/libx.so.1 (0x7f02)\n\
                    \tliby.so => not found\n\tlinux-gate.so.1 =>  (0x0)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f03)\n";
        let found = parsed(text);
        let told: Vec<(&str, Option<&str>)> = found
            .iter()
            .map(|library| (library.name.as_str(), library.path.as_ref().and_then(|p| p.to_str())))
            .collect();
        assert_eq!(
            told,
            [
                ("pre load.so", Some("./a/pre load.so")),
                ("libx.so.1", Some("a b/libx.so.1")),
                ("liby.so", None),
                ("ld-linux-x86-64.so.2", Some("/lib64/ld-linux-x86-64.so.2")),
            ]
        );
    }

    #[test]
    fn a_script_has_no_loader_to_ask() {
        let room = tempfile::tempdir().expect("a directory");
        let script = room.path().join("run.sh");
        std::fs::write(&script, "#!/bin/sh\n").expect("written");
        assert_eq!(search_paths(&script), None);
        let mine = search_paths(&std::env::current_exe().expect("this test"));
        assert!(mine.is_some());
    }

    proptest! {
        #[test]
        fn no_output_makes_the_parser_panic(text in "\\PC*|([a-z/ =>()0x\t\n]|not found){0,40}") {
            let _ = parsed(&text);
        }
    }
}
