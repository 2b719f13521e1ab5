//! Compares fates with the results of applying each change by hand, in situations in which scores
//! used to be wrong: guard clauses, programs that exit with status 0 in the middle of a test, code
//! of other platforms, and installed Python projects.

use crate::project::{Project, is_there, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A mutant with its fate, and whether the plain command notices it.
struct ByHand {
    what: String,
    fate: String,
    is_noticed: bool,
}

/// Applies each mutant of a result to its file by hand and runs the plain command on it.
fn by_hand(project: &Project, result: &Value, command: &[&str]) -> Vec<ByHand> {
    let of = |own: &Value| own.as_str().unwrap_or_default().to_owned();
    let number = |own: &Value| usize::try_from(own.as_u64().unwrap()).unwrap();
    let all = result["mutants"].as_array().unwrap().iter().map(|own| {
        let unit = &result["units"][number(&own["unit"])];
        let path = project.top().join(of(&result["files"][number(&unit["file"])]["path"]));
        let before = fs::read_to_string(&path).unwrap();
        let at = |place: &Value| {
            let lines = before.split_inclusive('\n').take(number(&place["line"]) - 1);
            lines.map(str::len).sum::<usize>() + number(&place["column"]) - 1
        };
        let (from, to) = (at(&own["begin"]), at(&own["end"]));
        let changed = [&before[..from], &of(&own["replacement"]), &before[to..]].concat();
        fs::write(&path, &changed).unwrap();
        let mut run = Command::new(command[0]);
        run.args(&command[1..]).current_dir(project.top()).env("PYTHONDONTWRITEBYTECODE", "1");
        let status = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        fs::write(&path, &before).unwrap();
        let what = format!("{}: `{}`", &before[from..to], of(&own["replacement"]));
        ByHand { what, fate: of(&own["fate"]), is_noticed: !status.unwrap().success() }
    });
    all.collect()
}

/// Returns the fates of a unit's mutants.
fn fates_of(result: &Value, unit: &str) -> Vec<String> {
    crate::project::fates(result).remove(unit).unwrap_or_default()
}

/// Returns true if a fate counts as noticed.
fn is_noticed(fate: &str) -> bool {
    matches!(fate, "killed" | "timed_out")
}

#[test]
fn what_counts_as_missed_is_missed_by_hand() {
    let source = "\
def half(n):
    if n % 2 == 1: raise ValueError('odd')
    return n // 2


def half_of(n):
    if n % 2 == 1:
        raise ValueError('odd')
    return n // 2


def name():
    return 'a' + 'b'


def tell(seen):
    seen.append(1 + 1)
";
    let tests = "\
import unittest

import own


class OwnTest(unittest.TestCase):
    def test_all(self):
        self.assertEqual(own.half(4), 2)
        self.assertEqual(own.half_of(4), 2)
        own.name()
        own.tell([])
";
    let command = ["python3", "-m", "unittest"];
    let project = Project::new(&[("own.py", source), ("test_own.py", tests)]);
    let (result, _) = project.tried(&[]);
    let all = by_hand(&project, &result, &command);
    assert!(all.iter().any(|own| own.fate == "implied"), "the theorems are used");
    for own in &all {
        if own.fate != "equivalent" {
            assert_eq!(is_noticed(&own.fate), own.is_noticed, "{}: {}", own.what, own.fate);
        }
    }
    let sorted = |unit: &str| {
        let mut fates = fates_of(&result, unit);
        fates.sort();
        fates
    };
    assert_eq!(sorted("half"), sorted("half_of"), "one line or two are the same code");
}

#[test]
fn an_end_with_status_0_in_a_test_is_noticed() {
    let python =
        "import os\n\n\ndef stop(code):\n    if code == 9:\n        os._exit(0)\n    return code\n";
    let of_python = "import unittest\n\nimport own\n\n\nclass OwnTest(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(own.stop(1), 1)\n\n    def test_b(self):\n        self.assertEqual(own.stop(2), 2)\n";
    let ruby =
        "module Own\n  def self.stop(code)\n    exit!(0) if code == 9\n    code\n  end\nend\n";
    let of_ruby = "require \"minitest/autorun\"\nrequire_relative \"own\"\nclass OwnTest < Minitest::Test\n  def test_a; assert_equal 1, Own.stop(1); end\n  def test_b; assert_equal 2, Own.stop(2); end\nend\n";
    let node = "exports.stop = function stop(code) {\n  if (code === 9) {\n    process.exit(0);\n  }\n  return code;\n};\n";
    let of_node = "const test = require('node:test');\nconst assert = require('node:assert');\nconst { stop } = require('./own.js');\ntest('a', () => { assert.strictEqual(stop(1), 1); });\ntest('b', () => { assert.strictEqual(stop(2), 2); });\n";
    let c = "#include <stdlib.h>\nint stop(int code)\n{\n    if (code == 9)\n        exit(0);\n    return code;\n}\n";
    let of_c = "#include <stdio.h>\nint stop(int);\nint main(void)\n{\n    puts(\"begin\");\n    fflush(stdout);\n    if (stop(1) != 1 || stop(2) != 2)\n        return 1;\n    puts(\"ok\");\n    return 0;\n}\n";
    let make = "test: t\n\t./t\nt: own.c t.c\n\t$(CC) -o t own.c t.c\n";
    for (program, files, command) in [
        (
            "python3",
            vec![("own.py", python), ("test_own.py", of_python)],
            vec!["python3", "-m", "unittest"],
        ),
        ("ruby", vec![("own.rb", ruby), ("own_test.rb", of_ruby)], vec!["ruby", "own_test.rb"]),
        ("node", vec![("own.js", node), ("own.test.js", of_node)], vec!["node", "--test"]),
        (
            "make",
            vec![("own.c", c), ("t.c", of_c), ("Makefile", make)],
            vec!["make", "test", "own.c"],
        ),
    ] {
        if !is_there(program, "--version") {
            continue;
        }
        let project = Project::new(&files);
        let command = &command[..if program == "make" { 2 } else { command.len() }];
        let words: &[&str] = if program == "make" { &["own.c"] } else { &[] };
        let (result, _) = project.tried_by(words, command);
        let mutants = result["mutants"].as_array().unwrap().iter();
        let ends = mutants.filter(|own| {
            // The condition always holds or is negated: every test ends the process.
            let new = own["replacement"].as_str().unwrap().to_lowercase();
            own["operator"] == "negation"
                || (own["operator"] == "condition" && ["true", "(true)", "(1)"].contains(&&*new))
        });
        let ends: Vec<&Value> = ends.collect();
        assert!(ends.len() >= 2, "{program}: {result}");
        for own in ends {
            assert_eq!(own["fate"], "killed", "{program}: {own}");
        }
    }
}

#[test]
fn a_test_program_of_rust_that_ends_with_status_0_is_noticed_and_cfg_is_left_out() {
    if !is_there("cargo", "--version") {
        return;
    }
    let project = Project::new(&[(
        "Cargo.toml",
        "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nextra = []\n",
    )]);
    fs::create_dir(project.top().join("src")).unwrap();
    project.write(
        "src/lib.rs",
        "\
pub fn stop(code: i32) -> i32 {
    if code == 9 {
        std::process::exit(0)
    }
    code
}

#[cfg(windows)]
pub fn home(x: i32) -> i32 {
    x + 1
}

#[cfg(feature = \"extra\")]
pub fn extra(x: i32) -> i32 {
    x + 1
}

#[cfg(test)]
mod tests {
    #[test]
    fn stops() {
        assert_eq!(super::stop(1), 1);
        assert_eq!(super::stop(2), 2);
    }
}
",
    );
    let (result, _) = project.tried_by(&[], &["cargo", "test"]);
    for own in result["mutants"].as_array().unwrap() {
        if own["operator"] == "negation" || own["replacement"] == "true" {
            assert_eq!(own["fate"], "killed", "{own}");
        }
    }
    for unit in ["home", "extra"] {
        let fates = fates_of(&result, unit);
        assert!(!fates.is_empty() && fates.iter().all(|own| own == "absent"), "{unit} {fates:?}");
    }
    let built = result["mutants"].as_array().unwrap().iter().filter(|own| {
        !["absent", "equivalent", "unviable"].contains(&own["fate"].as_str().unwrap())
    });
    assert_eq!(result["score"]["counted"].as_u64().unwrap(), built.count() as u64);
}

