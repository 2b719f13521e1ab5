//! Runs the real binary on the projects of examples/mutation-pairs and checks that it finds in each
//! what the project was made to show; and on survivors that are no fault of the tests. Ruby and
//! JavaScript, which are not installed everywhere, are covered by the example's own script.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and says what it skips")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A copy of a project with its own cache.
struct Project(TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let own = Self(tempfile::tempdir().unwrap());
        fs::create_dir(own.top()).unwrap();
        files.iter().for_each(|(path, text)| fs::write(own.top().join(path), text).unwrap());
        own
    }

    fn of(directory: &Path) -> Self {
        let own = Self::new(&[]);
        for entry in fs::read_dir(directory).unwrap().flatten().filter(|own| own.path().is_file()) {
            fs::copy(entry.path(), own.top().join(entry.file_name())).unwrap();
        }
        own
    }

    fn top(&self) -> PathBuf {
        self.0.path().join("project")
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay-mutate"));
        command.arg("--no-sandbox").args(words).current_dir(self.top());
        command.env("XDG_CACHE_HOME", self.0.path().join("cache"));
        command.env("NO_COLOR", "1").env("COLUMNS", "120").env("TMPDIR", self.0.path());
        command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
        command.output().unwrap()
    }

    fn tried(&self, words: &[&str]) -> Value {
        let output = self.run(&[&["--json"], words].concat());
        let parsed = serde_json::from_slice(&output.stdout);
        parsed.unwrap_or_else(|_| panic!("{output:?}"))
    }
}

const UNITTEST: [&str; 4] = ["--", "python3", "-m", "unittest"];

fn pairs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mutation-pairs/python")
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().filter_map(Value::as_u64).collect()
}

#[test]
fn each_of_one_purpose_written_four_ways_is_called_what_it_is() {
    for (kind, quadrant) in [
        ("well-tested", "well_tested"),
        ("tangled", "tangled"),
        ("brittle", "brittle"),
        ("untested", "untested"),
    ] {
        let project = Project::of(&pairs().join(kind));
        let result = project.tried(&[&["--coupling"], &UNITTEST[..]].concat());
        let whole = &result["coupling"];
        assert_eq!(whole["quadrant"], quadrant, "{kind}: {whole:#}");
        for file in result["files"].as_array().unwrap() {
            assert_eq!(file["coupling"]["quadrant"], quadrant, "{kind}: {file:#}");
        }
        let rewrites = result["rewrites"].as_array().unwrap();
        let failing = rewrites.iter().filter(|own| own["fate"] == "killed").count();
        assert_eq!(failing > 0, kind == "brittle", "{kind}: {rewrites:#?}");
        assert!(rewrites.iter().all(|own| own["fate"] != "pending"), "{kind}");
    }
}

#[test]
fn of_some_changes_all_tests_run_and_a_later_run_knows_them() {
    let project = Project::of(&pairs().join("tangled"));
    let words = [&["--coupling=2", "order.py"], &UNITTEST[..]].concat();
    let result = project.tried(&words);
    let mutants = result["mutants"].as_array().unwrap();
    let complete: Vec<&Value> = mutants.iter().filter(|own| own["is_complete"] == true).collect();
    assert_eq!(complete.len(), 2, "{complete:#?}");
    let failing = |own: &&&Value| numbers(&own["killed_by"]).len();
    assert!(complete.iter().map(|own| failing(&own)).max().unwrap() > 2, "{complete:#?}");
    let others = mutants.iter().filter(|own| own["is_complete"] == false);
    assert!(others.into_iter().all(|own| numbers(&own["killed_by"]).len() <= 1));
    let again = project.tried(&words);
    assert_eq!(again["mutants"], result["mutants"]);
    assert_eq!(again["rewrites"], result["rewrites"]);
    // The same tests fail in separate processes.
    let path = project.top().join("test_order.py");
    let thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(.5,), daemon=True).start()\n";
    fs::write(&path, format!("{thread}{}", fs::read_to_string(&path).unwrap())).unwrap();
    let plain = project.tried(&words);
    assert!(plain["notes"][0].as_str().unwrap().contains("threads"), "{}", plain["notes"]);
    let matrix = |result: &Value| -> Vec<(Value, Value)> {
        let all = result["mutants"].as_array().unwrap().iter();
        let all = all.filter(|own| own["is_complete"] == true);
        all.map(|own| (own["id"].clone(), own["killed_by"].clone())).collect()
    };
    assert_eq!(matrix(&plain), matrix(&result));
}

