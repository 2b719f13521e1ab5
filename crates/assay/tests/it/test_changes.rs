//! `assay tests --changed` on real frameworks: only the tests that a change affects run; and the
//! messages about this.

use crate::room::{Ended, Room, finish};
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
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
    room.with_compilers(&mut command);
    finish(command)
}

/// Changes one function, a file that a test reads, nothing, a test; and causes failures.
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
    // It failed, so it runs again, whatever changed; then it is repaired.
    room.write("README.md", "y");
    run(&["--changed"]).ends(4).shows("1 test").complains("1 test runs; left out: 1,");
    room.write(source, &before);
    run(&["--changed"]).ends(0).shows("1 test");
    run(&["--changed"]).ends(0).complains("no test runs");
    room.write("two.txt", "2\n");
    run(&["--changed", "--explain"]).ends(0).complains("opens two.txt, which changed");
    // Comments and moved code count as unchanged.
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
    // A selection by revision does not account for other changes.
    let third = room.read(tests[1]).replace("TwoTest", "ThreeTest");
    room.write(&tests[1].replace("two", "three"), &third);
    finish(room.shell(&line.replace("git init -q && ", ""))).ends(0);
    room.write(source, &before.replace('1', "0 + 1"));
    run(&["--changed=HEAD"]).ends(0).shows("1 test").complains("left out");
    run(&["--changed"]).ends(0).complains("three").shows("2 tests");
    run(&["--changed=nowhere"]).ends(2).complains("`nowhere` is not a revision");
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

/// The first test that needs a file loads it; later tests use its constants without loading it.
#[test]
fn what_a_test_loads_late_is_used_by_the_tests_after_it() {
    let Some((room, command)) = of_ruby() else { return };
    room.write(
        "lib/numbers_of.rb",
        "module Of\n  autoload :NUMBERS, \"numbers\"\n\n  def self.one = NUMBERS[0]\n\n  def self.two = NUMBERS[1]\nend\n",
    );
    room.write("lib/numbers.rb", "module Of\n  NUMBERS = [1, 2]\nend\n");
    changed(&room, &["--changed"], &command).ends(0).shows("2 tests");
    room.write("lib/numbers.rb", "module Of\n  NUMBERS = [3, 4]\nend\n");
    changed(&room, &["--changed"], &command).ends(4).shows("2 tests failed");
}

/// The first test that needs a result computes it, and later tests get the kept result.
#[test]
fn a_kept_result_is_used_by_every_test_that_gets_it() {
    let Some((room, command)) = of_python() else { return };
    let kept = [
        (
            "import codecs\n\n\ndef search(name):\n    return None if name != 'own' else codecs.lookup('ascii')\n\n\ncodecs.register(search)\n\n\ndef value(text):\n    return len(text.encode('own'))\n",
            ("'ascii'", "'utf-16'"),
        ),
        (
            "import functools\n\n\n@functools.lru_cache\ndef one():\n    return 1\n\n\ndef value(text):\n    return one() * len(text)\n",
            ("return 1\n", "return 2\n"),
        ),
        (
            "import abc\n\n\nclass Sized(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, other):\n        return hasattr(other, '__len__')\n\n\ndef value(text):\n    return len(text) * isinstance(text, Sized)\n",
            ("'__len__'", "'__none__'"),
        ),
    ];
    for name in ["one", "two"] {
        let text = format!(
            "import unittest\nfrom kept import value\n\n\nclass T(unittest.TestCase):\n    def test_{name}(self):\n        self.assertEqual(value('{name}'), 3)\n"
        );
        room.write(&format!("test_{name}.py"), &text);
    }
    for (text, (before, after)) in kept {
        room.write("kept.py", text);
        changed(&room, &["--changed"], &command).ends(0).shows("2 tests");
        changed(&room, &["--changed"], &command).ends(0).complains("no test runs");
        room.write("kept.py", &text.replace(before, after));
        changed(&room, &["--changed"], &command).ends(4).shows("2 tests failed");
    }
}

