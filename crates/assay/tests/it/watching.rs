//! `assay watch` in a real terminal, with real frameworks and an editor that saves: the screen, the
//! tests that run, and that no process is left.

use crate::room::{Room, children_of, endless, is_alive, processes_of, signal, start, until};
use crate::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::process::Command;

fn has(program: &str, arguments: &[&str]) -> bool {
    let ran = Command::new(program).args(arguments).output();
    let has = ran.is_ok_and(|ran| ran.status.success());
    if !has {
        println!("skipped: there is no {program} {arguments:?}");
    }
    has
}

/// Returns the path of Python, wherever the home directory is.
fn python() -> Option<String> {
    let ran = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = ran.ok().filter(|ran| ran.status.success())?;
    Some(String::from_utf8(path.stdout).unwrap().trim().to_owned())
}

/// Returns a project with one function, correct or wrong.
fn of_unittest() -> Room {
    let room = Room::new();
    room.write("calc.py", "def add(a, b):\n    return a + b\n");
    room.write(
        "test_calc.py",
        "import unittest\nfrom calc import add\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n    def test_other(self):\n        pass\n",
    );
    room
}

fn watch(room: &Room, options: &[&str], command: &[&str]) -> Command {
    let mut assay =
        room.assay(&[&["watch", "--color", "never"], options, &["--"], command].concat());
    assay.env("PYTHONDONTWRITEBYTECODE", "1");
    assay
}

#[test]
fn from_green_to_red_to_broken_to_green_in_sixty_columns() {
    let Some(python) = python() else { return };
    let room = of_unittest();
    let command = [&python, "-m", "unittest"];
    let mut terminal = Terminal::start(watch(&room, &["--notify", "bell"], &command), 60);
    terminal.until_shown("green · 2 tests passed");
    terminal.until_shown("waiting for a save");
    room.write("calc.py", "def add(a, b):\n    return a - b\n");
    let red = terminal.until_shown("red · 1 of 1 test failed");
    assert!(red.contains("calc.py was saved: test_calc.T: test_add"), "{red}");
    assert!(red.contains("failed: test_calc.T: test_add"), "{red}");
    let (difference, place) = (red.find("-1 != 3"), red.find("test_calc.py:"));
    assert!(difference.is_some() && difference < place, "{red}");
    let bell = terminal.until_shown("\u{7}");
    // An editor that writes a temporary file and renames it.
    room.write("calc.py.new", "def add(a, b:\n");
    fs::rename(room.path("calc.py.new"), room.path("calc.py")).unwrap();
    let broken = terminal.until_shown("broken · nothing was run");
    assert!(broken.contains("SyntaxError") && broken.contains("line 1"), "{broken}");
    room.write("calc.py", "def add(a, b):\n    return b + a\n");
    let green = terminal.until_shown("green · 2 tests passed");
    // Everything shown so far, so that no line is split between two parts.
    let shown = [red, bell, broken, green].concat().replace("\u{1b}[K", "").replace('\u{7}', "");
    // A message on standard error is never rewritten, so the terminal may wrap it. Whether this one
    // appears depends on timing.
    let is_message = |line: &&str| line.starts_with("run cold: ");
    for line in shown.split(['\r', '\n']).filter(|line| !is_message(line)) {
        assert!(line.chars().count() <= 60, "{line:?}");
    }
    room.write("calc.py", "# adds\ndef add(a, b):\n    return b + a\n");
    terminal.until_shown("calc.py was saved: no test depends on what changed; nothing to run");
    terminal.press("t");
    terminal.until_shown("assay tests --profile --only 'test_calc.T: test_");
    terminal.press("q");
    let (status, _, is_as_before) = terminal.finish();
    assert_eq!((status, is_as_before), (0, true));
}

