//! Requests that record the functions that a benchmark program executes, parsers of the recorded
//! data, and requests that delay the calls of one function.
//!
//! In Python and Ruby, function calls are recorded or delayed by a file that the interpreter loads
//! first. In Python, this is a `sitecustomize`, which then loads the user's own; in Ruby, `RUBYOPT`
//! requires it. Go records its own coverage if the program was built with `-cover`; to delay calls,
//! it must be built with [`GO_WAIT`]. Node.js has the text of every script that it runs, and
//! records digests of the executed text.

pub use crate::driver::Language;

use crate::driver::Request;
use crate::javascript::url;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A place in a source file that was executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// Source file, as named by the program: an absolute path or, for Go, the package path followed
    /// by the file name.
    pub file: String,
    /// Line number, counted from 1; 0 for code that runs when the file is loaded.
    pub line: usize,
}

/// A script that Node.js ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExecutedScript {
    /// Absolute path of the script.
    pub file: PathBuf,
    /// Digest of the script's text without the functions that were not called.
    pub digest: String,
}

/// Environment variables that name the delayed function and the delay of each call in nanoseconds.
const DELAYED: [&str; 2] = ["ASSAY_DELAYED", "ASSAY_DELAY"];
/// Text of a Go file to be added to a package, without the `package` clause. A call of
/// `assayWait(n)` then waits if function `n` is the delayed one.
pub const GO_WAIT: &str = include_str!("shims/delay.go.txt");
/// Subdirectory of the scratch directory for the files loaded by interpreters and for the data that
/// they record.
const DIRECTORY: &str = "executed";
/// Name and text of the recorder that Python loads first.
const PYTHON: (&str, &str) = ("sitecustomize.py", include_str!("shims/executed.py"));
/// Name and text of the recorder that Ruby loads first.
const RUBY: (&str, &str) = ("executed.rb", include_str!("shims/executed.rb"));
/// Name and text of the recorder that Node.js loads first.
const NODE: (&str, &str) = ("executed.mjs", include_str!("shims/executed.mjs"));
/// Name of the file in which Go records its coverage.
const GO: &str = "executed.cover";

impl Language {
    /// Extends a request so that the run also records in `scratch` which code is executed.
    #[must_use]
    pub fn asking(self, request: Request, scratch: &Path) -> Request {
        match self {
            Self::Python | Self::Ruby => self.with_our_file(request, scratch),
            Self::Go => {
                let file = scratch.join(GO).display().to_string();
                request.arg(format!("-test.coverprofile={file}"))
            }
        }
    }

    /// Extends a request so that every call of one function takes `nanoseconds` longer. Python and
    /// Ruby identify the function by its file and first line, Go by its number. `scratch` is the
    /// directory for the recorder's files.
    #[must_use]
    pub fn delaying(
        self,
        request: Request,
        scratch: &Path,
        (function, number): (&SourceLine, usize),
        nanoseconds: u64,
    ) -> Request {
        let [delayed, delay] = DELAYED;
        let request = request.env(delay, nanoseconds.to_string());
        match self {
            Self::Python | Self::Ruby => self
                .with_our_file(request, scratch)
                .env(delayed, format!("{}\t{}", function.line, function.file)),
            Self::Go => request.env(delayed, number.to_string()),
        }
    }

    /// Adds the file that the interpreter loads before the program.
    fn with_our_file(self, request: Request, scratch: &Path) -> Request {
        let directory = scratch.join(DIRECTORY);
        let (name, text) = if self == Self::Ruby { RUBY } else { PYTHON };
        let file = directory.join(name);
        if self == Self::Ruby {
            let option = format!("-r{}", file.display());
            return request.file(file, text).option("RUBYOPT", &option);
        }
        // Python must not write bytecode, which would have to be removed again.
        request
            .file(file, text)
            .directory("PYTHONPATH", directory)
            .env("PYTHONDONTWRITEBYTECODE", "1")
    }

    /// Returns the recorded places, or `None` if the program recorded nothing.
    pub fn executed(self, scratch: &Path) -> Option<Vec<SourceLine>> {
        match self {
            Self::Python | Self::Ruby => {
                let texts = answers(scratch)?;
                let places: Vec<SourceLine> =
                    texts.iter().flat_map(|text| text.lines()).filter_map(started).collect();
                (!places.is_empty()).then_some(places)
            }
            Self::Go => {
                let text = std::fs::read_to_string(scratch.join(GO)).ok()?;
                let mut lines = text.lines();
                lines.next().filter(|first| first.starts_with("mode: "))?;
                Some(lines.filter_map(covered).flatten().collect())
            }
        }
    }
}