/// The description that a matcher gives an example is known only if it passes; the example is still
/// the same test if it fails.
#[test]
fn an_example_without_a_description_is_found_when_it_fails() {
    if !is_there("rspec", "--version") {
        return;
    }
    let room = Room::new();
    std::fs::create_dir(room.path("lib")).unwrap();
    room.write("lib/one.rb", "module One\n  def self.value\n    1\n  end\nend\n");
    std::fs::create_dir(room.path("spec")).unwrap();
    room.write(
        "spec/one_spec.rb",
        "require \"one\"\n\nRSpec.describe One do\n  it { expect(2).to eq 2 }\n  it { expect(One.value).to eq 1 }\n  it(\"is described\") {}\nend\n",
    );
    let command = [String::from("rspec")];
    changed(&room, &["--changed"], &command).ends(0).shows("3 tests");
    room.write("lib/one.rb", "module One\n  def self.value\n    3\n  end\nend\n");
    let failed = changed(&room, &["--changed"], &command).ends(4);
    failed.shows("1 test").shows("spec/one_spec.rb: One (example 2)");
    room.write("lib/one.rb", "module One\n  def self.value\n    1\n  end\nend\n");
    changed(&room, &["--changed"], &command).ends(0).shows("1 test");
    changed(&room, &["--changed"], &command).ends(0).complains("no test runs");
}

#[test]
fn what_nobody_can_see_is_refused() {
    let room = Room::new();
    let command = ["ctest"].map(str::to_owned);
    let options = ["--changed", "--framework", "ctest"];
    changed(&room, &options, &["true".to_owned()])
        .ends(2)
        .complains("what each test uses can't be recorded for ctest");
    changed(&room, &["--changed", "--rule", "views"], &command)
        .ends(2)
        .complains("write it as PATTERN=TESTS");
    changed(&room, &["--changed", "--runs", "3"], &command)
        .ends(2)
        .complains("cannot be used with");
}

pub(crate) fn is_there(program: &str, argument: &str) -> bool {
    let ran = Command::new(program).arg(argument).output();
    let is_there = ran.is_ok_and(|ran| ran.status.success());
    if !is_there {
        println!("skipped: there is no {program}");
    }
    is_there
}

/// Writes files, and creates their directories.
fn project(files: &[(&str, &str)]) -> Room {
    let room = Room::new();
    for (name, text) in files {
        std::fs::create_dir_all(room.path(name).parent().unwrap()).unwrap();
        room.write(name, text);
    }
    room.write(".gitignore", "cache/\nstate/\ntmp/\ntarget/\n.config/\n");
    room
}

#[test]
fn a_change_runs_the_tests_that_it_touches_in_go() {
    if !is_there("go", "version") {
        return;
    }
    let room = project(&[
        ("go.mod", "module example.com/of\n\ngo 1.20\n"),
        ("half/half.go", "package half\n\nfunc Half(n int) int {\n\treturn n / 2\n}\n"),
        (
            "of.go",
            "package of\n\nimport \"example.com/of/half\"\n\nvar limit = one()\n\nfunc one() int {\n\treturn 1\n}\n\nfunc Two() int {\n\treturn half.Half(4)\n}\n\nfunc Three() int {\n\treturn 3\n}\n",
        ),
        (
            "of_test.go",
            "package of\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc is(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal(a, b)\n\t}\n}\n\nfunc TestTwo(t *testing.T) {\n\tt.Run(\"two\", func(t *testing.T) { is(t, Two(), 2) })\n\tt.Run(\"file\", func(t *testing.T) {\n\t\ttext, _ := os.ReadFile(\"testdata/x.txt\")\n\t\tis(t, len(text), 2)\n\t})\n}\n\nfunc TestThree(t *testing.T) {\n\tis(t, Three(), 3)\n}\n\nfunc ExampleTwo() {\n\tprintln(Two())\n\t// Output:\n}\n",
        ),
        ("testdata/x.txt", "x\n"),
    ]);
    let command = ["go", "test", "./..."].map(str::to_owned);
    let run = |options: &[&str]| changed(&room, options, &command);
    let save = |path: &str, from: &str, to: &str| {
        let text = room.read(path);
        assert!(text.contains(from), "{text}");
        room.write(path, &text.replacen(from, to, 1));
    };
    run(&["--changed"]).ends(0).shows("4 tests").complains("nothing is known yet");
    run(&["--changed"]).ends(0).complains("no test runs: nothing changed that one of the 4 uses");
    // A change in another package's behavior, and one that only moves code.
    save("half/half.go", "n / 2", "n - n/2");
    save("of.go", "func Three", "// Three is three.\nfunc Three");
    run(&["--changed", "--explain"])
        .ends(0)
        .shows("3 tests")
        .complains("TestTwo/file: uses `Half` of half/half.go, which changed (seen)")
        .complains("TestThree: left out; nothing that it used changed (seen)");
    save("of.go", "return 3", "return 4");
    run(&["--changed"]).ends(4).shows("1 test").complains("left out: 3,");
    save("of.go", "return 4", "return 3");
    run(&["--changed"]).ends(0).shows("1 test");
    room.write("testdata/x.txt", "y\n");
    run(&["--changed", "--explain"]).ends(0).complains("opens testdata/x.txt, which changed");
    // Code that runs at program start, code shared by all tests, and code outside functions.
    save("of.go", "return 1", "return 2 - 1");
    run(&["--changed"]).ends(0).shows("4 tests");
    save("of_test.go", "if a != b", "if b != a");
    run(&["--changed"]).ends(0).shows("4 tests");
    save("of.go", "var limit", "const more = 1\n\nvar limit");
    run(&["--changed"]).ends(0).shows("4 tests");
    room.write("half/new.go", "package half\n");
    run(&["--changed", "--explain"]).ends(0).complains("uses the package of half/new.go, which is");
    // An unknown test in a new file, and a rule.
    room.write(
        "half/half_test.go",
        "package half\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tHalf(1)\n}\n",
    );
    run(&["--changed"]).ends(0).shows("1 test").complains("all of half/half_test.go runs");
    std::fs::create_dir(room.path("views")).unwrap();
    room.write("views/a.html", "x");
    run(&["--changed", "--explain", "--rule", "views/**=half"])
        .ends(0)
        .shows("1 test")
        .complains("is named for views/a.html by the rule views/**=half (rule)");
}

