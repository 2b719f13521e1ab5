//! Comments and attributes with which a project marks code that its tests need not reach: those of
//! coverage.py, istanbul, c8, v8, node, simplecov, lcov, gcov, grcov, `coverage:ignore`,
//! `#[coverage(off)]`, and other mutation testing tools. Mutants in marked code are accepted, and
//! counted.

use crate::mutants::absent::each;
use assay_suites::coverage::Language;
use tree_sitter::Node;

/// First and last line, counting from 1, with their marker.
pub(crate) type MarkedLines = (u32, u32, String);

/// Markers that apply to their own line or, if it opens a block, to the whole block.
const OF_LINE: [&str; 14] = [
    "pragma: no cover",
    "pragma: nocover",
    "pragma:no cover",
    "pragma: no mutate",
    "pragma:no mutate",
    "coverage:ignore-line",
    "coverage:ignore",
    "coverage: ignore",
    "LCOV_EXCL_LINE",
    "GCOVR_EXCL_LINE",
    "GCOV_EXCL_LINE",
    "grcov-excl-line",
    "no-mutate",
    "mutmut: skip",
];
/// Markers that begin a range of lines, each with the marker that ends it.
const STRETCHES: [(&str, &str); 12] = [
    ("LCOV_EXCL_START", "LCOV_EXCL_STOP"),
    ("GCOVR_EXCL_START", "GCOVR_EXCL_STOP"),
    ("GCOV_EXCL_START", "GCOV_EXCL_STOP"),
    ("grcov-excl-start", "grcov-excl-stop"),
    ("coverage:ignore-start", "coverage:ignore-end"),
    ("istanbul ignore start", "istanbul ignore stop"),
    ("c8 ignore start", "c8 ignore stop"),
    ("v8 ignore start", "v8 ignore stop"),
    ("node:coverage disable", "node:coverage enable"),
    ("Stryker disable all", "Stryker restore all"),
    ("pragma: no mutate start", "pragma: no mutate end"),
    ("simplecov:disable", "simplecov:enable"),
];
/// Markers that apply to the whole file.
const OF_FILE: [&str; 4] =
    ["istanbul ignore file", "v8 ignore file", "c8 ignore file", "coverage:ignore-file"];
/// Markers that apply to the next node or line.
const OF_NEXT: [&str; 6] = [
    "istanbul ignore next",
    "c8 ignore next",
    "v8 ignore next",
    "node:coverage ignore next",
    "Stryker disable next-line",
    "coverage:ignore-next",
];
/// Markers in Rust attributes.
const OF_ATTRIBUTES: [&str; 5] =
    ["coverage(off)", "no_coverage", "mutants::skip", "tarpaulin_include", "tarpaulin::skip"];

