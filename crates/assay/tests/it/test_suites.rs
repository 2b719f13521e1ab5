//! `assay tests -- COMMAND` on the real frameworks that are installed, and on commands that imitate
//! a framework, crash, hang, or print garbage.

use crate::room::{Ended, Room, codes};
use crate::test_changes::is_there;
use serde_json::Value;
use std::process::Command;

/// A suite that prints TAP with these times; `$SLOW` replaces that of the second test.
const TAP: &str = "#!/bin/sh
echo TAP version 13
echo \"ok 1 - adds # time=2.$$ms\"
echo \"ok 2 - multiplies # time=${SLOW:-30ms}\"
echo 'ok 3 - divides # time=4ms'
echo 1..3
";

fn with_suite(text: &str) -> Room {
    let room = Room::new();
    room.write("suite.sh", text);
    room
}

/// Runs one suite, unrecorded.
fn tests(room: &Room, options: &[&str], command: &[&str]) -> Ended {
    room.run(&[&["tests", "--no-save"], options, &["--"], command].concat())
}

/// Returns the program of Python, wherever the home directory is; `None` with a message if there is
/// none.
fn python() -> Option<String> {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = found.ok().filter(|ran| ran.status.success());
    let path = path.map(|ran| String::from_utf8(ran.stdout).unwrap().trim().to_owned());
    if path.is_none() {
        println!("skipped: there is no python3");
    }
    path
}

/// Returns a room with a unittest file with these methods.
fn unittest(methods: &str) -> Room {
    let room = Room::new();
    let text =
        format!("import os, time, unittest\nSTATE = set()\nclass A(unittest.TestCase):\n{methods}");
    room.write("test_a.py", &text);
    room
}

#[test]
fn what_prints_tap_is_a_suite() {
    let room = with_suite(&TAP.replace("ok 3", "not ok 3"));
    let ended = tests(&room, &["--junit", "out.xml"], &["sh", "suite.sh"]).ends(4);
    ended
        .shows("3 tests in")
        .shows("1 test failed")
        .shows("multiplies 30.00 ms")
        .shows("failed: divides");
    let report = room.read("out.xml");
    assert!(report.contains("tests=\"3\" failures=\"1\""), "{report}");
    assert!(report.contains("name=\"divides\" time=\"0.004000\">"), "{report}");
    // Its output can be read like any other report.
    room.run(&["describe", "out.xml"]).ends(0).shows("multiplies");
    assert_eq!(room.kept().len(), 0);
}

