//! Determines the names of functions, and reduces functions to an empty body.

use super::Walk;
use crate::blocks::{Kind, kind};
use crate::mutants::nothing::{self, EmptyResult};
use crate::mutants::policy::LONGEST_NAME;
use assay_suites::coverage::Language;
use tree_sitter::Node;

impl Walk<'_, '_> {
    pub(super) fn name_of(&self, node: Node<'_>) -> String {
        if let Some(name) = node.child_by_field_name("name") {
            return self.words(name).to_owned();
        }
        // In C and C++, the name is found by following the declarators.
        let mut declarator = node.child_by_field_name("declarator");
        while let Some(own) = declarator {
            match own
                .child_by_field_name("declarator")
                .or_else(|| own.named_child(0).filter(|_| own.kind() == "reference_declarator"))
            {
                Some(inner) => declarator = Some(inner),
                None => return self.words(own).to_owned(),
            }
        }
        // In JavaScript, the name is that under which the function is stored.
        let holder = node.parent();
        let kept = ["name", "key", "left", "property"];
        let name =
            holder.and_then(|own| kept.iter().find_map(|field| own.child_by_field_name(field)));
        name.map_or_else(|| "function".to_owned(), |name| self.words(name).to_owned())
    }

    /// Returns the receiver type of a Go method.
    pub(super) fn receiver_of(&self, node: Node<'_>) -> Option<String> {
        let receiver = self.words(node.child_by_field_name("receiver")?);
        let kind = receiver.trim_matches(['(', ')']).split_whitespace().next_back()?;
        let kind = kind.trim_start_matches('*').split('[').next()?;
        Some(kind.to_owned())
    }

    /// Returns the function's body reduced to doing nothing, or `None` if it already does nothing
    /// or the value to return is unknown.
    pub(super) fn gone(&self, function: Node<'_>, body: Node<'_>) -> Option<String> {
        let mut cursor = body.walk();
        let is_idle = |own: &Node<'_>| {
            kind(self.language, *own) == Kind::Comment
                || matches!(own.kind(), "pass_statement" | "ellipsis" | "nil")
                || self.is_documentation(*own)
                || own.named_child(0).is_some_and(|first| first.kind() == "ellipsis")
        };
        let is_block = body.kind() != "parenthesized_expression"
            && matches!(
                body.kind(),
                "block"
                    | "statement_block"
                    | "compound_statement"
                    | "constructor_body"
                    | "body_statement"
            );
        if is_block && body.named_children(&mut cursor).all(|own| is_idle(&own)) {
            return None;
        }
        let gone = match (self.language, nothing::of(self.language, function, self.text)) {
            (_, EmptyResult::Unknown) => return None,
            (Language::Python, _) => "pass".to_owned(),
            (Language::Ruby, _) => "nil".to_owned(),
            (Language::JavaScript | Language::TypeScript | Language::Tsx, _) => {
                if is_block {
                    "{}".to_owned()
                } else {
                    "undefined".to_owned()
                }
            }
            (_, EmptyResult::Empty) => "{}".to_owned(),
            (Language::Rust, EmptyResult::Value(own)) => format!("{{ {own} }}"),
            (Language::Go, EmptyResult::Value(own)) => format!("{{ return {own} }}"),
            (_, EmptyResult::Value(own)) => format!("{{ return {own}; }}"),
        };
        let same = |text: &str| text.split_whitespace().collect::<String>();
        (same(self.words(body)) != same(&gone)).then_some(gone)
    }
}

/// Returns a name on one line, truncated to the displayed length.
pub(super) fn cut(name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}
