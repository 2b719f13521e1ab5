//! Programs that end with status 0 in the middle of a test, which is no pass.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use crate::forks_of_ruby::there_is;
use crate::project::{Project, is_there};

/// Checks that the tests notice the mutants that always end the process: conditions on these lines
/// with this replacement.
fn are_noticed(files: &[(&str, &str)], words: &[&str], (always, lines): (&str, &[u64])) {
    if !is_there(words[0], "--version") {
        return;
    }
    let project = Project::new(files);
    let (result, _) = project.tried_by(&["--jobs", "2"], words);
    let all = result["mutants"].as_array().unwrap();
    let is_it = |own: &&serde_json::Value| {
        own["operator"] == "condition"
            && own["replacement"] == always
            && lines.iter().any(|line| own["begin"]["line"] == *line)
    };
    let found: Vec<_> = all.iter().filter(is_it).collect();
    assert_eq!(found.len(), lines.len(), "{words:?}: {all:#?}");
    assert!(found.iter().all(|own| own["fate"] == "killed"), "{words:?}: {found:#?}");
    assert!(all.iter().any(|own| own["fate"] == "survived"), "{words:?}: others are not noticed");
}

#[test]
fn python_that_ends_in_a_test_is_noticed() {
    let source =
        "import os\n\ndef stop(code):\n    if code == 9:\n        os._exit(0)\n    return code\n";
    let tests = "\
import unittest
import own

class T(unittest.TestCase):
    def test_one(self):
        self.assertEqual(own.stop(1), 1)

    def test_two(self):
        self.assertEqual(own.stop(2), 2)
";
    let files = [("own.py", source), ("test_own.py", tests)];
    are_noticed(&files, &["python3", "-m", "unittest"], ("True", &[4]));
}

#[test]
fn ruby_that_ends_in_a_test_is_noticed() {
    if !there_is("minitest") {
        return;
    }
    let source = "\
module Own
  def self.stop(code)
    exit!(0) if code == 9
    code
  end

  def self.leave(code)
    exit(0) if code == 9
    code
  end
end
";
    let tests = "\
require 'minitest/autorun'
require_relative 'own'

class T < Minitest::Test
  def test_stop = assert_equal(1, Own.stop(1))
  def test_leave = assert_equal(1, Own.leave(1))
end
";
    let files = [("own.rb", source), ("test_own.rb", tests)];
    are_noticed(&files, &["ruby", "test_own.rb"], ("true", &[3, 8]));
}

#[test]
fn node_that_ends_in_a_test_is_noticed() {
    let source = "\
exports.stop = (code) => {
  if (code === 9) {
    process.exit(0);
  }
  return code;
};
";
    let tests = "\
const test = require('node:test');
const assert = require('node:assert');
const { stop } = require('./own.js');
test('one', () => assert.strictEqual(stop(1), 1));
test('two', () => assert.strictEqual(stop(2), 2));
";
    let files = [("own.js", source), ("own.test.js", tests)];
    are_noticed(&files, &["node", "--test"], ("(true)", &[2]));
}