#[test]
fn the_document_of_a_suite_has_parts_that_sum_to_the_whole() {
    let room = with_suite(&TAP.replace("ok 3", "not ok 3"));
    let all = ["tests", "--no-save", "--json", "--runs", "3", "--", "sh", "suite.sh"];
    let result = room.run(&all).ends(4).json();
    let suite = &result["suites"][0];
    assert_eq!((&suite["side"], &suite["runs"]), (&"suite".into(), &3.into()));
    let tests: Vec<&str> = suite["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| test["name"].as_str().unwrap())
        .collect();
    assert_eq!(tests, ["multiplies", "divides", "adds"]);
    let parts = suite["parts"].as_object().unwrap();
    let sum: f64 = parts.values().map(|seconds| seconds.as_f64().unwrap()).sum();
    let of_whole = result["descriptions"].as_array().unwrap();
    let of_whole = of_whole.iter().find(|own| own["row"] == "(whole suite)").unwrap();
    let mean = of_whole["metrics"]["wall"]["mean"].as_f64().unwrap();
    assert!((sum / mean - 1.0).abs() < 1e-9, "{parts:?} {mean}");
    let failing = &suite["failing"][0];
    assert_eq!((&failing["failed"], &failing["runs"]), (&3.into(), &3.into()));
    assert_eq!(failing["green_runs"], Value::Null);
}

#[test]
fn two_tests_of_one_name_are_two_rows() {
    let room = with_suite(&TAP.replace("multiplies", "divides"));
    tests(&room, &[], &["sh", "suite.sh"])
        .ends(0)
        .shows("divides #2 4.000 ms")
        .shows("divides 30.00 ms");
}

#[test]
fn a_suite_that_ends_with_an_error_though_no_test_failed_is_a_failure() {
    let room = with_suite(&format!("{TAP}exit 3\n"));
    tests(&room, &[], &["sh", "suite.sh"]).ends(4).shows("3 tests in");
}

#[test]
fn a_suite_that_failed_never_gives_0() {
    let room = with_suite("");
    for (script, said) in [
        ("echo 1..2; echo ok 1 a; echo not ok 2 b; exit 1", "failed: b"),
        ("echo 1..1; echo not ok 1 a", "failed: a"),
        ("echo 1..3; echo ok 1 a; echo ok 2 b", "the plan has 3 tests"),
        ("echo ok 1 a; echo ok 2 b", "there is no plan"),
        ("echo 1..2; echo ok 1 a; echo 'Bail out!'", "it gave up"),
        ("echo 1..1; echo ok 1 a; exit 3", "although no test failed"),
    ] {
        tests(&room, &[], &["sh", "-c", script]).ends(4).shows(said);
    }
    let ended = tests(&room, &[], &["sh", "-c", "echo 1..2; echo ok 1 a; echo ok 2 b"]).ends(0);
    ended.shows("TAP: 2 tests in").shows("no times of tests");
}

#[test]
fn files_of_tests_that_end_early_are_failures() {
    let works = |program: &str, words: &[&str]| {
        let ran = Command::new(program).args(words).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    let room = Room::new();
    if works("node", &["--test", "--help"]) {
        let line = "const {test, after} = require('node:test');\ntest('a', () => {});\n";
        let exits = "test('b', () => process.exit(0));\ntest('c', () => { throw new Error() });\n";
        room.write("early.test.js", &format!("{line}{exits}"));
        room.write("top.test.js", &format!("{line}process.exit(0);\n"));
        room.write("meant.test.js", &format!("{line}after(() => process.exit(0));\n"));
        room.write("none.test.js", "process.exit(0);\n");
        room.write("broken.test.js", "throw new Error();\n");
        for file in ["early.test.js", "top.test.js"] {
            let said = format!("{file} called process.exit(0) before its tests were through");
            tests(&room, &[], &["node", "--test", file]).ends(4).shows(&said);
        }
        tests(&room, &[], &["node", "--test", "meant.test.js", "none.test.js"]).ends(0);
        let ignored = "node broken.test.js; node --test none.test.js";
        let said = "broken.test.js ended with status 1 before its tests ran";
        tests(&room, &[], &["sh", "-c", ignored]).ends(4).shows(said);
    }
    if works("ruby", &["-e", "require 'minitest'"]) {
        let passes = "require 'minitest/autorun'\nclass A < Minitest::Test\n  def test_a; assert true; end\nend\n";
        room.write("a_test.rb", passes);
        for (text, status, said) in [
            ("raise 'no database'", 4, "test_b.rb ended before its tests ran, by RuntimeError"),
            ("exit 3", 4, "test_b.rb ended before its tests ran, with status 3"),
            ("require 'minitest/autorun'\nraise 'late'", 4, "before its tests ran"),
            ("exit 0", 0, "1 test in"),
        ] {
            room.write("test_b.rb", text);
            let both = ["sh", "-c", "ruby test_b.rb; ruby a_test.rb"];
            tests(&room, &[], &both).ends(status).shows(said);
        }
    }
}

#[test]
fn a_failure_is_printed_as_it_happens_and_once() {
    let room = with_suite("echo 1..2; echo not ok 1 a; sleep 0.6; echo ok 2 b");
    let ended = tests(&room, &["--runs", "2"], &["sh", "suite.sh"]).ends(4);
    ended.complains("failed: a").shows("2 runs");
    // The number of runs is exact, even in a short time.
    tests(&room, &["--runs", "2", "--time", "1ms"], &["sh", "suite.sh"]).ends(4).shows("2 runs");
}

#[test]
fn what_a_script_runs_is_named_where_it_can_not_be_asked() {
    let room = with_suite("export A=b\npython3 -m unittest discover nowhere\n");
    let said = "as in `assay tests --env A=b -- python3 -m unittest discover nowhere`";
    tests(&room, &[], &["sh", "suite.sh"]).ends(4).complains(said);
}

#[test]
fn what_is_no_suite_says_so() {
    let room = Room::new();
    room.write("empty.sh", "echo TAP version 13; echo 1..0\n");
    room.write("half.sh", "echo '<testsuites><testsuite><testca' > out.xml\n");
    room.write("none.sh", ":\n");
    tests(&room, &[], &["echo", "hi"]).ends(2).complains("its framework is not recognized");
    tests(&room, &[], &["sh", "empty.sh"]).ends(2).complains("it ran no test");
    let written = ["--framework", "junit:out.xml"];
    tests(&room, &written, &["sh", "half.sh"]).ends(4).complains("out.xml can't be read");
    // A report of an earlier run must not be used, if file times show that it is older.
    std::thread::sleep(std::time::Duration::from_millis(100));
    tests(&room, &written, &["sh", "-c", "sleep 0.1"])
        .ends(2)
        .complains("it did not write out.xml (--framework junit:out.xml)");
    tests(&room, &["--framework", "nose"], &["true"])
        .ends(2)
        .complains("known are rspec, minitest");
    tests(&room, &[], &["./nothing"]).ends(2).complains("cannot find the program");
    tests(&room, &["--order", "random"], &["sh", "none.sh"]).ends(2).complains("a random order");
    tests(&room, &["--fail-if", "slower"], &["sh", "none.sh"])
        .ends(2)
        .complains("nothing to compare");
    room.run(&["tests"]).ends(2).complains("COMMAND");
    let imports = |python: &String| {
        let ran = Command::new(python).args(["-c", "import pytest"]).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    if let Some(python) = python().filter(imports) {
        room.write("test_x.py", "def test_a():\n    pass\n");
        let unnamed = tests(&room, &["--only", "nothing"], &[&python, "-m", "pytest"]).ends(2);
        unnamed.complains("no test is named `nothing`");
        let typed = tests(&room, &[], &[&python, "-m", "pytest", "--nosuch"]).ends(4);
        let typed = typed.complains("unrecognized arguments: --nosuch");
        assert!(!typed.stderr.contains("--framework"), "{}", typed.stderr);
    }
    if is_there("go", "version") {
        let lost = tests(&room, &[], &["go", "test", "./..."]).ends(2);
        lost.complains("it ran no test; it said: `pattern ./...: ");
    }
}

#[test]
fn a_suite_that_is_killed_or_takes_too_long_is_told() {
    let room = Room::new();
    let killed = ["sh", "-c", "kill -SEGV $$"];
    tests(&room, &[], &killed).ends(4).complains("the suite was ended by signal 11");
    let hanging = ["sh", "-c", "sleep 100 & sleep 100"];
    tests(&room, &["--timeout", "300ms"], &hanging)
        .ends(4)
        .complains("longer than --timeout 300 ms");
}

#[test]
fn revisions_are_compared_test_by_test_and_as_a_whole() {
    let room = with_suite(TAP);
    let git = "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one";
    crate::room::finish(room.shell(git)).ends(0);
    room.write("suite.sh", &TAP.replace(":-30ms", ":-60ms").replace("'ok 3", "'not ok 3"));
    let compared = [
        "tests",
        "--rev",
        "main",
        "--rev",
        ".",
        "--runs",
        "8",
        "--save",
        "both.assay",
        "-q",
        "--fail-if",
        "slower",
    ];
    let ended = room.run(&[&compared[..], &["--", "sh", "suite.sh"]].concat()).ends(1);
    ended.shows("the whole suite").shows("1 of 3 tests is slower");
    // The record gives the same digits.
    let again = room.json(&["compare", "both.assay"]);
    let of = |name: &str| -> Value {
        let rows = again["comparisons"].as_array().unwrap().iter();
        let mut own = rows.filter(|row| row["row"] == name && row["family"] == "primary");
        own.next().cloned().unwrap()
    };
    assert_eq!(of("multiplies")["verdict"], "slower");
    assert_eq!(of("(whole suite)")["row"], "(whole suite)");
    assert!(codes(&again).contains(&"FAILURES"));
    room.run(&["tests", "--resume", "both.assay"]).shows("1 of 3 tests is slower");
    let other = ["tests", "--resume", "both.assay", "--order", "given"];
    room.run(&other).ends(2).complains("--order can't be given when a run is resumed");
}

#[test]
fn a_run_that_broke_off_is_resumed() {
    let room = with_suite(TAP);
    let run = ["tests", "--runs", "4", "--save", "runs.assay", "-q", "--", "sh", "suite.sh"];
    room.run(&run).ends(0);
    let text = room.read("runs.assay");
    let whole = room.records("runs.assay", "obs").len();
    let lines: Vec<&str> = text.lines().collect();
    let is_observation = |line: &&&str| line.contains("\"kind\":\"obs\"");
    let last = lines.iter().rev().find(is_observation).unwrap();
    let end = lines.iter().position(|line| line == last).unwrap();
    room.write("runs.assay", &(lines[..end - 7].join("\n") + "\n"));
    assert!(room.records("runs.assay", "obs").len() < whole);
    room.run(&["tests", "--resume", "runs.assay", "-q"]).ends(0).shows("4 runs");
    assert_eq!(room.records("runs.assay", "obs").len(), whole);
}

#[test]
fn unittest_tells_where_its_time_goes() {
    let Some(python) = python() else { return };
    let room = unittest(
        "    @classmethod\n    def setUpClass(cls): time.sleep(0.05)\n    def test_x(self): time.sleep(0.02)\n    def test_y(self): self.fail('no luck')\n    @unittest.skip('later')\n    def test_z(self): pass\n",
    );
    let ended = tests(&room, &[], &[&python, "-m", "unittest"]).ends(4);
    let ended = ended
        .shows("2 tests in")
        .shows("group hooks")
        .shows(" framework ")
        .shows("unaccounted")
        .shows("100 %");
    ended.shows("failed: test_a.A: test_y").shows("no luck").shows("test_a.A: test_z");
    // Nothing is left in the project except what Python itself leaves.
    let left = std::fs::read_dir(room.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    left.retain(|name| !["__pycache__", "test_a.py", "state", ".cache"].contains(&name.as_str()));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn of_a_suite_that_hangs_or_dies_one_knows_which_test_ran() {
    let Some(python) = python() else { return };
    let run = |method: &str, options: &[&str]| {
        let room =
            unittest(&format!("    def test_a(self): pass\n    def test_b(self): {method}\n"));
        tests(&room, options, &[&python, "-m", "unittest"])
    };
    run("time.sleep(100)", &["--timeout", "2s"])
        .ends(4)
        .complains("while this ran: `test_a.A: test_b` (for");
    run("os.kill(os.getpid(), 11)", &[])
        .ends(4)
        .complains("signal 11, while this ran: `test_a.A: test_b`");
    run("os._exit(0)", &[])
        .ends(4)
        .complains("before it had finished, while this ran: `test_a.A: test_b`");
    // A file that cannot be loaded is a failed test.
    run("", &[]).ends(4).shows("ImportError");
}

/// Returns the messages of a suite in which something hangs, and its document.
fn hanging(room: &Room, command: &[&str]) -> (Ended, Value) {
    let limit = ["tests", "--no-save", "-q", "--test-timeout", "700ms"];
    let result = room.run(&[&limit[..], &["--json", "--"], command].concat()).ends(4).json();
    let shown = room.run(&[&limit[..], &["--"], command].concat()).ends(4);
    (shown, result)
}

/// Returns the times of the tests in a document, by name.
fn times(result: &Value) -> Vec<(&str, f64)> {
    let tests = result["suites"][0]["tests"].as_array().unwrap().iter();
    let of = |test: &Value| test["wall"].as_f64().unwrap_or(f64::NAN);
    tests.map(|test| (test["name"].as_str().unwrap(), of(test))).collect()
}

#[test]
fn a_test_that_hangs_is_ended_and_those_before_it_keep_their_times() {
    let Some(python) = python() else { return };
    let room = unittest(
        "    def test_a(self): pass\n    def test_b(self): time.sleep(100)\n    def test_c(self): pass\n",
    );
    let (shown, result) = hanging(&room, &[&python, "-m", "unittest"]);
    let shown = shown
        .shows("2 tests in")
        .shows("`test_a.A: test_b` took longer than --test-timeout 700 ms: for")
        .shows("in its body. The suite was ended; 1 test had ended before")
        .shows("failed: test_a.A: test_b");
    assert!(!shown.stdout.contains("test_c"));
    let hung = ["TEST_HUNG", "TEST_FAILED"].map(|code| codes(&result).contains(&code));
    assert_eq!(hung, [true; 2]);
    let times = times(&result);
    assert_eq!(
        times.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["test_a.A: test_b", "test_a.A: test_a"]
    );
    assert!(times[0].1 > 0.7 && times[1].1 < 0.5, "{times:?}");
    // If it hangs in a hook before any test, there is nothing to show.
    room.write(
        "test_a.py",
        "import time, unittest\nclass A(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): time.sleep(100)\n    def test_a(self): pass\n",
    );
    tests(&room, &["--test-timeout", "700ms"], &[&python, "-m", "unittest"])
        .ends(4)
        .complains("`group setup of test_a.A` took longer than --test-timeout 700 ms")
        .complains("no test had ended before");
}

#[test]
fn a_suite_of_pytest_that_hangs_tells_the_fixture_for_which_a_test_waits() {
    let Some(python) = python() else { return };
    let there = Command::new(&python).args(["-c", "import pytest"]).output();
    if !there.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no pytest");
        return;
    }
    let room = Room::new();
    room.write(
        "test_a.py",
        "import time, pytest\n@pytest.fixture(scope='module')\ndef base():\n    time.sleep(100)\ndef test_a(): pass\ndef test_b(base): pass\n",
    );
    let (shown, result) = hanging(&room, &[&python, "-m", "pytest"]);
    shown
        .shows("2 tests in")
        .shows("`fixture base of test_a.py`, for which `test_a.py::test_b` waited, took longer");
    let hung = ["TEST_HUNG", "TEST_FAILED"].map(|code| codes(&result).contains(&code));
    assert_eq!(hung, [true; 2]);
    room.write("test_a.py", "import time\ndef test_a(): pass\ndef test_b(): time.sleep(100)\n");
    let (shown, _) = hanging(&room, &[&python, "-m", "pytest"]);
    shown.shows("`test_a.py::test_b` took longer than --test-timeout 700 ms").shows("in its body");
}

#[test]
fn a_suite_of_minitest_that_hangs_tells_the_phase_or_the_class() {
    if !there_minitest() {
        println!("skipped: there is no minitest");
        return;
    }
    let room = Room::new();
    let suite = |more: &str| {
        format!(
            "require 'minitest/autorun'\nclass A < Minitest::Test\n  i_suck_and_my_tests_are_order_dependent!\n  def test_a = nil\n{more}end\n"
        )
    };
    room.write(
        "a_test.rb",
        &suite("  def test_b = nil\n  def teardown = (sleep 100 if name == 'test_b')\n"),
    );
    let (shown, result) = hanging(&room, &["ruby", "a_test.rb"]);
    shown
        .shows("`A: test_b` took longer than --test-timeout 700 ms")
        .shows("The suite was ended; 1 test had ended before");
    let hung = ["TEST_HUNG", "TEST_FAILED"].map(|code| codes(&result).contains(&code));
    assert_eq!(hung, [true; 2]);
    let class = "  def self.run(*, **) = (super; sleep 100)\nend\nclass B < Minitest::Test\n";
    room.write("a_test.rb", &suite(class));
    room.write(
        "a_test.rb",
        "require 'minitest/autorun'\nclass A < Minitest::Test\n  def self.run(*, **) = (sleep 100)\n  def test_a = nil\nend\n",
    );
    tests(&room, &["--test-timeout", "700ms"], &["ruby", "a_test.rb"])
        .ends(4)
        .complains("`group setup of A` took longer than --test-timeout 700 ms");
}

#[test]
fn where_nobody_tells_what_runs_a_timeout_of_tests_is_refused() {
    let room = with_suite(TAP);
    tests(&room, &["--test-timeout", "1s"], &["sh", "suite.sh"])
        .ends(2)
        .complains("tap does not report which test is running")
        .complains(
            "rspec, minitest, test-unit, pytest, unittest, go test, cargo test and node --test",
        );
}

#[test]
fn tests_that_fork_move_or_close_descriptors_are_tests_like_others() {
    let Some(python) = python() else { return };
    let room = unittest(
        "    def test_a(self):\n        if os.fork() == 0: os._exit(0)\n        os.wait()\n    def test_b(self): os.chdir('/')\n    def test_c(self): os.closerange(3, 200)\n    def test_d(self): os.environ.clear()\n    def test_e(self): pass\n",
    );
    let ended = tests(&room, &[], &[&python, "-m", "unittest"]).ends(0);
    ended.shows("5 tests in").shows("test_a.A: test_e");
}

#[test]
fn the_test_that_makes_another_one_fail_is_found() {
    let Some(python) = python() else { return };
    let quiet: String = (0..8).map(|n| format!("    def test_{n}(self): pass\n")).collect();
    let room = unittest(&format!(
        "{quiet}    def test_dirty(self): STATE.add(1)\n    def test_victim(self): self.assertFalse(STATE)\n"
    ));
    let command = [python.as_str(), "-m", "unittest"];
    let options = ["--runs", "8", "--seed", "5"];
    let ended = tests(&room, &options, &command).ends(0).shows("1 test failed in some runs");
    let ended = ended.shows("it depends on the order: it fails after `test_a.A: test_dirty`");
    ended.shows("green runs in a row would show");
    let only = ["--only", "test_a.A: test_dirty", "--only", "test_a.A: test_victim"];
    tests(&room, &only, &command).ends(4).shows("failed: test_a.A: test_victim");
    let as_failure = [&options[..], &["--flaky", "fail", "--no-search"]].concat();
    tests(&room, &as_failure, &command).ends(4);
}

#[test]
fn frameworks_that_are_there_answer() {
    let there = |program: &str, argument: &str| {
        let ran = Command::new(program).arg(argument).output();
        let is_there = ran.is_ok_and(|ran| ran.status.success());
        if !is_there {
            println!("skipped: there is no {program}");
        }
        is_there
    };
    let with_homes = |room: &Room, all: &[&str]| {
        let mut assay = room.assay(all);
        room.with_compilers(&mut assay);
        crate::room::finish(assay)
    };
    let run = |room: &Room, command: &[&str]| {
        with_homes(room, &[&["tests", "--no-save", "--"], command].concat())
    };
    let limited = |room: &Room, command: &[&str]| {
        let limit = ["tests", "--no-save", "--test-timeout", "700ms", "--"];
        with_homes(room, &[&limit[..], command].concat())
    };
    if there("node", "--version") {
        let room = Room::new();
        room.write(
            "a.test.js",
            "const {test} = require('node:test');\ntest('adds', () => {});\ntest('bad', () => { throw new Error('no luck') });\n",
        );
        run(&room, &["node", "--test"]).ends(4).shows("2 tests in").shows("failed: bad no luck");
        room.write(
            "a.test.js",
            "const {test} = require('node:test');\ntest('adds', () => {});\ntest('hangs', () => new Promise(() => setTimeout(() => {}, 1e6)));\n",
        );
        limited(&room, &["node", "--test"])
            .ends(4)
            .shows("`hangs` took longer than --test-timeout 700 ms");
    }
    if there("cargo", "--version") {
        let room = Room::new();
        std::fs::create_dir(room.path("src")).unwrap();
        room.write(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        );
        room.write(
            "src/lib.rs",
            "#[test] fn adds() {}\n#[test] fn bad() { panic!(\"no luck\") }\n",
        );
        run(&room, &["cargo", "test", "--lib"])
            .ends(4)
            .shows("2 tests in")
            .shows("failed: shop: bad");
        let hangs = "#[test] fn adds() {}\n#[test] fn hangs() { std::thread::sleep(std::time::Duration::from_secs(100)) }\n";
        room.write("src/lib.rs", hangs);
        limited(&room, &["cargo", "test", "--lib"])
            .ends(4)
            .shows("`shop: hangs` took longer than --test-timeout 700 ms")
            .shows("1 test had ended before");
    }
    if there("go", "version") {
        let room = Room::new();
        room.write("go.mod", "module example.com/shop\n\ngo 1.20\n");
        room.write(
            "a_test.go",
            "package shop\nimport \"testing\"\nfunc TestAdds(t *testing.T) {}\nfunc TestBad(t *testing.T) { t.Error(\"no luck\") }\n",
        );
        run(&room, &["go", "test", "./..."])
            .ends(4)
            .shows("2 tests in")
            .shows("failed: example.com/shop: TestBad");
        let hangs = "package shop\nimport (\"testing\"; \"time\")\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Run(\"in\", func(*testing.T) { time.Sleep(100 * time.Second) }) }\n";
        room.write("a_test.go", hangs);
        limited(&room, &["go", "test", "./..."])
            .ends(4)
            .shows("`example.com/shop: TestB/in` took longer than --test-timeout 700 ms")
            .shows("1 test had ended before");
    }
    if there("go", "version") {
        let room = Room::new();
        room.write("go.mod", "module example.com/shop\n\ngo 1.20\n");
        let functions: String = ["A", "B", "C", "D", "E"]
            .map(|n| format!("func Test{n}(t *testing.T) {{}}\n"))
            .concat();
        room.write("a_test.go", &format!("package shop\nimport \"testing\"\n{functions}"));
        let mut ran = Vec::new();
        for part in ["1/2", "2/2"] {
            let all =
                ["tests", "--no-save", "--shard", part, "--json", "--", "go", "test", "./..."];
            let result = with_homes(&room, &all).ends(0).complains("without times").json();
            let tests = result["suites"][0]["tests"].as_array().unwrap().clone();
            ran.extend(tests.iter().map(|test| test["name"].as_str().unwrap().to_owned()));
        }
        ran.sort();
        let wanted = ["A", "B", "C", "D", "E"].map(|n| format!("example.com/shop: Test{n}"));
        assert_eq!(ran, wanted);
    }
    if there("ruby", "--version") && there_minitest() {
        let room = Room::new();
        room.write(
            "a_test.rb",
            "require 'minitest/autorun'\nclass A < Minitest::Test\n  def test_adds; assert true; end\n  def test_bad; flunk 'no luck'; end\nend\n",
        );
        run(&room, &["ruby", "a_test.rb"])
            .ends(4)
            .shows("2 tests in")
            .shows("failed: A: test_bad no luck");
    }
}

fn there_minitest() -> bool {
    Command::new("ruby")
        .args(["-e", "require 'minitest'"])
        .output()
        .is_ok_and(|ran| ran.status.success())
}