#[test]
fn a_change_runs_the_files_that_it_touches_under_node() {
    let version = Command::new("node").arg("--version").output();
    let major = version.ok().and_then(|ran| {
        let text = String::from_utf8(ran.stdout).ok()?;
        text.strip_prefix('v')?.split('.').next()?.parse::<u32>().ok()
    });
    if major.is_none_or(|major| major < 20) {
        println!("skipped: there is no node from 20 on");
        return;
    }
    let room = project(&[
        (
            "of.mjs",
            "import { readFileSync } from 'node:fs'\nexport function one() {\n  return 1\n}\nexport function two() {\n  return Number(readFileSync('two.txt', 'utf8'))\n}\n",
        ),
        (
            "three.cjs",
            "exports.three = () => {\n  return 3\n}\nexports.four = () => {\n  return 4\n}\n",
        ),
        ("two.txt", "2"),
        (
            "one.test.mjs",
            "import test from 'node:test'\nimport assert from 'node:assert'\nimport { one } from './of.mjs'\ntest('one', () => assert.equal(one(), 1))\n",
        ),
        (
            "two.test.mjs",
            "import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { two } from './of.mjs'\ntest('two', () => {\n  assert.equal(two(), 2)\n})\n",
        ),
        (
            "three.test.cjs",
            "const test = require('node:test')\nconst { three } = require('./three.cjs')\nconst { Worker } = require('node:worker_threads')\ntest('three', (_, done) => {\n  if (three() !== 3) throw new Error()\n  new Worker('./worker.cjs').on('exit', () => done())\n})\n",
        ),
        ("worker.cjs", "function work() {\n  return 1\n}\nwork()\n"),
    ]);
    let command = ["node", "--test"].map(str::to_owned);
    let run = |options: &[&str]| changed(&room, options, &command);
    run(&["--changed"]).ends(0).shows("3 tests").complains("nothing is known yet");
    run(&["--changed"]).ends(0).complains("no test runs: nothing changed that one of the 3 uses");
    room.write("of.mjs", &room.read("of.mjs").replace("return 1", "return 2 - 1"));
    run(&["--changed", "--explain"])
        .ends(0)
        .shows("1 test")
        .complains("one: uses `one` of of.mjs, which changed (seen)")
        .complains("all of one.test.mjs runs; left out: 2,");
    room.write("two.txt", "3");
    run(&["--changed"]).ends(4).shows("1 test").complains("all of two.test.mjs runs");
    room.write("two.txt", "2");
    run(&["--changed"]).ends(0).shows("1 test");
    room.write("three.cjs", &room.read("three.cjs").replace("return 4", "return 5"));
    run(&["--changed"]).ends(0).complains("no test runs");
    room.write("worker.cjs", &room.read("worker.cjs").replace("return 1", "return 2"));
    run(&["--changed"]).ends(0).complains("all of three.test.cjs runs");
    // Imported names are part of the code outside functions.
    room.write("of.mjs", &format!("export const more = 1\n{}", room.read("of.mjs")));
    run(&["--changed"]).ends(0).shows("2 tests");
}

