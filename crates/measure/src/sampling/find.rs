//! Selects a suitable sampler for a program, and locates it. A script is classified by its first
//! line, a process by its executable.

use super::{Sampler, SamplingError};
use crate::command::Command;
use crate::sys::processes;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The language of a program, as far as it matters for samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The program is run by a Ruby interpreter.
    Ruby,
    /// The program is run by a Python interpreter.
    Python,
    /// Anything else. The processor runs the program itself.
    Native,
}

impl Language {
    fn subject(self) -> &'static str {
        match self {
            Self::Ruby => "a Ruby program",
            Self::Python => "a Python program",
            Self::Native => "a compiled program",
        }
    }
}

/// An installed sampler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledSampler {
    /// The sampler.
    pub sampler: Sampler,
    /// The sampler's program; for stackprof, the Ruby that can load it.
    pub path: PathBuf,
}

/// Returns the language of a command's program, and the path of its interpreter, or of the program
/// if it has none.
///
/// # Errors
///
/// Returns an error if there is no such program, or if it is a text file that names no interpreter.
pub fn language_of_program(command: &Command) -> Result<(Language, PathBuf), SamplingError> {
    let path = command.resolve()?;
    // Version managers replace interpreters with their own scripts, whose names show the language.
    if by_name(&path) != Language::Native {
        return Ok((by_name(&path), path));
    }
    let mut start = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(256).read_to_end(&mut start));
    // A shell would run such a file as a shell script, and perf would do the same, with confusing
    // syntax errors. Compiled files have zero bytes at the start.
    if read.is_ok() && !start.is_empty() && !start.starts_with(b"#!") && !start.contains(&0) {
        return Err(SamplingError::NoInterpreter { path: PathBuf::from(&command.argv[0]) });
    }
    if let (Ok(_), Some(line)) = (read, start.strip_prefix(b"#!")) {
        let line = String::from_utf8_lossy(line.split(|&b| b == b'\n').next().unwrap_or_default())
            .into_owned();
        if let Some(interpreter) = interpreter(&line) {
            let found = match interpreter.contains('/') {
                true => PathBuf::from(&interpreter),
                false => in_path(&interpreter).unwrap_or_else(|| PathBuf::from(&interpreter)),
            };
            return Ok((by_name(&found), found));
        }
    }
    Ok((Language::Native, path))
}

/// Returns the language of a running process.
///
/// # Errors
///
/// Returns an error if there is no such process, or if it may not be inspected.
pub fn language_of_process(process: u32) -> Result<Language, SamplingError> {
    let own = Path::new("/proc").join(process.to_string());
    if processes::started(process).is_none() {
        return Err(SamplingError::NoProcess { process });
    }
    match fs::read_link(own.join("exe")) {
        Ok(path) if by_name(&path) != Language::Native => return Ok(by_name(&path)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(match processes::other_owner(process) {
                Some(owner) => SamplingError::Foreign { process, owner },
                None => SamplingError::Hidden { process },
            });
        }
        // Kernel threads have no executable.
        Ok(_) | Err(_) => {}
    }
    // If another program embeds an interpreter, the interpreter is one of its libraries.
    let maps = fs::read_to_string(own.join("maps")).unwrap_or_default();
    let has = |library: &str| {
        maps.lines()
            .any(|line| line.rsplit('/').next().is_some_and(|name| name.starts_with(library)))
    };
    Ok(match (has("libruby"), has("libpython")) {
        (true, _) => Language::Ruby,
        (_, true) => Language::Python,
        _ => Language::Native,
    })
}

/// Finds a sampler for a language, or the sampler in `forced`. `interpreter` is the program's own
/// interpreter, if it is known and the program has not been started yet.
///
/// # Errors
///
/// Returns an error if no suitable sampler is installed. The message includes installation
/// commands.
pub fn find(
    language: Language,
    forced: Option<Sampler>,
    interpreter: Option<&Path>,
) -> Result<InstalledSampler, SamplingError> {
    if forced == Some(Sampler::Stackprof) && language != Language::Ruby {
        return Err(SamplingError::NotRuby { subject: language.subject() });
    }
    let candidates = match (forced, language, interpreter) {
        (Some(sampler), ..) => vec![sampler],
        (None, Language::Ruby, Some(_)) => vec![Sampler::Stackprof, Sampler::Rbspy],
        (None, Language::Ruby, None) => vec![Sampler::Rbspy],
        (None, Language::Python, _) => vec![Sampler::PySpy],
        (None, Language::Native, _) => vec![Sampler::Perf],
    };
    let found = candidates.iter().find_map(|&sampler| {
        let path = match sampler {
            Sampler::Stackprof => {
                interpreter.filter(|ruby| loads_stackprof(ruby)).map(Path::to_owned)
            }
            // The script of a version manager would start other programs, whose CPU time would be
            // attributed to the sampled program.
            Sampler::PySpy => {
                let real = interpreter.map(|path| behind_shim(path.to_owned()));
                beside(real.as_deref(), sampler.name()).or_else(|| in_path(sampler.name()))
            }
            _ => beside(interpreter, sampler.name()).or_else(|| in_path(sampler.name())),
        };
        path.map(|path| InstalledSampler { sampler, path })
    });
    found.ok_or(SamplingError::Missing { subject: language.subject(), samplers: candidates })
}

