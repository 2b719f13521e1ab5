//! `assay tests --changed` on real frameworks: only what a change touches runs, and what is said of it.

use crate::room::{Ended, Room, finish};
use std::process::Command;

const CODE: &str = "def one():\n    return 1\n\n\ndef two():\n    with open('two.txt') as file:\n        return int(file.read())\n";

fn of_python() -> Option<(Room, Vec<String>)> {
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Some(path) = found.ok().filter(|ran| ran.status.success()) else {
        println!("skipped: there is no python3");
        return None;
    };
    let python = String::from_utf8(path.stdout).unwrap().trim().to_owned();
    let room = Room::new();
    room.write("numbers_of.py", CODE);
    room.write("two.txt", "2");
    for (name, value) in [("one", 1), ("two", 2)] {
        let text = format!(
            "import unittest\nfrom numbers_of import {name}\n\n\nclass T(unittest.TestCase):\n    def test_{name}(self):\n        self.assertEqual({name}(), {value})\n"
        );
        room.write(&format!("test_{name}.py"), &text);
    }
    Some((room, [&python, "-m", "unittest"].map(str::to_owned).to_vec()))
}

fn of_ruby() -> Option<(Room, Vec<String>)> {
    let is_there = Command::new("ruby").args(["-e", "require 'minitest'"]).output();
    if !is_there.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no ruby with minitest");
        return None;
    }
    let room = Room::new();
    std::fs::create_dir(room.path("lib")).unwrap();
    room.write(
        "lib/numbers_of.rb",
        "module Of\n  def self.one\n    1\n  end\n\n  def self.two\n    File.read(\"two.txt\").to_i\n  end\nend\n",
    );
    room.write("two.txt", "2");
    for (name, value) in [("one", 1), ("two", 2)] {
        let class = ["One", "Two"][value - 1];
        let text = format!(
            "require \"minitest/autorun\"\nrequire \"numbers_of\"\n\nclass {class}Test < Minitest::Test\n  def test_{name}\n    assert_equal {value}, Of.{name}\n  end\nend\n"
        );
        room.write(&format!("{name}_test.rb"), &text);
    }
    let words =
        ["ruby", "-Ilib", "-e", "Dir[\"*_test.rb\"].sort.each { |file| require \"./#{file}\" }"];
    Some((room, words.map(str::to_owned).to_vec()))
}

fn changed(room: &Room, options: &[&str], command: &[String]) -> Ended {
    let mut words = vec!["tests", "--no-save"];
    words.extend(options);
    words.push("--");
    words.extend(command.iter().map(String::as_str));
    let mut command = room.assay(&words);
    command.env("XDG_CACHE_HOME", room.path("cache")).env("PYTHONDONTWRITEBYTECODE", "1");
    finish(command)
}

/// A change of one function, of a file that a test reads, of nothing, of a test; and failures.
fn touched(room: &Room, command: &[String], source: &str, tests: [&str; 2]) {
    let run = |options: &[&str]| changed(room, options, command);
    room.write(".gitignore", "cache/\nstate/\n");
    room.write("README.md", "x");
    run(&["--changed"]).ends(0).shows("2 tests").complains("nothing is known yet");
    run(&["--changed"]).ends(0).complains("no test runs: nothing changed that one of the 2 uses");
    let before = room.read(source);
    room.write(source, &before.replace('1', "3"));
    let failed = run(&["--changed", "--explain"]).ends(4);
    failed.complains("one` of").complains("left out; nothing that it used changed");
    // It failed, so it runs again, whatever changed; and mended.
    room.write("README.md", "y");
    run(&["--changed"]).ends(4).shows("1 test").complains("1 test runs; left out: 1,");
    room.write(source, &before);
    run(&["--changed"]).ends(0).shows("1 test");
    run(&["--changed"]).ends(0).complains("no test runs");
    room.write("two.txt", "2\n");
    run(&["--changed", "--explain"]).ends(0).complains("opens two.txt, which changed");
    // Comments and what moves change nothing.
    room.write(source, &format!("# about\n\n{before}"));
    run(&["--changed"]).ends(0).complains("no test runs");
    // Another test in a file of tests.
    let text = room.read(tests[1]);
    let more = text.replace("def test_two", "def test_more(*)\n  end\n\n  def test_two");
    let more = match source.ends_with("py") {
        true => text.replace(
            "    def test_two",
            "    def test_more(self):\n        pass\n\n    def test_two",
        ),
        false => more,
    };
    room.write(tests[1], &more);
    run(&["--changed"]).ends(0).shows("2 tests").complains(&format!("with all of {}", tests[1]));
    let line = "git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm x";
    finish(room.shell(line)).ends(0);
    run(&["--changed=HEAD"]).ends(0).complains("no test runs");
    room.write(source, &before.replace('1', "1 + 0"));
    run(&["--changed=HEAD"]).ends(0).shows("1 test").complains("left out: 2,");
    run(&["--changed=nowhere"]).ends(2).complains("git does not say");
}

#[test]
fn a_change_runs_the_tests_that_it_touches_in_python() {
    if let Some((room, command)) = of_python() {
        touched(&room, &command, "numbers_of.py", ["test_one.py", "test_two.py"]);
    }
}

#[test]
fn a_change_runs_the_tests_that_it_touches_in_ruby() {
    if let Some((room, command)) = of_ruby() {
        touched(&room, &command, "lib/numbers_of.rb", ["one_test.rb", "two_test.rb"]);
    }
}

#[test]
fn what_nobody_can_see_is_refused() {
    let room = Room::new();
    let command = ["go", "test"].map(str::to_owned);
    changed(&room, &["--changed"], &command).ends(2).complains("what tests of go use is not known");
    changed(&room, &["--changed", "--runs", "3"], &command)
        .ends(2)
        .complains("cannot be used with");
}
