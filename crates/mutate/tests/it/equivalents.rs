//! Runs the real binary on small Go and Rust projects: survivors that are the same program are not
//! counted, and those that only look the same are.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and says what it skips")]

use project::{Project, is_there};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::project;

/// Returns the fates, by function and text, of the mutants that no test noticed.
fn survivors(project: &Project, words: &[&str], command: &[&str]) -> BTreeMap<String, String> {
    let mut own = project.command(&[words, &["--json", "--"], command].concat());
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
    let text = |own: &Value| own.as_str().unwrap_or_default().to_owned();
    let all = result["mutants"].as_array().unwrap().iter().filter_map(|own| {
        let unit = usize::try_from(own["unit"].as_u64().unwrap()).unwrap();
        let fate = text(&own["fate"]);
        let is_left = ["survived", "equivalent"].contains(&fate.as_str());
        let name = text(&result["units"][unit]["name"]);
        is_left.then(|| (format!("{name} {}", text(&own["replacement"])), fate))
    });
    all.collect()
}

/// Checks that exactly the mutants that are the same program are found, in functions named after
/// their kind.
fn only_what_is_the_same_is(found: &BTreeMap<String, String>) {
    let of = |name: &str| found.get(name).map(String::as_str);
    assert_eq!(of("scaled /"), Some("equivalent"), "{found:#?}");
    assert_eq!(of("method /"), Some("equivalent"), "{found:#?}");
    // Its code differs.
    assert_eq!(of("above 11"), Some("survived"), "{found:#?}");
    // It may be the same for this type but different for others.
    assert_eq!(of("generic /"), Some("survived"), "{found:#?}");
    // It is the same only where it is called, because of the arguments.
    assert_eq!(of("called_with_three false"), Some("survived"), "{found:#?}");
    let same = found.values().filter(|fate| *fate == "equivalent").count();
    assert_eq!(same, 2, "{found:#?}");
}

const MANIFEST: &str =
    "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";

const RUST: &str = "\
#![forbid(unsafe_code)]
#![deny(warnings)]

mod other;

pub fn scaled(x: i32) -> i32 {
    x * 1
}

pub fn above(x: i32) -> bool {
    x > 10
}

pub fn generic<T>(x: i32, _: T) -> i32 {
    x * 1
}

fn called_with_three(x: i32) -> i32 {
    if x > 100 { x } else { x + x }
}

pub fn six() -> i32 {
    called_with_three(3)
}

pub fn left(x: i32) -> i32 {
    other::Other(x).method()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all() {
        assert_eq!((scaled(3), generic(4, ()), six(), left(5)), (3, 4, 6, 5));
        assert!(above(20) && !above(5));
    }
}
";

/// A separate file, with a panic and a method that would have code only where it is inlined.
const RUST_OTHER: &str = "\
pub(crate) struct Other(pub(crate) i32);

impl Other {
    #[inline]
    pub(crate) fn method(&self) -> i32 {
        let all = [7, 8]; let last = self.0 * 1; all[usize::from(last > 5)] + last - 7
    }
}
";

#[test]
fn rust_is_asked_what_it_makes_of_a_function() {
    if !is_there("cargo", "--version") {
        return;
    }
    let project = Project::new(&[("Cargo.toml", MANIFEST)]);
    std::fs::create_dir(project.top().join("src")).unwrap();
    project.write("src/lib.rs", RUST);
    project.write("src/other.rs", RUST_OTHER);
    let found = survivors(&project, &["--jobs", "1"], &["cargo", "test", "--offline", "--lib"]);
    let found = found.into_iter().map(|(name, fate)| (name.replace("Other.", ""), fate)).collect();
    only_what_is_the_same_is(&found);
}

const GO: &str = "\
package own

func scaled(x int) int { return x * 1 }

func above(x int) bool { return x > 10 }

func generic[T any](x int, _ T) int { return x * 1 }

func called_with_three(x int) int {
\tif x > 100 {
\t\treturn x
\t}
\treturn x + x
}

func six() int { return called_with_three(3) }

type Other struct{ n int }

func (o *Other) method() int { return o.n * 1 }
";

const GO_TESTS: &str = "\
package own

import \"testing\"

func TestAll(t *testing.T) {
\tif scaled(3) != 3 || generic(4, true) != 4 || six() != 6 || (&Other{5}).method() != 5 {
\t\tt.Error(\"numbers\")
\t}
\tif !above(20) || above(5) || named(2) != 2 {
\t\tt.Error(\"above\")
\t}
}
";

/// Only one of the two is compiled; the code of the other function of that name is not its code.
const GO_NAMED: &str = "\
package own

func named(x int) int { return x * 1 }
";

#[test]
fn go_is_asked_what_it_makes_of_a_function() {
    if !is_there("go", "version") {
        return;
    }
    let built = format!("//go:build go1.1\n\n{GO_NAMED}").replace("x * 1", "x");
    let elsewhere = format!("//go:build !go1.1\n\n{GO_NAMED}");
    let project = Project::new(&[
        ("go.mod", "module example.org/own.v1\n\ngo 1.20\n"),
        ("own.go", GO),
        ("named.go", &built),
        ("named_elsewhere.go", &elsewhere),
        ("own_test.go", GO_TESTS),
    ]);
    let found = survivors(&project, &["--jobs", "1", "own.go"], &["go", "test", "./..."]);
    let found = found.into_iter().map(|(name, fate)| (name.replace("Other.", ""), fate)).collect();
    only_what_is_the_same_is(&found);
    let words = ["--jobs", "1", "--separate-builds", "named.go", "named_elsewhere.go"];
    let found = survivors(&project, &words, &["go", "test", "./..."]);
    assert!(!found.is_empty() && found.values().all(|fate| fate == "survived"), "{found:#?}");
}
