//! Rewrites of comparisons, branches, assignments and returns.

use super::{Edits, Function, VALUE, is_scope};
use crate::mutants::operator::Operator;
use assay_suites::coverage::Language;
use tree_sitter::Node;

/// Generates the rewrites of the comparisons, branches, assignments and returns of a function. Code
/// in nested functions is left unchanged.
pub(super) fn of(function: &Function<'_, '_>, found: &mut Vec<(Operator, Edits)>) {
    for node in function.nodes() {
        if function.is_nested(node) {
            continue;
        }
        let rewritten = [
            (Operator::Mirror, mirrored(function, node)),
            (Operator::Invert, inverted(function, node)),
            (Operator::Reorder, reordered(function, node)),
            (Operator::Extract, extracted(function, node)),
        ];
        for (operator, edits) in rewritten {
            found.extend(edits.map(|edits| (operator, edits)));
        }
    }
}

/// Swaps the sides of a comparison. One side must be a constant, so that the order of evaluation
/// cannot be observed.
fn mirrored(function: &Function<'_, '_>, node: Node<'_>) -> Option<Edits> {
    let language = function.language;
    let kinds = ["comparison_operator", "binary_expression", "binary"];
    if !kinds.contains(&node.kind()) || node.named_child_count() != 2 {
        return None;
    }
    let (left, right) = (node.named_child(0)?, node.named_child(1)?);
    let between = function.at(left.end_byte()..right.start_byte()).trim();
    let sign = match between {
        "<" => ">",
        ">" => "<",
        "<=" => ">=",
        ">=" => "<=",
        "==" | "!=" | "===" | "!==" | "is" | "is not" => between,
        _ => return None,
    };
    let is_number = |own: Node<'_>| {
        matches!(
            own.kind(),
            "integer" | "float" | "number" | "int_literal" | "float_literal" | "integer_literal"
        )
    };
    let is_nothing = |own: Node<'_>| matches!(own.kind(), "none" | "null" | "nil" | "undefined");
    let is_constant = |own: Node<'_>| match (language, between) {
        // Among Ruby objects, only numbers delegate to the other operand if they do not support its
        // type.
        (Language::Ruby, "==") => own.kind() == "integer",
        (Language::Ruby, _) => false,
        // Objects cannot override identity comparisons.
        (Language::Python, "is" | "is not") => is_nothing(own),
        (Language::JavaScript, "==" | "!=") => false,
        (Language::JavaScript, "===" | "!==") => is_number(own) || is_nothing(own),
        (Language::Go, "==" | "!=") => is_number(own) || is_nothing(own),
        _ => is_number(own),
    };
    if is_constant(left) == is_constant(right) {
        return None;
    }
    // Operands that span several lines, or bind less tightly, are left alone.
    let is_simple = |own: Node<'_>| {
        own.start_position().row == own.end_position().row
            && !is_scope(own.kind())
            && !matches!(own.kind(), "assignment" | "yield" | "await" | "not_operator" | "command")
    };
    if !is_simple(left) || !is_simple(right) {
        return None;
    }
    let text = format!("{} {sign} {}", function.words(right), function.words(left));
    Some(vec![(node.byte_range(), text)])
}

/// Negates a condition, and swaps its branches.
fn inverted(function: &Function<'_, '_>, node: Node<'_>) -> Option<Edits> {
    let language = function.language;
    let named = |field: &str| node.child_by_field_name(field);
    match (language, node.kind()) {
        (Language::Python | Language::JavaScript | Language::Go, "if_statement")
        | (Language::Rust, "if_expression")
        | (Language::Ruby, "if") => {}
        _ => return None,
    }
    let (condition, then) = (named("condition")?, named("consequence")?);
    let mut cursor = node.walk();
    let mut others = node.children_by_field_name("alternative", &mut cursor);
    let other = others.next()?;
    if others.next().is_some() {
        return None;
    }
    let (mut sign, other) = match language {
        Language::Python => ("not (", other.child_by_field_name("body")?),
        Language::JavaScript => ("(!", block_of(other)?),
        Language::Go => ("!(", other),
        Language::Rust => ("!(", block_of(other)?),
        _ => ("", other),
    };
    match language {
        Language::Python => {
            let is_below = |block: Node<'_>, head: usize| block.start_position().row > head;
            let is_whole = node.child_by_field_name("alternative")?.kind() == "else_clause"
                && is_below(then, condition.end_position().row)
                && then.start_position().column == other.start_position().column
                && function.indentation(then).is_some()
                && function.indentation(other).is_some();
            if !is_whole {
                return None;
            }
        }
        Language::JavaScript if then.kind() != "statement_block" => return None,
        // Functions declared in a branch are visible outside of it.
        Language::JavaScript if function.words(node).contains("function") => return None,
        Language::Go if other.kind() != "block" => return None,
        Language::Rust if function.words(condition).contains("let ") => return None,
        Language::Ruby => {
            sign = "unless";
            return unless(function, node, (then, other), sign);
        }
        _ => {}
    }
    // In JavaScript, the condition includes its own parentheses.
    let negated = format!("{sign}{})", function.words(condition));
    Some(vec![
        (condition.byte_range(), negated),
        (then.byte_range(), function.words(other).to_owned()),
        (other.byte_range(), function.words(then).to_owned()),
    ])
}