#[test]
fn keys_run_all_again_and_to_interrupt_twice_leaves() {
    let room = Room::new();
    room.write("suite.sh", "echo 1..2; echo 'ok 1 - adds'; echo 'ok 2 - divides'\n");
    let mut terminal = Terminal::start(watch(&room, &[], &["sh", "suite.sh"]), 80);
    terminal.until_shown("green · 2 tests passed");
    terminal.press("a");
    terminal.until_shown("green · 2 tests passed");
    terminal.press("f");
    terminal.until_shown("no test failed");
    terminal.press("h");
    terminal.until_shown("Ctrl-C");
    terminal.press("\u{3}");
    terminal.until_shown("Ctrl-C once more quits");
    terminal.until_shown("green · 2 tests passed");
    terminal.press("\u{3}\u{3}");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn a_save_ends_what_runs_with_all_its_processes_and_so_does_the_end() {
    let room = Room::new();
    let (first, second) = (endless(), endless());
    room.write("run.sh", &format!("{first} & {first} & wait\n"));
    let mut terminal = Terminal::start(watch(&room, &["--any"], &["sh", "run.sh"]), 80);
    until("it runs", || processes_of(&first).len() == 2);
    room.write("run.sh", &format!("{second} & wait\n"));
    until("the next one runs", || processes_of(&second).len() == 1);
    assert!(processes_of(&first).is_empty());
    terminal.press("q");
    assert_eq!(terminal.finish().0, 0);
    assert!(processes_of(&second).is_empty());
}

#[test]
fn killed_it_leaves_no_process_behind() {
    let room = Room::new();
    let endless = endless();
    room.write("run.sh", &format!("{endless} & {endless}\n"));
    let assay = start(watch(&room, &["--any"], &["sh", "run.sh"]));
    until("it runs", || processes_of(&endless).len() == 2);
    let pid = assay.pid();
    signal(pid, "KILL");
    until("it is gone", || !is_alive(pid));
    until("all are gone", || processes_of(&endless).is_empty());
    assay.finish();
}

/// Returns the runs reported so far, each as its document.
fn runs(room: &Room, file: &str) -> Vec<Value> {
    let text = room.read(file);
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let document = assay_report::json::schema::named("watch").unwrap().schema();
    let run = |line: &str| {
        let run: Value = serde_json::from_str(line).unwrap();
        let problems = crate::room::schema::problems(&document, &run);
        assert!(problems.is_empty(), "{problems:?}");
        run
    };
    whole.lines().map(run).collect()
}

#[test]
fn without_a_terminal_each_run_is_a_line_of_json_and_hooks_run() {
    let Some(python) = python() else { return };
    let room = of_unittest();
    let words = format!(
        "exec \"$ASSAY\" watch --json --ignore '*.txt' --ignore out.json --on-red 'echo $ASSAY_TESTS >> red.txt' --on-all-green 'echo all >> all.txt' -- {python} -m unittest > out.json"
    );
    let mut command = room.shell(&words);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let assay = start(command);
    until("it is green", || runs(&room, "out.json").len() == 1);
    room.write("calc.py", "def add(a, b):\n    return a - b\n");
    until("it is red", || runs(&room, "out.json").len() == 2);
    let runs = runs(&room, "out.json");
    let state = |run: &Value| run["state"].as_str().unwrap().to_owned();
    assert_eq!(runs.iter().map(state).collect::<Vec<_>>(), ["green", "red"]);
    assert_eq!((&runs[0]["all_green"], &runs[0]["passed"]), (&true.into(), &2.into()));
    assert_eq!(runs[1]["changed"], serde_json::json!(["calc.py"]));
    assert_eq!(runs[1]["failed"][0]["name"], "test_calc.T: test_add");
    until("its hook ran", || room.read("red.txt") == "test_calc.T: test_add\n");
    assert_eq!(room.read("all.txt"), "all\n");
    assay.signal("TERM");
    assay.finish().ends(130);
}

#[test]
fn a_checkout_is_one_run_and_two_who_watch_both_see_it() {
    let room = Room::new();
    if !has("git", &["--version"]) {
        return;
    }
    let git = "git -c user.name=x -c user.email=x@y -c init.defaultBranch=main";
    let lines = format!(
        "exec >/dev/null 2>&1; {git} init && mkdir d && cd d && for i in $(seq 300); do echo 1 > f$i; done; echo 1 > ../last; echo 'out*' > ../.gitignore; {git} add -A .. && {git} commit -m 1 && for i in $(seq 300); do echo 2 > f$i; done; echo 2 > ../last; {git} commit -am 2"
    );
    assert!(room.shell(&lines).status().unwrap().success());
    let who = |name: &str| {
        let line = format!(
            "exec \"$ASSAY\" watch --any --json -- sh -c 'echo $$ >> out.$1; cat last >> out.$1; cat d/f300 >> out.$1' sh {name} > out.{name}.json"
        );
        start(room.shell(&line))
    };
    let (one, other) = (who("a"), who("b"));
    let have_seen = |text: &str, told: usize| {
        ["a", "b"].iter().all(|name| {
            room.read(&format!("out.{name}")).ends_with(text)
                && runs(&room, &format!("out.{name}.json")).len() >= told
        })
    };
    until("both ran", || have_seen("2\n2\n", 1));
    assert!(room.shell(&format!("{git} checkout -q HEAD~1")).status().unwrap().success());
    until("both saw it", || have_seen("1\n1\n", 2));
    for assay in [one, other] {
        assay.signal("TERM");
        assay.finish().ends(130);
    }
    for name in ["a", "b"] {
        // Runs that were ended by further saves are not reported.
        let told = runs(&room, &format!("out.{name}.json"));
        assert!(told.len() <= 3, "{told:?}");
        assert!(told[1]["changed"].as_array().unwrap().len() > 250 || told.len() == 3, "{told:?}");
    }
}

#[test]
fn the_last_of_many_saves_is_what_ran_last() {
    let room = Room::new();
    room.write("number", "0");
    let assay = start(watch(
        &room,
        &["--any", "--quiet", "--ignore", "seen"],
        &["sh", "-c", "cat number > seen"],
    ));
    until("it ran", || room.read("seen") == "0");
    for burst in 1..=5 {
        for save in 0..40 {
            let text = format!("{burst}.{save}");
            match save % 2 {
                0 => room.write("number", &text),
                _ => {
                    room.write("other", &text);
                    fs::rename(room.path("other"), room.path("number")).unwrap();
                }
            }
        }
        until("the last one ran", || room.read("seen") == format!("{burst}.39"));
    }
    assay.signal("TERM");
    assay.finish().ends(130);
}

#[test]
fn what_can_not_be_watched_or_run_is_told() {
    let room = Room::new();
    let run =
        |options: &[&str], command: &[&str]| crate::room::finish(watch(&room, options, command));
    run(&[], &["no-such-program"]).ends(2).complains("no-such-program");
    run(&["--framework", "nose"], &["sh"]).ends(2).complains("known are rspec");
    run(&["--ignore", "a{"], &["sh"]).ends(2).complains("--ignore a{");
    run(&["--any", "--no-full"], &["sh"]).ends(2).complains("--any");
    // No tests at all: this is reported, and watching continues.
    room.write("none.sh", "echo 1..0\n");
    let mut terminal = Terminal::start(watch(&room, &["--poll", "20ms"], &["sh", "none.sh"]), 80);
    let told = terminal.until_shown("red · the suite did not finish");
    assert!(told.contains("the suite exited with status 0"), "{told}");
    room.write("none.sh", "echo 1..1; echo 'ok 1 - a'\n");
    terminal.until_shown("green · 1 test passed");
    terminal.press("q");
    assert_eq!(terminal.finish().0, 0);
    // The directory is removed.
    let gone = room.path("gone");
    fs::create_dir(&gone).unwrap();
    let mut command = watch(&room, &["--any"], &["true"]);
    command.current_dir(&gone);
    let mut terminal = Terminal::start(command, 80);
    terminal.until_shown("green · ended with status 0");
    terminal.until_shown("waiting");
    fs::remove_dir(&gone).unwrap();
    terminal.until_shown("no longer exists");
    assert_eq!(terminal.finish().0, 2);
}

#[test]
fn a_test_that_never_ends_is_shown_and_a_save_ends_it() {
    let Some(python) = python() else { return };
    let room = Room::new();
    let text = |wait: &str| {
        format!(
            "import time, unittest\nclass T(unittest.TestCase):\n    def test_slow(self):\n        {wait}\n"
        )
    };
    room.write("test_a.py", &text("time.sleep(1000)"));
    let mut terminal = Terminal::start(watch(&room, &[], &[&python, "-m", "unittest"]), 80);
    terminal.until_shown("test_a.T: test_slow, for ");
    room.write("test_a.py", &text("pass"));
    terminal.until_shown("green · 1 test passed");
    terminal.press("\u{4}");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn minitest_is_watched_too() {
    if !has("ruby", &["-e", "require 'minitest'"]) {
        return;
    }
    let room = Room::new();
    room.write("lib.rb", "def add(a, b) = a + b\n");
    room.write(
        "lib_test.rb",
        "require 'minitest/autorun'\nrequire_relative 'lib'\nclass T < Minitest::Test\n  def test_add\n    assert_equal 3, add(1, 2)\n  end\nend\n",
    );
    let mut terminal = Terminal::start(watch(&room, &[], &["ruby", "lib_test.rb"]), 80);
    terminal.until_shown("green · 1 test passed");
    terminal.until_shown("waiting");
    room.write("lib.rb", "def add(a, b) = a * b\n");
    let red = terminal.until_shown("red · 1 of 1 test failed");
    assert!(
        red.find("Expected: 3") < red.find("Actual: 2") && red.contains("lib_test.rb:4"),
        "{red}"
    );
    room.write("lib.rb", "def add(a, b = a + b\n");
    terminal.until_shown("broken");
    terminal.press("q");
    assert_eq!(terminal.finish().0, 0);
}

/// Returns the processes whose command line contains this.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        is_alive(*pid) && String::from_utf8_lossy(&line).contains(text)
    };
    pids.filter(has).collect()
}

