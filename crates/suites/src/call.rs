//! The command of a suite, and the position in it of the framework's own program, which may come
//! after `env`, `bundle exec`, `python -m`, `npx`, `npm test` and the like.

use crate::asking::Request;
use assay_data::list;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Programs that run the command that follows them, each with the word that must come in between,
/// or an empty word if there is none.
const STARTERS: [(&str, &str); 27] = [
    ("bundle", "exec"),
    ("rbenv", "exec"),
    ("uv", "run"),
    ("uvx", ""),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("conda", "run"),
    ("coverage", "run"),
    ("npx", ""),
    ("bunx", ""),
    ("pnpx", ""),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("npm", "exec"),
    ("nice", ""),
    ("time", ""),
    ("nohup", ""),
    ("setsid", ""),
    ("stdbuf", ""),
    ("xvfb-run", ""),
    ("spring", ""),
    ("cross-env", ""),
    ("nyc", ""),
    ("c8", ""),
];

/// Package managers that run scripts named in `package.json`.
const PACKAGES: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

/// Maximum size of a text file that is read, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;
/// Maximum size of a program that is read, in bytes.
const LONGEST_PROGRAM: u64 = 64 << 20;

/// A command as the user typed it, and the position of the framework in it.
#[derive(Clone, Debug)]
pub struct Call {
    /// All words of the command.
    pub argv: Vec<OsString>,
    /// The directory in which the command runs.
    pub directory: PathBuf,
    /// Index of the word that names the framework's program or module.
    at: usize,
    /// True if that word is a module after `python -m`.
    is_module: bool,
    /// The words of the `package.json` script that the command runs, if any.
    script: Option<Vec<String>>,
    /// The `env` commands in front of the framework's program, outermost first.
    envs: Vec<EnvWords>,
}

/// The words of an `env` command before the command that it starts.
#[derive(Clone, Debug, Default)]
struct EnvWords {
    /// Index of the word `env` itself.
    at: usize,
    /// Index of the first word that is neither an option nor a variable.
    end: usize,
    /// True if `env` starts its command with an empty environment.
    is_empty: bool,
    /// Variables that `env` removes.
    unset: Vec<String>,
}

impl Call {
    /// Parses a command that runs in a directory.
    pub fn new(argv: &[OsString], directory: &Path) -> Self {
        let mut call = Self {
            argv: argv.to_vec(),
            directory: directory.to_owned(),
            at: 0,
            is_module: false,
            script: None,
            envs: Vec::new(),
        };
        call.look();
        call
    }

