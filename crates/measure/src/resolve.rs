//! Locates the program of a command, once and before anything is timed, with a clear error if it
//! can't be found or run.
//!
//! The search is that of a shell: a name with a slash is a path relative to the command's
//! directory; any other name is looked up in the `PATH` of the command's environment. This module
//! only reads the file system.

use assay_data::system_error;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use thiserror::Error;

use crate::command::Command;

/// Words that look like programs but that only a shell understands.
const SHELL_WORDS: [&str; 16] = [
    ".", "alias", "cd", "eval", "exec", "export", "for", "if", "set", "shopt", "source", "type",
    "ulimit", "umask", "unset", "while",
];

/// Maximum number of names examined in the search for a similar one.
const NAMES_SEARCHED: usize = 20_000;

/// Reasons why a program can't be run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ResolveError {
    /// The program does not exist.
    #[error("cannot find the program `{program}` {place}{hint}")]
    NotFound {
        /// The program as written.
        program: String,
        /// The place searched, as worded in the message: "in PATH" or "(no such file in
        /// `DIRECTORY`)".
        place: String,
        /// Advice on a separate line; may be empty.
        hint: String,
    },
    /// The program is a directory.
    #[error("`{}` is a directory, not a program: name a file in it", path.display())]
    Directory {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The file exists but is not executable.
    #[error(
        "`{}` is not executable.\nIf it is a program: chmod +x '{}'; if it is a script, name its \
         interpreter before it.",
        path.display(), path.display()
    )]
    NotExecutable {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is a script whose first line names a missing interpreter.
    #[error(
        "the first line of `{}` names the interpreter `{interpreter}`, which does not exist: install it or correct the line",
        path.display()
    )]
    NoInterpreter {
        /// Path of the script.
        path: PathBuf,
        /// The interpreter that the first line names.
        interpreter: String,
    },
    /// The kernel does not recognize the format of the file.
    #[error(
        "`{}` is neither a program for this machine nor a script with `#!` in its first line: add that line, or run it with --shell sh",
        path.display()
    )]
    UnknownFormat {
        /// Path of the file.
        path: PathBuf,
    },
    /// The working directory does not exist or can't be determined.
    #[error("cannot run in `{}`: {reason}", path.display())]
    NoSuchCwd {
        /// The directory as given.
        path: PathBuf,
        /// Why the directory can't be used.
        reason: String,
    },
}

impl Command {
    /// Returns the absolute path of the program.
    ///
    /// # Errors
    ///
    /// Returns a [`ResolveError`] if the program is missing, is a directory or is not executable,
    /// or if there is no such working directory. The error for a missing program includes the most
    /// similar existing names. Whether the kernel accepts the file is known only when it is run.
    pub fn resolve(&self) -> Result<PathBuf, ResolveError> {
        let directory = self.directory()?;
        let program = self.argv.first().map(OsString::as_os_str).unwrap_or_default();
        if program.as_bytes().contains(&b'/') {
            let path = directory.join(program);
            return match fs::metadata(&path) {
                Ok(found) if found.is_dir() => Err(ResolveError::Directory { path }),
                Ok(_) if access(&path, Access::EXEC_OK).is_err() => {
                    Err(ResolveError::NotExecutable { path })
                }
                Ok(_) => Ok(path),
                Err(_) => Err(not_found_at(program, &path)),
            };
        }
        let search = self.variable("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let mut seen_but_refused = None;
        for entry in env::split_paths(&search) {
            let path = directory.join(entry).join(program);
            match fs::metadata(&path) {
                Ok(found) if found.is_file() => {
                    if access(&path, Access::EXEC_OK).is_ok() {
                        return Ok(path);
                    }
                    seen_but_refused.get_or_insert(path);
                }
                _ => {}
            }
        }
        match seen_but_refused {
            Some(path) => Err(ResolveError::NotExecutable { path }),
            None => Err(not_found_in_path(program, &directory, &search)),
        }
    }

    /// Returns the absolute working directory of the command.
    fn directory(&self) -> Result<PathBuf, ResolveError> {
        let asked = self.cwd.clone().unwrap_or_default();
        let refuse = |reason: String| ResolveError::NoSuchCwd { path: asked.clone(), reason };
        if asked.is_absolute() {
            return Ok(asked);
        }
        let here = env::current_dir().map_err(|error| refuse(system_error::reason(&error)))?;
        let directory = here.join(&asked);
        if self.cwd.is_some() && !directory.is_dir() {
            return Err(refuse("there is no such directory".to_owned()));
        }
        Ok(directory)
    }

    /// Returns an environment variable as the command will see it.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        let own = self.env.iter().rev().find(|(n, _)| n == name);
        own.map(|(_, value)| OsString::from(value)).or_else(|| env::var_os(name))
    }
}