#[test]
fn suites_of_python_are_loaded_once_and_what_is_killed_is_replaced() {
    let Some(python) = python() else { return };
    let room = of_unittest();
    let line = format!(
        "exec \"$ASSAY\" watch --json --ignore out.json --ignore said -- {python} -m unittest > out.json 2> said"
    );
    let assay = start(room.shell(&line));
    until("it is green", || runs(&room, "out.json").len() == 1);
    let hooks = format!("{}/assay-room-", room.path("").display()).replace("//", "/");
    until("it is loaded", || !processes_with(&hooks).is_empty());
    for (number, operator) in [(2, '-'), (3, '*')] {
        room.write("calc.py", &format!("def add(a, b):\n    return a {operator} b\n"));
        until("it is red", || runs(&room, "out.json").len() == number);
    }
    let told = runs(&room, "out.json");
    assert!(told.iter().all(|run| run["warm"] == true), "{told:?} {}", room.read("said"));
    // The first of its processes was started first.
    let before = processes_with(&hooks);
    signal(*before.iter().min().unwrap(), "KILL");
    until("its stages ended, too", || before.iter().all(|pid| !is_alive(*pid)));
    room.write("calc.py", "def add(a, b):\n    return b + a\n");
    until("it is green", || {
        runs(&room, "out.json").iter().any(|run| run["all_green"] == true && run["run"] != 1)
    });
    let pid = assay.pid();
    signal(pid, "KILL");
    until("it is gone", || !is_alive(pid));
    until("all are gone", || processes_with(&hooks).is_empty());
    assay.finish();
}