#[test]
fn code_of_other_platforms_and_marked_code_does_not_count() {
    let source = "\
import sys


def most(a, b):
    if a > b:
        return a
    return b


if sys.platform == \"win32\":
    def home(x):
        return x + 1


def unused(x):  # pragma: no cover
    return x + 1
";
    let tests = "import unittest\n\nimport own\n\n\nclass OwnTest(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual([own.most(1, 2), own.most(3, 2)], [2, 3])\n";
    let project = Project::new(&[("own.py", source), ("test_own.py", tests)]);
    let (result, _) = project.tried(&[]);
    assert!(fates_of(&result, "home").iter().all(|own| own == "absent"), "{result}");
    assert!(fates_of(&result, "unused").iter().all(|own| own == "kept"), "{result}");
    let screen = text(&project.run(&["--", "python3", "-m", "unittest"]).stdout);
    assert!(screen.contains("code that is not built here"), "{screen}");
    assert!(screen.contains("accepted by"), "{screen}");
    assert!(!screen.contains("call `home`") && !screen.contains("call `unused`"), "{screen}");
}

/// Creates a Python project with its sources below `src` and a virtual environment in its directory
/// that has something installed.
fn installed(install: impl Fn(&Path, &Path)) -> Option<Project> {
    let tests = "import unittest\n\nimport pk\n\n\nclass PkTest(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(pk.add(2, 3), 5)\n";
    let project = Project::new(&[("test_pk.py", tests)]);
    fs::create_dir_all(project.top().join("src/pk")).unwrap();
    project.write("src/pk/__init__.py", "def add(a, b):\n    return a + b\n");
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip", "env"])
        .current_dir(project.top())
        .output();
    let library = fs::read_dir(project.top().join("env/lib")).ok().and_then(|mut own| own.next());
    let packages = library.and_then(Result::ok).map(|own| own.path().join("site-packages"));
    match packages.filter(|_| made.is_ok_and(|made| made.status.success())) {
        Some(packages) => install(&project.top(), &packages),
        None => {
            println!("skipped: python3 makes no environment");
            return None;
        }
    }
    Some(project)
}

