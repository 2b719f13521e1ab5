//! A benchmark program as given by the user, and properties of its file.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The kind of a program's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ELF executable.
    Executable,
    /// A text file, which is a script for some interpreter.
    Script,
    /// A zip archive, such as a jar.
    Archive,
    /// Any other file, or one that cannot be read.
    Other,
}

/// A program with the arguments given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The command line: the program, followed by the user's arguments.
    pub words: Vec<OsString>,
    /// The file that identifies the benchmark program. For an interpreter (`ruby x.rb`, `python3 -I
    /// x.py`, `java -jar x.jar`, `bundle exec ruby x.rb`), this is the script or archive.
    pub file: PathBuf,
    /// Kind of the program's file.
    pub kind: Kind,
    /// The beginning of a script, at most [`LONGEST_TEXT`] bytes, or the names of an archive's
    /// entries, one per line. Empty for other kinds of files.
    pub text: String,
}

/// Maximum number of bytes read from a script.
const LONGEST_TEXT: usize = 256 * 1024;

/// Programs that run a script or an archive given as an argument.
const INTERPRETERS: [&str; 8] =
    ["python", "pypy", "ruby", "java", "jruby", "node", "tsx", "dotnet"];

/// Programs that run another command, which is given as arguments.
const STARTERS: [&str; 16] = [
    "bundle", "env", "uv", "poetry", "pipenv", "pdm", "hatch", "nice", "taskset", "chrt",
    "numactl", "setarch", "rbenv", "npx", "pnpm", "yarn",
];

/// File extensions of scripts and of jars.
const ENDINGS: [&str; 9] = ["py", "rb", "js", "mjs", "cjs", "ts", "mts", "cts", "jar"];
/// Options that are followed by code or by a module instead of a script. A module may have any
/// arguments, so these are not checked, except for pytest's.
const NO_SCRIPT: [&str; 5] = ["-c", "-e", "-p", "-S", "-m"];

/// Returns the index of the interpreter in the command line, if there is one.
fn interpreter_in(words: &[OsString]) -> Option<usize> {
    let is_interpreter = |word: &OsString| {
        let name = base_name(word);
        INTERPRETERS.iter().any(|known| name.starts_with(known))
    };
    let first = words.first()?;
    if is_interpreter(first) {
        return Some(0);
    }
    let starts = STARTERS.contains(&base_name(first).as_str());
    starts.then(|| words.iter().position(is_interpreter)).flatten()
}

impl Program {
    /// Examines the files named on the command line. `found` is the path of the program named by
    /// the first word.
    pub fn look(words: &[OsString], found: &Path) -> Self {
        let interpreter = interpreter_in(words);
        let script = words
            .iter()
            .skip(interpreter.map_or(words.len(), |at| at + 1))
            .find(|word| !word.to_string_lossy().starts_with('-') && Path::new(word).exists());
        let file = script.map_or_else(|| found.to_path_buf(), PathBuf::from);
        let bytes = beginning(&file);
        let kind = match &bytes {
            Some(bytes) if bytes.starts_with(b"\x7fELF") => Kind::Executable,
            Some(bytes) if bytes.starts_with(b"PK\x03\x04") => Kind::Archive,
            Some(bytes) if !bytes.contains(&0) => Kind::Script,
            _ => Kind::Other,
        };
        let text = match (&bytes, kind) {
            (Some(bytes), Kind::Script) => String::from_utf8_lossy(bytes).into_owned(),
            (_, Kind::Archive) => names_within(&file).unwrap_or_default(),
            _ => String::new(),
        };
        Self { words: words.to_vec(), file, kind, text }
    }

    /// Returns the name of the interpreter if the command begins with one, or with a program that
    /// starts other commands (`bundle exec ruby`).
    pub fn interpreter(&self) -> Option<String> {
        interpreter_in(&self.words).map(|at| base_name(&self.words[at]))
    }

    /// Returns the script given to an interpreter, or the test file given to pytest, if that file
    /// does not exist.
    pub fn missing_script(&self) -> Option<&Path> {
        let pytest = self.words.iter().position(|word| base_name(word) == "pytest");
        let starter = pytest.or(interpreter_in(&self.words))?;
        let words = &self.words[starter + 1..];
        let first = words.iter().map(Path::new).find(|word| {
            let ending = word.extension().unwrap_or_default();
            word.exists() || ENDINGS.iter().any(|known| ending == *known)
        })?;
        let is_other = words.iter().any(|word| NO_SCRIPT.iter().any(|option| word == *option));
        (!is_other && !first.exists()).then_some(first)
    }

    /// Returns true if the command begins with a program of this name, ignoring a version number at
    /// its end.
    pub fn is_called(&self, name: &str) -> bool {
        self.words.first().is_some_and(|word| {
            base_name(word)
                .strip_prefix(name)
                .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        })
    }

    /// Returns true if the command line contains this word as an argument.
    pub fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }
}