/// Returns the functions that each benchmark executed in a process of its own
/// ([`Driver::run_each`](crate::Driver::run_each)), by the benchmark's name. Benchmarks that failed
/// are missing.
#[must_use]
pub fn executed_by_each(scratch: &Path) -> BTreeMap<String, Vec<SourceLine>> {
    let of_one = |text: &String| {
        let name = serde_json::from_str(text.lines().next()?.strip_prefix("= ")?).ok()?;
        Some((name, text.lines().filter_map(started).collect()))
    };
    answers(scratch).iter().flatten().filter_map(of_one).collect()
}

/// Extends a request so that the run also records in `scratch` which code Node.js executes.
#[must_use]
pub fn noting_scripts(request: Request, scratch: &Path) -> Request {
    let (name, text) = NODE;
    let file = scratch.join(DIRECTORY).join(name);
    let option = format!("--import={}", url(&file));
    request.file(file, text).option("NODE_OPTIONS", &option)
}

/// Returns the scripts that Node.js executed, or `None` if the program recorded nothing.
#[must_use]
pub fn executed_scripts(scratch: &Path) -> Option<Vec<ExecutedScript>> {
    let script = |line: &str| {
        let (digest, file) = line.split_once('\t')?;
        Some(ExecutedScript { file: file.into(), digest: digest.to_owned() })
    };
    let texts = answers(scratch)?;
    let scripts: Vec<_> = texts.iter().flat_map(|text| text.lines()).filter_map(script).collect();
    (!scripts.is_empty()).then_some(scripts)
}

/// Returns the recorded texts, one for each process.
fn answers(scratch: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(scratch.join(DIRECTORY)).ok()?.flatten();
    let answers = entries.filter(|own| own.path().extension() == Some("started".as_ref()));
    answers.map(|own| std::fs::read_to_string(own.path()).ok()).collect()
}

/// Parses a recorded line: a line number and a path, separated by a tab.
fn started(line: &str) -> Option<SourceLine> {
    let (number, file) = line.split_once('\t')?;
    Some(SourceLine { file: file.to_owned(), line: number.parse().ok()? })
}