/// Explains why the kernel refused a file that `resolve` had found. Returns `None` if there is no
/// special explanation.
pub(crate) fn explain_refusal(path: &Path, error: rustix::io::Errno) -> Option<ResolveError> {
    use rustix::io::Errno;
    let path_buf = path.to_owned();
    match error {
        Errno::NOEXEC => Some(ResolveError::UnknownFormat { path: path_buf }),
        Errno::ACCESS => Some(ResolveError::NotExecutable { path: path_buf }),
        Errno::NOENT => interpreter_of(path)
            .map(|interpreter| ResolveError::NoInterpreter { path: path_buf, interpreter }),
        _ => None,
    }
}

/// Returns the interpreter named in the first line of a script.
fn interpreter_of(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(path).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    // A script saved on Windows may name "/bin/sh\r". Make the carriage return visible.
    let line = String::from_utf8_lossy(line).replace('\r', "\\r");
    line.split_whitespace().next().map(str::to_owned)
}

fn not_found_at(program: &OsStr, path: &Path) -> ResolveError {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let names = names_in(directory);
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = match program.to_string_lossy().rsplit_once('/') {
        Some((prefix, _)) => format!("{prefix}/"),
        None => String::new(),
    };
    let nearest = nearest(&wanted, names).into_iter().map(|name| format!("`{prefix}{name}`"));
    ResolveError::NotFound {
        program: program.to_string_lossy().into_owned(),
        place: format!("(no such file in `{}`)", directory.display()),
        hint: hint(&nearest.collect::<Vec<_>>()),
    }
}

fn not_found_in_path(program: &OsStr, directory: &Path, search: &OsStr) -> ResolveError {
    let wanted = program.to_string_lossy().into_owned();
    let here = directory.join(program);
    let hint = if here.is_file() && access(&here, Access::EXEC_OK).is_ok() {
        format!("\nThere is a file of that name in the current directory: write `./{wanted}`.")
    } else if here.is_file() {
        "\nThere is a file of that name in the current directory, but it is not a program."
            .to_owned()
    } else if wanted.starts_with('-') {
        // The word is an option of another program.
        String::new()
    } else if SHELL_WORDS.contains(&wanted.as_str()) {
        format!(
            "\n`{wanted}` is a shell builtin: `sh -c` runs it, and so does --shell sh of `assay run`."
        )
    } else if let Some((first, _)) = wanted.trim().split_once(' ')
        && env::split_paths(search).any(|entry| directory.join(entry).join(first).is_file())
    {
        format!("\nWrite `{first}` and its arguments as separate words, without quotes around all.")
    } else {
        let names = env::split_paths(search).flat_map(|entry| names_in(&directory.join(entry)));
        let names = names.take(NAMES_SEARCHED);
        let mut found: Vec<String> =
            nearest(&wanted, names).into_iter().map(|name| format!("`{name}`")).collect();
        if found.is_empty() {
            let here = nearest(&wanted, names_in(directory));
            found = here.into_iter().map(|name| format!("`./{name}`")).collect();
        }
        hint(&found)
    };
    ResolveError::NotFound { program: wanted, place: "in PATH".to_owned(), hint }
}

fn hint(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => format!("\nDid you mean {only}?"),
        [most @ .., last] => format!("\nDid you mean {} or {last}?", most.join(", ")),
    }
}

/// Returns the names of the non-directory files in a directory; empty if it can't be read.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|t| !t.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .take(NAMES_SEARCHED)
        .collect()
}

