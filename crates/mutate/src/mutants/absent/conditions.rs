//! Finds branches of `if` that are never taken on this platform, and code that exists only for the
//! type checker, in languages without a preprocessor.

use super::logic::{all, any, bare, not, split, unquoted};
use super::rust::each;
use super::{BuildPlatform, ExcludedLines, short};
use assay_suites::coverage::Language;
use tree_sitter::Node;

/// Returns the lines that never run.
pub(super) fn of(
    language: Language,
    root: Node<'_>,
    text: &[u8],
    here: &BuildPlatform,
) -> Vec<ExcludedLines> {
    let mut found = Vec::new();
    let words = |node: Node<'_>| {
        let bytes = text.get(node.byte_range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    };
    each(root, &mut |node| {
        if node.is_named() && matches!(node.kind(), "if_modifier" | "unless_modifier") {
            let Some(condition) = node.child_by_field_name("condition") else { return };
            let told = words(condition);
            let value = holds(language, told, here);
            let value = if node.kind() == "unless_modifier" { not(value) } else { value };
            if value == Some(false) {
                found.push(ExcludedLines::of(node, format!("`{}`", short(bare(told)))));
            }
        }
        if node.is_named()
            && matches!(node.kind(), "if_statement" | "if" | "elif_clause" | "elsif" | "unless")
        {
            let field = |name| node.child_by_field_name(name);
            let Some(condition) = field("condition") else { return };
            let told = words(condition);
            let value = holds(language, told, here);
            let value = if node.kind() == "unless" { not(value) } else { value };
            let why = format!("`{}`", short(bare(told)));
            // Excluded code is recorded by line, and branches on the same line cannot be told
            // apart, so both are tried.
            let is_on_one_line = node.start_position().row == node.end_position().row
                && field("alternative").is_some();
            if is_on_one_line {
                return;
            }
            // Parts of a condition that concern other platforms have no effect on this one.
            let consequence = field("consequence");
            let first = consequence.map(|own| match own.kind() {
                "statement_block" | "block" => own.named_child(0).unwrap_or(own),
                _ => own,
            });
            let is_apart =
                first.is_some_and(|own| own.start_position().row > condition.end_position().row);
            if value.is_some() && is_apart {
                found.push(ExcludedLines::of(condition, why.clone()));
            }
            if value == Some(false) {
                found.extend(consequence.map(|own| ExcludedLines::of(own, why.clone())));
            }
            // Branches after one that is always taken are never reached.
            let mut taken = value;
            let mut cursor = node.walk();
            for own in node.children_by_field_name("alternative", &mut cursor) {
                if taken == Some(true) {
                    found.push(ExcludedLines::of(own, why.clone()));
                }
                let condition =
                    own.child_by_field_name("condition").filter(|_| own.kind() == "elif_clause");
                taken = any([
                    taken,
                    condition.map_or(Some(false), |own| holds(language, words(own), here)),
                ]);
            }
        }
        if language == Language::Python {
            found.extend(of_types(node, &words));
        }
    });
    found
}

/// Returns the lines of a Python function that only a type checker reads: an `@overload`, a
/// function whose body is `...`, or an unimplemented method of a protocol.
fn of_types<'t>(node: Node<'_>, words: &impl Fn(Node<'_>) -> &'t str) -> Option<ExcludedLines> {
    if node.kind() != "function_definition" {
        return None;
    }
    let decorated = node.parent().filter(|own| own.kind() == "decorated_definition");
    if let Some(around) = decorated {
        let mut cursor = around.walk();
        let is_overload = around.named_children(&mut cursor).any(|own| {
            own.kind() == "decorator"
                && words(own).trim_start_matches('@').rsplit('.').next().map(str::trim)
                    == Some("overload")
        });
        if is_overload {
            return Some(ExcludedLines::of(around, "@overload"));
        }
    }
    let body = node.child_by_field_name("body")?;
    let mut cursor = body.walk();
    let statements: Vec<Node<'_>> =
        body.named_children(&mut cursor).filter(|own| own.kind() != "comment").collect();
    let mut statements = statements.into_iter();
    let is_stub = |own: Node<'_>| {
        own.kind() == "expression_statement"
            && own.named_child(0).is_some_and(|only| matches!(only.kind(), "ellipsis" | "string"))
    };
    let has_dots = words(body).trim_end().ends_with("...");
    if has_dots && statements.clone().all(is_stub) {
        return Some(ExcludedLines::of(node, "a body of `...`"));
    }
    let class = std::iter::successors(node.parent(), Node::parent)
        .find(|own| own.kind() == "class_definition")?;
    let parents = class.child_by_field_name("superclasses").map_or("", words);
    let is_protocol =
        parents.split(|c: char| !c.is_alphanumeric() && c != '_').any(|own| own == "Protocol");
    let is_open = |own: Node<'_>| {
        is_stub(own)
            || own.kind() == "pass_statement"
            || words(own).starts_with("raise NotImplementedError")
    };
    (is_protocol && statements.all(is_open))
        .then(|| ExcludedLines::of(node, "a method of a protocol"))
}

