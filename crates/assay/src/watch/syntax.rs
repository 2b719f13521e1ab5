//! Checks the syntax of a source. If our own grammar rejects it, the interpreter of its language
//! decides, because the grammar may lag behind.

use super::programs::{Programs, on_path};
use assay_suites::coverage::Language;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Python program that compiles a file without writing any file.
const PYTHON: &str = "import sys\ntry:\n compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec', dont_inherit=True)\nexcept SyntaxError as e:\n import traceback\n sys.exit(''.join(traceback.format_exception_only(type(e), e)))";

/// Returns the interpreter's message about a syntax error. Returns `None` if the syntax is correct
/// or cannot be checked.
pub(crate) fn complaint(
    path: &Path,
    suite: &[OsString],
    programs: &mut Programs,
) -> Option<String> {
    let words = words(path, suite)?;
    let (outcome, said) = programs.ask(&words)?;
    if outcome.is_success() {
        return None;
    }
    // The beginning of a long message contains the location.
    let said: Vec<&str> = said.lines().take(6).collect();
    Some(said.join("\n"))
}

/// Returns the command that parses a file without executing it.
fn words(path: &Path, suite: &[OsString]) -> Option<Vec<OsString>> {
    let of = |program: OsString, options: &[&str]| {
        let options = options.iter().map(OsString::from);
        let file = [path.as_os_str().to_owned()];
        std::iter::once(program).chain(options).chain(file).collect()
    };
    Some(match Language::of(path)? {
        Language::Ruby => {
            let ruby = interpreter(suite, &["ruby", "jruby"]).unwrap_or("ruby".into());
            of(ruby, &["--disable=gems", "-c"])
        }
        Language::Python => {
            let python = interpreter(suite, &["python", "pypy"]).unwrap_or("python3".into());
            of(python, &["-S", "-E", "-c", PYTHON])
        }
        Language::JavaScript if path.extension().is_none_or(|ending| ending != "jsx") => {
            of("node".into(), &["--check"])
        }
        Language::Go => of("gofmt".into(), &["-e", "-l"]),
        _ => return None,
    })
}

/// Returns the interpreter that the command of the suite names, or else the one in the first line
/// of its program.
fn interpreter(suite: &[OsString], names: &[&str]) -> Option<OsString> {
    let is_one = |word: &OsString| {
        let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned();
        names.iter().any(|own| {
            let rest = name.strip_prefix(own);
            rest.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        })
    };
    if let Some(word) = suite.iter().find(|word| is_one(word)) {
        return Some(word.clone());
    }
    let program = suite.first()?;
    let program = match program.to_string_lossy().contains('/') {
        true => PathBuf::from(program),
        false => on_path(&program.to_string_lossy())?,
    };
    let mut line = String::new();
    BufReader::new(File::open(program).ok()?.take(256)).read_line(&mut line).ok()?;
    let mut words = line.strip_prefix("#!")?.split_whitespace().map(OsString::from);
    words.find(is_one)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    #[test]
    fn the_interpreter_is_that_of_the_command_or_of_its_program() {
        let room = tempfile::tempdir().unwrap();
        let script = room.path().join("pytest");
        std::fs::write(&script, "#!/opt/env/bin/python3.12\nimport x\n").unwrap();
        let names = ["python", "pypy"];
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(interpreter(&words("python3 -m pytest"), &names), Some("python3".into()));
        assert_eq!(interpreter(&words("/a/pypy -m pytest"), &names), Some("/a/pypy".into()));
        let found = interpreter(&[script.into_os_string()], &names);
        assert_eq!(found, Some("/opt/env/bin/python3.12".into()));
        assert_eq!(interpreter(&words("/nowhere/pytest"), &names), None);
    }

    #[test]
    fn sources_that_cannot_be_read_are_told_with_the_line() {
        let room = tempfile::tempdir().unwrap();
        let mut programs = Programs::start().unwrap();
        let mut complaint = |name: &str, text: &str| {
            let path = room.path().join(name);
            std::fs::write(&path, text).unwrap();
            super::complaint(&path, &[], &mut programs)
        };
        if on_path("python3").is_some() {
            assert_eq!(complaint("a.py", "def f():\n    return 1\n"), None);
            let said = complaint("b.py", "x = 1\ndef f(:\n").unwrap();
            assert!(said.contains("line 2") && said.contains("SyntaxError"), "{said}");
        }
        if on_path("ruby").is_some() {
            assert_eq!(complaint("a.rb", "def f = 1\n"), None);
            assert!(complaint("b.rb", "x = 1\ndef f(\n").unwrap().contains("syntax error"));
        }
        assert_eq!(complaint("a.txt", "("), None);
        let left: Vec<_> = std::fs::read_dir(room.path()).unwrap().collect();
        assert!(left.iter().all(|own| own.as_ref().unwrap().path().is_file()), "{left:?}");
    }
}
