//! Rewrites that concern the names of local variables, of variables that hold a constant, and of
//! private functions.
//!
//! A name is understood only if every word in the text with the same spelling is a node that refers
//! to this variable. If the name also occurs in a string, in a comment, in a macro, as an attribute
//! or as the name of an argument, nothing is changed.

use super::{Edits, Function, descendants, words_of};
use crate::mutants::operator::Operator;
use assay_suites::coverage::Language;
use std::collections::HashMap;
use tree_sitter::Node;

/// A variable used only in the function.
struct Local<'t> {
    name: String,
    /// The statement or clause that first assigns the variable.
    declaration: Node<'t>,
    /// The value that is first assigned, if it is a single value.
    value: Option<Node<'t>>,
    /// All mentions of the variable, including the first assignment.
    mentions: Vec<Node<'t>>,
}

/// Renames local variables.
pub(super) fn renamed(
    function: &Function<'_, '_>,
    counts: &HashMap<&[u8], usize>,
    found: &mut Vec<(Operator, Edits)>,
) {
    for local in locals(function) {
        let fresh = format!("assay_{}", local.name);
        if !counts.contains_key(fresh.as_bytes()) {
            let edits = local.mentions.iter().map(|own| (own.byte_range(), fresh.clone()));
            found.push((Operator::Rename, edits.collect()));
        }
    }
}

/// Replaces variables that only ever hold a constant with that constant.
pub(super) fn inlined(function: &Function<'_, '_>, found: &mut Vec<(Operator, Edits)>) {
    let language = function.language;
    for local in locals(function) {
        let Some(value) = local.value else { continue };
        let is_first = local.declaration.parent().is_some_and(|own| {
            own.id() == function.body.id()
                || (own.kind() == "statement_list"
                    && own.parent().is_some_and(|own| own.id() == function.body.id()))
                || (own.kind() == "expression_statement"
                    && own.parent().is_some_and(|own| own.id() == function.body.id()))
        });
        let [_, uses @ ..] = &local.mentions[..] else { continue };
        if !is_first || uses.is_empty() || !uses.iter().all(|own| is_read(*own)) {
            continue;
        }
        let Some(constant) = constant(function, local.declaration, value) else { continue };
        let statement = match local.declaration.parent() {
            Some(own) if own.kind() == "expression_statement" => own,
            _ => local.declaration,
        };
        let nothing = match language {
            Language::Python => "pass",
            Language::Ruby => "nil",
            Language::JavaScript => ";",
            _ => "",
        };
        let mut edits: Edits = vec![(statement.byte_range(), nothing.to_owned())];
        edits.extend(uses.iter().map(|own| (own.byte_range(), constant.clone())));
        found.push((Operator::Inline, edits));
    }
}

/// Renames a private function within its file.
pub(super) fn renamed_private(
    function: &Function<'_, '_>,
    counts: &HashMap<&[u8], usize>,
    found: &mut Vec<(Operator, Edits)>,
) {
    let Some(name) = function.node.child_by_field_name("name") else { return };
    let own = function.words(name).to_owned();
    let is_private = match function.language {
        Language::Python => is_private_python(function, &own),
        Language::Ruby => is_private_ruby(function, &own),
        Language::JavaScript => is_private_javascript(function, &own),
        _ => false,
    };
    let fresh = match own.strip_prefix('_') {
        Some(rest) => format!("_assay_{rest}"),
        None => format!("assay_{own}"),
    };
    if !is_private || counts.contains_key(fresh.as_bytes()) {
        return;
    }
    let mut root = function.node;
    while let Some(around) = root.parent() {
        root = around;
    }
    let kinds: &[&str] = match function.language {
        Language::JavaScript => &["property_identifier"],
        _ => &["identifier"],
    };
    let is_mention = |node: &Node<'_>| kinds.contains(&node.kind()) && function.words(*node) == own;
    let mentions: Vec<Node<'_>> = descendants(root).into_iter().filter(is_mention).collect();
    let defines = |node: &&Node<'_>| {
        node.parent().is_some_and(|around| {
            around.child_by_field_name("name").is_some_and(|name| name.id() == node.id())
        })
    };
    let is_argument = |node: &Node<'_>| {
        node.parent().is_some_and(|around| {
            matches!(around.kind(), "keyword_argument" | "parameters" | "dotted_name" | "pair")
        })
    };
    let is_known = mentions.len() == counts.get(own.as_bytes()).copied().unwrap_or_default()
        && mentions.len() > 1
        && mentions.iter().filter(defines).count() == 1
        && !mentions.iter().any(is_argument);
    if is_known {
        let edits = mentions.iter().map(|own| (own.byte_range(), fresh.clone())).collect();
        found.push((Operator::RenamePrivate, edits));
    }
}

