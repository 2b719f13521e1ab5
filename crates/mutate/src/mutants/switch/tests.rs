//! The form of a text with a switch. The tests of `assay-mutate`, which run compilers, check that
//! they accept it.

use super::*;
use crate::mutants::{Generator, Mutants};

fn found(language: Language, text: &str) -> (Mutants, Switch) {
    let found = Generator::new(language).unwrap().mutants("a", text.as_bytes());
    assert!(!found.is_broken, "{text}");
    let switch = Switch::of(language, text.as_bytes(), &found.units).unwrap();
    (found, switch)
}

/// Returns a text that contains all mutants of the given text behind a switch.
fn switched(language: Language, text: &str) -> (Mutants, SwitchedText) {
    let (found, switch) = found(language, text);
    let arms: Vec<Arm> = found
        .all
        .iter()
        .enumerate()
        .filter(|(_, own)| switch.takes(&found.units[own.unit], own))
        .map(|(index, own)| {
            let body = switch.body(&found.units[own.unit], own, text.as_bytes()).unwrap();
            let at = switch.before(&found.units[own.unit], own);
            Arm { unit: own.unit, number: index + 1, body, at }
        })
        .collect();
    assert!(!arms.is_empty());
    let places = SwitchFiles {
        switch: Path::new("/t/switch"),
        reached: Path::new("/t/reached"),
        bodies: Path::new("/t/.assay/bodies"),
        first: 7,
    };
    let switched = switch.text(text.as_bytes(), &found.units, &arms, places).unwrap();
    (found, switched)
}

#[test]
fn the_text_is_read_and_has_every_function_once() {
    for (language, text) in [
        (
            Language::Rust,
            "pub fn a(x: i32) -> i32 {\n    x + 1\n}\n\nmod b {\n    fn c() -> bool { true }\n}",
        ),
        (Language::Go, "package p\n\nfunc a(x int) int {\n\treturn x + 1\n}\n"),
        (
            Language::C,
            "int a(int x)\n{\n    if (x) goto out;\n    x++;\nout:\n    return x + 1;\n}\n",
        ),
    ] {
        let (found, switched) = switched(language, text);
        let all = String::from_utf8(switched.text).unwrap();
        let again = Generator::new(language).unwrap().mutants("a", all.as_bytes());
        // The C grammar does not parse `#line` directives.
        assert!(language == Language::C || !again.is_broken, "{all}");
        for unit in found.units.iter().filter(|_| language != Language::C) {
            let name = unit.name.rsplit('.').next().unwrap();
            assert!(again.units.iter().any(|own| own.name.ends_with(name)), "{all}");
        }
        assert!(all.contains("\"/t/switch\"") && all.contains("\"/t/reached\""), "{all}");
    }
}

#[test]
fn an_error_tells_whose_fault_it_is() {
    let text = "struct A;\nfn a(x: i32) -> i32 {\n    x + 1\n}\n\nfn b() -> u8 { 2 }\n";
    let (_, rust) = switched(Language::Rust, text);
    // All lines keep their numbers.
    let all = String::from_utf8_lossy(&rust.text);
    assert_eq!(all.lines().nth(2), text.lines().nth(2));
    assert!(all.lines().nth(5).unwrap().starts_with("#[allow(warnings, unused)] fn b()"));
    assert_eq!(rust.bodies[1], (2, b"{\n    x - 1\n}".to_vec()));
    assert!(all.contains("2 => include!(\"/t/.assay/bodies/2.body\"), "), "{all}");
    assert_eq!((rust.blamed(1), rust.blamed(3)), (ErrorOrigin::File, ErrorOrigin::Unit(0)));
    assert_eq!(body_number("/t/.assay/bodies/2.body"), Some(2));
    assert_eq!(body_number("/t/bodies/2.body"), None);
    let (_, c) = switched(Language::C, "int b;\nint a(int x)\n{\n    return x + 1;\n}\n");
    let all = String::from_utf8_lossy(&c.text);
    assert!(all.contains("*/\n#include \"/t/.assay/bodies/2.body\"\nelse\n"), "{all}");
    assert!(all.ends_with("\n#line 3\n{\n    return x + 1;\n} }\n"), "{all}");
    assert!(c.bodies[1].1.starts_with(b"#pragma GCC system_header\n{"));
    assert_eq!((c.blamed(1), c.blamed(4)), (ErrorOrigin::File, ErrorOrigin::Unit(0)));
}

