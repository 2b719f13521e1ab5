//! A benchmark program as its user named it, and what its file looks like from outside.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What kind of file a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An executable of this machine.
    Executable,
    /// A text: a script, whoever runs it.
    Script,
    /// A zip archive, as jars are.
    Archive,
    /// Something else, or nothing that could be read.
    Other,
}

/// A program with the user's own arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The words: the program, then the user's arguments.
    pub words: Vec<OsString>,
    /// The file that tells what it is: the program's, or of an interpreter (`ruby x.rb`, `python3 -I x.py`, `java -jar x.jar`) that of
    /// the script.
    pub file: PathBuf,
    /// What kind of file that is.
    pub kind: Kind,
    /// The beginning of the file, for scripts; at most [`LONGEST_TEXT`] bytes.
    pub text: String,
}

/// So much of a script is looked at.
const LONGEST_TEXT: usize = 256 * 1024;

/// Programs that run a file given to them.
const INTERPRETERS: [&str; 5] = ["python", "pypy", "ruby", "java", "jruby"];

impl Program {
    /// Looks at the files that the words name; `found` is where the first word leads to.
    pub fn look(words: &[OsString], found: &Path) -> Self {
        let named = words.first().map(|word| base_name(word)).unwrap_or_default();
        let interpreted = INTERPRETERS.iter().any(|known| named.starts_with(known));
        let script = words.iter().skip(1).find(|word| {
            let path = Path::new(word);
            !word.to_string_lossy().starts_with('-') && path.exists()
        });
        let file = match script {
            Some(script) if interpreted => PathBuf::from(script),
            _ => found.to_path_buf(),
        };
        let bytes = beginning(&file);
        let kind = match &bytes {
            Some(bytes) if bytes.starts_with(b"\x7fELF") => Kind::Executable,
            Some(bytes) if bytes.starts_with(b"PK\x03\x04") => Kind::Archive,
            Some(bytes) if !bytes.contains(&0) => Kind::Script,
            _ => Kind::Other,
        };
        let text = match (&bytes, kind) {
            (Some(bytes), Kind::Script) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        Self { words: words.to_vec(), file, kind, text }
    }

    /// Whether the program (or its interpreter) is called so, a version behind the name left aside.
    pub fn is_called(&self, name: &str) -> bool {
        self.words.first().is_some_and(|word| {
            base_name(word)
                .strip_prefix(name)
                .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        })
    }

    /// Whether a word of the command line is this one.
    pub fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }
}

fn base_name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn beginning(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    // A device or a pipe would block for ever.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LONGEST_TEXT as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