#[test]
fn a_change_of_a_crate_runs_what_is_built_from_it() {
    if !is_there("cargo", "--version") {
        return;
    }
    let room = project(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\", \"c\"]\nresolver = \"2\"\n"),
        (
            "a/Cargo.toml",
            "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nb = { path = \"../b\" }\n[lib]\ndoctest = false\n",
        ),
        (
            "b/Cargo.toml",
            "[package]\nname = \"b\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n",
        ),
        (
            "c/Cargo.toml",
            "[package]\nname = \"c\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n",
        ),
        ("a/src/lib.rs", "#[test]\nfn of_a() {\n    assert_eq!(b::two(), 2);\n}\n"),
        ("b/src/lib.rs", "pub fn two() -> u8 {\n    2\n}\n"),
        ("c/src/lib.rs", "#[test]\nfn of_c() {}\n"),
    ]);
    let mut lock = room.shell("cargo generate-lockfile --offline");
    room.with_compilers(&mut lock);
    finish(lock).ends(0);
    let command = ["cargo", "test", "--offline"].map(str::to_owned);
    let run = |options: &[&str]| changed(&room, options, &command);
    run(&["--changed"]).ends(0).shows("2 tests").complains("nothing is known yet");
    run(&["--changed"]).ends(0).complains("no test runs: nothing changed that one of the 2 uses");
    room.write("b/src/lib.rs", "pub fn two() -> u8 {\n    1 + 1\n}\n");
    run(&["--changed", "--explain"])
        .ends(0)
        .shows("1 test")
        .complains("a: of_a: is built from b/src/lib.rs, or may read it, and it changed (imports)")
        .complains("c: of_c: left out; nothing that it is built from changed (imports)");
    // Files that a program opens are not tracked.
    room.write("c/data.txt", "x");
    run(&["--changed"]).ends(0).shows("1 test").complains("left out: 1,");
}

/// Runs `assay` without its companion programs; checks its messages about a change of one function.
#[test]
fn without_the_program_that_cuts_files_a_change_touches_all_that_use_the_file() {
    let Some((room, command)) = of_python() else { return };
    std::fs::create_dir(room.path("bin")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("bin/assay")).unwrap();
    room.write(".gitignore", "bin/\ncache/\nstate/\n");
    let lost = "a change affects all tests that use its file";
    let run = |value: &str| {
        room.write("numbers_of.py", &CODE.replace("return 1", value));
        let words = ["tests", "--no-save", "--changed", "--"].map(str::to_owned);
        let mut assay = Command::new(room.path("bin/assay"));
        assay.args(words).args(&command).current_dir(room.path("."));
        assay.env("XDG_CACHE_HOME", room.path("cache")).env("PYTHONDONTWRITEBYTECODE", "1");
        let ended = finish(assay).ends(0);
        assert!(ended.stderr.matches(lost).count() <= 1, "{}", ended.stderr);
        ended
    };
    run("return 1").shows("2 tests").complains(lost).complains("--path crates/mutate");
    run("return 1").complains("no test runs");
    run("return 1 + 0").shows("2 tests").complains(lost);
    // One of another version, and one that does not work.
    let programs = [
        ("printf 'blocks 0'; exec cat > /dev/null", "of another version"),
        ("exit 3", "assay-mutate ended (exit status: 3)"),
        ("printf 'blocks 1'; read x; exit 4", "assay-mutate ended (exit status: 4)"),
    ];
    for (place, (program, why)) in programs.into_iter().enumerate() {
        room.write("bin/assay-mutate", &format!("#!/bin/sh\n{program}\n"));
        set_permissions(room.path("bin/assay-mutate"), Permissions::from_mode(0o755)).unwrap();
        run(&format!("return 1 + 0 * {place}")).shows("2 tests").complains(why);
    }
}