#[test]
fn what_can_not_be_chosen_while_it_runs_is_left_alone() {
    for (language, text, can) in [
        (Language::Rust, "fn a(x: i32) -> i32 { x + 1 }", true),
        (Language::Rust, "unsafe fn a(x: i32) -> i32 { x + 1 }", true),
        (
            Language::Rust,
            "impl A { fn a<T: Into<i32>>(x: T) -> Option<i32> { Some(x + 1) } }",
            true,
        ),
        (Language::Rust, "const fn a(x: i32) -> i32 { x + 1 }", false),
        (Language::Rust, "async fn a(x: i32) -> i32 { x + 1 }", false),
        (Language::Rust, "fn a(x: i32) -> impl Fn() -> i32 { move || x + 1 }", false),
        (Language::Rust, "#[must_use]\n#[inline]\nfn a(x: i32) -> i32 { x + 1 }", true),
        (Language::Rust, "#[mine]\nimpl A { fn a(x: i32) -> i32 { x + 1 } }", false),
        (Language::Rust, "#[proc_macro]\npub fn a(x: T) -> T { b(1) }", false),
        (Language::Go, "package p\nfunc (s *S) a() int { return 1 }", true),
        (Language::Go, "package p\n//go:nosplit\nfunc a() int { return 1 }", false),
        (Language::C, "int a(void) { return 1; }", true),
        (Language::C, "int a(void)\n{\n#define X 2\n    return X + 1;\n}", false),
    ] {
        assert_eq!(found(language, text).1.can(0), can, "{text}");
    }
    let text = b"package p\nimport \"C\"\nfunc a() int { return 1 }";
    let found = Generator::new(Language::Go).unwrap().mutants("a", text);
    assert!(Switch::of(Language::Go, text, &found.units).is_none());
    assert!(Switch::of(Language::Java, b"class A { int a() { return 1; } }", &[]).is_none());
    assert!(quoted(Path::new("/t/a\"b")).is_none());
}

#[test]
fn labels_are_the_own_of_each_body() {
    for (language, text) in [
        (
            Language::C,
            "int a(int x)\n{\n    if (x)\n        goto out;\n    x++;\nout:\n    return x;\n}\n",
        ),
        (
            Language::Go,
            "package p\nfunc a(x int) int {\nout:\n\tfor {\n\t\tx++\n\t\tbreak out\n\t}\n\treturn x\n}\n",
        ),
    ] {
        let (found, switched) = switched(language, text);
        let bodies = switched.bodies.into_iter().flat_map(|(_, body)| body);
        let all = String::from_utf8(switched.text.into_iter().chain(bodies).collect()).unwrap();
        let named: Vec<&str> = all.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let count = |name: &str| named.iter().filter(|own| **own == name).count();
        assert_eq!(count("out"), 2, "{all}");
        let own = found.all.iter().map(|own| count(&format!("out_{}", own.id)));
        // If the whole body is removed, the mutant contains no copy of it.
        assert!(own.clone().all(|times| times == 0 || times == 2), "{all}");
        assert!(own.filter(|times| *times == 2).count() > 3, "{all}");
    }
}

#[test]
fn bodies_of_javascript_are_cases_and_their_lines_tell_whose_fault_it_is() {
    for (language, text) in [
        (Language::JavaScript, "const one = (x) => x + 1;\nclass A { two(x) { return x * 2; } }"),
        (
            Language::TypeScript,
            "export function a(x: number): number {\n  return x + 1;\n} // the end",
        ),
        (Language::Tsx, "const a = (x: string) => <b>{x + 'y'}</b>;"),
    ] {
        let (found, switched) = switched(language, text);
        let all = String::from_utf8(switched.text.clone()).unwrap();
        let again = Generator::new(language).unwrap().mutants("a", all.as_bytes());
        assert!(!again.is_broken, "{all}");
        assert_eq!(switched.lines.len(), found.all.len());
        for (lines, number) in &switched.lines {
            assert_eq!(switched.blamed(lines.start), ErrorOrigin::Arm(*number));
        }
    }
    let can = |text: &str| {
        let (found, switch) = found(Language::JavaScript, text);
        let all = found.all.iter().map(|own| switch.takes(&found.units[own.unit], own));
        all.filter(|own| !own).count()
    };
    assert_eq!(can("function a(x) { return x + 1; }"), 0);
    // Default values of parameters precede the body, so the switch is inside each value.
    let text = "function a(x = '', { y = 2 } = {}) { return x + y; }";
    assert_eq!(can(text), 0);
    let all = String::from_utf8(switched(Language::JavaScript, text).1.text).unwrap();
    assert!(all.contains(" ? ('assay'\n) :\n(''\n)), { y = (assay$7("), "{all}");
    assert!(can("function a(x) { 'use strict'; return x + 1; }") > 0);
    assert!(can("class A extends B { constructor(x) { super(x); this.x = x + 1; } }") > 0);
    assert_eq!(can("function a(x) { for (const y of x) { if (y) break; } }"), 0);
    // In a `switch`, `continue` instead of `break` is a syntax error.
    assert_eq!(can("function a(x) { switch (x) { case 1: x(); break; } }"), 1);
    assert_eq!(
        can("function a(x) { for (;;) { x(() => { switch (x) { case 1: break; } }); } }"),
        1
    );
}