    fn look(&mut self) {
        let words: Vec<String> =
            self.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let name = base_name(word);
            if name == "env" {
                let env = EnvWords::of(&words, at);
                at = env.end;
                self.envs.push(env);
                continue;
            }
            if word.split_once('=').is_some_and(|(name, _)| is_variable(name)) {
                at += 1;
                continue;
            }
            if is_python(name) {
                match module_of(&words[at + 1..]) {
                    Some(module) => {
                        (at, self.is_module) = (at + 1 + module, true);
                        continue;
                    }
                    None => break,
                }
            }
            if name == "timeout" {
                at += 1;
                while words.get(at).is_some_and(|word| word.starts_with('-')) {
                    at += if matches!(words[at].as_str(), "-k" | "-s") { 2 } else { 1 };
                }
                at += 1;
                continue;
            }
            let follows =
                |second: &str| second.is_empty() || words.get(at + 1).is_some_and(|w| w == second);
            let Some((_, second)) = STARTERS
                .iter()
                .find(|(own, second)| (bare(name) == *own || name == *own) && follows(second))
            else {
                break;
            };
            at += if second.is_empty() { 1 } else { 2 };
            // `coverage run -m pytest`
            if words.get(at).is_some_and(|word| word == "-m") {
                (at, self.is_module) = (at + 1, true);
                continue;
            }
            while words.get(at).is_some_and(|word| word.starts_with('-') && word != "--") {
                at += if words[at] == "-n" { 2 } else { 1 };
            }
            at += usize::from(words.get(at).is_some_and(|word| word == "--"));
        }
        self.at = at.min(words.len().saturating_sub(1));
        let name = base_name(&words[self.at]);
        if PACKAGES.contains(&name) && name != "bun" {
            let rest = &words[self.at + 1..];
            let script = match rest.first().map(String::as_str) {
                Some("t" | "tst" | "test") => Some("test"),
                Some("run" | "run-script") => rest.get(1).map(String::as_str),
                // yarn and pnpm also run scripts by name without `run`.
                Some(script) if name != "npm" => Some(script),
                _ => None,
            };
            self.script = script.and_then(|script| self.script_of_package(script));
        }
    }

    fn script_of_package(&self, script: &str) -> Option<Vec<String>> {
        let text = self.text("package.json")?;
        let package: serde_json::Value = serde_json::from_str(&text).ok()?;
        let line = package.get("scripts")?.get(script)?.as_str()?;
        Some(line.split_whitespace().map(str::to_owned).collect())
    }

    /// Returns the name of the framework's program or module, without directories and version
    /// suffix.
    pub fn program(&self) -> String {
        let name = base_name(&self.argv[self.at].to_string_lossy()).to_owned();
        let bare = bare(&name).to_owned();
        if bare.is_empty() { name } else { bare }
    }

    /// Returns true if the program has one of these names.
    pub fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.program().as_str())
    }

    /// Returns true if the program is a Python module.
    pub fn is_module(&self) -> bool {
        self.is_module
    }

    /// Returns the words after the framework's program.
    pub fn arguments(&self) -> Vec<String> {
        self.argv[self.at + 1..].iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Returns true if any argument is one of these words.
    pub fn has(&self, words: &[&str]) -> bool {
        self.arguments().iter().any(|word| words.contains(&word.as_str()))
    }

    /// Returns the first argument that is not an option.
    pub fn verb(&self) -> Option<String> {
        self.arguments().into_iter().find(|word| !word.starts_with(['-', '+']))
    }

    /// Returns the words of the package script if the command runs one through a package manager.
    pub fn script(&self) -> Option<&[String]> {
        self.script.as_deref()
    }

    /// Returns true if the command runs a package script that runs one of these programs.
    pub fn script_runs(&self, names: &[&str]) -> bool {
        self.script().is_some_and(|words| words.iter().any(|word| names.contains(&base_name(word))))
    }

    /// Returns all words, with `options` inserted directly after the framework's program, or at the
    /// end if the command runs a package script.
    pub fn with_options(&self, options: &[String]) -> Vec<OsString> {
        if self.script.is_some() {
            return self.with_last(options);
        }
        self.inserted(self.at + 1, options)
    }

    /// Returns all words, with `options` inserted directly after the first argument equal to
    /// `word`, or after the framework's program if no argument is.
    pub fn with_options_behind(&self, word: &str, options: &[String]) -> Vec<OsString> {
        let place = self.argv[self.at..].iter().position(|own| own == word);
        self.inserted(self.at + place.unwrap_or(0) + 1, options)
    }

    /// Returns the call without these options of the framework's program and their values, whether
    /// a value is a word of its own or follows a `=`.
    pub fn without(&self, options: &[&str]) -> Self {
        let mut call = self.clone();
        let own = call.argv.split_off(self.at + 1);
        let mut own = own.into_iter();
        while let Some(word) = own.next() {
            let text = word.to_string_lossy();
            match options.iter().find_map(|option| text.strip_prefix(option)) {
                Some("") => drop(own.next()),
                Some(value) if value.starts_with('=') => {}
                _ => call.argv.push(word),
            }
        }
        call
    }

    /// Returns all words, with `words` appended. For an npm script, they come after the `--` that
    /// npm requires.
    pub fn with_last(&self, words: &[String]) -> Vec<OsString> {
        let is_npm = self.script.is_some() && self.is(&["npm"]);
        let mark =
            (is_npm && !self.has(&["--"]) && !words.is_empty()).then(|| OsString::from("--"));
        self.argv.iter().cloned().chain(mark).chain(words.iter().map(OsString::from)).collect()
    }

    /// Returns all words, with `words` appended after a `--`, which is added if missing.
    pub fn with_passed(&self, words: &[String]) -> Vec<OsString> {
        let mark = (!self.has(&["--"])).then(|| OsString::from("--"));
        self.argv.iter().cloned().chain(mark).chain(words.iter().map(OsString::from)).collect()
    }

    fn inserted(&self, at: usize, options: &[String]) -> Vec<OsString> {
        let (before, behind) = self.argv.split_at(at.min(self.argv.len()));
        before
            .iter()
            .cloned()
            .chain(options.iter().map(OsString::from))
            .chain(behind.iter().cloned())
            .collect()
    }

    /// Makes the `env` commands of the call pass on the request's variables: assay's values are
    /// added to variables that `env` sets, and variables that `env` removes are set again. The
    /// words before the framework's program must still be those of the call.
    pub(crate) fn through_env(&self, mut request: Request) -> Request {
        // In reverse order, so that indices remain valid.
        for env in self.envs.iter().rev() {
            let mut more = Vec::new();
            let ours = [
                (&request.env, Combination::Replaces),
                (&request.options, Combination::Follows),
                (&request.paths, Combination::Precedes),
            ];
            for (variables, how) in ours {
                for (name, value) in variables {
                    let set = |word: &OsString| {
                        word.to_str()
                            .and_then(|word| word.split_once('='))
                            .is_some_and(|(own, _)| own == name)
                    };
                    let place = (env.at + 1..env.end).rev().find(|&at| set(&request.argv[at]));
                    match place {
                        Some(place) => {
                            let own = request.argv[place].to_string_lossy().into_owned();
                            let own = own.split_once('=').map_or("", |(_, own)| own);
                            more.push((Some(place), how.joined(name, own, value)));
                        }
                        None if env.is_empty || env.unset.contains(name) => {
                            more.push((None, format!("{name}={value}")));
                        }
                        None => {}
                    }
                }
            }
            let mut behind = Vec::new();
            for (place, word) in more {
                match place {
                    Some(place) => request.argv[place] = word.into(),
                    None => behind.push(OsString::from(word)),
                }
            }
            request.argv.splice(env.end..env.end, behind);
        }
        request
    }

    /// Returns texts that may name what the command runs: the command's words, and the lines of its
    /// script or Makefile.
    pub(crate) fn behind(&self) -> Vec<String> {
        let words = self.argv.iter().map(|word| word.to_string_lossy().into_owned());
        let mut all: Vec<String> = words.collect();
        let own = self.argv[self.at].to_string_lossy();
        let is_make = self.is(&["make", "gmake", "bmake"]);
        let arguments = self.arguments();
        let files: Vec<&str> = if is_make {
            vec!["GNUmakefile", "makefile", "Makefile"]
        } else if self.is(&["sh", "bash", "dash", "zsh"]) {
            arguments.iter().map(String::as_str).collect()
        } else {
            vec![own.as_ref()]
        };
        let text = files.iter().find_map(|file| self.text(file));
        all.extend(text.unwrap_or_default().lines().map(str::to_owned));
        all.extend(self.script().map(|words| words.join(" ")));
        all
    }

    /// Reads a file of the project, or returns `None` if the file is not text or is too large.
    pub fn text(&self, path: &str) -> Option<String> {
        let path = self.directory.join(path);
        let metadata = fs::metadata(&path).ok().filter(|file| file.is_file())?;
        (metadata.len() <= LONGEST_TEXT).then(|| fs::read_to_string(&path).ok())?
    }

    /// Returns true if the program file contains one of these texts, such as the name of a function
    /// that the program uses.
    pub fn program_holds(&self, texts: &[&str]) -> bool {
        let word = &self.argv[self.at];
        if !word.to_string_lossy().contains('/') {
            return false;
        }
        let path = self.directory.join(word);
        let is_program =
            fs::metadata(&path).is_ok_and(|f| f.is_file() && f.len() <= LONGEST_PROGRAM);
        let Some(bytes) = is_program.then(|| fs::read(&path).ok()).flatten() else { return false };
        bytes.starts_with(b"\x7fELF")
            && texts.iter().any(|text| memchr::memmem::find(&bytes, text.as_bytes()).is_some())
    }

    /// Returns the command on one line, for display.
    pub fn line(&self) -> String {
        list::line(&self.argv)
    }
}