/// Returns true if the function is a private function of a module, or a private method of a class
/// without base classes, so that nothing outside can refer to it by name.
fn is_private_python(function: &Function<'_, '_>, name: &str) -> bool {
    let Some(around) = function.node.parent() else { return false };
    let is_plain = match around.kind() {
        "module" => true,
        "block" => around.parent().is_some_and(|class| {
            class.kind() == "class_definition"
                && class.child_by_field_name("superclasses").is_none()
        }),
        _ => false,
    };
    is_plain && name.starts_with('_') && !name.starts_with("__")
}

/// Returns true if the function is a method after a bare `private`, in a class that has no
/// superclass and includes no modules.
fn is_private_ruby(function: &Function<'_, '_>, name: &str) -> bool {
    /// Names of methods that Ruby itself calls, or that every object has.
    const KNOWN: [&str; 30] = [
        "inspect",
        "hash",
        "each",
        "coerce",
        "included",
        "extended",
        "prepended",
        "inherited",
        "method_missing",
        "method_added",
        "const_missing",
        "puts",
        "print",
        "pp",
        "format",
        "sprintf",
        "raise",
        "require",
        "load",
        "open",
        "sleep",
        "rand",
        "loop",
        "gets",
        "system",
        "test",
        "select",
        "warn",
        "catch",
        "throw",
    ];
    let is_special = KNOWN.contains(&name)
        || name.len() < 3
        || ["initialize", "to_", "marshal", "respond_to"].iter().any(|own| name.starts_with(own));
    let is_word = name.bytes().all(|own| own.is_ascii_alphanumeric() || own == b'_');
    let Some(around) = function.node.parent() else { return false };
    let Some(class) = around.parent() else { return false };
    if is_special
        || !is_word
        || function.node.kind() != "method"
        || class.kind() != "class"
        || class.child_by_field_name("superclass").is_some()
    {
        return false;
    }
    let mut is_private = false;
    for own in function.statements(around) {
        let words = function.words(own);
        if ["include", "extend", "prepend"].iter().any(|other| words.starts_with(other)) {
            return false;
        }
        match words {
            "private" => is_private = true,
            "public" | "protected" => is_private = false,
            _ => {}
        }
        if own.id() == function.node.id() {
            return is_private;
        }
    }
    false
}

/// Returns true if the function is a method whose name begins with `_`, in a class that has no
/// superclass.
fn is_private_javascript(function: &Function<'_, '_>, name: &str) -> bool {
    let class = function.node.parent().and_then(|around| around.parent());
    let inherits = |class: Node<'_>| {
        let mut cursor = class.walk();
        class.named_children(&mut cursor).any(|own| own.kind() == "class_heritage")
    };
    function.node.kind() == "method_definition"
        && name.starts_with('_')
        && class.is_some_and(|own| !inherits(own))
}

/// Returns the variables of a function whose mentions are all understood, in order of declaration.
fn locals<'t>(function: &Function<'_, 't>) -> Vec<Local<'t>> {
    let nodes = function.nodes();
    let words: Vec<(usize, &[u8])> = words_of(&function.text[function.node.byte_range()]).collect();
    let start = function.node.start_byte();
    let mut all: Vec<Local<'t>> = Vec::new();
    for node in &nodes {
        for (target, declaration, value) in declared(function, *node) {
            let name = function.words(target).to_owned();
            if name.starts_with('_') || name.len() < 2 && name.is_empty() {
                continue;
            }
            if all.iter().any(|own| own.name == name) || function.is_nested(target) {
                continue;
            }
            let spelt: Vec<usize> = words
                .iter()
                .filter(|(_, word)| *word == name.as_bytes())
                .map(|(at, _)| at + start)
                .collect();
            let mentions: Vec<Node<'t>> = nodes
                .iter()
                .filter(|own| own.kind() == "identifier" && function.words(**own) == name)
                .copied()
                .collect();
            let is_understood = spelt.first() == Some(&target.start_byte())
                && spelt.len() == mentions.len()
                && mentions.iter().all(|own| is_variable(*own) && !function.is_nested(*own));
            if is_understood {
                all.push(Local { name, declaration, value, mentions });
            }
        }
    }
    all
}

