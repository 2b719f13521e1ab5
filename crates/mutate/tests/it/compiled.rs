//! Runs the real binary on small C, Go and Rust projects: one build for many mutants gives the same
//! results as a build for each, and mutants that cannot be built that way are still tried.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and says what it skips")]

use project::is_there;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

use crate::project;

/// A project with its own cache.
struct Project(TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let own = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = own.top().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        own
    }

    fn top(&self) -> PathBuf {
        self.0.path().join("project")
    }

    fn run(&self, words: &[&str], command: &[&str]) -> Output {
        let mut own = Command::new(env!("CARGO_BIN_EXE_assay-mutate"));
        let temporary = self.0.path().join("tmp");
        fs::create_dir_all(&temporary).unwrap();
        own.args(["--no-sandbox", "--json", "--again"]).args(words).arg("--").args(command);
        // Settings of the calling environment must not affect the project.
        for name in
            ["RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "GOFLAGS", "MAKEFLAGS"]
        {
            own.env_remove(name);
        }
        own.current_dir(self.top()).stdin(Stdio::null()).env("TMPDIR", temporary);
        own.env("XDG_CACHE_HOME", self.0.path().join("cache")).env("NO_COLOR", "1");
        // The build cache of Go's standard library is shared by all tests.
        if let Some(home) = std::env::var_os("HOME") {
            own.env("GOCACHE", PathBuf::from(home).join(".cache/go-build"));
        }
        own.output().unwrap()
    }

    fn tried(&self, words: &[&str], command: &[&str]) -> Value {
        let output = self.run(words, command);
        let parsed = serde_json::from_slice(&output.stdout);
        parsed.unwrap_or_else(|_| panic!("{output:?}"))
    }
}

/// Returns the fates by unit, operator and text.
fn fates(result: &Value) -> BTreeMap<String, String> {
    let text = |own: &Value| own.as_str().unwrap_or_default().to_owned();
    let all = result["mutants"].as_array().unwrap().iter().map(|own| {
        let unit = usize::try_from(own["unit"].as_u64().unwrap()).unwrap();
        let name = text(&result["units"][unit]["name"]);
        let place = format!("{}:{}", own["begin"]["line"], own["begin"]["column"]);
        let key =
            format!("{name} {place} {} {}", text(&own["operator"]), text(&own["replacement"]));
        (key, text(&own["fate"]))
    });
    all.collect()
}

/// Checks that both ways give the same results, for a part of the functions, since builds take
/// long. Only a single build for many mutants detects that no test reaches a function. If the
/// compiler is strict, a mutant by itself may leave something unused, which does not happen with
/// all of them in one program.
fn finds_the_same(
    project: &Project,
    command: &[&str],
    (is_strict, part): (bool, &[&str]),
) -> BTreeMap<String, String> {
    // Strict compilers are slow; `choosing.rs` builds for them in several copies.
    let jobs = if is_strict { "1" } else { "2" };
    let once = project.tried(&["--jobs", jobs], command);
    assert_eq!(once["notes"], serde_json::json!([]), "built once");
    let each = project.tried(&[&["--jobs", "1", "--separate-builds"], part].concat(), command);
    let (once, each) = (fates(&once), fates(&each));
    let missed = |fate: &str| ["survived", "uncovered", "implied"].contains(&fate);
    assert!(each.len() > 3 && each.len() < once.len(), "{each:#?}");
    for (mutant, other) in &each {
        let fate = &once[mutant];
        let is_same =
            fate == other || (missed(fate) && missed(other)) || (is_strict && other == "unviable");
        assert!(is_same, "{mutant}: {fate}, and {other} if built by itself\n{once:#?}");
    }
    for fate in ["killed", "survived", "uncovered"] {
        assert!(once.values().any(|own| own == fate), "{fate}: {once:#?}");
    }
    once
}