/// How a variable set by assay is combined with the user's value.
#[derive(Clone, Copy)]
enum Combination {
    Replaces,
    Follows,
    Precedes,
}

impl Combination {
    fn joined(self, name: &str, own: &str, ours: &str) -> String {
        match self {
            _ if own.is_empty() => format!("{name}={ours}"),
            // assay's value begins with the inherited one.
            Self::Replaces if name == "PYTEST_PLUGINS" => {
                let ours = ours.rsplit(',').next().unwrap_or(ours);
                format!("{name}={own},{ours}")
            }
            Self::Replaces => format!("{name}={ours}"),
            Self::Follows => format!("{name}={own} {ours}"),
            Self::Precedes => format!("{name}={ours}:{own}"),
        }
    }
}

impl EnvWords {
    /// Parses the `env` command at this index.
    fn of(words: &[String], at: usize) -> Self {
        let mut own = Self { at, end: at + 1, ..Self::default() };
        while let Some(word) = words.get(own.end) {
            let is_set = word.split_once('=').is_some_and(|(name, _)| is_variable(name));
            if !is_set && !word.starts_with('-') {
                break;
            }
            own.end += 1;
            match word.as_str() {
                "-" | "-i" | "--ignore-environment" => own.is_empty = true,
                "-u" | "--unset" => {
                    own.unset.extend(words.get(own.end).cloned());
                    own.end += 1;
                }
                "-C" | "--chdir" => own.end += 1,
                "--" => {}
                word => own.unset.extend(
                    word.strip_prefix("--unset=").or(word.strip_prefix("-u")).map(str::to_owned),
                ),
            }
        }
        own.end = own.end.min(words.len());
        own
    }
}

