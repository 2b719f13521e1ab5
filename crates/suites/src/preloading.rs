//! Determines which commands can run in a process that is kept loaded, how to start such a process,
//! and the words that request a run from it (docs/internals/preloading.md). Nothing is started
//! here.

use crate::asking::Request;
use crate::call::{base_name, is_python, is_variable};
use crate::hooks;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Number of bytes read from a program to determine its interpreter.
const HEAD: u64 = 4096;
/// Interpreter options that take their value from the next word.
const RUBY_OPTIONS: [&str; 5] = ["-I", "-r", "-C", "-E", "-W"];
const PYTHON_OPTIONS: [&str; 2] = ["-X", "-W"];
/// Programs that start the actual program as a child process or with additional variables.
const STARTERS: [&str; 15] = [
    "uv", "uvx", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "tox", "nox", "coverage",
    "spring", "timeout", "nice", "nohup",
];
/// Ruby programs whose first argument acts as a program of its own.
const WITH_VERBS: [&str; 2] = ["rake", "rails"];

/// Configuration files that are read before any project code is loaded, so that a change requires a
/// new process.
const READ_FIRST: [&str; 12] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "Gemfile",
    "Gemfile.lock",
];

/// Returns true if a new version of this file requires the preloaded process to start over.
pub fn is_read_first(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| READ_FIRST.contains(&name))
}

/// The language of an interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpreter {
    /// Ruby.
    Ruby,
    /// Python.
    Python,
}

/// The way in which a command runs in a process that is kept loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preloading {
    /// The interpreter.
    pub interpreter: Interpreter,
    /// The words that all commands of the same process share: the interpreter, its options and the
    /// program.
    pub kind: Vec<String>,
    /// Variables set before the program (`env NAME=VALUE`).
    pub env: Vec<(String, String)>,
    /// The words that request a run.
    pub words: Vec<String>,
}

impl Preloading {
    /// Determines how a command is run; `resolve` finds a program by name.
    ///
    /// # Errors
    /// If the command cannot run in a preloaded process; returns the reason as text.
    pub fn of(
        argv: &[OsString],
        resolve: &dyn Fn(&OsStr) -> Option<PathBuf>,
    ) -> Result<Self, String> {
        let words: Option<Vec<String>> =
            argv.iter().map(|word| word.to_str().map(str::to_owned)).collect();
        let words = words.ok_or("a word of the command is not UTF-8")?;
        let (mut at, mut env) = (0, Vec::new());
        if words.first().is_some_and(|word| base_name(word) == "env") {
            at = 1;
            while let Some((name, value)) = words.get(at).and_then(|word| word.split_once('=')) {
                if !is_variable(name) {
                    break;
                }
                env.push((name.to_owned(), value.to_owned()));
                at += 1;
            }
        }
        let program = words.get(at).ok_or("it names no program")?;
        let name = base_name(program).to_owned();
        if STARTERS.contains(&name.as_str()) {
            return Err(format!("`{name}` starts another program: name that one"));
        }
        let own = &words[at..];
        let found = match name.as_str() {
            name if is_python(name) => of_python(own),
            name if is_ruby(name) => of_ruby(own),
            _ => {
                let path = resolve(OsStr::new(program));
                match path.as_deref().and_then(interpreter_of) {
                    Some(Interpreter::Python) => Ok((Interpreter::Python, 1, own.to_vec())),
                    Some(Interpreter::Ruby) => {
                        Ok((Interpreter::Ruby, of_ruby_program(own), own.to_vec()))
                    }
                    None => Err(format!("`{name}` is not a Ruby or Python program")),
                }
            }
        };
        let (interpreter, kind, words) = found?;
        let kind = own[..kind.min(own.len())].to_vec();
        Ok(Self { interpreter, kind: shared(kind), env, words })
    }

    /// Returns the command to start, with the hooks that make its interpreter wait; `hooks` is the
    /// directory of [`hooks::files`].
    pub fn request(&self, argv: &[OsString], hooks: &Path) -> Request {
        let mut request = Request::words(argv.to_vec());
        for (name, text) in hooks::files() {
            request = request.file(hooks.join(name), text);
        }
        for (name, library) in hooks::LIBRARIES {
            request = request.file(hooks.join(name), library);
        }
        match self.interpreter {
            Interpreter::Ruby => {
                let option = format!("-r{}", hooks.join("assay_warm.rb").display());
                request.options.push(("RUBYOPT".to_owned(), option));
            }
            Interpreter::Python => {
                let path = hooks.join("warm").display().to_string();
                request.paths.push(("PYTHONPATH".to_owned(), path));
            }
        }
        request
    }
}

/// The interpreter, the number of words of the kind, and the words of a run.
type ParsedCommand = Result<(Interpreter, usize, Vec<String>), String>;

fn of_python(words: &[String]) -> ParsedCommand {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') && *word != "-") {
        if word == "-m" || word == "-c" {
            return match words.get(at + 1) {
                Some(_) => Ok((Interpreter::Python, at + 2, words[at..].to_vec())),
                None => Err(format!("nothing follows {word}")),
            };
        }
        at += if PYTHON_OPTIONS.contains(&word.as_str()) { 2 } else { 1 };
    }
    match words.get(at) {
        Some(script) if script != "-" => Ok((Interpreter::Python, at + 1, words[at..].to_vec())),
        _ => Err("no script is named".to_owned()),
    }
}

fn of_ruby(words: &[String]) -> ParsedCommand {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') && *word != "-") {
        if word == "-e" {
            return Ok((Interpreter::Ruby, at + 2, words[at..].to_vec()));
        }
        if word == "-S" {
            at += 1;
            break;
        }
        at += if RUBY_OPTIONS.contains(&word.as_str()) { 2 } else { 1 };
    }
    match words.get(at) {
        Some(script) if script != "-" => {
            Ok((Interpreter::Ruby, at + of_ruby_program(&words[at..]), words[at..].to_vec()))
        }
        _ => Err("no script is named".to_owned()),
    }
}

