//! Compares survivors in Rust. The compiler writes the assembler text of a whole crate, compiled as
//! by `cargo test`. The compiler's arguments are recorded in a build of the project's own crates,
//! and dependencies are used as built.
//!
//! A function may have code only where it is inlined, or code specialized to the arguments of its
//! callers. So each function that is compared gets a symbol that others could call. Integer
//! overflow is an error in tests but not in release builds, and only functions that are the same in
//! both are considered the same. The position of a panic in the file is left out because it belongs
//! to the text and not to the program.

use super::code::Code;
use super::compiled::{Equivalences, Function, Package};
use crate::arena::Arena;
use crate::sources::Source;
use assay_suites::programs::{Program, again, recorded};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compiler options that are added to the recorded ones.
const ALWAYS: [&str; 10] = [
    "-Copt-level=3",
    "-Ccodegen-units=1",
    "-Cdebuginfo=0",
    "-Cstrip=none",
    "--cap-lints=allow",
    "-Zlocation-detail=none",
    // If it were enabled, one of two identical functions would be removed, and the other would have
    // both names.
    "-Zmerge-functions=disabled",
    "-Zshare-generics=no",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
];
/// Options that are added after [`ALWAYS`] in the second setting, that of a release build.
const RELEASED: [&str; 2] = ["-Cdebug-assertions=off", "-Coverflow-checks=off"];

/// Options that are dropped along with their values.
const DROPPED: [&str; 5] = ["--emit", "--out-dir", "--error-format", "--json", "-o"];
/// Codegen options (after `-C`) that are dropped.
const DROPPED_CODEGEN: [&str; 3] = ["incremental", "lto", "linker-plugin-lto"];

/// Returns the indices of the survivors whose code is the same as the original's.
pub(super) fn same(
    arena: &mut Arena<'_>,
    sources: &[Source],
    functions: Vec<Function<'_>>,
    until: Instant,
) -> Vec<usize> {
    let mut same = Vec::new();
    let Some(crates) = crates(arena) else { return same };
    let mut left = functions;
    for own in &crates {
        let is_of_it = |function: &Function<'_>| own.may_hold(&sources[function.source].path);
        let (mut of_it, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_of_it);
        left = others;
        if of_it.is_empty() || Instant::now() >= until {
            left.extend(of_it);
            continue;
        }
        for function in &mut of_it {
            function.symbol = format!("assay_{}_{}", function.source, function.unit);
            function.mark = own.mark(&function.symbol);
        }
        let mut compile = |arena: &mut Arena<'_>, setting: usize| own.code(arena, setting);
        let package = Package::new(sources, &of_it, until);
        let Equivalences { same: found, absent } = package.found(arena, &mut compile, 2);
        same.extend(found);
        let mut number = 0;
        of_it.retain(|_| {
            number += 1;
            absent.contains(&(number - 1))
        });
        left.extend(of_it);
    }
    same
}

/// A crate of the project, with the compiler invocation that builds it.
struct Crate {
    compiler: Program,
    /// The directory that contains the crate's root file, relative to the root of the project.
    directory: PathBuf,
    is_2024: bool,
    is_test: bool,
}

/// Returns the crates that cargo compiled, starting with those without tests. `None` if the
/// compilations cannot be recorded.
fn crates(arena: &mut Arena<'_>) -> Option<Vec<Crate>> {
    let top = arena.copy.top();
    let kept = arena.runs.place().join("compilers");
    if !kept.is_dir() {
        fs::create_dir(&kept).ok()?;
        arena.suite.compilers(&mut arena.runs, &top, &kept)?;
    }
    let mut all: Vec<Crate> =
        recorded(&kept).into_iter().filter_map(|own| Crate::of(own, &top)).collect();
    all.sort_by_key(|own| (own.is_test, std::cmp::Reverse(own.directory.components().count())));
    Some(all)
}

impl Crate {
    /// Returns the crate compiled by a compiler that was started in the copy at `top`, or `None` if
    /// it compiled something else.
    fn of(compiler: Program, top: &Path) -> Option<Self> {
        let words: Vec<&str> = compiler.words.iter().filter_map(|own| own.to_str()).collect();
        if words.len() < compiler.words.len() {
            return None;
        }
        let behind = |option: &str| {
            let at = words.iter().position(|own| *own == option)?;
            words.get(at + 1).copied()
        };
        // Build scripts run within the build.
        if behind("--crate-name")?.starts_with("build_script_") {
            return None;
        }
        let first =
            words.iter().skip(1).find(|own| own.ends_with(".rs") && !own.starts_with('-'))?;
        let directory = compiler.place.join(first).parent()?.to_owned();
        let top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
        let directory = directory.strip_prefix(&top).ok()?.to_owned();
        let is_2024 = words.contains(&"--edition=2024") || behind("--edition") == Some("2024");
        let is_test = words.contains(&"--test");
        Some(Self { directory, is_2024, is_test, compiler })
    }