/// Checks that a program that ends with status 0 in the middle of a test has not passed: `own` is
/// the mutant that always ends it.
fn its_end_is_noticed(fates: &BTreeMap<String, String>, own: &str) {
    let is_own = |name: &str| own.split(' ').all(|word| name.split(' ').any(|own| own == word));
    let found: Vec<_> = fates.iter().filter(|(name, _)| is_own(name)).collect();
    assert!(found.len() == 1 && found[0].1 == "killed", "{own}: {found:?} of {fates:#?}");
}

const C: &str = "\
#include <stdlib.h>
#include <string.h>

int clamp(int x, int most)
{
    if (x > most)
        return most;
    return x;
}

int count(const char *text, char sign)
{
    int n = 0;
    if (!text)
        goto out;
    for (; *text; text++)
        if (*text == sign)
            n++;
out:
    return n;
}

void talk(char *into)
{
    strcpy(into, \"talk\");
}

int stop(int code)
{
    if (code == 9)
        exit(0);
    return code;
}

int unused(int x)
{
    return x + 1;
}
";

const C_TESTS: &str = "\
#include <stdio.h>
int clamp(int, int);
int count(const char *, char);
void talk(char *);
int stop(int);
static int number, failed;
static void ok(int is)
{
    printf(\"%s %d - a\\n\", is ? \"ok\" : \"not ok\", ++number);
    failed |= !is;
}
int main(void)
{
    char into[16];
    setvbuf(stdout, NULL, _IONBF, 0);
    puts(\"1..3\");
    ok(clamp(5, 3) == 3 && clamp(2, 3) == 2);
    ok(count(\"banana\", 'a') == 3 && count(0, 'a') == 0);
    talk(into);
    ok(stop(1) == 1);
    return failed;
}
";

const MAKEFILE: &str = "\
test: program
\t./program
program: own.o tests/tests.o
\t$(CC) -o $@ own.o tests/tests.o
";

#[test]
fn c_is_built_once_and_finds_the_same() {
    if !is_there("make", "--version") || !is_there("cc", "--version") {
        return;
    }
    let project = Project::new(&[("own.c", C), ("tests/tests.c", C_TESTS), ("Makefile", MAKEFILE)]);
    let fates = finds_the_same(&project, &["make", "-s", "test"], (false, &["--shard", "1/2"]));
    assert!(fates.keys().any(|own| own.starts_with("count ")));
    its_end_is_noticed(&fates, "stop condition (1)");
}

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.10)
project(own C)
enable_testing()
add_executable(program own.c tests/tests.c)
add_test(NAME all COMMAND program)
";

#[test]
fn a_program_of_ctest_that_ends_in_the_middle_of_a_test_is_noticed() {
    if !is_there("ctest", "--version") || !is_there("cc", "--version") {
        return;
    }
    let project =
        Project::new(&[("own.c", C), ("tests/tests.c", C_TESTS), ("CMakeLists.txt", CMAKE)]);
    let mut configured = Command::new("cmake");
    configured.args(["-B", "build"]).current_dir(project.top());
    assert!(configured.output().unwrap().status.success());
    let command = ["ctest", "--test-dir", "build"];
    let fates = fates(&project.tried(&["own.c", "--jobs", "2"], &command));
    its_end_is_noticed(&fates, "stop condition (1)");
    assert!(fates.iter().any(|(own, fate)| own.starts_with("count ") && fate == "killed"));
}

#[test]
fn a_program_of_c_that_crashes_with_its_words_in_the_buffer_noticed_something() {
    if !is_there("make", "--version") || !is_there("cc", "--version") {
        return;
    }
    let buffered = C_TESTS.replace("    setvbuf(stdout, NULL, _IONBF, 0);\n", "");
    assert_ne!(buffered, C_TESTS);
    // Failing to compile is distinguished from crashing.
    let files = [("own.c", C), ("tests/tests.c", &*buffered), ("Makefile", MAKEFILE)];
    let fates = finds_the_same(
        &Project::new(&files),
        &["make", "-s", "test"],
        (false, &["--shard", "1/2"]),
    );
    assert!(fates.keys().any(|own| own.starts_with("count ")));
}

#[test]
fn warnings_about_changed_c_do_not_matter() {
    if !is_there("make", "--version") || !is_there("cc", "--version") {
        return;
    }
    let code = "\
#define PUBLIC(type) __attribute__((visibility(\"default\"))) type
typedef int flag;
PUBLIC(const char *) name(flag is);
PUBLIC(flag) both(flag a, flag b);
PUBLIC(const char *) name(flag is)
{
    return is ? \"yes\" : \"no\";
}
PUBLIC(flag) both(flag a, flag b)
{
    if (!a)
        return 0;
    return b;
}
";
    let tests = "\
#include <stdio.h>
const char *name(int);
int both(int, int);
int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    puts(\"1..2\");
    puts(name(1) && name(1)[0] == 'y' && name(0)[0] == 'n' ? \"ok 1\" : \"not ok 1\");
    puts(both(1, 1) && !both(0, 1) && !both(1, 0) ? \"ok 2\" : \"not ok 2\");
    return 0;
}
";
    let strict = "own.o: CFLAGS = -std=c89 -pedantic -Wall -Wextra -Wconversion -Werror\n";
    let make = format!("{MAKEFILE}{strict}");
    let project = Project::new(&[("own.c", code), ("tests/tests.c", tests), ("Makefile", &make)]);
    let result = project.tried(&[], &["make", "-s", "test"]);
    assert_eq!(result["notes"], serde_json::json!([]), "built once");
    let fates = fates(&result);
    assert!(fates.len() > 10 && fates.values().all(|own| own != "unviable"), "{fates:#?}");
    let bodies: Vec<_> = fates.iter().filter(|(name, _)| name.contains(" body ")).collect();
    assert!(bodies.len() == 2 && bodies.iter().all(|own| own.1 == "killed"), "{fates:#?}");
}

const GO: &str = "\
package own

import (
\t\"errors\"
\t\"os\"
\t\"strings\"
)

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(item T) { s.items = append(s.items, item) }

func (s *Stack[T]) Pop() (last T, err error) {
\tif len(s.items) == 0 {
\t\treturn last, errors.New(\"empty\")
\t}
\tlast = s.items[len(s.items)-1]
\ts.items = s.items[:len(s.items)-1]
\treturn
}

var table = squares(3)

func squares(n int) []int {
\tvar all []int
\tfor i := 0; i < n; i++ {
\t\tall = append(all, i*i)
\t}
\treturn all
}

func Shout(text string) string {
\treturn strings.ToUpper(text) + \"!\"
}

func Stop(code int) int {
\tif code == 9 {
\t\tos.Exit(0)
\t}
\treturn code
}

func unused(x int) int { return x + 1 }
";

const GO_FEW: &str = "\
package own

func Labelled(text string) int {
\tn := 0
outer:
\tfor _, sign := range text {
\t\tif sign == ' ' {
\t\t\tbreak outer
\t\t}
\t\tn++
\t}
\treturn n
}
";

const GO_TESTS: &str = "\
package own

import \"testing\"

func TestStack(t *testing.T) {
\tvar s Stack[int]
\tif _, err := s.Pop(); err == nil {
\t\tt.Fatal(\"empty\")
\t}
\ts.Push(1)
\ts.Push(2)
\tif last, err := s.Pop(); last != 2 || err != nil {
\t\tt.Error(last, err)
\t}
}

func TestTable(t *testing.T) {
\tif len(table) != 3 || table[2] != 4 || Labelled(\"ab c\") != 2 {
\t\tt.Error(table)
\t}
}

func TestShout(t *testing.T) { Shout(\"a\") }

func TestStop(t *testing.T) {
\tif Stop(1) != 1 {
\t\tt.Error(\"stop\")
\t}
}
";

const GO_OTHER: &str = "\
package other

import \"example.org/own\"

func Twice(text string) string { return own.Shout(text) + own.Shout(text) }
";

const GO_OTHER_TESTS: &str = "\
package other_test

import (
\t\"testing\"

\t\"example.org/own/other\"
)

func TestTwice(t *testing.T) {
\tif other.Twice(\"a\") != \"A!A!\" {
\t\tt.Error(\"twice\")
\t}
}
";

#[test]
fn go_is_built_once_and_finds_the_same() {
    if !is_there("go", "version") {
        return;
    }
    let project = Project::new(&[
        ("go.mod", "module example.org/own\n\ngo 1.20\n"),
        ("own.go", GO),
        ("few.go", GO_FEW),
        ("own_test.go", GO_TESTS),
        ("other/other.go", GO_OTHER),
        ("other/other_test.go", GO_OTHER_TESTS),
    ]);
    let fates = finds_the_same(&project, &["go", "test", "./..."], (true, &["few.go"]));
    its_end_is_noticed(&fates, "Stop condition true");
}

const MANIFEST: &str =
    "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";

const RUST: &str = "\
//! Functions of many kinds.
#![deny(warnings)]

use std::fmt::Display;

pub struct Stack<T>(Vec<T>);

impl<T: Clone> Stack<T> {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    pub fn push(&mut self, item: T) -> &mut Self {
        self.0.push(item);
        self
    }

    pub fn top(&self) -> Option<&T> {
        if self.0.is_empty() { None } else { Some(&self.0[self.0.len() - 1]) }
    }
}

pub const fn squared(x: i32) -> i32 {
    x * x
}

const NINE: i32 = squared(3);

pub fn evens(most: u32) -> impl Iterator<Item = u32> {
    (0..most).filter(|x| x % 2 == 0)
}

pub fn shown(what: &dyn Display) -> Box<dyn Display> {
    Box::new(format!(\"<{what}>\"))
}

/// Which is longer.
///
/// ```
/// assert_eq!(own::longest(\"a\", \"bc\"), \"bc\");
/// ```
pub fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() >= b.len() { a } else { b }
}

pub fn shout(text: &str) -> String {
    text.to_uppercase() + \"!\"
}

pub fn stop(code: i32) -> i32 {
    if code == 9 {
        std::process::exit(0)
    }
    code
}

pub fn unused(x: i32) -> i32 {
    x + 1
}

mod inner {
    pub mod deeper {
        pub(crate) fn is_nine(x: i32) -> bool {
            x == super::super::NINE
        }
    }
}

pub fn is_nine(x: i32) -> bool {
    inner::deeper::is_nine(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack() {
        let mut stack = Stack::new();
        assert_eq!(stack.top(), None);
        stack.push(1).push(2);
        assert_eq!(stack.top(), Some(&2));
    }

    #[test]
    fn others() {
        assert!(is_nine(9) && !is_nine(8));
        assert_eq!(evens(5).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(shown(&1).to_string(), \"<1>\");
        shout(\"a\");
        assert_eq!(stop(1), 1);
    }
}
";

#[test]
fn rust_is_built_once_and_finds_the_same() {
    if !is_there("cargo", "--version") {
        return;
    }
    let project = Project::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", RUST)]);
    let fates =
        finds_the_same(&project, &["cargo", "test", "--offline"], (true, &["--shard", "4/8"]));
    let of = |unit: &str| -> Vec<&String> {
        fates.iter().filter(|(own, _)| own.starts_with(unit)).map(|(_, fate)| fate).collect()
    };
    its_end_is_noticed(&fates, "stop condition true");
    // Only a doc test notices it.
    assert!(of("longest ").iter().any(|own| *own == "killed"), "{fates:#?}");
    // Some of them are values of types without a default.
    assert!(of("shown ").iter().any(|own| *own == "unviable"), "{fates:#?}");
}
