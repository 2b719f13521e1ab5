//! Ruby tests that are loaded once, with every kind of method: tried by the real binary and by the
//! driver itself.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and says what it skips")]

use crate::project;

use assay_mutate::mutants::controls::certain_killer;
use assay_mutate::mutants::{Generator, Language, alone};
use project::{Project, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const KINDS: &str = r##"# frozen_string_literal: true

module Kinds
  LIMIT = 3

  def self.twice(number)
    number * 2
  end

  module_function

  def clamp(number)
    number > LIMIT ? LIMIT : number
  end

  class Base
    def name
      "base"
    end
  end

  class Stack < Base
    @@made = 0

    class << self
      def made
        @@made
      end

      private

      def secret
        42
      end
    end

    def self.reveal
      secret
    end

    attr_reader :items

    def initialize
      @@made += 1
      @items = []
    end

    def push(item)
      raise ArgumentError if full?
      @items << item
      self
    end
    alias << push

    def name
      "stack of " + super
    end

    def ==(other)
      weight == other.weight
    end

    def total
      @items.sum do |item|
        item + 1
      end
    end

    protected

    def weight
      @items.size
    end

    private

    def full?
      @items.size >= 2
    end
  end

  Point = Struct.new(:x) do
    def far?
      x > LIMIT
    end

    def self.origin
      new(0)
    end
  end

  class Loud
    def self.method_added(name)
      (@added ||= []) << name
    end

    def shout(text)
      text.upcase
    end
  end

  refine String do
    def again
      self + self
    end
  end

  define_method(:defined_so) { 1 + 1 }
  module_function :defined_so

  def loaded
    5
  end
  module_function :loaded
  LOADED = Kinds.loaded

  def held(number)
    number + 1
  end
  module_function :held
  HELD = method(:held)
end

def at_the_top(number)
  number - 1
end
"##;

const TESTS: &str = r#"require "minitest/autorun"
require_relative "kinds"

module Refined
  using Kinds
  def self.again(text)
    text.again
  end
end

class KindsTest < Minitest::Test
  def setup
    @stack = Kinds::Stack.new
  end

  def test_functions
    assert_equal [8, 3, 2, 2], [Kinds.twice(4), Kinds.clamp(5), Kinds.clamp(2), Kinds.defined_so]
    assert_equal [5, 5, 2, 2], [Kinds.loaded, Kinds::LOADED, Kinds::HELD.call(1), at_the_top(3)]
    assert_equal "aa", Refined.again("a")
  end

  def test_visibility
    assert_raises(NoMethodError) { @stack.full? }
    assert_raises(NoMethodError) { @stack.weight }
    assert_raises(NoMethodError) { Kinds::Stack.secret }
    assert_equal 42, Kinds::Stack.reveal
  end

  def test_stack
    made = Kinds::Stack.made
    assert_equal Kinds::Stack.new, @stack
    assert_equal made + 1, Kinds::Stack.made
    @stack.push(1) << 2
    assert_equal [[1, 2], 5, "stack of base"], [@stack.items, @stack.total, @stack.name]
    assert_raises(ArgumentError) { @stack << 3 }
  end

  def test_point
    assert_equal [false, true, 0], [3, 4].map { |x| Kinds::Point.new(x).far? } + [Kinds::Point.origin.x]
  end

  def test_loud
    assert_equal "A", Kinds::Loud.new.shout("a")
    Kinds::Base.new.name
  end
end
"#;

/// Methods that the driver leaves to separate processes: those of a refinement, and those that are
/// stored or observed elsewhere.
const LEFT: [&str; 3] = ["Kinds.Loud.shout", "Kinds.again", "Kinds.held"];
/// A method that runs only while the tests are loaded, which the driver cannot know.
const OVER: &str = "Kinds.Loud.method_added";

/// Returns true if a library of Ruby is installed; otherwise prints that the test is skipped.
pub fn there_is(library: &str) -> bool {
    let ruby =
        Command::new("ruby").args(["-e", &format!("require '{library}'; exit!(0)")]).output();
    let is_there = ruby.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: {library} is not installed");
    }
    is_there
}

/// A process that has loaded its tests and is sent requests directly.
struct Driver(Child, BufReader<UnixStream>, Value);