fn base_name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn beginning(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    // Reading a device or a pipe could block forever.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LONGEST_TEXT as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Maximum size of a zip archive's central directory, in bytes.
const LONGEST_DIRECTORY: u32 = 64 * 1024 * 1024;

/// Returns the names of the entries in a zip archive, one per line. They are read from the central
/// directory at its end (PKWARE's APPNOTE, 4.3.12 and 4.3.16). Returns `None` if there is no such
/// directory, or if it is larger than [`LONGEST_DIRECTORY`], as in archives that use the 64-bit
/// form.
fn names_within(path: &Path) -> Option<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let number = |bytes: &[u8], at: usize| -> Option<usize> {
        Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
    };
    let long = |bytes: &[u8], at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    let mut file = std::fs::File::open(path).ok()?;
    // The last record has 22 bytes, followed by a comment of at most 65535 bytes.
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(22 + 65_535))).ok()?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).ok()?;
    let last = end.windows(4).rposition(|four| four == b"PK\x05\x06")?;
    let (size, start) = (long(&end, last + 12)?, long(&end, last + 16)?);
    if size > LONGEST_DIRECTORY {
        return None;
    }
    file.seek(SeekFrom::Start(start.into())).ok()?;
    let mut directory = Vec::new();
    file.take(size.into()).read_to_end(&mut directory).ok()?;
    let mut names = String::new();
    let mut rest = directory.as_slice();
    while rest.starts_with(b"PK\x01\x02") {
        let name = number(rest, 28)?;
        names += &String::from_utf8_lossy(rest.get(46..46 + name)?);
        names.push('\n');
        rest = rest.get(46 + name + number(rest, 30)? + number(rest, 32)?..)?;
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a zip archive of two empty, uncompressed files, with a comment.
    fn archive() -> Vec<u8> {
        let names = ["a/B.class", "META-INF/BenchmarkList"];
        let mut bytes = Vec::new();
        let mut directory = Vec::new();
        for name in names {
            let length = (name.len() as u16).to_le_bytes();
            let offset = (bytes.len() as u32).to_le_bytes();
            bytes.extend(b"PK\x03\x04\x0a\0\0\0\0\0");
            bytes.extend([0; 16]);
            bytes.extend(length);
            bytes.extend([0; 2]);
            bytes.extend(name.as_bytes());
            directory.extend(b"PK\x01\x02\x0a\0\x0a\0\0\0\0\0");
            directory.extend([0; 16]);
            directory.extend(length);
            directory.extend([0; 12]);
            directory.extend(offset);
            directory.extend(name.as_bytes());
        }
        let start = (bytes.len() as u32).to_le_bytes();
        let size = (directory.len() as u32).to_le_bytes();
        bytes.extend(directory);
        bytes.extend(b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
        bytes.extend(size);
        bytes.extend(start);
        bytes.extend(b"\x05\0hello");
        bytes
    }

    #[test]
    fn the_script_is_what_an_interpreter_is_given_wherever_it_stands() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("x.rb");
        std::fs::write(&script, "puts 1").unwrap();
        let script = script.to_str().unwrap();
        let file = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Program::look(&words, Path::new("/found")).file
        };
        for words in [
            &["ruby", script][..],
            &["/usr/bin/ruby3.1", "-W0", script],
            &["bundle", "exec", "ruby", "--yjit", script],
        ] {
            assert_eq!(file(words), Path::new(script), "{words:?}");
        }
        assert_eq!(file(&["./program", "ruby", script]), Path::new("/found"));
    }

    #[test]
    fn a_script_that_does_not_exist_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        let there = directory.path().join("x.rb");
        std::fs::write(&there, "puts 1").unwrap();
        let there = there.to_str().unwrap();
        let missing = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let program = Program::look(&words, Path::new("/found"));
            program.missing_script().map(Path::to_path_buf)
        };
        for words in [
            &["ruby", "no.rb"][..],
            &["bundle", "exec", "ruby", "-W0", "no.rb", there],
            &["pytest", "-q", "no.rb"],
            &["python3", "-m", "pytest", "no.rb"],
        ] {
            assert_eq!(missing(words).as_deref(), Some(Path::new("no.rb")), "{words:?}");
        }
        for words in [
            &["ruby", there, "no.rb"][..],
            &["ruby", "-e", "puts 1", "no.rb"],
            &["python3", "-m", "own", "no.py"],
            &["./program", "no.rb"],
            &["node", "--version"],
        ] {
            assert_eq!(missing(words), None, "{words:?}");
        }
    }

    #[test]
    fn of_an_archive_the_names_are_known_and_a_broken_one_has_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.jar");
        let words = ["java".into(), "-jar".into(), path.clone().into_os_string()];
        let whole = archive();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let program = Program::look(&words, Path::new("/usr/bin/java"));
            if length == whole.len() {
                assert_eq!(program.kind, Kind::Archive);
                assert_eq!(program.text, "a/B.class\nMETA-INF/BenchmarkList\n");
            } else if length < whole.len() - "\0hello".len() - 4 {
                assert!(!program.text.contains("META-INF"), "{length}");
            }
        }
    }
}
