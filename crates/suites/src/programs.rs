//! Test programs that a run started, so that they can be started again without what built and started them: their words, their variables, and where they ran.
//!
//! They are recorded by the shell that stands between the framework's own program and them (`RECORD`), into a directory that outlives the run
//! ([`Wanted::keep`](crate::Wanted::keep)). What runs them again is a script of ours ([`again`]). Compilers are recorded in the same way
//! ([`Framework::compiles`](crate::Framework::compiles)).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Records the program and its arguments, which are those of the shell: `kept` is the directory, `own` the number by which it is known there.
pub(crate) const RECORD: &str = r#"
pwd -P > "$kept/$own.place"
printf '%s\0' "$@" > "$kept/$own.words"
cat /proc/$$/environ > "$kept/$own.variables"
"#;

/// What a program has from where it runs now, and not from who started it then.
const OWN: [&str; 10] = [
    "HOME",
    "OLDPWD",
    "PATH",
    "PWD",
    "RUST_BACKTRACE",
    "SHLVL",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "_",
];

/// A test program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Itself and its arguments.
    pub words: Vec<OsString>,
    /// Where it runs.
    pub place: PathBuf,
    /// Its variables.
    pub variables: Vec<(String, OsString)>,
    /// What else was noted of it: the path of its package in Go.
    pub about: String,
    /// How it ended, of one that tells no tests and is one: that of a test in documentation.
    pub status: Option<i32>,
    /// What stands before the names of its tests, if it can be held to some of them ([`Framework::names`](crate::Framework::names)),
    pub tests: String,
    /// and to which of them it is held, by the rest of their names; none: it runs all.
    pub only: Vec<String>,
}

impl Program {
    /// Its file, as far as it is known by a path.
    pub fn path(&self) -> Option<&Path> {
        self.words.first().map(Path::new)
    }
}

/// Those that were recorded in a directory, the larger ones last: what compiles before it runs is no file there, and stands behind all others.
pub fn recorded(kept: &Path) -> Vec<Program> {
    let mut found: Vec<(u64, String, Program)> = Vec::new();
    for entry in fs::read_dir(kept).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(own) = name.strip_suffix(".words") else { continue };
        let read =
            |ending: &str| fs::read(kept.join(format!("{own}.{ending}"))).unwrap_or_default();
        let words: Vec<OsString> = divided(&read("words"));
        let place = read("place");
        let place = PathBuf::from(OsString::from_vec(place.trim_ascii_end().to_vec()));
        let variables = divided(&read("variables")).into_iter().filter_map(|own| {
            let bytes = own.as_bytes();
            let end = bytes.iter().position(|byte| *byte == b'=')?;
            let name = std::str::from_utf8(&bytes[..end]).ok()?;
            let is_kept = crate::call::is_variable(name) && !OWN.contains(&name);
            is_kept.then(|| (name.to_owned(), OsString::from_vec(bytes[end + 1..].to_vec())))
        });
        let variables = variables.collect();
        let text = |ending: &str| String::from_utf8_lossy(&read(ending)).trim().to_owned();
        let (about, status) = (text("about"), text("status").parse().ok());
        if words.is_empty() || place.as_os_str().is_empty() {
            continue;
        }
        let size = fs::metadata(place.join(&words[0])).map_or(u64::MAX, |file| file.len());
        let program = Program { words, place, variables, about, status, ..Program::default() };
        found.push((size, own.to_owned(), program));
    }
    found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    found.into_iter().map(|(_, _, own)| own).collect()
}

fn divided(bytes: &[u8]) -> Vec<OsString> {
    let all = bytes.split(|byte| *byte == 0).filter(|own| !own.is_empty());
    all.map(|own| OsString::from_vec(own.to_vec())).collect()
}

/// A script that runs programs one behind the other, each where it ran and with its variables. It ends with the status of the last one that failed; if it
/// `stops`, behind the first one. One whose status was recorded fails where it ended well and does not, or the other way round.
pub fn again<'a>(
    programs: impl Iterator<Item = (&'a Program, Vec<OsString>)>,
    stops: bool,
) -> Vec<u8> {
    let mut script = b"#!/bin/sh\nstatus=0\n".to_vec();
    for (program, words) in programs {
        script.extend_from_slice(b"(\ncd ");
        quoted(&mut script, program.place.as_os_str().as_bytes());
        script.extend_from_slice(b" || exit 126\n");
        for (name, value) in &program.variables {
            script.extend_from_slice(format!("export {name}=").as_bytes());
            quoted(&mut script, value.as_bytes());
            script.push(b'\n');
        }
        script.extend_from_slice(b"exec");
        for word in words {
            script.push(b' ');
            quoted(&mut script, word.as_bytes());
        }
        script.extend_from_slice(b"\n)\nown=$?\n");
        if program.status.is_some_and(|status| status != 0) {
            script.extend_from_slice(b"[ $own -eq 0 ] && own=1 || own=0\n");
        }
        script.extend_from_slice(b"[ $own -eq 0 ] || status=$own\n");
        if stops {
            script.extend_from_slice(b"[ $status -eq 0 ] || exit $status\n");
        }
    }
    script.extend_from_slice(b"exit $status\n");
    script
}

/// A text as one word of the shell.
fn quoted(script: &mut Vec<u8>, text: &[u8]) {
    script.push(b'\'');
    for byte in text {
        match byte {
            b'\'' => script.extend_from_slice(b"'\\''"),
            byte => script.push(*byte),
        }
    }
    script.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_was_recorded_runs_again_as_it_did() {
        let room = tempfile::tempdir().unwrap();
        let place = room.path().join("it's here");
        fs::create_dir(&place).unwrap();
        let script = format!("kept='{}' own=1{RECORD}", room.path().display());
        let program = "printf '%s %s %s' \"$1\" \"$ODD\" \"${PWD##*/}\"; exit 3";
        let ran = Command::new("sh")
            .args(["-c", &script, "sh", "sh", "-c", program, "sh", "two  words"])
            .env("ODD", "a\n'b' $c")
            .current_dir(&place)
            .status()
            .unwrap();
        assert!(ran.success());
        let all = recorded(room.path());
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].words[4], "two  words");
        let own = || all.iter().chain(&all).map(|own| (own, own.words.clone()));
        let run = |stops: bool| {
            let script = again(own(), stops);
            let script = String::from_utf8(script).unwrap();
            Command::new("sh").args(["-c", &script]).output().unwrap()
        };
        let once = "two  words a\n'b' $c it's here";
        let output = run(true);
        assert_eq!(String::from_utf8_lossy(&output.stdout), once);
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(String::from_utf8_lossy(&run(false).stdout), format!("{once}{once}"));
        // One that is to fail does well when it fails.
        let fails = Program { status: Some(101), ..all[0].clone() };
        let script = again(std::iter::once((&fails, fails.words.clone())), true);
        let script = String::from_utf8(script).unwrap();
        let ended = Command::new("sh").args(["-c", &script]).output().unwrap().status;
        assert_eq!(ended.code(), Some(0));
    }
}
