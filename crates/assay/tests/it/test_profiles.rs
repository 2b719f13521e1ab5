//! `assay tests --profile` on real suites under the real samplers: one test allocates, one
//! computes, one waits. Tests of a sampler or framework that is not installed are skipped and
//! report that.

use crate::profiling::{py_spy, stackprof_is_here};
use crate::room::{Ended, Room, codes};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Before the first test there is a setup for all of them. The collector is certain to run, on any
/// machine.
const MINITEST: &str = "require 'minitest/autorun'
class ShopTest < Minitest::Test
  KEPT = Array.new(300_000) { |i| i.to_s }
  def self.run(...) = (300_000.times { |i| i.to_s }; super)
  def allocated = Array.new(20_000) { |i| \"item #{i}\" }
  def computed(n) = (t = 0; i = 0; while i < n; t += i * i % 7; i += 1; end; t)
  def test_allocates = 8.times { allocated; GC.start }
  def test_computes = computed(2_000_000)
  def test_waits = sleep(0.2)
end
";
const RSPEC: &str = "RSpec.describe 'Shop; (odd)' do
  before(:all) { 300_000.times { |i| i.to_s } }
  it('computes') { t = 0; i = 0; while i < 2_000_000; t += i * i % 7; i += 1; end }
  it { sleep 0.1; expect(5).to be_positive }
end
";
const PYTEST: &str = "import gc, time, pytest
def work(n):
    t = 0
    for i in range(n): t += i * i % 7
@pytest.fixture(scope='session')
def base(): work(2_000_000)
def test_allocates():
    kept = [[i] for i in range(100_000)]
    for _ in range(30): gc.collect()
def test_computes(base): work(4_000_000)
def test_waits(): time.sleep(0.2)
";

fn profiled(room: &Room, options: &[&str], command: &[&str]) -> Ended {
    room.run(&[&["tests", "--profile"], options, &["--"], command].concat())
}

pub(crate) fn ruby_has(library: &str) -> bool {
    let asked = Command::new("ruby")
        .args(["-e", &format!("require '{library}'")])
        .stderr(Stdio::null())
        .status();
    let here = asked.is_ok_and(|status| status.success());
    if !here {
        println!("skipped: {library} is not installed");
    }
    here
}

/// Returns the Python of the tests' own environment, which includes pytest; py-spy is there as
/// well, or on PATH.
fn python_with_pytest() -> Option<PathBuf> {
    let python = py_spy()?.join("python3");
    let asked = Command::new(&python).args(["-c", "import pytest"]).stderr(Stdio::null()).status();
    let here = asked.is_ok_and(|status| status.success());
    if !here {
        println!("skipped: there is no pytest beside py-spy");
    }
    here.then_some(python)
}

fn part<'a>(result: &'a Value, list: &str, name: &str) -> &'a Value {
    let all = result[list].as_array().unwrap();
    let found = all.iter().find(|own| own["name"].as_str().is_some_and(|own| own.contains(name)));
    found.unwrap_or_else(|| unreachable!("no {name} in {result:#}"))
}