#[test]
fn the_screen_says_what_needs_attention_and_the_picture_is_written() {
    let project = Project::of(&pairs().join("tangled"));
    let plot = project.0.path().join("quadrant.svg");
    let words = ["--coupling", "--export", plot.to_str().unwrap()];
    let output = project.run(&[&words[..], &UNITTEST[..]].concat());
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for part in [
        "Well tested or tangled: of 3 functions 3 tangled",
        "order.py is probably tangled: 3.0 test files fail for each change of it",
        "Test it by itself",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    let picture = fs::read_to_string(&plot).unwrap();
    assert!(picture.contains("<svg") && picture.contains("checkout"), "{picture}");
    let refused = project.run(&[&["--export", "a.svg"], &UNITTEST[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn survivors_that_their_compiler_makes_the_same_of_do_not_count() {
    let code = "\
def least(a, b):
    if a > b:
        a = b
    return a


def half(x):
    if True:
        return x // 2
    return 17
";
    let tests = "\
import unittest

import numbers_of


class NumbersTest(unittest.TestCase):
    def test_least(self):
        self.assertEqual(numbers_of.least(2, 1), 1)
        self.assertEqual(numbers_of.least(1, 2), 1)

    def test_half(self):
        self.assertEqual(numbers_of.half(5), 2)
";
    let project = Project::new(&[("numbers_of.py", code), ("test_numbers_of.py", tests)]);
    let result = project.tried(&UNITTEST);
    let of = |fate: &str| -> Vec<&Value> {
        let all = result["mutants"].as_array().unwrap().iter();
        all.filter(|own| own["fate"] == fate).collect()
    };
    // Code after the return is never compiled.
    assert_eq!(of("equivalent").len(), 2, "{:#?}", of("equivalent"));
    let survivors = of("survived");
    assert_eq!(survivors.len(), 1, "{survivors:#?}");
    assert_eq!(survivors[0]["operator"], "boundary");
    assert!(survivors[0]["doubt"].as_str().unwrap().contains("both sides are equal"));
    let counted = result["score"]["counted"].as_u64().unwrap();
    assert_eq!(counted + 2, result["mutants"].as_array().unwrap().len() as u64);
    let screen = project.run(&UNITTEST);
    let screen = String::from_utf8_lossy(&screen.stdout).into_owned();
    assert!(screen.contains("2 survive because they compile to the same program"), "{screen}");
    assert!(screen.contains("1 of 1 survivor may be equivalent"), "{screen}");
}

#[test]
fn object_code_tells_what_is_the_same_in_c() {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !is_there("cc") || !is_there("make") {
        println!("skipped: no cc or no make");
        return;
    }
    let code = "\
int half(int x) {
    int unused = 3;
    unused = x / 2;
    return unused;
}
";
    let tests = "\
#include <stdio.h>
int half(int x);
int main(void) {
    printf(\"1..2\\nok 1 - begins\\n\");
    fflush(stdout);
    printf(\"%s 2 - half\\n\", half(8) == 4 ? \"ok\" : \"not ok\");
    return half(8) != 4;
}
";
    let make = "test: test_half\n\t./test_half\n\ntest_half: half.c test_half.c\n\tcc -o $@ half.c test_half.c\n";
    let project = Project::new(&[("half.c", code), ("test_half.c", tests), ("Makefile", make)]);
    let result = project.tried(&["--framework", "tap", "--", "make", "-s", "test"]);
    let all = result["mutants"].as_array().unwrap();
    let number = all.iter().find(|own| own["replacement"] == "4").unwrap();
    assert_eq!(number["fate"], "equivalent", "{all:#?}");
}