/// Returns up to three names that are similar to `wanted`, the most similar first. Names that
/// differ by more than one typing error must have the same first letter, because that letter is
/// rarely wrong.
fn nearest(wanted: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    let mut found: Vec<(usize, String)> = names
        .into_iter()
        .filter(|name| name.len().abs_diff(wanted.len()) <= 4 * limit)
        .map(|name| (edit_distance(wanted, &name), name))
        .filter(|(distance, name)| {
            // At a distance equal to the word's length, all letters would differ.
            let is_near = *distance <= limit && *distance < wanted.chars().count();
            is_near && (*distance <= 1 || name.chars().next() == wanted.chars().next())
        })
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns the number of letters to insert, delete, change or swap with their neighbor (restricted
/// Damerau-Levenshtein distance) to turn one word into the other. O(n m).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(directory: &Path, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn command(program: &str, cwd: &Path, search: &str) -> Command {
        let mut command = Command::new([program]).unwrap();
        command.cwd = Some(cwd.to_owned());
        command.env.push(("PATH".to_owned(), search.to_owned()));
        command
    }

    #[test]
    fn a_name_is_found_by_the_path_of_the_commands_own_environment() {
        let d = tempfile::tempdir().unwrap();
        let tool = file(d.path(), "tool", 0o755, "#!/bin/sh\n");
        let search = format!("/nowhere:{}", d.path().display());
        assert_eq!(command("tool", Path::new("/"), &search).resolve(), Ok(tool.clone()));
        assert!(command("tool", Path::new("/"), "/nowhere").resolve().is_err());
        // A relative entry of PATH, and a path with a slash, are relative to the command's
        // directory.
        let up = d.path().parent().unwrap();
        let name = d.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(command("tool", up, name).resolve(), Ok(tool.clone()));
        assert_eq!(command(&format!("{name}/tool"), up, "").resolve(), Ok(tool));
    }

    #[test]
    fn a_missing_name_comes_with_the_nearest_names() {
        let d = tempfile::tempdir().unwrap();
        file(d.path(), "sorter", 0o755, "");
        let search = d.path().display().to_string();
        let error = command("sortre", Path::new("/"), &search).resolve().unwrap_err().to_string();
        assert!(error.contains("`sortre` in PATH") && error.contains("Did you mean `sorter`?"));
        let error = command("sorter -n", Path::new("/"), &search).resolve().unwrap_err();
        assert!(error.to_string().contains("`sorter` and its arguments as separate words"));
        file(d.path(), "w", 0o755, "");
        let error = command("1", Path::new("/"), &search).resolve().unwrap_err().to_string();
        assert!(error.ends_with("in PATH"), "nothing is near: {error}");
        let error = command("./sotrer", d.path(), "").resolve().unwrap_err().to_string();
        assert!(error.contains("Did you mean `./sorter`?"), "{error}");
        let error = command("sorter", d.path(), "/nowhere").resolve().unwrap_err().to_string();
        assert!(error.contains("write `./sorter`"), "{error}");
        file(d.path(), "old.txt", 0o644, "");
        let error = command("old.txt", d.path(), "/nowhere").resolve().unwrap_err().to_string();
        assert!(error.contains("but it is not a program") && !error.contains("./"), "{error}");
        let error = command("-w", Path::new("/"), &search).resolve().unwrap_err().to_string();
        assert!(error.ends_with("in PATH"), "an option is no typing error: {error}");
        let error = command("cd", d.path(), "/nowhere").resolve().unwrap_err().to_string();
        assert!(error.contains("--shell"), "{error}");
        file(d.path(), "touch", 0o755, "");
        let error = command("nosuch", Path::new("/"), &search).resolve().unwrap_err().to_string();
        assert!(error.contains("`nosuch` in PATH") && !error.contains("mean"), "{error}");
        let error = command("zzzqqqq", d.path(), "/nowhere").resolve().unwrap_err().to_string();
        assert!(!error.contains("mean"), "{error}");
    }

    #[test]
    fn a_directory_and_a_file_without_permission_are_told_apart() {
        let d = tempfile::tempdir().unwrap();
        let plain = file(d.path(), "plain", 0o644, "");
        fs::create_dir(d.path().join("sub")).unwrap();
        let error = command("./plain", d.path(), "").resolve().unwrap_err();
        assert!(error.to_string().contains("chmod +x"));
        assert_eq!(error, ResolveError::NotExecutable { path: d.path().join("./plain") });
        let search = d.path().display().to_string();
        let error = command("plain", Path::new("/"), &search).resolve().unwrap_err();
        assert_eq!(error, ResolveError::NotExecutable { path: plain });
        let error = command("./sub", d.path(), "").resolve().unwrap_err();
        assert!(matches!(error, ResolveError::Directory { .. }));
        let mut gone = command("x", Path::new("/"), "");
        gone.cwd = Some("no/such/place".into());
        assert!(matches!(gone.resolve(), Err(ResolveError::NoSuchCwd { .. })));
    }

    #[test]
    fn the_first_line_of_a_script_tells_its_interpreter() {
        let d = tempfile::tempdir().unwrap();
        let script = file(d.path(), "s", 0o755, "#! /no/such/sh\r\necho\n");
        assert_eq!(interpreter_of(&script).unwrap(), "/no/such/sh\\r");
        let plain = file(d.path(), "p", 0o755, "echo\n");
        assert_eq!(interpreter_of(&plain), None);
    }

    #[test]
    fn the_distance_counts_single_edits_and_swaps() {
        for (a, b, distance) in
            [("", "", 0), ("a", "", 1), ("sort", "sotr", 1), ("git", "gti", 1), ("ab", "xy", 2)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }
}