/// Checks that the shares of all parts sum to the whole, and that each is within its interval.
fn sums_to_the_whole(result: &Value) {
    let parts = ["tests", "outside"].map(|list| result[list].as_array().unwrap().iter());
    let parts: Vec<&Value> = parts.into_iter().flatten().collect();
    let sum: f64 = parts.iter().map(|own| own["share"]["estimate"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let samples: u64 = parts.iter().map(|own| own["samples"].as_u64().unwrap()).sum();
    assert_eq!(samples, result["samples"].as_u64().unwrap());
    for own in parts {
        let [low, share, high] =
            ["lower", "estimate", "upper"].map(|end| own["share"][end].as_f64().unwrap());
        assert!(low <= share && share <= high, "{own:#}");
    }
}

#[test]
fn each_test_of_minitest_has_its_functions_and_its_collector() {
    if !stackprof_is_here() || !ruby_has("minitest") {
        return;
    }
    let room = Room::new();
    room.write("shop_test.rb", MINITEST);
    let command = ["ruby", "shop_test.rb"];
    let files = ["-o", "out.html", "-o", "out.collapsed", "--json", "--top", "0"];
    let result = profiled(&room, &files, &command).ends(0).json();
    sums_to_the_whole(&result);
    assert_eq!((&result["sampler"], &result["metric"]), (&"stackprof".into(), &"wall".into()));
    assert_eq!((&result["ran"], &result["failed"]), (&3.into(), &0.into()));
    let gc = |name: &str| {
        part(&result, "tests", name)["garbage_collection"]["estimate"].as_f64().unwrap()
    };
    assert!(gc("test_allocates") > 0.3, "{result:#}");
    assert!(gc("test_waits") < gc("test_allocates"), "{result:#}");
    let first = |name: &str| part(&result, "tests", name)["functions"][0]["name"].clone();
    assert_eq!(first("test_computes"), "ShopTest#computed");
    assert_eq!(first("test_waits"), "Kernel#sleep");
    let around = part(&result, "outside", "ShopTest");
    assert_eq!((&around["kind"], &around["group"]), (&"group".into(), &"ShopTest".into()));
    part(&result, "outside", "start");
    // Each stack is below its test.
    let collapsed = room.read("out.collapsed");
    assert!(collapsed.lines().any(|l| l.starts_with("ShopTest: test_computes;")), "{collapsed}");
    assert!(!collapsed.contains("assay-frame"), "{collapsed}");
    assert!(room.read("out.html").contains("ShopTest: test_waits"));
    // One test, several times.
    let only = ["--only", "ShopTest: test_waits", "--runs", "3"];
    let ended = profiled(&room, &only, &command).ends(0);
    ended.shows("1 test").shows("3 runs").shows("from the differences between runs");
    let screen = profiled(&room, &["-n", "1"], &command).ends(0);
    screen.shows("its GC").shows("2 more tests").shows("100.0 % all");
}

#[test]
fn examples_of_rspec_have_the_names_that_they_get_in_the_end() {
    if !stackprof_is_here() || !ruby_has("rspec/core") {
        return;
    }
    let room = Room::new();
    room.write("shop_spec.rb", RSPEC);
    let result = profiled(&room, &["--json"], &["rspec", "shop_spec.rb"]).ends(0).json();
    sums_to_the_whole(&result);
    part(&result, "tests", "shop_spec.rb: Shop; (odd) computes");
    part(&result, "tests", "shop_spec.rb: Shop; (odd) (example 1)");
    assert_eq!(part(&result, "outside", "before Shop; (odd)")["kind"], "group_setup");
}

#[test]
fn each_test_of_pytest_has_its_functions_and_fixtures_are_of_no_test() {
    let Some(python) = python_with_pytest() else { return };
    let room = Room::new();
    room.write("test_shop.py", PYTEST);
    let python = python.display().to_string();
    let command = [python.as_str(), "-m", "pytest", "-p", "no:cacheprovider"];
    let result = profiled(&room, &["--json"], &command).ends(0).json();
    sums_to_the_whole(&result);
    let computes = part(&result, "tests", "test_shop.py::test_computes");
    assert_eq!(computes["functions"][0]["name"], "work");
    assert_eq!(computes["garbage_collection"], Value::Null);
    let allocates = part(&result, "tests", "test_allocates");
    assert!(allocates["timed_garbage_collection"]["estimate"].as_f64().unwrap() > 0.3);
    assert_eq!(part(&result, "outside", "base)")["functions"][0]["name"], "work");
    // A waiting test has no CPU time, but it has wall time.
    let by_wall = ["--clock", "wall", "--only", "test_shop.py::test_waits", "--json"];
    let waits = profiled(&room, &by_wall, &command).ends(0).json();
    assert!(part(&waits, "tests", "test_waits")["samples"].as_u64().unwrap() > 0);
}

#[test]
fn a_suite_that_fails_is_shown_with_its_samples_and_status() {
    let Some(python) = python_with_pytest() else { return };
    let room = Room::new();
    room.write(
        "test_shop.py",
        // Long enough for a busy machine to start a sampler.
        "import time, unittest\nclass A(unittest.TestCase):\n    def test_x(self):\n        t = 0\n        while time.process_time() < 1.5: t += 1\n        self.fail('no luck')\n",
    );
    let python = python.display().to_string();
    // With a launcher in front that is not Python itself.
    let command = ["env", "A=1", &python, "-m", "unittest", "test_shop"];
    let ended = profiled(&room, &[], &command).ends(4);
    ended.shows("1 test failed").shows("test_shop.A: test_x").shows("this sampler does not see it");
    let result = profiled(&room, &["--json", "--rate", "3"], &command).ends(4).json();
    assert!(codes(&result).contains(&"PROFILE_FEW"), "{result:#}");
}

#[test]
fn what_can_not_be_sampled_by_test_says_so() {
    let room = Room::new();
    profiled(&room, &[], &["go", "test", "./..."]).ends(2).complains("but not of go");
    if let (true, true) = (stackprof_is_here(), ruby_has("minitest")) {
        room.write("hangs.rb", "require 'minitest/autorun'\nclass A < Minitest::Test\n  def test_x = loop { 1 + 1 }\nend\n");
        profiled(&room, &["--timeout", "2s"], &["ruby", "hangs.rb"])
            .ends(4)
            .complains("longer than --timeout 2 s");
        room.write("none.rb", "200_000.times { |i| i.to_s }\n");
        profiled(&room, &[], &["ruby", "none.rb"]).ends(4).complains("the suite exited with");
    }
    profiled(&room, &["--rev", "main"], &["pytest"]).ends(2).complains("--rev");
    profiled(&room, &["-o", "out.xyz"], &["pytest"]).ends(2).complains("out.xyz");
    let without = ["tests", "--rate", "99", "--", "sh", "-c", ":"];
    room.run(&without).ends(2).complains("--rate applies to sampling; add --profile");
    room.run(&["tests", "--top", "3", "--", "sh"]).ends(2).complains("--profile");
}