    /// Returns true if a file, given relative to the root of the project, is below the crate's
    /// directory.
    fn may_hold(&self, path: &str) -> bool {
        Path::new(path).starts_with(&self.directory)
    }

    /// Returns the attributes that give a function a symbol of its own.
    fn mark(&self, symbol: &str) -> String {
        let exported = format!("export_name = \"{symbol}\"");
        let exported = if self.is_2024 { format!("unsafe({exported})") } else { exported };
        format!("#[inline(never)] #[{exported}] ")
    }

    /// Returns the code that the compiler generates from the copy, with one of two settings.
    fn code(&self, arena: &mut Arena<'_>, setting: usize) -> Option<Code> {
        let room = arena.runs.place().to_owned();
        let (output, script) = (room.join("code.s"), room.join("code.sh"));
        let _not_there = fs::remove_file(&output);
        let mut words = compiler_arguments(&self.compiler.words);
        words.extend(ALWAYS.iter().map(OsString::from));
        words.extend(RELEASED.iter().filter(|_| setting > 0).map(OsString::from));
        let mut emit = OsString::from("--emit=asm=");
        emit.push(&output);
        words.push(emit);
        let mut compiler = self.compiler.clone();
        // The jobserver no longer exists.
        compiler.variables.retain(|(name, _)| !name.ends_with("MAKEFLAGS"));
        compiler.variables.push(("RUSTC_BOOTSTRAP".to_owned(), "1".into()));
        fs::write(&script, again(std::iter::once((&compiler, words)), true)).ok()?;
        let top = arena.copy.top();
        let argv = vec![OsString::from("sh"), script.into_os_string()];
        arena.suite.output_of(&mut arena.runs, &top, argv)?;
        Code::of_assembly(&String::from_utf8_lossy(&fs::read(&output).ok()?))
    }
}

/// Returns the arguments of a compiler without those that determine the type and location of its
/// output.
fn compiler_arguments(words: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let option = text.split('=').next().unwrap_or_default();
        if DROPPED.contains(&option) {
            if !text.contains('=') {
                words.next();
            }
            continue;
        }
        let is_dropped =
            |value: &str| DROPPED_CODEGEN.contains(&value.split('=').next().unwrap_or_default());
        if text == "-C" && words.peek().is_some_and(|own| is_dropped(&own.to_string_lossy())) {
            words.next();
            continue;
        }
        if text.strip_prefix("-C").is_some_and(is_dropped) {
            continue;
        }
        kept.push(word.clone());
    }
    kept
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_compiler_is_asked_for_nothing_but_the_code() {
        let line = "rustc --crate-name own --edition=2021 src/lib.rs --error-format=json \
            --json=artifacts --crate-type lib --emit=dep-info,link -C opt-level=1 -C lto \
            -C incremental=/i -Cincremental=/i --out-dir /o --extern a=/a.rmeta --cfg feature=\"x\"";
        let kept = "rustc --crate-name own --edition=2021 src/lib.rs --crate-type lib -C opt-level=1 \
            --extern a=/a.rmeta --cfg feature=\"x\"";
        assert_eq!(compiler_arguments(&words(line)), words(kept));
    }

    #[test]
    fn a_crate_is_known_by_its_first_file() {
        let of = |line: &str| {
            let program =
                Program { words: words(line), place: "/t/project".into(), ..Program::default() };
            Crate::of(program, Path::new("/t/project"))
        };
        let own = of("rustc --crate-name own --edition=2024 a/src/lib.rs --test").unwrap();
        assert!(own.is_2024 && own.is_test);
        assert!(own.may_hold("a/src/b/c.rs") && !own.may_hold("a/tests/c.rs"));
        assert_eq!(own.mark("x"), "#[inline(never)] #[unsafe(export_name = \"x\")] ");
        assert!(of("rustc --crate-name build_script_build --edition 2021 build.rs").is_none());
        assert!(of("rustc --crate-name far --edition=2021 /elsewhere/src/lib.rs").is_none());
        assert!(of("rustc - --crate-name ___ --print=file-names").is_none());
    }
}