/// Returns the declarations or first assignments in a node. Each consists of the name, the whole
/// statement, and the value if there is a single one.
fn declared<'t>(
    function: &Function<'_, 't>,
    node: Node<'t>,
) -> Vec<(Node<'t>, Node<'t>, Option<Node<'t>>)> {
    let named = |field: &str| node.child_by_field_name(field);
    let is_identifier = |own: &Node<'_>| own.kind() == "identifier";
    let one = |target: Option<Node<'t>>, value: Option<Node<'t>>, whole: Node<'t>| {
        target.filter(is_identifier).map(|own| (own, whole, value)).into_iter().collect::<Vec<_>>()
    };
    let is_of_body = |own: Node<'_>| {
        own.parent().is_some_and(|around| {
            around.id() == function.body.id()
                || (around.kind() == "statement_list"
                    && around.parent().is_some_and(|own| own.id() == function.body.id()))
        })
    };
    match (function.language, node.kind()) {
        (Language::Python, "assignment") => one(named("left"), named("right"), node),
        (Language::Ruby, "assignment") if !in_block(function, node) => {
            one(named("left"), named("right"), node)
        }
        (Language::JavaScript, "variable_declarator") => match node.parent() {
            Some(whole) if is_of_body(whole) && whole.named_child_count() == 1 => {
                one(named("name"), named("value"), whole)
            }
            _ => Vec::new(),
        },
        (Language::Go, "short_var_declaration") if is_of_body(node) => {
            let Some(left) = named("left") else { return Vec::new() };
            let mut cursor = left.walk();
            let targets: Vec<Node<'t>> =
                left.named_children(&mut cursor).filter(is_identifier).collect();
            let right = named("right").filter(|own| own.named_child_count() == 1);
            let value = right.and_then(|own| own.named_child(0)).filter(|_| targets.len() == 1);
            targets.into_iter().map(|own| (own, node, value)).collect()
        }
        (Language::Rust, "let_declaration") if is_of_body(node) => {
            one(named("pattern"), named("value"), node)
        }
        _ => Vec::new(),
    }
}

/// Returns true if a node is in a Ruby block, which may have variables of its own.
fn in_block(function: &Function<'_, '_>, node: Node<'_>) -> bool {
    let mut around = node.parent();
    while let Some(own) = around.filter(|own| own.id() != function.node.id()) {
        if matches!(own.kind(), "do_block" | "block" | "lambda") {
            return true;
        }
        around = own.parent();
    }
    false
}

/// Returns true if an identifier names a variable rather than something else.
fn is_variable(node: Node<'_>) -> bool {
    let Some(around) = node.parent() else { return false };
    let is_field =
        |field: &str| around.child_by_field_name(field).is_some_and(|own| own.id() == node.id());
    match around.kind() {
        "attribute" => !is_field("attribute"),
        "keyword_argument" | "call" if around.child_by_field_name("method").is_some() => {
            !is_field("method")
        }
        "keyword_argument" => !is_field("name"),
        "interpolation" => around.child_count() == 3,
        "literal_element" => around.parent().is_some_and(|pair| {
            pair.kind() != "keyed_element"
                || pair.named_child(0).is_some_and(|key| key.id() != around.id())
        }),
        "dotted_name"
        | "aliased_import"
        | "global_statement"
        | "nonlocal_statement"
        | "token_tree"
        | "scoped_identifier"
        | "shorthand_field_initializer"
        | "labeled_statement"
        | "macro_invocation"
        | "keyword_pattern"
        | "keyword_parameter"
        | "alias"
        | "undef"
        | "parameters"
        | "function_definition"
        | "class_definition" => false,
        _ => true,
    }
}

/// Returns true if a mention only reads the variable, in a position where a constant is allowed.
fn is_read(node: Node<'_>) -> bool {
    let Some(around) = node.parent() else { return false };
    matches!(
        around.kind(),
        "binary_operator"
            | "comparison_operator"
            | "boolean_operator"
            | "argument_list"
            | "return_statement"
            | "parenthesized_expression"
            | "binary_expression"
            | "binary"
            | "arguments"
    )
}

/// Returns the text of a constant that can replace its variable anywhere, or `None` if the value is
/// not a constant or its type is uncertain.
fn constant(function: &Function<'_, '_>, declaration: Node<'_>, value: Node<'_>) -> Option<String> {
    let text = function.words(value);
    match (function.language, value.kind()) {
        (Language::Python, "integer" | "float" | "true" | "false" | "none")
        | (Language::Ruby, "integer" | "true" | "false" | "nil")
        | (Language::JavaScript, "number" | "true" | "false" | "null") => Some(format!("({text})")),
        // An untyped constant would take its type from the context.
        (Language::Go, "int_literal") => Some(format!("int({text})")),
        (Language::Go, "float_literal") => Some(format!("float64({text})")),
        (Language::Rust, "integer_literal" | "float_literal") => {
            let mut cursor = declaration.walk();
            let is_mutable =
                declaration.children(&mut cursor).any(|own| own.kind() == "mutable_specifier");
            let kind = declaration.child_by_field_name("type")?;
            (!is_mutable && kind.kind() == "primitive_type")
                .then(|| format!("({text} as {})", function.words(kind)))
        }
        _ => None,
    }
}
