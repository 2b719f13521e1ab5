//! Equal code is recognized wherever the linker puts it, and different code is distinguished: real
//! programs, built with the installed compiler.

#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]

use assay_measure::code::{Code, changed, is_same_program};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The function `work`, with all kinds of references; the tests replace `@…@`.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
@before@
static const int table[4] = {1, 2, 3, @table@};
static int limit = @limit@;
int counter;
__attribute__((noinline)) int leaf(int x) { return x * @leaf@ + counter; }
__attribute__((noinline)) int call(int x) { return leaf(x) - 1; }
__attribute__((noinline)) int two(int x) { return x - @virtual@; }
int (*volatile const methods[2])(int) = {call, two};
__attribute__((noinline)) double half(double x) { return x * @factor@; }
__attribute__((noinline)) const char *chosen(int x) {
  switch (x) {
    case 0: return "none"; case 1: return "some"; case 2: return "more"; case 3: return "most";
    case 4: leaf(1); return "all"; case 5: return "five"; case 6: call(7); return "six";
  }
  return "?";
}
__attribute__((noinline)) int work(int n) {
  int sum = 0;
  for (int i = 0; i < n && i < limit; i++)
    sum += call(i) + table[i & 3] + methods[i & 1](i) + (int)half(i) + chosen(i & 7)[0];
  if (sum == 12345) { printf("%d\n", sum); abort(); }
  return sum;
}
__attribute__((noinline)) int other(int x) { return x @other@; }
int main(int argc, char **argv) { (void)argv; return work(argc) + other(argc); }
"#;

const DEFAULTS: [(&str, &str); 7] = [
    ("before", ""),
    ("table", "4"),
    ("limit", "9"),
    ("leaf", "3"),
    ("virtual", "1"),
    ("factor", "0.25"),
    ("other", "+ 1"),
];

struct Programs(tempfile::TempDir);

impl Programs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn build(&self, name: &str, changes: &[(&str, &str)], options: &[&str]) -> PathBuf {
        let mut source = SOURCE.to_owned();
        for (key, value) in changes.iter().chain(&DEFAULTS) {
            source = source.replace(&format!("@{key}@"), value);
        }
        let file = self.0.path().join(format!("{name}.c"));
        std::fs::write(&file, source).unwrap();
        let program = self.0.path().join(name);
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-fno-inline", "-o"]).arg(&program).arg(&file).args(options);
        assert!(compiler.status().unwrap().success());
        program
    }
}

fn digest(program: &Path) -> Option<String> {
    Code::read(program)?.digest(|name| name == "work", &[])
}

/// For arm64, GCC accesses data relative to other data (section anchors), with different
/// instructions if the data move.
const BY_ITSELF: &[&str] =
    if cfg!(target_arch = "aarch64") { &["-fno-section-anchors"] } else { &[] };

const KINDS: [&[&str]; 4] =
    [&[], &["-no-pie", "-fno-pie"], &["-fno-plt", "-Wl,-z,now"], &["-static"]];

#[test]
fn code_is_the_same_wherever_it_is_placed() {
    let programs = Programs::new();
    // Functions, constants, strings and data before all others move them; the last one makes the
    // following ones longer.
    let before = r#"
        const double many[300] = {1.5}; int data[99] = {1};
        __attribute__((noinline, used)) double more(int x) { puts("more"); return x * 1.75 + many[x] + data[x]; }"#;
    // The C library itself refers to linker-generated objects: if linked statically, it differs.
    for kind in &KINDS[..3] {
        let kind = &[*kind, BY_ITSELF].concat()[..];
        let first = digest(&programs.build("first", &[], kind));
        assert!(first.is_some(), "{kind:?}");
        let moved = programs.build("moved", &[("before", before)], kind);
        assert_eq!(digest(&moved), first, "{kind:?}");
        let grown = programs.build("grown", &[("other", "* 12345 / (x + 77)")], kind);
        assert_eq!(digest(&grown), first, "{kind:?}");
        let apart = [kind, &["-ffunction-sections", "-fdata-sections"]].concat();
        let sorted = [&apart[..], &["-Wl,--sort-section=name"]].concat();
        let apart = digest(&programs.build("apart", &[], &apart));
        assert_eq!(digest(&programs.build("sorted", &[("before", before)], &sorted)), apart);
    }
}

