//! The programs that run when a file is executed: the file itself or, for a script, its interpreter
//! and, if that is `env`, the program that `env` finds. This module only reads the file system.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum number of nested scripts: the kernel allows the interpreter of a script to be a script
/// itself, up to this depth.
const MOST_SCRIPTS: usize = 5;
/// Number of bytes of a script's first line that the kernel reads.
const FIRST_LINE: u64 = 256;

/// Returns the programs in the order in which they run. None of them is a script, unless scripts
/// are nested too deeply.
pub(super) fn behind(file: &Path) -> Vec<PathBuf> {
    let mut path = file.to_owned();
    let mut found = Vec::new();
    for _ in 0..MOST_SCRIPTS {
        let Some(line) = first_line(&path) else { break };
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let Some(interpreter) = words.next() else { break };
        path = PathBuf::from(OsStr::from_bytes(interpreter));
        if path.file_name() == Some(OsStr::new("env")) {
            // The options and variables of `env` precede the program.
            let program = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='));
            let Some(sought) = program.and_then(|name| in_path(OsStr::from_bytes(name))) else {
                break;
            };
            found.push(std::mem::replace(&mut path, sought));
        }
    }
    found.push(path);
    found
}

/// Returns the text after `#!` in the first line of a script; `None` if the file is not a script.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    // Only regular files are opened, because opening a named pipe would wait for its writer.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next().map(<[u8]>::to_vec)
}

fn in_path(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name));
    }
    let search = env::var_os("PATH")?;
    env::split_paths(&search).map(|entry| entry.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_script_is_looked_through_to_its_interpreter_and_through_env() {
        let room = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = room.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let plain = script("plain", "echo");
        assert_eq!(behind(&plain), std::slice::from_ref(&plain));
        assert_eq!(behind(&script("a", "#! /bin/sh -e\n")), [PathBuf::from("/bin/sh")]);
        let inner = script("inner", "#!/bin/sh");
        let outer = script("outer", &format!("#!{} x\n", inner.display()));
        assert_eq!(behind(&outer), [PathBuf::from("/bin/sh")]);
        let found = behind(&script("b", "#!/usr/bin/env -S A=1 sh -e\n"));
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with("env") && found[1].ends_with("sh"), "{found:?}");
        assert_eq!(behind(&script("c", "#!\n")), [room.path().join("c")]);
        let own = room.path().join("own");
        fs::write(&own, format!("#!{}", own.display())).unwrap();
        assert_eq!(behind(&own), [own]);
    }
}
