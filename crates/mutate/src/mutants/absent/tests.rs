use super::*;
use crate::mutants::Generator;

fn here() -> BuildPlatform {
    BuildPlatform {
        system: "linux".to_owned(),
        processor: "x86_64".to_owned(),
        tags: BTreeSet::new(),
        features: Some(BTreeSet::from(["on".to_owned()])),
        perhaps: BTreeSet::new(),
        settings: Some(BTreeSet::new()),
        undefined: BTreeSet::from(["NOWHERE".to_owned()]),
    }
}

/// Returns the names of the functions whose mutants are all left out, and of those whose mutants
/// are all kept.
fn functions(language: Language, path: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let found = Generator::new(language).unwrap().mutants_here(path, text.as_bytes(), &here());
    let (mut out, mut built) = (Vec::new(), Vec::new());
    for (index, unit) in found.units.iter().enumerate() {
        let own: Vec<_> = found.all.iter().filter(|own| own.unit == index).collect();
        match own.iter().filter(|own| own.absent.is_some()).count() {
            0 => built.push(unit.name.clone()),
            count if count == own.len() => out.push(unit.name.clone()),
            _ => {}
        }
    }
    (out, built)
}

#[test]
fn items_of_rust_are_left_out_by_cfg() {
    let text = "\
#[cfg(windows)]
fn a() -> i32 { 1 }
#[cfg(unix)]
fn b() -> i32 { 1 }
#[cfg(feature = \"off\")]
fn c() -> i32 { 1 }
#[cfg(all(feature = \"on\", not(target_os = \"macos\")))]
fn d() -> i32 { 1 }
#[inline]
#[cfg(any(docsrs, target_arch = \"wasm32\"))]
/// Text that looks like code.
fn e() -> i32 { 1 }
#[cfg(windows)]
mod w { pub fn f() -> i32 { 1 } }
#[cfg(debug_assertions)]
fn g() -> i32 { 1 }
#[cfg(custom)]
impl X { fn h(&self) -> i32 { 1 } }
";
    let (out, built) = functions(Language::Rust, "src/lib.rs", text);
    assert_eq!(out, ["a", "c", "e", "w.f", "X.h"]);
    assert_eq!(built, ["b", "d", "g"]);
    let off = modules_off("src/sys/mod.rs", b"#[cfg(windows)]\nmod win;\nmod lin;\n", &here());
    assert_eq!(off, [("src/sys/win".to_owned(), "#[cfg(windows)]".to_owned())]);
    assert_eq!(modules_off("src/a.rs", b"#[cfg(windows)]\nmod b;", &here())[0].0, "src/a/b");
}

#[test]
fn files_of_go_are_left_out_by_name_and_constraint() {
    let body = "package a\nfunc A() int { return 1 }\n";
    for (path, head, is_built) in [
        ("a_windows.go", "", false),
        ("a_linux.go", "", true),
        ("a_linux_arm64.go", "", false),
        ("a_amd64.go", "", true),
        ("windows.go", "", true),
        ("a.go", "//go:build ignore\n\n", false),
        ("a.go", "//go:build unix && !darwin\n\n", true),
        ("a.go", "//go:build (linux && cgo) || darwin\n\n", true),
        ("a.go", "//go:build !linux\n\n", false),
        ("a.go", "// +build windows darwin\n\n", false),
        ("a.go", "// +build linux,amd64 darwin\n\n", true),
        ("a.go", "//go:build go1.18\n\n", true),
        ("a.go", "//go:build integration\n\n", false),
        ("testdata/a.go", "", false),
    ] {
        let (out, built) = functions(Language::Go, path, &format!("{head}{body}"));
        assert_eq!(
            (out.len(), built.len()),
            (usize::from(!is_built), usize::from(is_built)),
            "{path} {head}"
        );
    }
}

#[test]
fn lines_of_c_are_left_out_by_the_preprocessor() {
    let text = "\
#ifdef _WIN32
int a(void) { return 1; }
#elif defined(__linux__) && !defined(__ANDROID__)
int b(void) { return 1; }
#else
int c(void) { return 1; }
#endif
#if 0
int d(void) { return 1; }
#if OTHER
int e(void) { return 1; }
#endif
#endif
#ifdef OTHER
int f(void) { return 1; }
#else
int g(void) { return 1; }
#endif
#if defined(_MSC_VER) && _MSC_VER < 1900 /* old */
int h(void) { return 1; }
#endif
#ifdef NOWHERE
int i(void) { return 1; }
#elif !defined(NOWHERE)
int j(void) { return 1; }
#endif
";
    let (out, built) = functions(Language::C, "a.c", text);
    assert_eq!(out, ["a", "c", "d", "e", "h", "i"]);
    assert_eq!(built, ["b", "f", "g", "j"]);
}

