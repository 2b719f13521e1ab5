//! Rewrites, which change how the code is written but not what it does. A test that fails on a
//! rewrite depends on how the code is written, and will fail when somebody cleans up the code.
//!
//! A rewrite is offered only if the file alone shows that it keeps the meaning: names are changed
//! only if every mention of them in the function's text is understood ([`names`]), and nothing is
//! moved past a call ([`shapes`]). Functions that use reflection (`eval`, `locals`, `binding`) have
//! no rewrites. The caller must drop the rewrites that the compiler of a typed language rejects.

mod names;
mod shapes;

use crate::blocks::{Kind, kind};
use crate::mutants::generate::{Generator, line};
use crate::mutants::mutant::{Mutant, Unit, id_of};
use crate::mutants::operator::Operator;
use crate::mutants::policy::MOST_OF_A_KIND;
use crate::mutants::trial::Trial;
use assay_suites::coverage::Language;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use tree_sitter::Node;

/// Name of the variable that a rewrite adds.
const VALUE: &str = "assay_value";
/// Words whose presence means that a function uses reflection or may be the object of it.
const REFLECTS: [&str; 23] = [
    "eval",
    "exec",
    "locals",
    "globals",
    "vars",
    "dir",
    "inspect",
    "_getframe",
    "breakpoint",
    "settrace",
    "binding",
    "instance_eval",
    "class_eval",
    "module_eval",
    "instance_exec",
    "local_variables",
    "local_variable_get",
    "local_variable_set",
    "__method__",
    "caller",
    "callee",
    "debugger",
    "stringify",
];

/// Byte ranges with their replacements.
type Edits = Vec<(Range<usize>, String)>;

/// A function in its file.
struct Function<'a, 't> {
    language: Language,
    text: &'a [u8],
    node: Node<'t>,
    body: Node<'t>,
}

impl<'t> Function<'_, 't> {
    fn words(&self, node: Node<'_>) -> &str {
        self.at(node.byte_range())
    }

    fn at(&self, range: Range<usize>) -> &str {
        std::str::from_utf8(self.text.get(range).unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the statements of a block.
    fn statements(&self, block: Node<'t>) -> Vec<Node<'t>> {
        let mut cursor = block.walk();
        let all: Vec<Node<'t>> = block
            .named_children(&mut cursor)
            .filter(|own| kind(self.language, *own) != Kind::Comment)
            .collect();
        match all[..] {
            // Go has an intermediate node.
            [only] if only.kind() == "statement_list" => self.statements(only),
            _ => all,
        }
    }

    /// Returns all nodes of the function in source order, including those of nested functions.
    fn nodes(&self) -> Vec<Node<'t>> {
        descendants(self.node)
    }

    /// Returns true if a node is in a nested function.
    fn is_nested(&self, node: Node<'t>) -> bool {
        let mut around = node.parent();
        while let Some(own) = around.filter(|own| own.id() != self.node.id()) {
            if is_scope(own.kind()) {
                return true;
            }
            around = own.parent();
        }
        false
    }

    /// Returns the whitespace before a node, or `None` if the node is not the first on its line.
    fn indentation(&self, node: Node<'_>) -> Option<&str> {
        let start = node.start_byte();
        let before = self.text.get(..start)?;
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let blanks = self.at(begin..start);
        blanks.chars().all(|own| own == ' ' || own == '\t').then_some(blanks)
    }
}

/// Returns true if nodes of this kind have their own variables.
fn is_scope(kind: &str) -> bool {
    matches!(
        kind,
        "function_definition"
            | "lambda"
            | "class_definition"
            | "function_declaration"
            | "function_expression"
            | "generator_function"
            | "generator_function_declaration"
            | "arrow_function"
            | "method_definition"
            | "class"
            | "class_declaration"
            | "func_literal"
            | "closure_expression"
            | "function_item"
            | "impl_item"
            | "async_block"
            | "macro_definition"
            | "method"
            | "singleton_method"
            | "module"
    )
}

fn descendants(node: Node<'_>) -> Vec<Node<'_>> {
    let mut all = Vec::new();
    let mut open = vec![node];
    while let Some(own) = open.pop() {
        all.push(own);
        let mut cursor = own.walk();
        let children: Vec<Node<'_>> = own.named_children(&mut cursor).collect();
        open.extend(children.into_iter().rev());
    }
    all
}

/// Returns the words of a text with their byte offsets.
fn words_of(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() && !is_word(text[at]) {
            at += 1;
        }
        let begin = at;
        while at < text.len() && is_word(text[at]) {
            at += 1;
        }
        (begin < at).then(|| (begin, &text[begin..at]))
    })
}

