//! Compares survivors in Go. The compiler prints the code of a package (`go build -gcflags=-S`),
//! with the same settings as for the user's tests.
//!
//! Go compiles every non-generic function separately, even if it is also inlined elsewhere.
//! Inlining is disabled here, so a function's code never includes that of another.

use super::code::Code;
use super::compiled::{Equivalences, Function, Package};
use crate::arena::Arena;
use crate::sources::Source;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Returns the indices of the survivors whose code is the same as the original's.
pub(super) fn same(
    arena: &mut Arena<'_>,
    sources: &[Source],
    functions: Vec<Function<'_>>,
    until: Instant,
) -> Vec<usize> {
    let mut packages: BTreeMap<PathBuf, Vec<Function<'_>>> = BTreeMap::new();
    for own in functions {
        let above = Path::new(&sources[own.source].path).parent();
        packages.entry(above.unwrap_or(Path::new("")).to_owned()).or_default().push(own);
    }
    let mut same = Vec::new();
    for (directory, mut functions) in packages {
        let mut compile = |arena: &mut Arena<'_>, _: usize| {
            listing(arena, &directory).map(|text| Code::of_listing(&text))
        };
        let Some(text) = listing(arena, &directory) else { continue };
        let code = Code::of_listing(&text);
        for own in &mut functions {
            let named = names(&text, &own.symbol).into_iter().find(|name| code.has(name));
            own.symbol = named.unwrap_or_default();
        }
        functions.retain(|own| !own.symbol.is_empty());
        let package = Package::new(sources, &functions, until);
        let Equivalences { same: own, .. } = package.found(arena, &mut compile, 1);
        same.extend(own);
    }
    same
}

/// Returns the compiler's listing of the package in a directory of the copy.
fn listing(arena: &mut Arena<'_>, directory: &Path) -> Option<String> {
    let top = arena.copy.top();
    let output = arena.runs.place().join("listing");
    let _not_there = fs::remove_file(&output);
    let words = arena.suite.code(&top)?;
    let script = "cd \"$1\" && output=$2 && shift 2 && exec \"$@\" 2> \"$output\"";
    let before = ["sh", "-c", script, "sh"].map(OsString::from);
    let places = [top.join(directory).into_os_string(), output.clone().into_os_string()];
    let argv = before.into_iter().chain(places).chain(words).collect();
    arena.suite.output_of(&mut arena.runs, &top, argv)?;
    Some(String::from_utf8_lossy(&fs::read(&output).ok()?).into_owned())
}

/// Returns the symbols that a function may have, given the package that the compiler reports. The
/// package of a program is called `main`, and some compiler versions write the last part of a path
/// differently.
fn names(listing: &str, symbol: &str) -> Vec<String> {
    let path = listing.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let (above, last) = path.rsplit_once('/').map_or(("", path), |(above, last)| {
        let end = above.len() + 1;
        (&path[..end], last)
    });
    let mut written = above.to_owned();
    for c in last.chars() {
        if c == '.' {
            let _never_fails = write!(written, "%{:02x}", u32::from(c));
        } else {
            written.push(c);
        }
    }
    [path, &written, "main"].iter().map(|own| format!("{own}.{symbol}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_begin_with_the_path_of_the_package() {
        let all = names("# gopkg.in/yaml.v3\nx STEXT size=1\n", "(*T).F");
        assert_eq!(all, ["gopkg.in/yaml.v3.(*T).F", "gopkg.in/yaml%2ev3.(*T).F", "main.(*T).F"]);
    }
}