#[test]
fn cold_is_as_ever_and_what_can_not_be_preloaded_is_said_once() {
    let Some(python) = python() else { return };
    let room = of_unittest();
    let run = |name: &str, options: &str, command: &str, runs_of_it: usize| {
        let (told, said) = (format!("{name}.json"), format!("{name}.said"));
        let line = format!(
            "exec \"$ASSAY\" watch --json {options} --ignore '*.json' --ignore '*.said' -- {command} > {told} 2> {said}"
        );
        let assay = start(room.shell(&line));
        for number in 1..=runs_of_it {
            until("it ran", || runs(&room, &told).len() >= number);
            room.write("calc.py", &format!("def add(a, b):\n    return {number} * (a + b)\n"));
        }
        assay.signal("TERM");
        assay.finish().ends(130);
        assert!(runs(&room, &told).iter().all(|run| run["warm"] == false));
        room.read(&said)
    };
    assert_eq!(run("cold", "--cold", &format!("{python} -m unittest"), 1), "");
    room.write("calc.py", "def add(a, b):\n    return a + b\n");
    let said =
        run("other", "--framework unittest", &format!("timeout 100 {python} -m unittest"), 3);
    assert_eq!(said.matches("run cold: `timeout` starts another program").count(), 1, "{said}");
}

/// Returns the children of a process with this name.
fn called(name: &str, parent: u32) -> Vec<u32> {
    let is_called = |pid: &u32| {
        let own = fs::read_to_string(format!("/proc/{pid}/comm"));
        own.is_ok_and(|own| own.trim_end() == name)
    };
    children_of(parent).into_iter().filter(is_called).collect()
}

#[test]
fn the_program_that_cuts_files_is_started_once_and_ends_with_us() {
    let Some(python) = python() else { return };
    let room = of_unittest();
    for way in ["key", "TERM", "KILL"] {
        room.write("calc.py", "def add(a, b):\n    return a + b\n");
        let mut terminal = Terminal::start(watch(&room, &[], &[&python, "-m", "unittest"]), 80);
        terminal.until_shown("green · 2 tests passed");
        terminal.until_shown("waiting for a save");
        let mut own = called("assay-mutate", terminal.pid());
        assert_eq!(own.len(), 1, "is it built? cargo build -p assay-mutate");
        room.write("calc.py", "def add(a, b):\n    return b + a\n");
        terminal.until_shown("green · 1 test passed");
        assert_eq!(called("assay-mutate", terminal.pid()), own);
        match way {
            "key" => terminal.press("q"),
            name => signal(terminal.pid(), name),
        }
        let own = own.remove(0);
        until("it ended", || !is_alive(own));
        terminal.finish();
    }
}