impl Generator {
    /// Generates the rewrites of these units of the file at `path`, in the order of the units.
    /// There are none for languages for which no equivalences are defined (TypeScript, C, C++,
    /// Java). O(bytes · units) at most.
    pub fn rewrites(&mut self, path: &str, text: &[u8], units: &[Unit]) -> Vec<Mutant> {
        let language = self.language;
        let is_known = matches!(
            language,
            Language::Python
                | Language::Ruby
                | Language::JavaScript
                | Language::Go
                | Language::Rust
        );
        let Some(tree) =
            self.parser.parse(text, None).filter(|tree| is_known && !tree.root_node().has_error())
        else {
            return Vec::new();
        };
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        words_of(text).for_each(|(_, word)| *counts.entry(word).or_default() += 1);
        if counts.contains_key(VALUE.as_bytes()) {
            return Vec::new();
        }
        let mut ordinals: HashMap<(String, Operator, Vec<u8>, String), usize> = HashMap::new();
        let mut all = Vec::new();
        for (index, unit) in units.iter().enumerate() {
            let Some(function) = function(language, text, tree.root_node(), unit) else { continue };
            let mut trial = Trial::new(&mut self.parser, &tree, text, &unit.range);
            let mut found: Vec<(Operator, Edits)> = Vec::new();
            let is_seen = words_of(&text[unit.range.clone()]).any(|(_, word)| {
                REFLECTS.iter().any(|own| own.as_bytes() == word)
                    || (language == Language::JavaScript && word == b"with")
            });
            if !is_seen {
                names::renamed(&function, &counts, &mut found);
                names::inlined(&function, &mut found);
                names::renamed_private(&function, &counts, &mut found);
                shapes::of(&function, &mut found);
            }
            let mut of_a_kind: BTreeMap<Operator, usize> = BTreeMap::new();
            found.sort_by_key(|(operator, _)| *operator);
            for (operator, edits) in found {
                let count = of_a_kind.entry(operator).or_insert(0);
                if *count >= MOST_OF_A_KIND {
                    continue;
                }
                let Some((range, replacement)) = joined(text, edits) else { continue };
                let is_read = match operator {
                    // This also changes the callers, which are outside of the unit.
                    Operator::RenamePrivate => true,
                    _ => trial.is_read(&mut self.parser, &range, &replacement),
                };
                if !is_read {
                    continue;
                }
                *count += 1;
                let before = text[range.clone()].to_vec();
                let key = (unit.name.clone(), operator, before.clone(), replacement.clone());
                let ordinal = ordinals.entry(key).or_insert(0);
                let parts = [
                    path.as_bytes(),
                    unit.name.as_bytes(),
                    operator.name().as_bytes(),
                    &before,
                    replacement.as_bytes(),
                ];
                let id = id_of(&parts, *ordinal);
                *ordinal += 1;
                let row = |at: usize| line(text[..at].iter().filter(|own| **own == b'\n').count());
                let (first, last) = (row(range.start), row(range.end));
                all.push(Mutant {
                    id,
                    unit: index,
                    operator,
                    range,
                    replacement,
                    line: first,
                    last_line: last,
                    kept: None,
                    absent: None,
                });
            }
        }
        all
    }
}

/// Returns the function that corresponds to a unit.
fn function<'a, 't>(
    language: Language,
    text: &'a [u8],
    root: Node<'t>,
    unit: &Unit,
) -> Option<Function<'a, 't>> {
    let mut node = root.descendant_for_byte_range(unit.range.start, unit.range.end)?;
    while kind(language, node) != Kind::Function {
        node = node.parent().filter(|own| own.byte_range() == unit.range)?;
    }
    let body = node.child_by_field_name("body")?;
    Some(Function { language, text, node, body })
}

/// Joins edits into one, which keeps the text between them.
fn joined(text: &[u8], mut edits: Edits) -> Option<(Range<usize>, String)> {
    edits.sort_by_key(|(range, _)| range.start);
    let (start, end) = (edits.first()?.0.start, edits.last()?.0.end);
    let mut at = start;
    let mut joined = Vec::new();
    for (range, replacement) in edits {
        // This returns `None` if two edits overlap.
        joined.extend_from_slice(text.get(at..range.start)?);
        joined.extend_from_slice(replacement.as_bytes());
        at = range.end;
    }
    let replacement = String::from_utf8(joined).ok()?;
    (text.get(start..end)? != replacement.as_bytes()).then_some((start..end, replacement))
}

#[cfg(test)]
mod tests;