/// Parses a block of Go's coverage, such as `example.com/m/file.go:12.34,15.2 3 1`. Returns
/// `Some(None)` if the block was not executed, and `None` for lines that describe no block.
fn covered(line: &str) -> Option<Option<SourceLine>> {
    let (block, counts) = line.split_once(' ')?;
    let (_, count) = counts.split_once(' ')?;
    let (file, range) = block.rsplit_once(':')?;
    let (line, _) = range.split_once('.')?;
    let place = SourceLine { file: file.to_owned(), line: line.parse().ok()? };
    Some((count != "0").then_some(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executed_blocks_of_go_count() {
        let room = tempfile::tempdir().unwrap();
        let text = "mode: set\na.b/m/x.go:3.20,5.2 1 1\na.b/m/x.go:7.13,9.2 1 0\n";
        std::fs::write(room.path().join(GO), text).unwrap();
        let place = SourceLine { file: "a.b/m/x.go".to_owned(), line: 3 };
        assert_eq!(Language::Go.executed(room.path()), Some(vec![place]));
    }

    #[test]
    fn a_program_that_does_not_answer_executes_nothing_known() {
        let room = tempfile::tempdir().unwrap();
        assert_eq!(Language::Go.executed(room.path()), None);
        assert_eq!(Language::Python.executed(room.path()), None);
    }

    #[test]
    fn our_file_comes_before_the_users() {
        let scratch = Path::new("/scratch");
        let request = Language::Python.asking(Request::default(), scratch);
        let ours = ("PYTHONPATH".to_owned(), "/scratch/executed".into());
        assert_eq!(request.directories, [ours]);
    }

    #[test]
    fn python_notes_the_functions_that_it_starts() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        std::fs::create_dir(at(DIRECTORY)).unwrap();
        std::fs::create_dir(at("own")).unwrap();
        std::fs::write(at(DIRECTORY).join(PYTHON.0), PYTHON.1).unwrap();
        // The user has a `sitecustomize` too, which must still be loaded.
        std::fs::write(at("own/sitecustomize.py"), "import builtins\nbuiltins.own = 1\n").unwrap();
        let imported = "def while_importing():\n    return 3\n\nX = while_importing()\n";
        std::fs::write(at("own/imported.py"), imported).unwrap();
        let script = "def used():\n    return own\n\n\ndef unused():\n    return 2\n\nimport imported\nimport sys\nsys.setprofile(None)\nprint(used())\n";
        std::fs::write(at("script.py"), script).unwrap();
        let request = Language::Python.asking(Request::default(), room.path());
        let ours = request.directories[0].1.clone();
        let path = std::env::join_paths([ours, at("own")]).unwrap();
        let mut python = std::process::Command::new("python3");
        python.arg(at("script.py")).env("PYTHONPATH", path).envs(request.env);
        let Ok(output) = python.output() else { return };
        assert_eq!(output.stdout, b"1\n", "{}", String::from_utf8_lossy(&output.stderr));
        let places = Language::Python.executed(room.path()).unwrap();
        let lines: Vec<usize> = places
            .iter()
            .filter(|place| place.file.ends_with("script.py"))
            .map(|place| place.line)
            .collect();
        assert!(lines.contains(&1) && !lines.contains(&5), "{places:?}");
        let imported: Vec<usize> = places
            .iter()
            .filter(|place| place.file.ends_with("imported.py"))
            .map(|place| place.line)
            .collect();
        assert_eq!(imported, [0], "the file is loaded, and what it calls then does not count");
    }

    #[test]
    fn ruby_notes_and_delays_the_methods_that_it_calls() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        std::fs::create_dir(at(DIRECTORY)).unwrap();
        std::fs::write(at(DIRECTORY).join(RUBY.0), RUBY.1).unwrap();
        std::fs::write(at("own.rb"), "def early\nend\nearly\n").unwrap();
        let script = "require_relative 'own'\ndef used\nend\ndef unused\nend\nbegun = Process.clock_gettime(1)\nused; used\nputs Process.clock_gettime(1) - begun >= 0.02\n";
        std::fs::write(at("script.rb"), script).unwrap();
        let run = |request: Request| {
            let mut ruby = std::process::Command::new("ruby");
            ruby.arg(at("script.rb")).envs(request.env).envs(request.options);
            ruby.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let noting = Language::Ruby.asking(Request::default(), room.path());
        if run(noting).is_none() {
            return;
        }
        let places = Language::Ruby.executed(room.path()).unwrap();
        let lines = |name: &str| -> Vec<usize> {
            let own = places.iter().filter(|place| place.file.ends_with(name));
            own.map(|place| place.line).collect()
        };
        assert_eq!((lines("script.rb"), lines("own.rb")), (vec![0, 2], vec![0]), "{places:?}");
        let used = SourceLine { file: at("script.rb").display().to_string(), line: 2 };
        let slow = Language::Ruby.delaying(Request::default(), room.path(), (&used, 0), 10_000_000);
        assert_eq!(run(slow).as_deref(), Some("true\n"));
    }

    #[test]
    fn node_notes_the_functions_that_it_calls() {
        let digest_of = |text: &str| {
            let room = tempfile::tempdir().unwrap();
            let at = |name: &str| room.path().join(name);
            std::fs::create_dir(at(DIRECTORY)).unwrap();
            std::fs::write(at(DIRECTORY).join(NODE.0), NODE.1).unwrap();
            std::fs::write(at("own.mjs"), text).unwrap();
            std::fs::write(at("script.mjs"), "import './own.mjs'; process.exit(0);").unwrap();
            let request = noting_scripts(Request::default(), room.path());
            let mut node = std::process::Command::new("node");
            node.arg(at("script.mjs")).envs(request.options).output().ok()?;
            let scripts = executed_scripts(room.path()).unwrap();
            assert_eq!(scripts.len(), 2, "{scripts:?}");
            scripts.into_iter().find(|own| own.file.ends_with("own.mjs")).map(|own| own.digest)
        };
        let text =
            "function used() { return () => 1; }\nfunction unused() { return 2; }\nused();\n";
        // The test is skipped if Node.js is not installed.
        let Some(first) = digest_of(text) else { return };
        let with = |old: &str, new: &str| digest_of(&text.replace(old, new)).unwrap();
        assert_eq!(first, with("return 2", "return 3 + 4"));
        assert_eq!(first, with("() => 1", "() => 5"), "it was made, but not called");
        assert_eq!(first, with("function unused", "function more() {}\n\nfunction unused"));
        assert_eq!(first, with("used();\n", "used();\n//# sourceMappingURL=x\n"));
        assert_ne!(first, with("return ()", "return 1, ()"));
        assert_ne!(first, with("used();\n", "used(1);\n"));
    }

    #[test]
    fn python_delays_every_call_of_one_function() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        std::fs::create_dir(at(DIRECTORY)).unwrap();
        std::fs::write(at(DIRECTORY).join(PYTHON.0), PYTHON.1).unwrap();
        let script = "import time\n\ndef quick():\n    pass\n\ndef slow():\n    pass\n\nfor own in (quick, slow):\n    begun = time.perf_counter()\n    own(); own(); own()\n    print(time.perf_counter() - begun >= 0.03)\n";
        std::fs::write(at("script.py"), script).unwrap();
        let slow = SourceLine { file: at("script.py").display().to_string(), line: 6 };
        let request = Request::default();
        let request = Language::Python.delaying(request, room.path(), (&slow, 0), 10_000_000);
        let ours = &request.directories[0].1;
        let mut python = std::process::Command::new("python3");
        python.arg(at("script.py")).env("PYTHONPATH", ours).envs(request.env);
        let Ok(output) = python.output() else { return };
        assert!(String::from_utf8_lossy(&output.stdout).ends_with("True\n"), "{output:?}");
        assert_eq!(Language::Python.executed(room.path()), None, "nothing is noted");
    }
}
