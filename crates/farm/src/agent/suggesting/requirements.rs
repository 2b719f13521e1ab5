//! The test requirements that a Python version declares in its files: extras and dependency groups
//! of pyproject.toml, extras of setup.cfg, requirements files, tox.ini, and what test sessions in
//! noxfile.py install. Only literal values are read; computed ones are unknown.

use super::{is_there, text_of};
use std::path::Path;

/// Names of extras, groups and files with test requirements; the last one may contain much more.
const NAMES: [&str; 4] = ["test", "tests", "testing", DEV];
const DEV: &str = "dev";
/// Maximum depth of groups that include other groups.
const DEEPEST: usize = 8;

/// The requirements, as arguments of `pip install`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    pub words: Vec<String>,
    /// True if the tests may need only some of the requirements.
    pub is_optional: bool,
}

/// Returns the requirements in the files; empty if there are none.
pub(super) fn of(top: &Path) -> Requirements {
    let (project, setup) = (text_of(&top.join("pyproject.toml")), text_of(&top.join("setup.cfg")));
    let found = |name: &str| -> Vec<String> {
        let mut words = Vec::new();
        let has_extra = is_extra(&project, name)
            || keys(&setup, "options.extras_require").any(|(key, _)| key == name);
        if has_extra {
            words.push(format!(".[{name}]"));
        }
        words.extend(group(&project, name, DEEPEST));
        let files = [
            format!("requirements-{name}.txt"),
            format!("requirements_{name}.txt"),
            format!("{name}-requirements.txt"),
            format!("{name}_requirements.txt"),
            format!("requirements/{name}.txt"),
        ];
        words.extend(
            files
                .into_iter()
                .filter(|own| is_there(top, own))
                .flat_map(|own| ["-r".to_owned(), own]),
        );
        words
    };
    let mut required = NAMES[..3].iter().map(|name| found(name)).chain([tox(top), nox(top)]);
    match required.find(|words| !words.is_empty()) {
        Some(words) => Requirements { words, is_optional: false },
        None => Requirements { words: found(DEV), is_optional: true },
    }
}

fn is_extra(project: &str, name: &str) -> bool {
    let of_table = keys(project, "project.optional-dependencies").any(|(key, _)| key == name);
    let dotted = format!("optional-dependencies.{name}");
    of_table || keys(project, "project").any(|(key, _)| key == dotted)
}

/// Returns the requirements of a dependency group (PEP 735), including those of the groups that it
/// includes.
fn group(project: &str, name: &str, deepest: usize) -> Vec<String> {
    let Some((_, value)) = keys(project, "dependency-groups").find(|(key, _)| key == name) else {
        return Vec::new();
    };
    let mut words = Vec::new();
    for (before, text) in literals(&value) {
        if before.contains("include-group") {
            if deepest > 0 {
                words.extend(group(project, text, deepest - 1));
            }
        } else {
            words.push(text.to_owned());
        }
    }
    words
}

/// Returns the quoted strings, each with the text before it.
fn literals(mut rest: &str) -> impl Iterator<Item = (&str, &str)> {
    std::iter::from_fn(move || {
        let at = rest.find(['"', '\''])?;
        let (before, quoted) = rest.split_at(at);
        let (text, after) = quoted[1..].split_once(&quoted[..1])?;
        rest = after;
        Some((before, text))
    })
}

/// Returns the packages that test sessions in noxfile.py install, from calls with only literal
/// strings.
fn nox(top: &Path) -> Vec<String> {
    let text = text_of(&top.join("noxfile.py"));
    let of_tests = text.split("\ndef ").skip(1).filter(|own| {
        let name = own.split('(').next().unwrap_or_default();
        name.contains("test")
    });
    let calls = of_tests.flat_map(|own| own.split(".install(").skip(1));
    let arguments = calls.map(|call| {
        let found: Vec<(&str, &str)> =
            literals(call.split(')').next().unwrap_or_default()).collect();
        let is_plain =
            found.iter().all(|(before, _)| before.trim_matches([',', ' ', '\n']).is_empty());
        found
            .into_iter()
            .filter(|_| is_plain)
            .map(|(_, text)| text.to_owned())
            .collect::<Vec<String>>()
    });
    arguments.collect::<Vec<_>>().concat()
}

/// Returns the dependencies of the test environment in tox.ini, except those that tox would install
/// only for environments of certain names.
fn tox(top: &Path) -> Vec<String> {
    let text = text_of(&top.join("tox.ini"));
    let of = |wanted: &str| keys(&text, "testenv").find(|(key, _)| key == wanted);
    let lines =
        |value: String| value.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let mut words = Vec::new();
    for extra in of("extras").map(|(_, value)| lines(value)).unwrap_or_default() {
        words.extend(
            extra
                .split(',')
                .map(str::trim)
                .filter(|own| !own.is_empty())
                .map(|own| format!(".[{own}]")),
        );
    }
    for line in of("deps").map(|(_, value)| lines(value)).unwrap_or_default() {
        let line = line.replace("{toxinidir}/", "").replace("{tox_root}/", "");
        match line.strip_prefix("-r") {
            Some(file) if is_there(top, file.trim()) => {
                words.extend(["-r".to_owned(), file.trim().to_owned()]);
            }
            None if is_plain(&line) => words.push(line),
            _ => {}
        }
    }
    words
}