#[test]
fn whatever_the_code_refers_to_is_part_of_it() {
    let programs = Programs::new();
    for kind in KINDS {
        let first = digest(&programs.build("first", &[], kind));
        let changes = [
            ("leaf", "5"),
            ("virtual", "2"),
            ("table", "7"),
            ("limit", "8"),
            ("factor", "0.75"),
            ("leaf", "3 + rand()"),
        ];
        for change in changes {
            let changed = digest(&programs.build("changed", &[change], kind));
            assert!(changed.is_some() && changed != first, "{kind:?} {change:?}");
        }
    }
}

#[test]
fn the_functions_that_changed_are_named_and_whether_they_are_reached() {
    let programs = Programs::new();
    // A caller's code must not depend on the registers that a function happens to use.
    let options = [BY_ITSELF, &["-fno-ipa-ra"]].concat();
    let between = |changes: &[(&str, &str)]| {
        let mut code =
            [("first", &[][..]), ("changed", changes)].map(|(name, changes): (_, &[_])| {
                Code::read(&programs.build(name, changes, &options)).unwrap()
            });
        let [old, new] = &mut code;
        let work = |name: &str| name == "work";
        let found = changed((old, new), [&work, &work]);
        found.into_iter().map(|own| (own.name, own.is_reached)).collect::<Vec<_>>()
    };
    let named = |name: &str, is_reached| vec![(name.to_owned(), is_reached)];
    // Callers of a changed function have not changed themselves.
    assert_eq!(between(&[("leaf", "5")]), named("leaf", true));
    assert_eq!(between(&[("other", "* 12345 / (x + 77)")]), named("other", false));
    let before = "__attribute__((noinline, used)) int more(int x) { return x * 7; }";
    assert_eq!(between(&[("before", before)]), named("more", false));
    assert_eq!(between(&[]), []);
}

#[test]
fn nothing_is_said_of_what_has_no_symbols() {
    let programs = Programs::new();
    assert_eq!(digest(&programs.build("stripped", &[], &["-s"])), None);
    let program = programs.build("program", &[], &[]);
    assert_eq!(Code::read(&program).unwrap().digest(|name| name == "no_such", &[]), None);
    let script = programs.0.path().join("script");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    assert!(Code::read(&script).is_none());
    // Damaged files must be read without a panic, whatever they claim.
    let whole = std::fs::read(&program).unwrap();
    for step in 0..200 {
        let mut damaged = whole.clone();
        let at = (step * 7919 * 31) % damaged.len();
        damaged[at..].iter_mut().step_by(977).for_each(|byte| *byte ^= 0xff);
        damaged.truncate(whole.len() - step % 3 * 1000);
        std::fs::write(&script, damaged).unwrap();
        let _ = digest(&script);
    }
}

const RUST: &str = r#"
#[inline(never)]
fn work(values: &[u64], at: usize) -> u64 {
    values[at] * 3 + values.get(at % 9).copied().expect("a value")
}
fn main() {
    let values: Vec<u64> = std::env::args().map(|text| text.len() as u64).collect();
    let table = std::hint::black_box([7_u64, 8, 9]);
    println!("{}", work(&values, values.len() - 1) + table[values.len() % 3]);
}
"#;

#[test]
fn a_program_of_rust_is_the_same_whatever_the_lines_of_its_source() {
    let room = tempfile::tempdir().unwrap();
    let build = |name: &str, text: &str| {
        // The panics name the file, so it has the same name.
        std::fs::write(room.path().join("main.rs"), text).unwrap();
        let program = room.path().join(name);
        let mut compiler = Command::new("rustc");
        compiler.args(["-O", "main.rs", "-o"]).arg(&program).current_dir(room.path());
        assert!(compiler.status().unwrap().success());
        program
    };
    let first = build("first", RUST);
    let same = |name: &str, text: String| is_same_program(&first, &build(name, &text));
    assert!(same("commented", format!("// A comment.\n\n{RUST}")));
    assert!(same("unused", format!("#[allow(dead_code)]\nfn unused() -> u8 {{ 3 }}\n{RUST}")));
    assert!(!same("another-factor", RUST.replace("* 3", "* 5")));
    assert!(!same("another-table", RUST.replace("8, 9", "8, 6")));
    assert!(!same("another-text", RUST.replace("a value", "a thing")));
    assert!(!is_same_program(&first, &room.path().join("main.rs")));
}
