//! Runs the real binary on small Go and Rust projects with slow tests: each change is tried with
//! the tests that reach it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and says what it skips")]

use project::{Project, is_there};
use serde_json::{Value, json};
use std::path::PathBuf;

use crate::project;

/// Checks that finer mutants are covered only by the test of the same name with this suffix, and
/// that no other test runs.
fn each_has_its_own_test(project: &Project, command: &[&str], names: [(&str, &str); 2]) {
    let mut own = project.command(&[&["--jobs", "2", "--json", "--"], command].concat());
    // Settings of the calling environment must not affect the project.
    for name in ["RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "GOFLAGS"] {
        own.env_remove(name);
    }
    // The build cache of Go's standard library is shared by all tests.
    if let Some(home) = std::env::var_os("HOME") {
        own.env("GOCACHE", PathBuf::from(home).join(".cache/go-build"));
    }
    let output = own.output().unwrap();
    let parsed = serde_json::from_slice(&output.stdout);
    let result: Value = parsed.unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(result["notes"], json!([]), "{output:?}");
    let tests = result["tests"].as_array().unwrap();
    for (unit, test) in names {
        let index = tests.iter().position(|own| own["name"].as_str().unwrap().ends_with(test));
        let index = index.unwrap_or_else(|| panic!("{test}: {tests:#?}"));
        let all = result["mutants"].as_array().unwrap().iter().filter(|own| {
            let number = usize::try_from(own["unit"].as_u64().unwrap()).unwrap();
            result["units"][number]["name"] == unit && own["operator"] != "body"
        });
        let all: Vec<&Value> = all.collect();
        assert!(all.len() > 10, "{all:#?}");
        for own in all {
            assert_eq!(own["fate"], "killed", "{own:#}");
            assert_eq!(own["covered_by"], json!([index]), "{own:#}");
            assert_eq!(own["killed_by"], json!([index]), "{own:#}");
            assert_eq!(own["tests_run"], 1, "{own:#}");
        }
    }
}

const RUST: &str = "\
pub fn one() -> i32 {
    1 + 2 + 3 + 4 + 5 + 6 + 7
}

pub fn two() -> i32 {
    2 + 3 + 4 + 5 + 6 + 7 + 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{thread::sleep, time::Duration};

    #[test]
    fn of_one() {
        sleep(Duration::from_millis(200));
        assert_eq!(one(), 28);
    }

    #[test]
    fn of_two() {
        sleep(Duration::from_millis(200));
        assert_eq!(two(), 35);
    }

    #[test]
    fn of_nothing() {
        sleep(Duration::from_millis(200));
    }
}
";

#[test]
fn of_rust_only_the_tests_run_that_reach_a_function() {
    if !is_there("cargo", "--version") {
        return;
    }
    let manifest =
        "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest)]);
    std::fs::create_dir(project.top().join("src")).unwrap();
    project.write("src/lib.rs", RUST);
    let command = ["cargo", "test", "--offline", "--lib"];
    each_has_its_own_test(&project, &command, [("one", "tests::of_one"), ("two", "tests::of_two")]);
}

const GO: &str = "\
package own

func one() int { return 1 + 2 + 3 + 4 + 5 + 6 + 7 }

func two() int { return 2 + 3 + 4 + 5 + 6 + 7 + 8 }
";

const GO_TESTS: &str = "\
package own

import (
\t\"testing\"
\t\"time\"
)

func TestOne(t *testing.T) {
\ttime.Sleep(200 * time.Millisecond)
\tif one() != 28 {
\t\tt.Error(one())
\t}
}

func TestTwo(t *testing.T) {
\ttime.Sleep(200 * time.Millisecond)
\tif two() != 35 {
\t\tt.Error(two())
\t}
}

func TestNothing(t *testing.T) { time.Sleep(200 * time.Millisecond) }
";

#[test]
fn of_go_only_the_tests_run_that_reach_a_function() {
    if !is_there("go", "version") {
        return;
    }
    let project = Project::new(&[
        ("go.mod", "module example.org/own\n\ngo 1.20\n"),
        ("own.go", GO),
        ("own_test.go", GO_TESTS),
    ]);
    let command = ["go", "test", "./..."];
    each_has_its_own_test(&project, &command, [("one", "TestOne"), ("two", "TestTwo")]);
}