/// Returns the path or the name of the interpreter that a script's first line names, with or
/// without `env`.
fn interpreter(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if Path::new(first).file_name().is_some_and(|name| name == "env") {
        return words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned);
    }
    Some(first.to_owned())
}

fn by_name(path: &Path) -> Language {
    // The file may be `ruby3.1` and the link to it `ruby`, or vice versa. Either name shows the
    // language.
    let names = [Some(path.to_owned()), path.canonicalize().ok()];
    for path in names.into_iter().flatten() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        match bare {
            "ruby" => return Language::Ruby,
            "python" | "pypy" => return Language::Python,
            _ => {}
        }
    }
    Language::Native
}

/// Returns the Python interpreter that a script of a version manager (pyenv) starts, by running it.
/// py-spy gives up if the process that it started takes too long to become Python.
pub(super) fn behind_shim(path: PathBuf) -> PathBuf {
    let mut start = [0; 2];
    let is_script = File::open(&path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"#!";
    if !is_script || by_name(&path) != Language::Python {
        return path;
    }
    let asked = std::process::Command::new(&path)
        .args(["-c", "import sys; print(sys.executable)"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let told = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    told.map(PathBuf::from).ok().filter(|real| is_program(real)).unwrap_or(path)
}

/// Returns true if a Ruby interpreter can load stackprof, which is determined by running it.
fn loads_stackprof(ruby: &Path) -> bool {
    let asked = std::process::Command::new(ruby)
        .args(["-rstackprof", "-e", "exit"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// Returns a tool in the interpreter's directory, as in a virtual environment that is not
/// activated.
fn beside(interpreter: Option<&Path>, name: &str) -> Option<PathBuf> {
    let path = interpreter?.parent()?.join(name);
    is_program(&path).then_some(path)
}

fn in_path(name: &str) -> Option<PathBuf> {
    let search = env::var_os("PATH")?;
    env::split_paths(&search).map(|directory| directory.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_script_is_what_its_first_line_names() {
        for (line, name) in [
            ("/usr/bin/env ruby", "ruby"),
            ("/usr/bin/env -S python3 -u", "python3"),
            ("/usr/bin/ruby3.1 -w", "/usr/bin/ruby3.1"),
            ("/usr/bin/env A=1 node", "node"),
        ] {
            assert_eq!(interpreter(line).as_deref(), Some(name), "{line}");
        }
        assert_eq!(interpreter(""), None);
    }

    #[test]
    fn interpreters_are_known_with_their_versions() {
        for (path, language) in [
            ("/none/ruby", Language::Ruby),
            ("/none/ruby3.1", Language::Ruby),
            ("/none/python3.11", Language::Python),
            ("/none/rubyist", Language::Native),
            ("/none/node", Language::Native),
        ] {
            assert_eq!(by_name(Path::new(path)), language, "{path}");
        }
    }

    #[test]
    fn py_spy_is_the_one_of_the_python_behind_a_version_managers_script() {
        let room = tempfile::tempdir().unwrap();
        let program = |name: &str, text: &str| {
            let path = room.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let real = program("versions/python3", "");
        let py_spy = program("versions/py-spy", "");
        program("shims/py-spy", "#!/bin/sh\n");
        let shim = program("shims/python3", &format!("#!/bin/sh\necho {}\n", real.display()));
        assert_eq!(find(Language::Python, None, Some(&shim)).unwrap().path, py_spy);
    }

    #[test]
    fn this_process_is_compiled_and_no_process_is_none() {
        assert_eq!(language_of_process(std::process::id()).unwrap(), Language::Native);
        assert!(matches!(language_of_process(u32::MAX), Err(SamplingError::NoProcess { .. })));
    }
}