/// Returns whether a condition holds on this platform, or `None` if this is unknown.
fn holds(language: Language, text: &str, here: &BuildPlatform) -> Option<bool> {
    let text = bare(text);
    let (or, and, negation) = match language {
        Language::Python => (" or ", " and ", "not "),
        _ => ("||", "&&", "!"),
    };
    let parts = split(text, or);
    if parts.len() > 1 {
        return any(parts.into_iter().map(|own| holds(language, own, here)));
    }
    let parts = split(text, and);
    if parts.len() > 1 {
        return all(parts.into_iter().map(|own| holds(language, own, here)));
    }
    if let Some(own) = text.strip_prefix(negation).filter(|own| !own.starts_with('=')) {
        return not(holds(language, own, here));
    }
    match language {
        Language::Python => python(text, here),
        Language::Ruby => ruby(text, here),
        Language::Go => compared(text, &["runtime.GOOS"], go_system(here)),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let system = match here.system.as_str() {
                "macos" => "darwin",
                "windows" => "win32",
                other => other,
            };
            compared(text, &["process.platform", "os.platform()", "platform()"], system)
        }
        _ => None,
    }
}

fn go_system(here: &BuildPlatform) -> &str {
    if here.system == "macos" { "darwin" } else { &here.system }
}

fn python(text: &str, here: &BuildPlatform) -> Option<bool> {
    let last = text.rsplit('.').next().unwrap_or(text);
    if last == "TYPE_CHECKING" {
        return Some(false);
    }
    let (platform, system, os) = match here.system.as_str() {
        "macos" => ("darwin", "Darwin", "posix"),
        "windows" => ("win32", "Windows", "nt"),
        "linux" => ("linux", "Linux", "posix"),
        _ => return None,
    };
    if let Some(own) = text.strip_prefix("sys.platform.startswith") {
        let parts: Vec<_> = split(bare(own), ",").into_iter().map(unquoted).collect();
        return any(parts.into_iter().map(|own| own.map(|own| platform.starts_with(own))));
    }
    if text == "False" || text == "0" {
        return Some(false);
    }
    compared(text, &["sys.platform"], platform)
        .or_else(|| compared(text, &["os.name"], os))
        .or_else(|| compared(text, &["platform.system()"], system))
        .or_else(|| of_second_python(text))
}

/// Evaluates a condition on the major version of Python. Python 2 is never used here.
fn of_second_python(text: &str) -> Option<bool> {
    let text: String = text.split_whitespace().collect();
    let major = text.strip_prefix("sys.version_info");
    let major = major.map(|own| own.trim_start_matches("[0]").trim_start_matches(".major"))?;
    match major {
        "<3" | "==2" | "<(3,)" | "<(3,0)" | "<=2" | "!=3" => Some(false),
        ">=3" | "==3" | ">=(3,)" | ">=(3,0)" | ">2" | "!=2" => Some(true),
        _ => None,
    }
}

fn ruby(text: &str, here: &BuildPlatform) -> Option<bool> {
    let is_windows = here.system == "windows";
    if matches!(text, "Gem.win_platform?" | "::Gem.win_platform?") {
        return Some(is_windows);
    }
    if text.starts_with("defined?") && text.contains("JRUBY_VERSION") {
        return Some(false);
    }
    if let Some(pattern) = text.strip_prefix("RUBY_PLATFORM").map(str::trim)
        && (pattern.starts_with("=~") || pattern.starts_with(".match?"))
    {
        let names = ["mswin", "mingw", "cygwin", "bccwin", "java", "darwin"];
        let named: Vec<&str> = names.into_iter().filter(|name| pattern.contains(name)).collect();
        let has_this = pattern.contains("linux")
            || pattern.contains(&here.system)
            || pattern.contains(&here.processor);
        let is_apple = named.contains(&"darwin") && here.system == "macos";
        return (!named.is_empty() && !is_windows && !has_this && !is_apple).then_some(false);
    }
    let engine = compared(text, &["RUBY_ENGINE"], "ruby")?;
    Some(engine)
}

/// Evaluates a comparison between one of `names`, whose value is `value`, and string literals.
fn compared(text: &str, names: &[&str], value: &str) -> Option<bool> {
    let side = |own: &str| names.contains(&own.trim());
    for (sign, is_equal) in [("===", true), ("!==", false), ("==", true), ("!=", false)] {
        let Some((left, right)) = text.split_once(sign) else { continue };
        let other = match (side(left), side(right)) {
            (true, _) => right,
            (_, true) => left,
            _ => return None,
        };
        return Some((unquoted(other)? == value) == is_equal);
    }
    for (sign, is_in) in [(" not in ", false), (" in ", true)] {
        let Some((left, right)) = text.split_once(sign) else { continue };
        if !side(left) {
            return None;
        }
        let right = right.trim();
        let inner = right.strip_prefix(['(', '[', '{'])?.strip_suffix([')', ']', '}'])?;
        let all: Option<Vec<&str>> = split(inner, ",")
            .into_iter()
            .filter(|own| !own.trim().is_empty())
            .map(unquoted)
            .collect();
        return Some(all?.contains(&value) == is_in);
    }
    None
}