/// Returns true if the line is a plain requirement: not an option, a factor (`py38: x`), or a
/// setting that tox would substitute.
fn is_plain(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_alphanumeric()) && !line.contains([':', '{', '#'])
}

/// Returns the keys of a TOML or INI section with their values. A value continues on the next lines
/// while a bracket is open or they are indented.
fn keys<'a>(text: &'a str, section: &'a str) -> impl Iterator<Item = (String, String)> + 'a {
    let head = format!("[{section}]");
    let mut lines = text.lines().skip_while(move |line| line.trim() != head).skip(1);
    let mut next: Option<&str> = lines.next();
    std::iter::from_fn(move || {
        loop {
            let line = next.filter(|line| !line.starts_with('['))?;
            next = lines.next();
            let Some((key, value)) = line.split_once('=') else { continue };
            if line.starts_with([' ', '\t', '#', ';']) {
                continue;
            }
            let key = key.trim().trim_matches(['"', '\'']).to_owned();
            let mut value = value.to_owned();
            let is_open = |value: &str| value.matches('[').count() > value.matches(']').count();
            while let Some(more) =
                next.filter(|own| is_open(&value) || own.starts_with([' ', '\t']))
            {
                value.push('\n');
                // Lines that start with `#` are comments.
                value.push_str(if more.trim_start().starts_with('#') { "" } else { more });
                next = lines.next();
            }
            return Some((key, value));
        }
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::fs;

    fn found(files: &[(&str, &str)]) -> Requirements {
        let room = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = room.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        of(room.path())
    }

    fn words(files: &[(&str, &str)]) -> Vec<String> {
        found(files).words
    }

    #[test]
    fn what_tests_need_is_found_wherever_it_is_declared() {
        let project = "[project]\nname = \"p\"\n[project.optional-dependencies]\ndocs = [\"sphinx\"]\ntests = [\n  \"pytest\",\n]\n";
        assert_eq!(words(&[("pyproject.toml", project)]), [".[tests]"]);
        assert_eq!(
            words(&[("pyproject.toml", "[project]\noptional-dependencies.test = [\"x\"]\n")]),
            [".[test]"]
        );
        let groups = "[dependency-groups]\nbase = ['freezegun']\ntest = [\n  \"pytest>=7; python_version > '3'\", # a remark\n  {include-group = \"base\"},\n]\n[tool.x]\ntest = [\"no\"]\n";
        assert_eq!(
            words(&[("pyproject.toml", groups)]),
            ["pytest>=7; python_version > '3'", "freezegun"]
        );
        assert_eq!(
            words(&[("requirements/test.txt", "x"), ("requirements-dev.txt", "y")]),
            ["-r", "requirements/test.txt"]
        );
        let setup = "[options.extras_require]\ntest =\n    pytest\n    mock\n";
        assert_eq!(words(&[("setup.cfg", setup)]), [".[test]"]);
        let tox = "[tox]\nenvlist = py\n[testenv]\ndeps =\n    -r{toxinidir}/req.txt\n    freezegun\n    py38: old\n    {posargs}\ncommands = pytest\n";
        assert_eq!(words(&[("tox.ini", tox), ("req.txt", "")]), ["-r", "req.txt", "freezegun"]);
        let nox = "import nox\n\n@nox.session\ndef lint(session):\n    session.install(\"black\")\n\n@nox.session(python=[\"3.12\"])\ndef tests(session):\n    session.install('.[x]', \"mock\")\n    session.install(\n        \"-r\", 'req.txt',\n    )\n    session.install(*DEPS, \"no\")\n    session.run(\"pytest\")\n";
        assert_eq!(words(&[("noxfile.py", nox)]), [".[x]", "mock", "-r", "req.txt"]);
        assert_eq!(words(&[("README", "")]), [""; 0]);
    }

    #[test]
    fn what_is_for_developers_is_optional() {
        let found = found(&[("requirements-dev.txt", "black")]);
        assert_eq!(
            (found.words, found.is_optional),
            (vec!["-r".to_owned(), "requirements-dev.txt".to_owned()], true)
        );
        // A group that includes itself ends.
        let round = "[dependency-groups]\ntest = [{include-group = \"test\"}, \"a\"]\n";
        assert!(words(&[("pyproject.toml", round)]).iter().all(|word| word == "a"));
    }
}
