//! How a benchmark program is asked which functions it executes, and how its answer is read.
//!
//! Python notes every function that is started, by a `sitecustomize` of ours that is found before
//! the user's, and calls that one. Go counts the blocks of its own coverage, in a program built
//! with `-cover`.

pub use crate::driver::Language;

use crate::driver::Request;
use std::path::Path;

/// A place in a source file that was executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the program names it: an absolute path, or for Go a package with a file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// Our file, and the text of it.
const PYTHON: (&str, &str) = ("executed/sitecustomize.py", include_str!("shims/executed.py"));
/// Go's answer.
const GO: &str = "executed.cover";

impl Language {
    /// Returns a request that also answers what is executed, in `scratch`. `path` is the user's
    /// `PYTHONPATH`.
    #[must_use]
    pub fn asking(self, request: Request, scratch: &Path, path: Option<&str>) -> Request {
        match self {
            Self::Python => {
                let file = scratch.join(PYTHON.0);
                let own = scratch.join("executed").display().to_string();
                let all = path.filter(|path| !path.is_empty());
                let all = all.map_or_else(|| own.clone(), |path| format!("{own}:{path}"));
                // Written bytecode would be ours to remove.
                request
                    .file(file, PYTHON.1)
                    .env("PYTHONPATH", all)
                    .env("PYTHONDONTWRITEBYTECODE", "1")
            }
            Self::Go => {
                let file = scratch.join(GO).display().to_string();
                request.arg(format!("-test.coverprofile={file}"))
            }
        }
    }

    /// Returns what was executed; `None` if the program did not answer.
    pub fn executed(self, scratch: &Path) -> Option<Vec<Place>> {
        match self {
            Self::Python => {
                let directory = scratch.join("executed");
                let entries = std::fs::read_dir(directory).ok()?.flatten();
                let answers =
                    entries.filter(|own| own.path().extension() == Some("started".as_ref()));
                let texts = answers.map(|own| std::fs::read_to_string(own.path()));
                let texts: Vec<String> = texts.collect::<Result<_, _>>().ok()?;
                let places: Vec<Place> =
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

/// Parses a line of our file: a line number and a path.
fn started(line: &str) -> Option<Place> {
    let (number, file) = line.split_once('\t')?;
    Some(Place { file: file.to_owned(), line: number.parse().ok()? })
}

/// Parses a block of Go's coverage, `example.com/m/file.go:12.34,15.2 3 1`; `None` for other lines,
/// and nothing in the result if the block was not executed.
fn covered(line: &str) -> Option<Option<Place>> {
    let (block, counts) = line.split_once(' ')?;
    let (_, count) = counts.split_once(' ')?;
    let (file, range) = block.rsplit_once(':')?;
    let (line, _) = range.split_once('.')?;
    let place = Place { file: file.to_owned(), line: line.parse().ok()? };
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
        let place = Place { file: "a.b/m/x.go".to_owned(), line: 3 };
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
        let request = Language::Python.asking(Request::default(), scratch, Some("src"));
        assert!(
            request.env.contains(&("PYTHONPATH".to_owned(), "/scratch/executed:src".to_owned()))
        );
    }

    #[test]
    fn python_notes_the_functions_that_it_starts() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        std::fs::create_dir(at("executed")).unwrap();
        std::fs::create_dir(at("own")).unwrap();
        std::fs::write(at(PYTHON.0), PYTHON.1).unwrap();
        // The user has one, too.
        std::fs::write(at("own/sitecustomize.py"), "import builtins\nbuiltins.own = 1\n").unwrap();
        let imported = "def while_importing():\n    return 3\n\nX = while_importing()\n";
        std::fs::write(at("own/imported.py"), imported).unwrap();
        let script = "def used():\n    return own\n\n\ndef unused():\n    return 2\n\nimport imported\nprint(used())\n";
        std::fs::write(at("script.py"), script).unwrap();
        let path = at("own").display().to_string();
        let request = Language::Python.asking(Request::default(), room.path(), Some(&path));
        let mut python = std::process::Command::new("python3");
        python.arg(at("script.py")).envs(request.env);
        let Ok(output) = python.output() else { return };
        assert_eq!(output.stdout, b"1\n", "{}", String::from_utf8_lossy(&output.stderr));
        let places = Language::Python.executed(room.path()).unwrap();
        let lines: Vec<usize> = places
            .iter()
            .filter(|place| place.file.ends_with("script.py"))
            .map(|place| place.line)
            .collect();
        assert!(lines.contains(&1) && !lines.contains(&5), "{places:?}");
        assert!(!places.iter().any(|place| place.file.ends_with("imported.py")), "{places:?}");
    }
}
