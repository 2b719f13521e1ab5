//! Runs the real binary on small Python projects, as unittest is available everywhere: one function
//! that is tested well, one that is run without checking its result, and one that no test uses.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and says what it skips")]

use crate::project;

use project::{Project, SANDBOX, fates, is_there, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STACK: &str = "\
def largest(numbers):
    best = numbers[0]
    for number in numbers:
        if number > best:
            best = number
    return best


def shout(text):
    return text.upper() + \"!\"


def unused(x):
    return x + 1
";

const TESTS: &str = "\
import unittest

import stack


class StackTest(unittest.TestCase):
    def test_largest(self):
        self.assertEqual(stack.largest([2, 3, 1]), 3)
        self.assertEqual(stack.largest([-1, -2]), -1)

    def test_shout(self):
        stack.shout(\"a\")
";

impl Project {
    fn stack() -> Self {
        Self::new(&[("stack.py", STACK), ("test_stack.py", TESTS)])
    }
}

/// Returns true if a process has its working directory below `directory`.
fn works_in(directory: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut places = processes.filter_map(|own| fs::read_link(own.path().join("cwd")).ok());
    places.any(|place| place.starts_with(directory))
}

#[test]
fn what_is_tested_what_is_only_run_and_what_nobody_runs_are_told_apart() {
    let project = Project::stack();
    let before = project.files();
    let (result, status) = project.tried(&["--fail-if", "survived"]);
    assert_eq!(status, Some(1));
    let fates = fates(&result);
    assert!(fates["largest"].iter().filter(|own| *own == "killed").count() >= 5, "{fates:?}");
    // Its test ignores the returned value; it notices only that strings cannot be subtracted.
    let noticed = |own: &&String| *own == "killed";
    assert_eq!(fates["shout"].iter().filter(noticed).count(), 1, "{fates:?}");
    assert!(fates["shout"].iter().any(|own| own == "implied"), "{fates:?}");
    assert!(fates["unused"].iter().all(|own| own == "uncovered"), "{fates:?}");
    assert_eq!(result["notes"], serde_json::json!([]), "in forks");
    assert_eq!(result["tests"].as_array().unwrap().len(), 2);
    let body =
        result["mutants"].as_array().unwrap().iter().find(|own| own["operator"] == "body").unwrap();
    assert_eq!(body["killed_by"].as_array().unwrap().len(), 1, "{body}");
    assert_eq!(project.files(), before, "nothing is changed in the project");
    assert_eq!(fs::read_dir(project.temporary()).unwrap().count(), 0, "nothing is left");
    // All results are known by now; another test invalidates them.
    let (again, _) = project.tried(&[]);
    assert_eq!(again["mutants"], result["mutants"]);
    assert!(again["known_before"].as_u64().unwrap() > 5);
    project.write(
        "test_stack.py",
        &TESTS.replace("stack.shout(\"a\")", "self.assertEqual(stack.shout(\"a\"), \"A!\")"),
    );
    let (better, _) = project.tried(&[]);
    assert_eq!(better["known_before"], 0);
    let share = |result: &Value| result["score"]["share"].as_f64().unwrap();
    assert!(share(&better) > share(&result));
}

#[test]
fn an_endless_loop_is_known_by_the_processors_time_and_a_test_that_must_load_is_not_one() {
    let source = "\
import functools
import time


@functools.lru_cache(None)
def table():
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
    return [1, 2, 4]


def power(n):
    return table()[n]


def down(n):
    while n > 0:
        n -= 1
    return n
";
    // If all tests run, the second one uses what the first one has created; alone it takes much
    // longer.
    let tests = "\
import unittest

import table


class TableTest(unittest.TestCase):
    def test_a(self):
        self.assertEqual(len(table.table()), 3)

    def test_b(self):
        self.assertEqual(table.power(2), 4)

    def test_down(self):
        self.assertEqual(table.down(3), 0)
";
    let project = Project::new(&[("table.py", source), ("test_table.py", tests)]);
    let (result, _) = project.tried(&[]);
    assert_eq!(result["notes"], serde_json::json!([]), "in forks");
    let fates = fates(&result);
    assert!(fates["power"].iter().all(|own| own == "killed"), "{fates:?}");
    assert!(fates["down"].iter().any(|own| own == "timed_out"), "{fates:?}");
}

#[test]
fn processes_of_their_own_find_the_same_as_forks() {
    let project = Project::stack();
    // Code that runs while the tests are loaded is tried in a fork that loads them.
    project.write(
        "stack.py",
        &format!("{STACK}\n\ndef doubled(x):\n    return x * 2\n\n\nTWO = int(doubled(1))\n"),
    );
    let tests = TESTS.replace("    def test_shout", "    def test_doubled(self):\n        self.assertEqual([stack.TWO, stack.doubled(4)], [2, 8])\n\n    def test_shout");
    project.write("test_stack.py", &tests);
    let (forked, _) = project.tried(&[]);
    assert_eq!(forked["notes"], serde_json::json!([]));
    let doubled = fates(&forked)["doubled"].clone();
    assert!(doubled.len() > 2 && doubled.iter().all(|own| own == "killed"), "{doubled:?}");
    assert!(forked["mutants"].to_string().contains("ended since the tests can't be loaded"));
    // A thread that is alive while the tests are loaded prevents forking.
    let thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(.5,), daemon=True).start()\n";
    project.write("test_stack.py", &format!("{thread}{tests}"));
    let (plain, _) = project.tried(&[]);
    assert!(plain["notes"][0].as_str().unwrap().contains("threads"), "{}", plain["notes"]);
    assert_eq!(fates(&plain), fates(&forked));
}

#[test]
fn tests_that_are_red_without_a_change_end_it() {
    let project = Project::stack();
    project.write("test_stack.py", &TESTS.replace("[2, 3, 1]), 3", "[2, 3, 1]), 4"));
    let output = project.run(&["--", "python3", "-m", "unittest"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("without any change, 1 test fails in each of 3 runs"), "{said}");
    assert!(said.contains("test_stack.StackTest: test_largest; the first says: "), "{said}");
    assert!(said.contains("3 != 4"), "{said}");
}

#[test]
fn what_the_tests_do_not_load_from_here_is_noticed_before_anything_is_believed() {
    let project = Project::stack();
    let elsewhere = project.0.path().join("installed");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("stack.py"), STACK).unwrap();
    let path = format!("import sys\nsys.path.insert(0, {:?})\n", elsewhere.to_str().unwrap());
    // The coverage is correct: the tests also call a function of that file.
    let own = "import importlib.util\nspec = importlib.util.spec_from_file_location('own', 'stack.py')\n\
        own = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(own)\n";
    let tests = TESTS.replace("    def test_shout", "    def test_own(self):\n        try:\n            own.largest([1])\n        except RuntimeError:\n            pass\n\n    def test_shout");
    project.write("test_stack.py", &format!("{path}{own}{tests}"));
    let output = project.run(&["--", "python3", "-m", "unittest"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}{}", text(&output.stdout));
    assert!(
        said.contains("no test noticed: either no test ran, or they run another copy of the code"),
        "{said}"
    );
}

#[test]
fn words_in_the_wrong_place_are_answered_with_the_right_line() {
    let project = Project::stack();
    let lines: [(&[&str], &str); 4] = [
        (&["python3"], "assay mutate -- python3"),
        (&["--coupling", "5", "--", "python3", "-m", "unittest"], "--coupling=5"),
        (&["nothing.py", "--", "python3"], "is not a file or directory to change"),
        (&["--", "nonexistprog"], "cannot find the program `nonexistprog`"),
    ];
    for (line, right) in lines {
        let output = project.run(line);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(right), "{line:?}: {said}");
    }
}

#[test]
fn a_change_that_never_ends_or_deletes_files_is_survived() {
    let code = "\
import os


def down(n):
    while n > 0:
        n -= 1
    return n


def clean(path, really=False):
    if really:
        os.remove(path)
    return path
";
    let tests = "\
import unittest

import loops


class LoopsTest(unittest.TestCase):
    def test_down(self):
        self.assertEqual(loops.down(3), 0)

    def test_clean(self):
        self.assertEqual(loops.clean('loops.py'), 'loops.py')
";
    let project = Project::new(&[("loops.py", code), ("test_loops.py", tests)]);
    let before = project.files();
    let (result, status) = project.tried(&["--jobs", "2"]);
    assert_eq!(status, Some(0));
    let fates = fates(&result);
    assert!(fates["down"].contains(&"timed_out".to_owned()), "{fates:?}");
    assert!(!fates["clean"].contains(&"pending".to_owned()), "{fates:?}");
    assert_eq!(project.files(), before);
}

#[test]
fn whoever_is_killed_loses_what_was_in_flight_and_leaves_nothing_changed() {
    let project = Project::stack();
    let before = project.files();
    let journal = project.0.path().join("cache/assay/mutate");
    let lines = |path: &Path| -> usize {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|own| text(&fs::read(own.path()).unwrap()).lines().count()).sum()
    };
    // Interrupts before the first result, after some, and near the end. Everything that was running
    // ends as well.
    for least in [0, 1, 4, 8] {
        let words = ["--jobs", "1", "--json", "--", "python3", "-m", "unittest"];
        let mut child =
            project.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while lines(&journal) < least && child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "no result in a minute");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        while works_in(&project.temporary()) {
            assert!(began.elapsed() < Duration::from_secs(120), "a process is left");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(project.files(), before, "{least}");
    }
    let known = lines(&journal);
    let (result, _) = project.tried(&[]);
    assert!(result["known_before"].as_u64().unwrap() >= 8.min(known as u64), "{result}");
    let fresh = Project::stack();
    assert_eq!(fates(&result), fates(&fresh.tried(&[]).0));
}