/// Returns the marked lines of a file. O(bytes).
pub(crate) fn marked(language: Language, text: &[u8], root: Node<'_>) -> Vec<MarkedLines> {
    let all = String::from_utf8_lossy(text);
    let has_word = [
        "pragma",
        "ignore",
        "_EXCL_",
        "-excl-",
        "nocov",
        "tryker",
        "coverage",
        "mutate",
        "mutants",
        "mutmut",
        "tarpaulin",
        "simplecov",
    ];
    if !has_word.iter().any(|word| all.contains(word)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut toggled: Option<u32> = None;
    let (mut open, mut last): (Option<(u32, &str, &str)>, u32) = (None, 0);
    each(root, &mut |node| {
        let bytes = text.get(node.byte_range()).unwrap_or_default();
        let Ok(said) = std::str::from_utf8(bytes) else { return };
        if node.kind().contains("attribute") && language == Language::Rust {
            if let Some(word) = OF_ATTRIBUTES.iter().find(|word| said.contains(**word))
                && node.kind() == "attribute_item"
                && let Some(own) = next(node)
            {
                found.push((first(own), end(own), format!("#[{word}]")));
            }
            return;
        }
        if !node.kind().contains("comment") {
            return;
        }
        let line = first(node);
        last = last.max(line);
        if language == Language::Ruby && said.trim_start_matches('#').trim().starts_with(":nocov:")
        {
            match toggled.take() {
                Some(from) => found.push((from, line, ":nocov:".to_owned())),
                None => toggled = Some(line),
            }
            return;
        }
        if let Some((from, word, ending)) = open {
            if said.contains(ending) {
                found.push((from, line, word.to_owned()));
                open = None;
            }
            return;
        }
        if let Some((word, ending)) = STRETCHES.iter().find(|(word, _)| said.contains(word)) {
            open = Some((line, word, ending));
        } else if let Some(word) = OF_FILE.iter().find(|word| said.contains(**word)) {
            found.push((1, u32::MAX, (*word).to_owned()));
        } else if let Some(word) = OF_NEXT.iter().find(|word| said.contains(**word)) {
            let count = said.split(word).nth(1).and_then(|own| own.split_whitespace().next());
            let lines = count.and_then(|own| own.parse::<u32>().ok());
            match (lines, next(node)) {
                (Some(lines), _) => {
                    found.push((line, line.saturating_add(lines), (*word).to_owned()))
                }
                (None, Some(own)) if *word != "Stryker disable next-line" => {
                    found.push((first(own), end(own), (*word).to_owned()));
                }
                _ => found.push((line + 1, line + 1, (*word).to_owned())),
            }
        } else if let Some(which) = said.split_once("istanbul ignore ").map(|(_, own)| own.trim()) {
            let branch = next(node).filter(|own| own.kind() == "if_statement").and_then(|own| {
                own.child_by_field_name(if which.starts_with("if") {
                    "consequence"
                } else {
                    "alternative"
                })
            });
            found.extend(branch.map(|own| (first(own), end(own), "istanbul ignore".to_owned())));
        } else if let Some(word) = OF_LINE.iter().find(|word| said.contains(**word)) {
            let (from, to) = block_of(node, line);
            found.push((from, to, (*word).to_owned()));
        }
    });
    if let Some((from, word, _)) = open {
        found.push((from, u32::MAX, word.to_owned()));
    }
    if let Some(from) = toggled {
        found.push((from, u32::MAX, ":nocov:".to_owned()));
    }
    found
}

fn first(node: Node<'_>) -> u32 {
    crate::mutants::generate::line(node.start_position().row)
}

fn end(node: Node<'_>) -> u32 {
    crate::mutants::generate::line(node.end_position().row)
}

/// Returns the node after a comment or attribute, skipping other comments and attributes.
fn next(node: Node<'_>) -> Option<Node<'_>> {
    let mut next = node.next_named_sibling();
    while let Some(own) =
        next.filter(|own| own.kind().contains("comment") || own.kind() == "attribute_item")
    {
        next = own.next_named_sibling();
    }
    next
}

/// Returns the lines marked by a comment on `line`: those of the largest block that the line opens,
/// or otherwise the line alone.
fn block_of(comment: Node<'_>, line: u32) -> (u32, u32) {
    let mut root = comment;
    while let Some(above) = root.parent() {
        root = above;
    }
    let mut block = (line, line);
    each(root, &mut |node| {
        let kind = node.kind();
        let is_block = node.child_by_field_name("body").is_some()
            || node.child_by_field_name("consequence").is_some()
            || matches!(
                kind,
                "else_clause"
                    | "except_clause"
                    | "finally_clause"
                    | "decorated_definition"
                    | "else"
                    | "rescue"
            );
        if !is_block || !node.is_named() {
            return;
        }
        // A header may span several lines. The comment may be on any of them, or on the line of a
        // decorator.
        let body = ["body", "consequence"].iter().find_map(|field| node.child_by_field_name(field));
        let body = body.or_else(|| {
            node.named_child(u32::try_from(node.named_child_count()).ok()?.checked_sub(1)?)
        });
        let header = match body {
            Some(own) if first(own) > first(node) => first(own) - 1,
            _ => first(node),
        };
        let is_opened = (first(node)..=header.max(first(node))).contains(&line);
        if is_opened && end(node) > block.1 {
            // For an `if`, only the branch that the line opens is marked.
            let last = node.child_by_field_name("consequence").map_or(end(node), end);
            block = (first(node).min(block.0), last.max(block.1));
        }
    });
    block
}