/// Returns the block of an `else` that contains nothing but the block.
fn block_of(other: Node<'_>) -> Option<Node<'_>> {
    let only = other.named_child(0).filter(|_| other.named_child_count() == 1)?;
    matches!(only.kind(), "statement_block" | "block").then_some(only)
}

/// The Ruby version of [`inverted`], which uses `unless` so that no `!` method is called.
fn unless(
    function: &Function<'_, '_>,
    node: Node<'_>,
    (then, other): (Node<'_>, Node<'_>),
    word: &str,
) -> Option<Edits> {
    if other.kind() != "else" || function.words(node).contains("<<") {
        return None;
    }
    let whole = |own: Node<'_>| {
        let count = u32::try_from(own.named_child_count()).ok()?;
        let (first, last) = (own.named_child(0)?, own.named_child(count.checked_sub(1)?)?);
        function.indentation(first)?;
        Some(first.start_byte()..last.end_byte())
    };
    if shares(function, node, (then, other)) || shares(function, node, (other, then)) {
        return None;
    }
    let (then, other) = (whole(then)?, whole(other)?);
    let begin = node.start_byte();
    let (first, second) = (function.at(then.clone()).to_owned(), function.at(other.clone()));
    Some(vec![
        (begin..begin + "if".len(), word.to_owned()),
        (then, second.to_owned()),
        (other, first),
    ])
}

/// Returns true if one branch assigns a name that the other branch mentions and that is not yet a
/// variable. In Ruby, a word is a variable from its first assignment in the text onward, and a
/// method call before that.
fn shares(function: &Function<'_, '_>, node: Node<'_>, (one, other): (Node<'_>, Node<'_>)) -> bool {
    let is_target = |own: &Node<'_>| {
        own.kind() == "identifier"
            && own.parent().is_some_and(|around| {
                around.kind().ends_with("assignment_list")
                    || (around.kind().ends_with("assignment")
                        && around
                            .child_by_field_name("left")
                            .is_some_and(|left| left.id() == own.id()))
            })
    };
    let names = super::descendants(one).into_iter().filter(is_target);
    let mentions = |node: Node<'_>, name: &str| {
        super::words_of(function.words(node).as_bytes()).any(|(_, word)| word == name.as_bytes())
    };
    let is_before = |name: &str| {
        let parameters = function.node.child_by_field_name("parameters");
        parameters.is_some_and(|own| mentions(own, name))
            || function.nodes().into_iter().any(|own| {
                own.start_byte() < node.start_byte()
                    && is_target(&own)
                    && function.words(own) == name
                    && own
                        .parent()
                        .and_then(|own| own.parent())
                        .is_some_and(|around| around.id() == function.body.id())
            })
    };
    let mut names = names.map(|own| function.words(own));
    names.any(|name| mentions(other, name) && !is_before(name))
}

/// Swaps two consecutive assignments of constants to different variables.
fn reordered(function: &Function<'_, '_>, node: Node<'_>) -> Option<Edits> {
    let next = node.next_named_sibling()?;
    let (first, second) = (assigned(function, node)?, assigned(function, next)?);
    // Global and nonlocal variables are visible to other functions.
    let all = function.words(function.node);
    if first == second || ["global ", "nonlocal "].iter().any(|word| all.contains(word)) {
        return None;
    }
    Some(vec![
        (node.byte_range(), function.words(next).to_owned()),
        (next.byte_range(), function.words(node).to_owned()),
    ])
}

