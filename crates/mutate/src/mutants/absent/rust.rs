//! Finds Rust items and statements that `cfg` leaves out, including modules in separate files.

use super::logic::{all, any, bare, not, split, unquoted};
use super::{BuildPlatform, ExcludedLines, short};
use tree_sitter::{Node, Parser};

/// `cfg` names set only by tools that do not run the tests here.
const OF_TOOLS: [&str; 12] = [
    "docsrs",
    "doc",
    "fuzzing",
    "miri",
    "loom",
    "kani",
    "shuttle",
    "tarpaulin",
    "coverage",
    "coverage_nightly",
    "rustdoc",
    "creusot",
];

/// Returns the lines that are left out.
pub(super) fn of(root: Node<'_>, text: &[u8], here: &BuildPlatform) -> Vec<ExcludedLines> {
    let mut found = Vec::new();
    each(root, &mut |node| {
        let words = || words(node, text);
        match node.kind() {
            "attribute_item" | "inner_attribute_item" => {
                let Some(predicate) = predicate(words()) else { return };
                if holds(predicate, here) == Some(false)
                    && let Some(own) = owner(node)
                {
                    found.push(ExcludedLines::of(own, format!("#[cfg({})]", short(predicate))));
                }
            }
            "if_expression" => {
                let field = |name| node.child_by_field_name(name);
                let Some(condition) = field("condition") else { return };
                let told = self::words(condition, text).trim();
                let inner = told.strip_prefix("cfg!").map(bare);
                let branch = match inner.and_then(|own| holds(own, here)) {
                    Some(false) => field("consequence"),
                    Some(true) => field("alternative"),
                    None => None,
                };
                found.extend(branch.map(|own| ExcludedLines::of(own, short(told))));
            }
            _ => {}
        }
    });
    found
}

/// Returns the module paths (without extension) that the file at `path` declares under a false
/// `cfg`, each with the reason. Rust files below them are left out.
pub fn modules_off(path: &str, text: &[u8], here: &BuildPlatform) -> Vec<(String, String)> {
    let mut parser = Parser::new();
    if parser.set_language(&crate::blocks::grammar(assay_suites::coverage::Language::Rust)).is_err()
    {
        return Vec::new();
    }
    let Some(tree) = parser.parse(text, None) else { return Vec::new() };
    let directory = path.rsplit_once('/').map_or("", |(own, _)| own);
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    let base = match stem {
        "lib" | "main" | "mod" => directory.to_owned(),
        own if directory.is_empty() => own.to_owned(),
        own => format!("{directory}/{own}"),
    };
    let mut found = Vec::new();
    each(tree.root_node(), &mut |node| {
        if node.kind() != "mod_item" || node.child_by_field_name("body").is_some() {
            return;
        }
        let mut before = node.prev_named_sibling();
        let mut why = None;
        while let Some(own) = before.filter(|own| own.kind() == "attribute_item") {
            let predicate = predicate(words(own, text));
            let off = predicate.filter(|own| holds(own, here) == Some(false));
            why = why.or_else(|| off.map(|own| format!("#[cfg({})]", short(own))));
            before = own.prev_named_sibling();
        }
        if let (Some(why), Some(name)) = (why, node.child_by_field_name("name")) {
            let below = [base.as_str(), words(name, text)];
            let below = below.iter().filter(|own| !own.is_empty()).copied().collect::<Vec<_>>();
            found.push((below.join("/"), why));
        }
    });
    found
}

fn words<'t>(node: Node<'_>, text: &'t [u8]) -> &'t str {
    std::str::from_utf8(text.get(node.byte_range()).unwrap_or_default()).unwrap_or_default()
}

/// Calls `take` with every node below `root`, parents first.
pub(crate) fn each<'t>(root: Node<'t>, take: &mut impl FnMut(Node<'t>)) {
    let mut cursor = root.walk();
    loop {
        take(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Returns the predicate in the parentheses of `#[cfg(…)]`.
fn predicate(attribute: &str) -> Option<&str> {
    let inner = attribute.trim().trim_start_matches(['#', '!']).trim();
    let inner = inner.strip_prefix('[')?.strip_suffix(']')?.trim();
    let inner = inner.strip_prefix("cfg")?.trim();
    inner.starts_with('(').then(|| bare(inner))
}

/// Returns the item or statement to which an attribute belongs.
fn owner(attribute: Node<'_>) -> Option<Node<'_>> {
    if attribute.kind() == "inner_attribute_item" {
        let around = attribute.parent()?;
        return Some(around);
    }
    let mut next = attribute.next_named_sibling();
    while let Some(own) = next {
        if !matches!(own.kind(), "attribute_item" | "line_comment" | "block_comment") {
            return Some(own);
        }
        next = own.next_named_sibling();
    }
    None
}

/// Returns whether a predicate holds, or `None` if this is unknown.
fn holds(predicate: &str, here: &BuildPlatform) -> Option<bool> {
    let text = predicate.trim();
    let inner =
        |name: &str| text.strip_prefix(name).map(str::trim).filter(|own| own.starts_with('('));
    let parts = |own: &'_ str| -> Vec<Option<bool>> {
        let inner = bare(own).to_owned();
        split(&inner, ",")
            .into_iter()
            .filter(|own| !own.trim().is_empty())
            .map(|own| holds(own, here))
            .collect()
    };
    if let Some(own) = inner("all") {
        return all(parts(own));
    }
    if let Some(own) = inner("any") {
        return any(parts(own));
    }
    if let Some(own) = inner("not") {
        return not(holds(bare(own), here));
    }
    if let Some((name, value)) = text.split_once('=') {
        let value = unquoted(value)?;
        return match name.trim() {
            "feature" => match &here.features {
                Some(own) if own.contains(value) => Some(true),
                Some(_) if !here.perhaps.contains(value) => Some(false),
                _ => None,
            },
            "target_os" => Some(value == here.system),
            "target_arch" => Some(value == here.processor),
            "target_pointer_width" => Some(value == usize::BITS.to_string()),
            "target_family" => {
                Some((value == "windows") == (here.system == "windows") && value != "wasm")
            }
            "target_vendor" => (value == "apple").then_some(here.system == "macos"),
            "panic" => Some(value == "unwind"),
            _ => None,
        };
    }
    match text {
        "windows" => Some(here.system == "windows"),
        "unix" => Some(here.system != "windows"),
        "test" => Some(true),
        "true" => Some(true),
        "false" => Some(false),
        "debug_assertions" => None,
        name if here.settings.as_ref().is_some_and(|own| own.contains(name)) => Some(true),
        name if OF_TOOLS.contains(&name) => Some(false),
        name if name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') => {
            here.settings.as_ref().map(|_| false)
        }
        _ => None,
    }
}
