//! Test programs started by a run, recorded with their arguments, variables and working directory
//! so that they can be started again without the tool that built and started them.
//!
//! They are recorded by a shell script between the framework's own program and them (`RECORD`), in
//! a directory that outlives the run ([`RunRequirements::keep`](crate::RunRequirements::keep)). A
//! generated script runs them again ([`again`]). Compilers are recorded in the same way
//! ([`Framework::compiles`](crate::Framework::compiles)).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Shell code that records the program and its arguments, which are those of the shell: `kept` is
/// the directory, and `own` the name of the record in it.
pub(crate) const RECORD: &str = r#"
pwd -P > "$kept/$own.place"
printf '%s\0' "$@" > "$kept/$own.words"
cat /proc/$$/environ > "$kept/$own.variables"
"#;

/// Variables that a rerun program takes from the current environment instead of the recorded one.
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
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The working directory.
    pub place: PathBuf,
    /// Environment variables.
    pub variables: Vec<(String, OsString)>,
    /// Additional information: for Go, the path of the program's package.
    pub about: String,
    /// Exit status of a program that is itself a test and does not report tests: a documentation
    /// test.
    pub status: Option<i32>,
    /// Prefix of the names of the program's tests, if the program can be restricted to some of them
    /// ([`Framework::names`](crate::Framework::names)).
    pub tests: String,
    /// The tests to which the program is restricted, without the prefix; empty if it runs all
    /// tests.
    pub only: Vec<String>,
}

impl Program {
    /// Returns the path of the program, if it has words.
    pub fn path(&self) -> Option<&Path> {
        self.words.first().map(Path::new)
    }
}

/// Returns the programs recorded in a directory, sorted by size. A program whose file does not
/// exist because it is compiled before it runs comes last.
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

/// Returns a script that runs programs sequentially, each in its directory and with its variables.
/// It exits with the status of the last failed program, or, if `stops` is true, directly after the
/// first failure. A program with a recorded status fails if it does not end the same way (success
/// or failure).
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

/// Appends a text as one shell word.
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
        // A program that should fail succeeds when it fails.
        let fails = Program { status: Some(101), ..all[0].clone() };
        let script = again(std::iter::once((&fails, fails.words.clone())), true);
        let script = String::from_utf8(script).unwrap();
        let ended = Command::new("sh").args(["-c", &script]).output().unwrap().status;
        assert_eq!(ended.code(), Some(0));
    }
}