/// Returns the local variable to which a statement assigns a constant.
fn assigned<'a>(function: &'a Function<'_, '_>, node: Node<'_>) -> Option<&'a str> {
    let (target, value) = match (function.language, node.kind()) {
        (Language::Python, "expression_statement") => {
            let own = node.named_child(0).filter(|own| own.kind() == "assignment")?;
            (own.child_by_field_name("left")?, own.child_by_field_name("right")?)
        }
        (Language::Ruby, "assignment") => {
            (node.child_by_field_name("left")?, node.child_by_field_name("right")?)
        }
        (Language::JavaScript, "lexical_declaration") if node.named_child_count() == 1 => {
            let own = node.named_child(0)?;
            (own.child_by_field_name("name")?, own.child_by_field_name("value")?)
        }
        (Language::Go, "short_var_declaration") => {
            let (left, right) =
                (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
            let is_one = left.named_child_count() == 1 && right.named_child_count() == 1;
            (left.named_child(0).filter(|_| is_one)?, right.named_child(0)?)
        }
        (Language::Rust, "let_declaration") => {
            (node.child_by_field_name("pattern")?, node.child_by_field_name("value")?)
        }
        _ => return None,
    };
    let is_plain = match value.kind() {
        "integer"
        | "float"
        | "number"
        | "int_literal"
        | "float_literal"
        | "integer_literal"
        | "true"
        | "false"
        | "none"
        | "nil"
        | "null"
        | "boolean_literal"
        | "interpreted_string_literal" => true,
        // The string must not contain anything that is evaluated.
        "string" | "string_literal" => {
            !function.words(value).starts_with("<<")
                && !super::descendants(value).iter().any(|own| own.kind() == "interpolation")
        }
        "list" | "dictionary" | "array" | "hash" | "object" => value.named_child_count() == 0,
        _ => false,
    };
    (is_plain && target.kind() == "identifier").then(|| function.words(target))
}

/// Stores a returned value in a variable first, with nothing happening in between.
fn extracted(function: &Function<'_, '_>, node: Node<'_>) -> Option<Edits> {
    let parent = node.parent()?;
    let last = || node.next_named_sibling().is_none() && parent.id() == function.body.id();
    let (value, declares, returns) = match (function.language, node.kind()) {
        (Language::Python, "return_statement") if parent.kind() == "block" => {
            (node.named_child(0)?, String::new(), "return ")
        }
        (Language::JavaScript, "return_statement") if parent.kind() == "statement_block" => {
            (node.named_child(0)?, "const ".to_owned(), "return ")
        }
        (Language::Ruby, "return")
            if matches!(parent.kind(), "body_statement" | "then" | "else") =>
        {
            let list = node.named_child(0).filter(|own| own.named_child_count() == 1)?;
            (list.named_child(0)?, String::new(), "return ")
        }
        (Language::Ruby, _) if last() && parent.kind() == "body_statement" => {
            (node, String::new(), "")
        }
        (Language::Rust, "binary_expression") if last() && parent.kind() == "block" => {
            (node, "let ".to_owned(), "")
        }
        (Language::Go, "return_statement") => {
            let list = node.named_child(0).filter(|own| own.named_child_count() == 1)?;
            (list.named_child(0)?, String::new(), "return ")
        }
        _ => return None,
    };
    let indentation = function.indentation(node)?;
    let is_of = |kinds: &[&str]| kinds.contains(&value.kind());
    let calls = || {
        super::descendants(value).iter().any(|own| {
            matches!(own.kind(), "call_expression" | "macro_invocation" | "await_expression")
                || is_scope(own.kind())
        })
    };
    let names = || super::descendants(value).iter().any(|own| own.kind() == "identifier");
    let is_certain = match function.language {
        Language::Python => is_of(&[
            "binary_operator",
            "comparison_operator",
            "boolean_operator",
            "not_operator",
            "conditional_expression",
            "call",
            "attribute",
            "subscript",
            "list",
            "tuple",
            "dictionary",
            "list_comprehension",
        ]),
        // Anonymous functions and classes would take the name of the variable.
        Language::JavaScript => is_of(&[
            "binary_expression",
            "ternary_expression",
            "call_expression",
            "member_expression",
            "subscript_expression",
            "array",
            "object",
            "unary_expression",
            "template_string",
        ]),
        Language::Ruby => {
            is_of(&["binary", "call", "array", "conditional", "element_reference", "unary"])
                && !function.words(value).contains("<<")
                && !function.words(value).starts_with("raise")
        }
        // Types are inferred from the context. Only values that mention a variable are extracted,
        // since its type is known.
        Language::Go | Language::Rust => is_of(&["binary_expression"]) && !calls() && names(),
        _ => false,
    };
    if !is_certain {
        return None;
    }
    let words = function.words(value);
    let own = match function.language {
        Language::Go => format!("{VALUE} := {words}"),
        Language::Ruby => format!("{VALUE} = ({words})"),
        _ => format!("{declares}{VALUE} = {words}"),
    };
    let (feed, end) = match function.language {
        Language::JavaScript => (";", ";"),
        Language::Rust => (";", ""),
        _ => ("", ""),
    };
    let text = format!("{own}{feed}\n{indentation}{returns}{VALUE}{end}");
    Some(vec![(node.byte_range(), text)])
}