pub(crate) fn base_name(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(OsStr::to_str);
    name.unwrap_or(word)
}

/// Returns a program's name without a version suffix added by a distribution, as in `bundle3.1` and
/// `pytest-3`.
fn bare(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    bare.trim_end_matches('-')
}

pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub(crate) fn is_python(name: &str) -> bool {
    ["python", "pypy"].iter().any(|own| {
        name.strip_prefix(own)
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    })
}

/// Returns the index of the module name in the words after the Python program.
fn module_of(words: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += match word.as_str() {
            "-m" => return (at + 1 < words.len()).then_some(at + 1),
            "-X" | "-W" => 2,
            _ => 1,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Call::new(&words, Path::new("/nonexistent"))
    }

    #[test]
    fn the_program_is_found_behind_what_starts_it() {
        for (line, program) in [
            ("rspec spec", "rspec"),
            ("bundle exec rspec", "rspec"),
            ("bundle3.1 exec rspec", "rspec"),
            ("env RAILS_ENV=test bundle exec rspec", "rspec"),
            ("RAILS_ENV=test bin/rspec", "rspec"),
            ("python3 -m pytest tests", "pytest"),
            ("python3.11 -X dev -m pytest tests", "pytest"),
            ("/venv/bin/python -m unittest", "unittest"),
            ("uv run pytest -q", "pytest"),
            ("poetry run python -m pytest", "pytest"),
            ("coverage run -m pytest", "pytest"),
            ("timeout -k 5 60 pytest", "pytest"),
            ("nice -n 10 go test ./...", "go"),
            ("npx --yes jest --ci", "jest"),
            ("pnpm exec vitest run", "vitest"),
            ("ruby3.1 -Itest test/a.rb", "ruby"),
            ("pytest-3 a.py", "pytest"),
            ("python3 bench.py -m pytest", "python"),
        ] {
            assert_eq!(call(line).program(), program, "{line}");
        }
        assert!(call("python -m pytest").is_module());
        let less =
            call("nice -o 3 ./t -r junit --out=f a --outer=b -o").without(&["-r", "--out", "-o"]);
        assert_eq!(less.with_last(&[]), call("nice -o 3 ./t a --outer=b").with_last(&[]));
        assert!(!call("pytest").is_module());
    }

    #[test]
    fn options_go_where_the_program_reads_them() {
        let told = |words: Vec<OsString>| {
            let words: Vec<_> = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
            words.join(" ")
        };
        let more = ["-x".to_owned(), "y".to_owned()];
        assert_eq!(told(call("uv run pytest a.py").with_options(&more)), "uv run pytest -x y a.py");
        assert_eq!(
            told(call("go -C d test ./...").with_options_behind("test", &more)),
            "go -C d test -x y ./..."
        );
        assert_eq!(told(call("cargo test -p a").with_passed(&more)), "cargo test -p a -- -x y");
        assert_eq!(told(call("cargo test -- a").with_passed(&more)), "cargo test -- a -x y");
    }

    #[test]
    fn scripts_of_packages_tell_what_they_run() {
        let room = tempfile::tempdir().unwrap();
        fs::write(
            room.path().join("package.json"),
            r#"{"scripts": {"test": "jest --ci", "unit": "vitest run"}}"#,
        )
        .unwrap();
        let call = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            Call::new(&words, room.path())
        };
        assert!(call("npm test").script_runs(&["jest"]));
        assert!(call("npm run unit").script_runs(&["vitest"]));
        assert!(call("yarn unit").script_runs(&["vitest"]));
        assert!(!call("npm install").script_runs(&["jest"]));
        let words = call("npm test").with_options(&["--json".to_owned()]);
        assert_eq!(words, ["npm", "test", "--", "--json"].map(OsString::from));
        let words = call("yarn test").with_options(&["--json".to_owned()]);
        assert_eq!(words, ["yarn", "test", "--json"].map(OsString::from));
    }

    #[test]
    fn env_hands_on_what_is_added() {
        let with = |line: &str| {
            let call = call(line);
            let request = Request {
                argv: call.argv.clone(),
                env: vec![("PYTEST_PLUGINS".to_owned(), "ours".to_owned())],
                options: vec![("RUBYOPT".to_owned(), "-rours".to_owned())],
                paths: vec![("PYTHONPATH".to_owned(), "/ours".to_owned())],
                ..Request::default()
            };
            let words = call.through_env(request).argv;
            let words: Vec<_> = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
            words.join(" ")
        };
        for (line, told) in [
            ("env A=b pytest", "env A=b pytest"),
            ("env PYTHONPATH=src pytest", "env PYTHONPATH=/ours:src pytest"),
            ("env A=b PYTHONPATH= pytest", "env A=b PYTHONPATH=/ours pytest"),
            ("env RUBYOPT=-W0 ruby a.rb", "env RUBYOPT=-W0 -rours ruby a.rb"),
            ("env PYTEST_PLUGINS=x pytest", "env PYTEST_PLUGINS=x,ours pytest"),
            ("nice env -u RUBYOPT rspec", "nice env -u RUBYOPT RUBYOPT=-rours rspec"),
            (
                "env -i PYTHONPATH=a pytest",
                "env -i PYTHONPATH=/ours:a PYTEST_PLUGINS=ours RUBYOPT=-rours pytest",
            ),
            ("pytest PYTHONPATH=src", "pytest PYTHONPATH=src"),
        ] {
            assert_eq!(with(line), told);
        }
    }
}
