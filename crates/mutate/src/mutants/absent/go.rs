//! Finds Go files that `go build` leaves out because of their names or their build constraints (see
//! `go help buildconstraint`).

use super::logic::{all, any, bare, not, split};
use super::{BuildPlatform, ExcludedLines};

/// Operating systems that can occur in the names of Go files.
const SYSTEMS: [&str; 17] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
];
/// Processors that can occur in file names.
const PROCESSORS: [&str; 17] = [
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64",
    "ppc64le", "riscv64", "s390x", "sparc64", "wasm", "armbe", "amd64p32",
];
/// Operating systems for which the tag `unix` is set.
const UNIX: [&str; 12] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "linux",
    "netbsd",
    "openbsd",
    "solaris",
];

/// Returns the reason why a file is left out, or `None` if it is built.
pub(super) fn file(path: &str, text: &str, here: &BuildPlatform) -> Option<ExcludedLines> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".go").unwrap_or(name);
    if name.starts_with(['_', '.']) || path.split('/').any(|part| part == "testdata") {
        return Some(ExcludedLines::file(format!("{name}, which go build ignores")));
    }
    let parts: Vec<&str> = stem.split('_').collect();
    let ending = match parts[..] {
        [_, .., system, processor]
            if SYSTEMS.contains(&system) && PROCESSORS.contains(&processor) =>
        {
            all([holds(system, here), holds(processor, here)])
        }
        [_, .., last] if SYSTEMS.contains(&last) || PROCESSORS.contains(&last) => holds(last, here),
        _ => Some(true),
    };
    if ending == Some(false) {
        return Some(ExcludedLines::file(name));
    }
    for line in text.lines().take_while(|line| !line.starts_with("package ")) {
        let (told, is_built) = if let Some(own) = line.strip_prefix("//go:build ") {
            (own, expression(own, here))
        } else if let Some(own) = line.strip_prefix("// +build ") {
            // A space means "or", a comma means "and", and `!` means "not".
            let word = |word: &str| match word.strip_prefix('!') {
                Some(word) => not(holds(word, here)),
                None => holds(word, here),
            };
            let one = |own: &str| all(own.split(',').map(word).collect::<Vec<_>>());
            (own, any(own.split_whitespace().map(one).collect::<Vec<_>>()))
        } else {
            continue;
        };
        if is_built == Some(false) {
            return Some(ExcludedLines::file(format!("//go:build {}", super::short(told))));
        }
    }
    None
}

fn expression(text: &str, here: &BuildPlatform) -> Option<bool> {
    let text = bare(text);
    let parts = split(text, "||");
    if parts.len() > 1 {
        return any(parts.into_iter().map(|own| expression(own, here)));
    }
    let parts = split(text, "&&");
    if parts.len() > 1 {
        return all(parts.into_iter().map(|own| expression(own, here)));
    }
    match text.strip_prefix('!') {
        Some(own) => not(expression(own, here)),
        None => holds(text, here),
    }
}

/// Returns whether a tag is set, or `None` if this is unknown.
fn holds(tag: &str, here: &BuildPlatform) -> Option<bool> {
    if here.tags.contains(tag) {
        return Some(true);
    }
    let system = match here.system.as_str() {
        "macos" => "darwin",
        other => other,
    };
    let processor = match here.processor.as_str() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    match tag {
        "unix" => Some(UNIX.contains(&system)),
        "gc" | "cgo" => (tag == "gc").then_some(true),
        "linux" if system == "android" => Some(true),
        _ if SYSTEMS.contains(&tag) => Some(tag == system),
        _ if PROCESSORS.contains(&tag) => Some(tag == processor),
        // The version of Go is unknown.
        _ if tag.starts_with("go1.") => None,
        _ if tag.starts_with("goexperiment.")
            || tag == "race"
            || tag == "msan"
            || tag == "asan" =>
        {
            None
        }
        // Any other tag, such as `ignore`, `tools` or `integration`, is unset unless the command
        // sets it.
        _ => Some(false),
    }
}