#[test]
fn whoever_is_interrupted_shows_what_is_known() {
    let project = Project::stack();
    let slow = TESTS.replace(
        "def test_largest(self):",
        "def test_largest(self):\n        import time\n        time.sleep(.2)",
    );
    project.write("test_stack.py", &slow);
    let journal = project.0.path().join("cache/assay/mutate");
    let words = ["--jobs", "1", "--json", "--", "python3", "-m", "unittest"];
    let mut command = project.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let is_known = || {
        fs::read_dir(&journal)
            .into_iter()
            .flatten()
            .flatten()
            .any(|own| own.metadata().is_ok_and(|data| data.len() > 0))
    };
    while !is_known() {
        assert!(began.elapsed() < Duration::from_secs(60), "no result in a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["notes"].to_string().contains("interrupted"), "{result}");
    assert!(result["score"]["known"].as_u64().unwrap() > 0);
    assert_eq!(fs::read_dir(project.temporary()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn tests_that_run_when_it_is_interrupted_end_too() {
    // They would go on for much longer than this test waits.
    let python = |began: &str| {
        format!(
            "import time, unittest\n\n\nclass T(unittest.TestCase):\n    def test_long(self):\n        open({began:?}, 'w').close()\n        time.sleep(600)\n"
        )
    };
    let make = |began: &str| format!("test:\n\ttouch {began}\n\tsleep 600\n");
    let node = |began: &str| {
        format!(
            "require('node:test')('long', async () => {{\n  require('fs').writeFileSync({began:?}, '');\n  await new Promise((ends) => setTimeout(ends, 600000));\n}});\n"
        )
    };
    // Name and text of the test file, the source, and the command.
    type Suite<'a> = (&'a str, &'a dyn Fn(&str) -> String, (&'a str, &'a str), &'a [&'a str]);
    let all: [Suite<'_>; 3] = [
        ("test_long.py", &python, ("stack.py", STACK), &["python3", "-m", "unittest"]),
        ("Makefile", &make, ("own.c", "int one(void) { return 1; }\n"), &["make", "test"]),
        ("long.test.js", &node, ("own.js", "exports.one = () => 1;\n"), &["node", "--test"]),
    ];
    for (name, text_of, source, command) in all {
        if !is_there(command[0], "--version") {
            continue;
        }
        let project = Project::new(&[source]);
        let marker = project.0.path().join("began");
        project.write(name, &text_of(marker.to_str().unwrap()));
        let words = [&["--jobs", "1", "--"], command].concat();
        let mut own = project.command(&words);
        let child = own.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        while !marker.exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "{name}: not begun in a minute");
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{name}: {}", text(&output.stderr));
        while works_in(&project.temporary()) {
            assert!(began.elapsed() < Duration::from_secs(120), "{name}: a process is left");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(fs::read_dir(project.temporary()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn in_the_sandbox_nothing_beside_the_copy_is_written() {
    let project = Project::stack();
    let outside = project.0.path().join("outside");
    fs::write(&outside, "as it was").unwrap();
    let text_of = format!(
        "\n    def test_outside(self):\n        with self.assertRaises(OSError):\n            open({outside:?}, 'w')\n"
    );
    project.write("test_stack.py", &format!("{TESTS}{text_of}"));
    let words = [SANDBOX, "--json", "--", "/usr/bin/python3", "-m", "unittest"];
    let output = project.run(&words);
    let said = text(&output.stderr);
    if said.contains("none is available here") || !Path::new("/usr/bin/python3").exists() {
        println!("skipped: {said}");
        return;
    }
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(result["notes"], serde_json::json!([]), "in forks");
    assert_eq!(result["tests"].as_array().unwrap().len(), 3);
    assert!(fates(&result)["largest"].contains(&"killed".to_owned()));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "as it was");
}

#[test]
fn what_would_be_changed_is_listed() {
    let project = Project::stack();
    let output = project.run(&["--list", "--diff", "stack.py"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(text(&output.stdout));
    let json: Value = serde_json::from_slice(&project.run(&["--list", "--json"]).stdout).unwrap();
    assert!(json["mutants"].as_array().unwrap().iter().all(|own| own["fate"] == "pending"));
    // The shards together contain every mutant once.
    let listed = |words: &[&str]| -> Vec<String> {
        let output = project.run(&[&["--list", "--json"], words].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let ids = json["mutants"].as_array().unwrap().iter().map(|own| own["id"].to_string());
        ids.collect()
    };
    let mut parts = [listed(&["--shard", "1/2"]), listed(&["--shard", "2/2"])].concat();
    let mut all = listed(&[]);
    parts.sort();
    all.sort();
    assert_eq!(parts, all);
}

#[test]
fn only_new_lines_are_changed_for_a_review() {
    let project = Project::stack();
    let git = |words: &[&str]| {
        let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let output =
            Command::new("git").args(own).args(words).current_dir(project.top()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "a"]);
    // A change outside of code must not fail a review.
    let words = ["--since", "HEAD", "--fail-if", "survived-in-diff", "--export", "none.md"];
    let none = project.run(&[&words[..], &["--", "python3", "-m", "unittest"]].concat());
    assert_eq!(none.status.code(), Some(0), "{}", text(&none.stderr));
    assert!(text(&none.stdout).contains("No function has lines that differ from HEAD"));
    assert!(project.top().join("none.md").exists());
    project.write("stack.py", &STACK.replace("x + 1", "x + 2"));
    let output = project.run(&["--list", "--since", "HEAD", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let units = json["units"].as_array().unwrap();
    assert_eq!(units.len(), 1);
    assert_eq!(units[0]["name"], "unused");
    let wrong = project.run(&["--list", "--since", "nothing"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("`git rev-parse nothing` shows why"));
    let (result, status) = project.tried(&["--since", "HEAD", "--fail-if", "survived-in-diff"]);
    assert_eq!((status, &result["since"]), (Some(1), &"HEAD".into()));
}

#[test]
fn what_needs_a_diff_says_what_to_do_without_one() {
    let project = Project::stack();
    let since = project.run(&["--list", "--since", "main"]);
    assert_eq!(since.status.code(), Some(2));
    let said = text(&since.stderr);
    assert!(
        said.contains("is not in a git repository") && said.contains("name the changed files"),
        "{said}"
    );
    let words = ["--fail-if", "survived-in-diff", "--", "python3", "-m", "unittest"];
    let condition = project.run(&words);
    assert_eq!(condition.status.code(), Some(2));
    assert!(text(&condition.stderr).contains("--since main"), "{}", text(&condition.stderr));
}

#[test]
fn a_page_a_comment_and_code_scanning_are_written_beside_the_screen() {
    let project = Project::stack();
    let files = ["page.html", "c.md", "s.sarif", "r.json"];
    let exports = files[1..].iter().flat_map(|file| ["--export", *file]);
    let words: Vec<&str> = ["--report", "page.html"]
        .into_iter()
        .chain(exports)
        .chain(["--color", "never", "--", "python3", "-m", "unittest"])
        .collect();
    let output = project.run(&words);
    let screen = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(screen.contains("to notice it: assert what `shout` returns"), "{screen}");
    let read = |file: &str| fs::read_to_string(project.top().join(file)).unwrap();
    for file in files {
        assert!(text(&output.stderr).contains(&format!("written: {file}")));
    }
    assert!(read("c.md").starts_with("<!-- assay-mutate -->\n"));
    let page = read("page.html");
    let boundary = "Try the value at the boundary, <code>number == best</code>";
    assert!(
        page.contains(boundary) && page.contains("assay mutate --no-sandbox --report"),
        "{page}"
    );
    let sarif: Value = serde_json::from_str(&read("s.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results.iter().map(|own| own["ruleId"].as_str().unwrap()).collect();
    assert_eq!(rules[..2], ["no-test", "survived-body"]);
    let result: Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!(result["verb"], "mutate");
    // Files that cannot be written are reported before anything is tried.
    for (words, about) in [
        (["--export", "x.pdf"], ".sarif"),
        (["--report", "nowhere/x.html"], "does not exist"),
        (["--stryker", "stack.py"], "is read"),
    ] {
        let files = if words[0] == "--stryker" { &["stack.py"][..] } else { &[] };
        let command = ["--", "python3", "-m", "unittest"];
        let refused = project.run(&[&words[..], files, &command].concat());
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(about), "{said}");
    }
}

#[test]
fn a_survivor_is_accepted_and_the_report_of_stryker_is_written() {
    let project = Project::stack();
    project
        .write("stack.py", &STACK.replace("def shout", "# assay: keep only for show\ndef shout"));
    let (result, _) = project.tried(&["--stryker", "report.json"]);
    let fates = fates(&result);
    assert!(fates["shout"].iter().all(|own| own == "kept"), "{fates:?}");
    let report: Value =
        serde_json::from_slice(&fs::read(project.top().join("report.json")).unwrap()).unwrap();
    let mutants = report["files"]["stack.py"]["mutants"].as_array().unwrap();
    assert!(mutants.iter().any(|own| own["status"] == "Killed" && !own["killedBy"].as_array().unwrap().is_empty()));
    assert!(
        mutants
            .iter()
            .any(|own| own["status"] == "Ignored" && own["statusReason"] == "only for show")
    );
    assert!(mutants.iter().any(|own| own["status"] == "NoCoverage"));
}

#[test]
fn a_budget_that_is_too_small_says_what_is_not_known() {
    let project = Project::stack();
    let (result, status) = project.tried(&["--budget", "0.1s", "--fail-if", "score<1%"]);
    assert_eq!(status, Some(1), "only what no test uses is known, and that is missed");
    let score = &result["score"];
    assert!(score["known"].as_u64() < score["counted"].as_u64(), "{score}");
    assert_eq!(score["interval"]["lower"], 0.0);
    assert!(score["interval"]["upper"].as_f64().unwrap() > 0.5, "{score}");
    assert_eq!(result["is_sample"], true);
    let notes = result["notes"].to_string();
    assert!(notes.contains("no change was tried within the budget"), "{notes}");
    let (whole, _) = project.tried(&["--budget", "10min"]);
    assert_eq!(whole["is_sample"], false);
    assert_eq!(whole["score"]["known"], whole["score"]["counted"]);
}

#[test]
fn so_many_changes_are_drawn_and_the_same_ones_again() {
    let project = Project::stack();
    let tried = |result: &Value| -> Vec<String> {
        let all = result["mutants"].as_array().unwrap();
        let own = |own: &&Value| own["operator"] != "body" && !own["seconds"].is_null();
        all.iter().filter(own).map(|own| own["id"].as_str().unwrap().to_owned()).collect()
    };
    let (three, _) = project.tried(&["--budget", "3"]);
    assert_eq!(tried(&three).len(), 3);
    assert_eq!(three["is_sample"], true);
    let (lower, upper) =
        (&three["score"]["interval"]["lower"], &three["score"]["interval"]["upper"]);
    assert!(lower.as_f64() < upper.as_f64(), "{}", three["score"]);
    // Mutants with known results are part of the sample.
    let (five, _) = project.tried(&["--budget", "5"]);
    let (three, five) = (tried(&three), tried(&five));
    assert!(five.len() == 5 && three.iter().all(|own| five.contains(own)), "{three:?} {five:?}");
    let (all, _) = project.tried(&["--budget", "1000"]);
    assert_eq!(all["is_sample"], false);
    assert_eq!(all["score"]["known"], all["score"]["counted"]);
}

#[test]
fn flaky_tests_are_left_out_and_named() {
    let project = Project::stack();
    let flaky = "\n    def test_flaky(self):\n        import os\n        path = 'count'\n        n = int(open(path).read()) if os.path.exists(path) else 0\n        \
        open(path, 'w').write(str(n + 1))\n        self.assertNotEqual(n, 1)\n        stack.shout('a')\n";
    project.write("test_stack.py", &format!("{TESTS}{flaky}"));
    let (result, _) = project.tried(&[]);
    assert_eq!(result["flaky"], serde_json::json!(["test_stack.StackTest: test_flaky"]));
    // Strings cannot be subtracted, which the other test notices.
    assert_eq!(fates(&result)["shout"].iter().filter(|own| *own == "killed").count(), 1);
}

#[test]
fn a_command_is_needed_and_questions_are_answered() {
    let project = Project::stack();
    let none = project.run(&[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("no command that runs the tests"));
    let about = project.run(&["--assay-about"]);
    assert_eq!(about.status.code(), Some(0));
    assert!(text(&about.stdout).starts_with("Make small changes to the source"));
    assert!(text(&project.run(&["--assay-completions", "bash"]).stdout).contains("assay-mutate"));
    assert_eq!(project.run(&["--diff"]).status.code(), Some(2));
}