#[test]
fn branches_of_other_platforms_and_stubs_of_types_are_left_out() {
    let text = "\
import sys
if sys.platform == 'win32':
    def a(x): return x + 1
elif sys.platform.startswith(('linux', 'darwin')):
    def b(x): return x + 1
else:
    def c(x): return x + 1
if TYPE_CHECKING:
    def d(x): return x + 1
if os.name != 'nt' and not False:
    def e(x): return x + 1
if sys.version_info >= (3, 9):
    def f(x): return x + 1
@typing.overload
def g(x: int) -> int: return x + 1
class P(Protocol):
    def h(self, x=1) -> int:
        \"\"\"Text.\"\"\"
        ...
    def i(self, x):
        return x + 1
if sys.version_info[0] == 2:
    def j(x): return x + 1
";
    let (out, built) = functions(Language::Python, "a.py", text);
    assert_eq!(out, ["a", "c", "d", "g", "P.h", "j"]);
    assert_eq!(built, ["b", "e", "f", "P.i"]);
    let text = "if (process.platform === 'win32') {\n f = function a() { return 1; }\n} else {\n f = function b() { return 1; }\n}";
    let (out, built) = functions(Language::JavaScript, "a.js", text);
    assert_eq!((out, built), (vec!["a".to_owned()], vec!["b".to_owned()]));
    let (out, built) = functions(Language::JavaScript, "a.js", &text.replace('\n', " "));
    assert_eq!((out.len(), built.len()), (0, 2));
    let text = "if RUBY_ENGINE == 'jruby'\n  def a; 1 + 1; end\nelse\n  def b; 1 + 1; end\nend\n";
    let (out, built) = functions(Language::Ruby, "a.rb", text);
    assert_eq!((out, built), (vec!["a".to_owned()], vec!["b".to_owned()]));
}

/// Returns the lines that contain a change, and the lines on which no change counts.
fn lines(language: Language, text: &str) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let found = Generator::new(language).unwrap().mutants_here("a", text.as_bytes(), &here());
    let finer = found.all.iter().filter(|own| !own.operator.is_extreme());
    let (out, built): (Vec<_>, Vec<_>) = finer.partition(|own| own.absent.is_some());
    let of = |own: Vec<&crate::mutants::Mutant>| own.into_iter().map(|own| own.line).collect();
    (of(built), of(out))
}

#[test]
fn a_condition_on_the_platform_is_left_out_with_the_branch_that_is_not_taken() {
    for (language, text) in [
        (
            Language::Python,
            "def a(x):\n    if os.name == 'nt':\n        x = x + 1\n    return x + 2\n",
        ),
        (
            Language::JavaScript,
            "function a(x) {\n  if (process.platform === 'win32') {\n    x = x + 1;\n  }\n  return x + 2;\n}",
        ),
        (
            Language::Go,
            "package p\nfunc a(x int) int { if runtime.GOOS == \"windows\" {\n\tx = x + 1\n}\n\treturn x + 2\n}",
        ),
        (
            Language::Ruby,
            "def a(x)\n  if RUBY_ENGINE == 'jruby'\n    x = x + 1\n  end\n  x + 2\nend",
        ),
    ] {
        let (built, out) = lines(language, text);
        let last = if language == Language::Go { 5 } else { *built.last().unwrap() };
        assert_eq!(built, BTreeSet::from([last]), "{text}");
        assert_eq!(out, BTreeSet::from([2, 3]), "{text}");
    }
    let (built, out) = lines(
        Language::Ruby,
        "def a(x)\n  return x + 5 if RUBY_ENGINE == 'jruby'\n  return x + 6 unless RUBY_ENGINE == 'jruby'\n  x + 2\nend",
    );
    assert_eq!((built, out), (BTreeSet::from([3, 4]), BTreeSet::from([2])));
    // Mutants in a branch that is compiled are kept, including those in the line of its condition.
    let (built, _) =
        lines(Language::Python, "def a(x):\n    if os.name == 'posix': x = x + 1\n    return x\n");
    assert!(built.contains(&2));
}

#[test]
fn methods_of_a_protocol_are_left_out_where_they_do_nothing() {
    let text = "\
class P(Protocol[T]):
    def a(self, x):
        \"\"\"Text.\"\"\"
        raise NotImplementedError
    def b(self, x):
        return x + 1
class Q:
    def c(self, x):
        raise NotImplementedError
";
    let (out, built) = functions(Language::Python, "a.py", text);
    assert_eq!((out, built), (vec!["P.a".to_owned()], vec!["P.b".to_owned(), "Q.c".to_owned()]));
}