impl Driver {
    fn start(project: &Project, command: &[&str]) -> Self {
        let room = project.temporary();
        let json = assay_suites::hooks::files().find(|(name, _)| *name == "assay_warm_json.rb");
        fs::write(room.join("assay_warm_json.rb"), json.unwrap().1).unwrap();
        for (name, driver) in [
            ("assay_mutants.rb", include_str!("../../src/drivers/assay_mutants.rb")),
            (
                "assay_mutants_frameworks.rb",
                include_str!("../../src/drivers/assay_mutants_frameworks.rb"),
            ),
            (
                "assay_mutants_methods.rb",
                include_str!("../../src/drivers/assay_mutants_methods.rb"),
            ),
        ] {
            fs::write(room.join(name), driver).unwrap();
        }
        let socket = room.join("socket");
        let mut process = Command::new(command[0]);
        process.args(&command[1..]).current_dir(project.top()).env_remove("SPEC_OPTS");
        process.env("ASSAY_MUTANTS", format!("path:{}", socket.display()));
        process.env("RUBYOPT", format!("-r{}", room.join("assay_mutants.rb").display()));
        let mut child = process.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        let stream = loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                break stream;
            }
            assert_eq!(child.try_wait().unwrap(), None);
            assert!(began.elapsed() < Duration::from_secs(60), "it does not come to its tests");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut own = Self(child, BufReader::new(stream), Value::Null);
        own.2 = own.heard();
        own
    }

    fn heard(&mut self) -> Value {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    /// Requests a run with a file's changed text.
    fn ask(
        &mut self,
        path: &std::path::Path,
        units: &Unit,
        changed: &str,
        tests: &[&str],
    ) -> Value {
        let Some(own) = &units.alone else { return json!({"unable": "by its text"}) };
        let ask = json!({"path": path, "text": own.text(&units.original, changed).unwrap(), "first": own.first,
            "name": units.name, "line": own.known, "tests": tests, "limit": 60.0});
        self.1.get_mut().write_all(format!("{ask}\n").as_bytes()).unwrap();
        self.heard()
    }

    /// Closes the connection, and checks that the process ends.
    fn ends(self) {
        let Self(mut child, stream, _) = self;
        drop(stream);
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "it stays");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A function of a file.
struct Unit {
    whole: String,
    name: String,
    original: String,
    alone: Option<assay_mutate::mutants::IsolatedFunction>,
    killer: String,
}

fn units(original: &str) -> Vec<Unit> {
    let found = Generator::new(Language::Ruby).unwrap().mutants("a.rb", original.as_bytes());
    let all = alone(Language::Ruby, original.as_bytes(), &found.units);
    let units = found.units.iter().zip(all).map(|(unit, alone)| Unit {
        whole: unit.name.clone(),
        name: unit.name.rsplit('.').next().unwrap().to_owned(),
        original: original.to_owned(),
        alone,
        killer: text(&certain_killer(Language::Ruby, unit, original.as_bytes()).unwrap()),
    });
    units.collect()
}

#[test]
fn every_kind_of_method_is_put_in_the_place_of_the_one_that_is_loaded() {
    if !there_is("minitest") {
        return;
    }
    let project = Project::new(&[("kinds.rb", KINDS), ("kinds_test.rb", TESTS)]);
    let mut driver = Driver::start(&project, &["ruby", "kinds_test.rb"]);
    assert_eq!(driver.2, json!({"ready": 5}));
    let path = project.top().join("kinds.rb");
    let tests = ["point", "visibility", "functions", "stack", "loud"];
    let tests = tests.map(|name| format!("KindsTest: test_{name}"));
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    let mut left = Vec::new();
    for unit in units(KINDS).into_iter().filter(|unit| unit.whole != OVER) {
        let same = driver.ask(&path, &unit, KINDS, &tests);
        let killed = driver.ask(&path, &unit, &unit.killer, &tests);
        if same.get("unable").is_some() {
            assert!(killed.get("unable").is_some(), "{}: {killed}", unit.whole);
            left.push(unit.whole);
            continue;
        }
        assert_eq!((&same["failed"], &same["run"]), (&json!([]), &json!(5)), "{}", unit.whole);
        assert_eq!(killed["failed"].as_array().map(Vec::len), Some(1), "{}: {killed}", unit.whole);
    }
    left.sort();
    assert_eq!(left, LEFT);
    driver.ends();
}

#[test]
fn a_change_that_ends_the_process_or_hangs_is_told() {
    if !there_is("minitest") {
        return;
    }
    let project = Project::new(&[("kinds.rb", KINDS), ("kinds_test.rb", TESTS)]);
    let mut driver = Driver::start(&project, &["ruby", "kinds_test.rb"]);
    let path = project.top().join("kinds.rb");
    let unit = units(KINDS).into_iter().find(|unit| unit.name == "at_the_top").unwrap();
    let test = ["KindsTest: test_functions"];
    let mut tried = |body: &str, limit: f64| {
        let own = unit.alone.as_ref().unwrap();
        let changed = KINDS.replace("number - 1", body);
        let ask = json!({"path": path, "text": own.text(KINDS, &changed).unwrap(), "first": own.first, "name": "at_the_top",
            "line": own.known, "tests": test, "limit": limit, "computing": 0.2});
        driver.1.get_mut().write_all(format!("{ask}\n").as_bytes()).unwrap();
        driver.heard()
    };
    assert_eq!(tried("sleep", 0.3)["timeout"], true);
    let told = tried("(loop {})", 60.0);
    assert_eq!(told["computing"], true, "{told}");
    assert!(tried("exit!(3)", 60.0)["crashed"].as_str().unwrap().contains("status 3"));
    assert!(
        tried("Process.kill(:KILL, $$)", 60.0)["crashed"].as_str().unwrap().contains("signal 9")
    );
    assert!(tried("exit", 60.0)["crashed"].as_str().unwrap().contains("SystemExit"));
    assert!(tried("1 +", 60.0)["unable"].as_str().unwrap().contains("syntax error"));
    assert_eq!(tried("number - 1", 60.0)["failed"], json!([]));
    driver.ends();
}

const ADDS: &str = "module A\n  def self.x(n)\n    n + 1\n  end\nend\n";

/// Runs the tests `names` of a project; the last `noticing` of them notice a change.
fn chosen(project: &Project, command: &[&str], names: &[&str], noticing: usize) {
    let mut driver = Driver::start(project, command);
    let path = project.top().join("a.rb");
    let unit = units(ADDS).remove(0);
    assert_eq!(driver.ask(&path, &unit, ADDS, names)["run"], names.len());
    // The first test that notices ends the run.
    let changed = ADDS.replace("n + 1", "n + 5");
    for first in names.len() - noticing..names.len() {
        let came = driver.ask(&path, &unit, &changed, &names[first..]);
        assert_eq!((&came["failed"], &came["run"]), (&json!([names[first]]), &json!(1)));
    }
    let all = driver.ask(&path, &unit, &changed, names);
    assert_eq!(all["failed"], json!([names[names.len() - noticing]]));
    let other = driver.ask(&path, &unit, ADDS, &["nobody"]);
    assert!(other["unable"].as_str().unwrap().contains("no test is called nobody"), "{other}");
    driver.ends();
}

#[test]
fn examples_of_rspec_are_chosen_by_their_names() {
    if !there_is("rspec/core") {
        return;
    }
    let spec = "require_relative 'a'\nRSpec.describe A do\n  before(:all) { @all = 1 }\n  it('adds') { expect(A.x(@all)).to eq(2) }\n  it('adds') { expect(A.x(2)).to eq(3) }\n  \
        context 'deep' do\n    subject { A.x(0) }\n    it { is_expected.to eq(1) }\n    it('runs') { A.x(1) }\n  end\nend\n";
    let project = Project::new(&[("a.rb", ADDS), ("a_spec.rb", spec)]);
    let names = [
        "a_spec.rb: A deep runs",
        "a_spec.rb: A deep (example 1)",
        "a_spec.rb: A adds #2",
        "a_spec.rb: A adds",
    ];
    chosen(&project, &["rspec", "a_spec.rb"], &names, 3);
}

#[test]
fn tests_of_test_unit_are_chosen_by_their_names() {
    if !there_is("test-unit") {
        return;
    }
    let tests = "require 'test-unit'\nrequire_relative 'a'\nclass ATest < Test::Unit::TestCase\n  data('one' => 1, 'two' => 2)\n  def test_data(n); assert_equal n + 1, A.x(n); end\n  \
        def test_run; A.x(1); end\n  def test_left; omit; end\nend\nclass BTest < Test::Unit::TestCase\n  def self.startup; @@b = A.x(1); end\n  def test_b; assert_equal 2, @@b; end\nend\n";
    let project = Project::new(&[("a.rb", ADDS), ("a_test.rb", tests)]);
    let names = [
        "ATest: test_run",
        "ATest: test_left",
        "BTest: test_b",
        "ATest: test_data[two]",
        "ATest: test_data[one]",
    ];
    chosen(&project, &["ruby", "a_test.rb"], &names, 3);
}

/// Returns the diff and fate of each mutant, by id.
fn fates(result: &Value) -> BTreeMap<String, (String, String)> {
    let all = result["mutants"].as_array().unwrap().iter();
    let words = |own: &Value, name: &str| own[name].as_str().unwrap().to_owned();
    all.map(|own| (words(own, "id"), (words(own, "diff"), words(own, "fate")))).collect()
}

#[test]
fn processes_of_their_own_find_the_same_as_forks_of_ruby() {
    if !there_is("minitest") {
        return;
    }
    let command = ["ruby", "kinds_test.rb"];
    let project = Project::new(&[("kinds.rb", KINDS), ("kinds_test.rb", TESTS)]);
    let (forked, _) = project.tried_by(&[], &command);
    assert_eq!(forked["notes"], json!([]), "in forks");
    // A thread that is alive while the tests are loaded prevents forking.
    project.write("kinds_test.rb", &format!("Thread.new {{ sleep }}\n{TESTS}"));
    let (plain, _) = project.tried_by(&[], &command);
    assert!(plain["notes"][0].as_str().unwrap().contains("threads"), "{}", plain["notes"]);
    assert_eq!(fates(&plain), fates(&forked));
    let killed = fates(&forked).values().filter(|(_, fate)| fate == "killed").count();
    assert!(killed > 30, "{killed}");
    assert!(fates(&forked).values().any(|(_, fate)| fate == "survived"));
}

#[test]
fn examples_without_a_description_are_found_again() {
    if !there_is("rspec/core") || !there_is("rspec/expectations") {
        return;
    }
    let spec = |more: &str| {
        format!(
            "{more}require_relative 'a'\nRSpec.describe 'a' do\n  subject {{ one(1) }}\n  it {{ is_expected.to eq(2) }}\nend\n"
        )
    };
    let project = Project::new(&[("a.rb", "def one(n)\n  n + 1\nend\n"), ("a_spec.rb", &spec(""))]);
    let command = ["rspec", "a_spec.rb"];
    let (forked, _) = project.tried_by(&["a.rb"], &command);
    assert_eq!(forked["notes"], json!([]), "in forks");
    assert_eq!(forked["tests"][0]["name"], "a_spec.rb: a (example 1)");
    project.write("a_spec.rb", &spec("Thread.new { sleep }\n"));
    let (plain, _) = project.tried_by(&["a.rb"], &command);
    for result in [forked, plain] {
        let all = result["mutants"].as_array().unwrap();
        assert!(all.len() >= 3, "{result}");
        assert!(
            all.iter().all(|own| own["fate"] == "killed" && own["killed_by"] == json!([0])),
            "{result}"
        );
    }
}

#[test]
fn tests_that_rake_starts_are_loaded_once_too() {
    if !there_is("minitest") || !there_is("rake/testtask") {
        return;
    }
    let rakefile =
        "require 'rake/testtask'\nRake::TestTask.new { |task| task.test_files = ['a_test.rb'] }\n";
    let tests = "require 'minitest/autorun'\nrequire_relative 'a'\nclass ATest < Minitest::Test\n  parallelize_me!\n  def test_x; assert_equal 2, A.x(1); end\nend\n";
    let project = Project::new(&[("a.rb", ADDS), ("a_test.rb", tests), ("Rakefile", rakefile)]);
    chosen(&project, &["rake", "test"], &["ATest: test_x"], 1);
}

#[test]
fn a_file_that_a_test_loads_anew_is_changed_on_the_disk() {
    if !there_is("minitest") {
        return;
    }
    let code = "def one(n)\n  n + 1\nend\n\ndef two(n)\n  n + 2\nend\n";
    let tests = "require 'minitest/autorun'\nrequire_relative 'a'\nrequire_relative 'b'\nclass ATest < Minitest::Test\n  \
        def test_a; load(File.expand_path('a.rb', __dir__)); assert_equal [2, 3], [one(1), two(1)]; end\n  def test_b; assert_equal 5, five; end\nend\n";
    let project =
        Project::new(&[("a.rb", code), ("b.rb", "def five\n  5\nend\n"), ("a_test.rb", tests)]);
    let (result, _) = project.tried_by(&[], &["ruby", "a_test.rb"]);
    assert_eq!(result["notes"], json!([]), "what else there is is tried in forks");
    let fates = fates(&result);
    assert!(fates.len() > 5 && fates.values().all(|(_, fate)| fate == "killed"), "{fates:?}");
}
