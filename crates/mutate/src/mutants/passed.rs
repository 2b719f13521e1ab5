//! Recognizes code that is not mutated: files that are generated or contain tests, calls that log,
//! and assertions.

use crate::mutants::mutant::line_starts;
use crate::mutants::policy::{HEAD, LONGEST_FILE, LONGEST_LINES};
use crate::mutants::tables::Table;
use assay_suites::coverage::{Language, rules};
use tree_sitter::Node;

/// Names of loggers, in lower case. Calls to them are not mutated.
const LOGS: [&str; 12] = [
    "log", "logger", "logging", "console", "slog", "klog", "glog", "tracing", "syslog", "warnings",
    "_logger", "_log",
];

/// Returns the reason why a file is not mutated, as the end of a sentence about the file, or `None`
/// if it is mutated.
pub fn why_passed(language: Language, path: &str, text: &[u8]) -> Option<&'static str> {
    let head = String::from_utf8_lossy(&text[..text.len().min(HEAD)]).to_ascii_lowercase();
    let is_generated =
        head.contains("@generated") || (head.contains("generated") && head.contains("do not edit"));
    match () {
        () if rules::holds_tests(language, path) => Some("holds tests"),
        () if matches!(language, Language::C | Language::Cpp) && is_test_program(path) => {
            Some("holds tests")
        }
        () if is_built(path) => Some("was built from other sources"),
        () if rules::is_beside_tests(path) => Some("is in a directory of tests"),
        // By convention, this module is compiled for tests only.
        () if language == Language::Rust && path.ends_with("/tests.rs") => Some("holds tests"),
        () if language == Language::Rust && path.split('/').any(|part| part == "benches") => {
            Some("holds benchmarks")
        }
        () if text.len() > LONGEST_FILE => Some("is longer than 1 MiB"),
        () if is_generated => Some("is marked as generated"),
        () if text.len() > HEAD && text.len() > LONGEST_LINES * line_starts(text).len() => {
            Some("is minified")
        }
        () => None,
    }
}

/// Returns true if the file is a C or C++ test program, judging by names that test programs have in
/// addition to those of frameworks: `test.c`, `sds-test.c`, `check_list.c`.
fn is_test_program(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_ascii_lowercase();
    ["t", "test", "tests", "unittest", "unittests", "testsuite"].contains(&stem.as_str())
        || ["test-", "check_", "tst_"].iter().any(|own| stem.starts_with(own))
        || ["-test", "-tests", "_tests", "_unittest"].iter().any(|own| stem.ends_with(own))
}

/// Returns true if the file is a copy of a source made by setuptools, below `build/lib`.
fn is_built(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.windows(2).any(|two| two[0] == "build" && (two[1] == "lib" || two[1].starts_with("lib.")))
}

/// Returns true if a node is a call that logs or asserts.
pub(crate) fn is_talk(table: &Table, node: Node<'_>, text: &[u8]) -> bool {
    table.calls.iter().filter(|(kind, _)| *kind == node.kind()).any(|(_, field)| {
        let Some(called) = node.child_by_field_name(field) else { return false };
        let bytes = text.get(called.byte_range()).unwrap_or_default();
        // A longer text is not a name.
        let Ok(name) = std::str::from_utf8(&bytes[..bytes.len().min(64)]) else { return false };
        let is_receiver = matches!(*field, "receiver" | "object");
        let parts = name.split(['.', ':', '>', '-', '@']).filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.map(str::to_ascii_lowercase).collect();
        let (last, before) = match parts.split_last() {
            Some((last, before)) if !is_receiver => (last.as_str(), before),
            _ => ("", &parts[..]),
        };
        before.iter().any(|part| LOGS.contains(&part.as_str()))
            || last.starts_with("assert")
            || last.starts_with("debug_assert")
            || (before.is_empty() && name.starts_with("LOG"))
    })
}

/// Returns true if an attribute before a Rust node marks the node as a test, as code for tests, or
/// as a benchmark.
pub(crate) fn is_for_tests(node: Node<'_>, text: &[u8]) -> bool {
    let mut before = node.prev_named_sibling();
    while let Some(own) = before {
        match own.kind() {
            "attribute_item" => {
                let bytes = text.get(own.byte_range()).unwrap_or_default();
                let text = String::from_utf8_lossy(bytes);
                if text.contains("test") || text.contains("bench") {
                    return true;
                }
            }
            "line_comment" | "block_comment" => {}
            _ => return false,
        }
        before = own.prev_named_sibling();
    }
    false
}