#[test]
fn the_copy_comes_before_what_is_installed() {
    let copied = |top: &Path, packages: &Path| {
        fs::create_dir_all(packages.join("pk")).unwrap();
        fs::copy(top.join("src/pk/__init__.py"), packages.join("pk/__init__.py")).unwrap();
    };
    let by_path = |top: &Path, packages: &Path| {
        let line = format!("{}\n", top.join("src").display());
        fs::write(packages.join("__editable__.pk-0.1.pth"), line).unwrap();
    };
    let by_finder = |top: &Path, packages: &Path| {
        let finder = format!(
            "import sys\nfrom importlib.util import spec_from_file_location\nMAPPING = {{'pk': {:?}}}\nclass Finder:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n            return spec_from_file_location(name, MAPPING[name] + '/__init__.py')\nsys.meta_path.insert(0, Finder)\n",
            top.join("src/pk").display().to_string()
        );
        fs::write(packages.join("__editable___pk_finder.py"), finder).unwrap();
        fs::write(packages.join("__editable__.pk-0.1.pth"), "import __editable___pk_finder\n")
            .unwrap();
    };
    // As `editable_mode=strict` does.
    let by_links = |top: &Path, packages: &Path| {
        let links = top.join("build/__editable__.pk-0.1-py3-none-any");
        fs::create_dir_all(links.join("pk")).unwrap();
        let source = top.join("src/pk/__init__.py");
        std::os::unix::fs::symlink(source, links.join("pk/__init__.py")).unwrap();
        let line = format!("{}\n", links.display());
        fs::write(packages.join("__editable__.pk-0.1.pth"), line).unwrap();
    };
    #[expect(clippy::type_complexity, reason = "a list of four closures")]
    let ways: [&dyn Fn(&Path, &Path); 4] = [&copied, &by_path, &by_finder, &by_links];
    for (number, install) in ways.into_iter().enumerate() {
        let Some(project) = installed(install) else { return };
        let (result, _) = project.tried_by(&[], &["env/bin/python", "-m", "unittest"]);
        let fates = fates_of(&result, "add");
        assert!(fates.len() > 1 && fates.iter().all(|own| own == "killed"), "{number}: {fates:?}");
    }
    // Tests that remove the hook that puts the copy first end with an error.
    let Some(project) = installed(copied) else { return };
    project.write("test_pk.py", &fs::read_to_string(project.top().join("test_pk.py")).unwrap().replace("import pk", "import sys\nsys.path[:] = [own for own in sys.path if 'src' not in own]\nsys.meta_path[:] = [own for own in sys.meta_path if own.__name__ != 'CopyFirst']\nimport pk"));
    let output = project.run(&["--", "env/bin/python", "-m", "unittest"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(text(&output.stderr).contains("another copy"), "{output:?}");
}

#[test]
fn no_filter_of_the_repository_runs_for_since() {
    if !is_there("git", "--version") {
        return;
    }
    let project = Project::new(&[
        ("own.py", "def f(a):\n    return a + 1\n"),
        (".gitattributes", "* filter=own.one diff=own\n"),
    ]);
    let witness = project.0.path().join("ran");
    let program = project.0.path().join("program");
    fs::write(&program, format!("#!/bin/sh\necho ran >> '{}'\ncat\n", witness.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let ran = Command::new("git").args(who).args(words).current_dir(project.top()).output();
        assert!(ran.unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q", "."]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    let program = program.to_str().unwrap();
    for name in [
        "filter.own.one.clean",
        "filter.own.one.process",
        "diff.own.textconv",
        "diff.own.command",
        "diff.external",
        "core.fsmonitor",
    ] {
        git(&["config", name, program]);
    }
    let _of_config = fs::remove_file(&witness);
    project.write("own.py", "def f(a):\n    return a + 2\n");
    let output = project.run(&["--list", "--since", "HEAD"]);
    assert!(output.status.success() && text(&output.stdout).contains("own.py"), "{output:?}");
    assert!(!witness.exists(), "the repository's own program ran");
}