/// Returns the number of words that determine what is loaded: `bundle exec` with the program after
/// it, and the task of rake.
fn of_ruby_program(words: &[String]) -> usize {
    let is_bundle = words.first().is_some_and(|word| base_name(word).starts_with("bundle"));
    let at = if is_bundle && words.get(1).is_some_and(|word| word == "exec") { 2 } else { 0 };
    let has_verb = words.get(at).is_some_and(|word| WITH_VERBS.contains(&base_name(word)));
    at + if has_verb { 2 } else { 1 }
}

/// Makes all test files share the same process.
fn shared(mut kind: Vec<String>) -> Vec<String> {
    if let Some(last) = kind.last_mut()
        && let Some(name) = base_name(last).strip_suffix(".rb")
        && (name.ends_with("_test") || name.ends_with("_spec") || name.starts_with("test_"))
    {
        "*.rb".clone_into(last);
    }
    kind
}

fn is_ruby(name: &str) -> bool {
    name.strip_prefix("ruby")
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// Returns the interpreter of a script according to its first lines. Shims of rbenv and pyenv run
/// the program with the same name.
fn interpreter_of(path: &Path) -> Option<Interpreter> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (first, rest) = text.strip_prefix("#!")?.split_once('\n')?;
    let by = |text: &str, ruby: &str, python: &str| {
        if text.contains(ruby) {
            Some(Interpreter::Ruby)
        } else {
            text.contains(python).then_some(Interpreter::Python)
        }
    };
    // If the interpreter's path is too long for a shebang line, a shell starts it on the second
    // line.
    by(first, "ruby", "python").or_else(|| {
        let second = rest.lines().next().unwrap_or_default();
        by(second, "/ruby", "/python").or_else(|| by(rest, "rbenv", "pyenv"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of(line: &str) -> Result<Preloading, String> {
        let room = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("pytest", "#!/venv/bin/python3\n"),
            ("rake", "#!/usr/bin/env ruby3.1\n"),
            ("bundle", "#!/usr/bin/ruby\n"),
            ("long", "#!/bin/sh\n'''exec' /very/long/bin/python3 \"$0\" \"$@\"\n"),
            ("rspec", "#!/usr/bin/env bash\nset -e\nexec \"/opt/rbenv\" exec \"$0\"\n"),
            ("tool", "#!/bin/sh\necho\n"),
        ] {
            fs::write(room.path().join(name), text).unwrap();
        }
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Preloading::of(&argv, &|name| Some(room.path().join(Path::new(name).file_name()?)))
    }

    #[test]
    fn the_words_of_a_run_and_what_runs_have_in_common() {
        for (line, kind, words) in [
            ("python3 -m pytest a.py", "python3 -m pytest", "-m pytest a.py"),
            ("python3 -X dev manage.py test", "python3 -X dev manage.py", "manage.py test"),
            ("pytest -q", "pytest", "pytest -q"),
            ("long x", "long", "long x"),
            ("ruby -I test test/a_test.rb", "ruby -I test *.rb", "test/a_test.rb"),
            ("ruby -w script.rb x", "ruby -w script.rb", "script.rb x"),
            ("ruby -S rake test", "ruby -S rake test", "rake test"),
            ("rake db:migrate V=1", "rake db:migrate", "rake db:migrate V=1"),
            ("bundle exec rake test", "bundle exec rake test", "bundle exec rake test"),
            ("bundle exec rspec a b", "bundle exec rspec", "bundle exec rspec a b"),
            ("rspec a", "rspec", "rspec a"),
        ] {
            let found = of(line).unwrap();
            assert_eq!((found.kind.join(" "), found.words.join(" ")), (kind.into(), words.into()));
            let of_ruby = line.contains("ruby") || line.contains("rake") || line.contains("rspec");
            assert_eq!(found.interpreter == Interpreter::Ruby, of_ruby, "{line}");
        }
        let found = of("env A=1 B=x=y rake test").unwrap();
        assert_eq!(found.env, [("A".into(), "1".into()), ("B".into(), "x=y".into())]);
        assert_eq!(found.words, ["rake", "test"]);
    }

    #[test]
    fn why_a_command_can_not_be_preloaded() {
        for (line, why) in [
            ("tool x", "`tool` is not a Ruby or Python program"),
            ("uv run pytest", "`uv` starts another program"),
            ("python3", "no script"),
            ("python3 -m", "nothing follows -m"),
            ("env A=1", "no program"),
        ] {
            let told = of(line).unwrap_err();
            assert!(told.contains(why), "{line}: {told}");
        }
    }

    #[test]
    fn what_is_read_first_is_known_by_its_name() {
        assert!(is_read_first(Path::new("/p/pytest.ini")) && is_read_first(Path::new("Gemfile")));
        assert!(!is_read_first(Path::new("/p/lib/a.py")) && !is_read_first(Path::new("/")));
    }

    #[test]
    fn each_interpreter_is_made_to_wait_in_its_own_way() {
        let argv = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let hooks = Path::new("/h");
        let ruby = of("rake test").unwrap().request(&argv("rake test"), hooks);
        assert_eq!(ruby.options, [("RUBYOPT".to_owned(), "-r/h/assay_warm.rb".to_owned())]);
        let python = of("pytest").unwrap().request(&argv("pytest"), hooks);
        assert_eq!(python.paths, [("PYTHONPATH".to_owned(), "/h/warm".to_owned())]);
        assert!(python.files.iter().any(|file| file.path.ends_with("warm/sitecustomize.py")));
    }
}
