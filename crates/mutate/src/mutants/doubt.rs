//! Recognizes mutants that may be equivalent to the original, judging by the surrounding code. None
//! of this is certain because `+` and comparisons can be overloaded, so these mutants are tried all
//! the same. Those that survive are shown after the other survivors, with the reason.

use crate::blocks::grammar;
use crate::mutants::mutant::Mutant;
use crate::mutants::operator::Operator;
use assay_suites::coverage::Language;
use std::ops::Range;
use tree_sitter::{Node, Parser};

/// Returns the reason why each of these mutants of a text may be equivalent to the original, or
/// `None` if there is no such reason. The text is parsed once.
pub fn doubts(language: Language, text: &[u8], mutants: &[&Mutant]) -> Vec<Option<&'static str>> {
    let mut parser = Parser::new();
    let tree = match parser.set_language(&grammar(language)) {
        Ok(()) => parser.parse(text, None),
        Err(_) => None,
    };
    let Some(tree) = tree else { return vec![None; mutants.len()] };
    let read = ParsedText { text, root: tree.root_node() };
    mutants.iter().map(|own| read.doubt(own)).collect()
}

struct ParsedText<'a, 't> {
    text: &'a [u8],
    root: Node<'t>,
}

impl<'t> ParsedText<'_, 't> {
    fn words(&self, node: Node<'_>) -> &str {
        self.at(node.byte_range())
    }

    fn at(&self, range: Range<usize>) -> &str {
        std::str::from_utf8(self.text.get(range).unwrap_or_default()).unwrap_or_default().trim()
    }

    fn doubt(&self, own: &Mutant) -> Option<&'static str> {
        let node = self.root.descendant_for_byte_range(own.range.start, own.range.end)?;
        match own.operator {
            Operator::Arithmetic => self.neutral(node, own),
            Operator::Boundary => self.agrees(node).or_else(|| self.dominated(node, own)),
            Operator::Condition => self.dominated(node, own),
            Operator::Value | Operator::Number | Operator::Text | Operator::Boolean => {
                self.overwritten(node)
            }
            _ => None,
        }
    }

    /// Checks for operators that give the same result: `x + 0` equals `x - 0`, and `x * 1` equals
    /// `x / 1`.
    fn neutral(&self, node: Node<'t>, own: &Mutant) -> Option<&'static str> {
        let parent = if node.is_named() { node } else { node.parent()? };
        let right = parent.child_by_field_name("right")?;
        let was = self.at(own.range.clone());
        let is_neutral = matches!(
            (was, own.replacement.as_str(), self.words(right)),
            ("+" | "+=", "-" | "-=", "0" | "0.0")
                | ("-" | "-=", "+" | "+=", "0" | "0.0")
                | ("*" | "*=", "/" | "/=", "1" | "1.0")
                | ("/" | "/=", "*" | "*=", "1" | "1.0")
                | ("<<", ">>", "0")
                | (">>", "<<", "0")
                | ("**", "*", "1")
        );
        is_neutral.then_some("with this number, both operators give the same")
    }

    /// Returns the operands of the enclosing comparison, with its operator between them.
    fn comparison(&self, node: Node<'t>) -> Option<(Node<'t>, String, Node<'t>)> {
        let mut own = node;
        while own.named_child_count() != 2
            || !matches!(own.kind(), "comparison_operator" | "binary_expression" | "binary")
        {
            own = own.parent().filter(|around| around.byte_range().len() < 400)?;
        }
        let (left, right) = (own.named_child(0)?, own.named_child(1)?);
        Some((left, self.at(left.end_byte()..right.start_byte()).to_owned(), right))
    }

    /// Checks for a choice between the sides of a comparison, as in `if a > b: a = b`. If both are
    /// equal, the choice does not matter.
    fn agrees(&self, node: Node<'t>) -> Option<&'static str> {
        const WHY: &str = "where both sides are equal, either way gives the same";
        let (left, _, right) = self.comparison(node)?;
        let sides = [self.words(left), self.words(right)];
        let is_pair =
            |one: &str, other: &str| one != other && sides.contains(&one) && sides.contains(&other);
        let comparison = left.parent()?;
        let mut around = comparison.parent()?;
        while matches!(around.kind(), "parenthesized_expression" | "parenthesized_statements") {
            around = around.parent()?;
        }
        // A conditional expression.
        let choice = match around.kind() {
            "conditional_expression" if around.child_by_field_name("condition").is_none() => {
                Some((around.named_child(0)?, around.named_child(2)?))
            }
            "conditional_expression" | "conditional" | "ternary_expression" => around
                .child_by_field_name("consequence")
                .zip(around.child_by_field_name("alternative")),
            _ => None,
        };
        if let Some((one, other)) = choice {
            return is_pair(self.words(one), self.words(other)).then_some(WHY);
        }
        if !around.kind().starts_with("if") {
            return None;
        }
        let then = around
            .child_by_field_name("consequence")
            .or_else(|| around.child_by_field_name("body"))?;
        if around.child_by_field_name("alternative").is_some() {
            return None;
        }
        let only = only(then)?;
        match only.kind() {
            "assignment" | "assignment_expression" | "assignment_statement" => {
                let (to, from) =
                    (only.child_by_field_name("left")?, only.child_by_field_name("right")?);
                is_pair(self.words(to), self.words(from)).then_some(WHY)
            }
            "return_statement" | "return" | "return_expression" => {
                let next = only_of_next(around)?;
                let (one, other) = (only.named_child(0)?, next.named_child(0)?);
                is_pair(self.words(one), self.words(other)).then_some(WHY)
            }
            _ => None,
        }
    }

    /// Checks for a condition that an enclosing condition implies.
    fn dominated(&self, node: Node<'t>, own: &Mutant) -> Option<&'static str> {
        let is_fixed = own.operator == Operator::Condition;
        let truth = own.replacement.trim_matches(['(', ')']).to_ascii_lowercase();
        if is_fixed && truth != "true" {
            return None;
        }
        let start = match is_fixed {
            true => comparison_of(node)?,
            false => node,
        };
        let (left, sign, right) = self.comparison(start)?;
        let sides = (self.words(left), self.words(right));
        let mut inner = left.parent()?;
        while let Some(around) = inner.parent() {
            let is_then = around.child_by_field_name("consequence").is_some_and(|then| {
                then.start_byte() <= inner.start_byte() && inner.end_byte() <= then.end_byte()
            });
            if let Some(condition) = around.child_by_field_name("condition").filter(|_| is_then)
                && let Some((one, outer, other)) =
                    comparison_of(condition).and_then(|condition| self.comparison(condition))
                && (self.words(one), self.words(other)) == sides
            {
                let implied = match (outer.as_str(), sign.as_str()) {
                    (">", ">=" | ">") | ("<", "<=" | "<") | ("==" | "===", ">=" | "<=") => true,
                    (outer, sign) => outer == sign && is_fixed,
                };
                if implied {
                    return Some("an enclosing condition already implies it");
                }
            }
            inner = around;
        }
        None
    }

    /// Checks for an assigned value that the next statement overwrites without reading it.
    fn overwritten(&self, node: Node<'t>) -> Option<&'static str> {
        let mut own = node;
        while own.child_by_field_name("left").is_none() || !own.kind().starts_with("assignment") {
            own = own.parent().filter(|around| around.byte_range().len() < 400)?;
        }
        let name = own.child_by_field_name("left").filter(|own| own.kind() == "identifier")?;
        let next = only_of_next(match own.parent()? {
            around if around.kind() == "expression_statement" => around,
            _ => own,
        })?;
        let (to, from) = (next.child_by_field_name("left")?, next.child_by_field_name("right")?);
        let name = self.words(name);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let reads = self.words(from).split(|c| !is_word(c)).any(|word| word == name);
        (self.words(to) == name && next.kind().starts_with("assignment") && !reads)
            .then_some("it is overwritten before it is read")
    }
}

/// Returns the only statement of a block, without the nodes that merely wrap it.
fn only(block: Node<'_>) -> Option<Node<'_>> {
    let mut own = block;
    loop {
        let is_holder = matches!(
            own.kind(),
            "block"
                | "then"
                | "statement_block"
                | "statement_list"
                | "compound_statement"
                | "expression_statement"
                | "body_statement"
        );
        if !is_holder {
            return Some(own);
        }
        own = own.named_child(0).filter(|_| own.named_child_count() == 1)?;
    }
}

/// Returns the next statement, without the nodes that merely wrap it.
fn only_of_next(statement: Node<'_>) -> Option<Node<'_>> {
    only(statement.next_named_sibling()?)
}

/// Returns the comparison in a condition, without parentheses.
fn comparison_of(condition: Node<'_>) -> Option<Node<'_>> {
    let mut own = condition;
    while own.kind() == "parenthesized_expression" {
        own = own.named_child(0)?;
    }
    matches!(own.kind(), "comparison_operator" | "binary_expression" | "binary").then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Generator;

    /// The doubts about the mutants of one operator.
    fn about(language: Language, text: &str, operator: Operator) -> Vec<Option<&'static str>> {
        let found = Generator::new(language).unwrap().mutants("a", text.as_bytes());
        let all: Vec<&Mutant> = found.all.iter().filter(|own| own.operator == operator).collect();
        assert!(!all.is_empty(), "{text}");
        doubts(language, text.as_bytes(), &all)
    }

    #[test]
    fn what_may_be_the_same_is_told_from_what_is_not() {
        const EQUAL: Option<&str> = Some("where both sides are equal, either way gives the same");
        const NEUTRAL: Option<&str> = Some("with this number, both operators give the same");
        const AROUND: Option<&str> = Some("an enclosing condition already implies it");
        const OVERWRITTEN: Option<&str> = Some("it is overwritten before it is read");
        use Language::{C, Go, JavaScript, Python, Ruby};
        use Operator::{Arithmetic, Boundary, Condition, Number};
        for (language, text, operator, doubt) in [
            (Python, "def a(x, y):\n    if x > y:\n        x = y\n    return x\n", Boundary, EQUAL),
            (Python, "def a(x, y):\n    if x > y:\n        x = 0\n    return x\n", Boundary, None),
            (Python, "def a(x, y):\n    return x if x > y else y\n", Boundary, EQUAL),
            (Python, "def a(x, y):\n    return x if x > y else 0\n", Boundary, None),
            (JavaScript, "function a(x, y) { return x > y ? x : y }", Boundary, EQUAL),
            (Ruby, "def a(x, y)\n  if x > y\n    x = y\n  end\n  x\nend", Boundary, EQUAL),
            (C, "int a(int x, int y) { if (x > y) return x; return y; }", Boundary, EQUAL),
            (C, "int a(int x, int y) { if (x > y) return x; return 0; }", Boundary, None),
            (
                Go,
                "package p\nfunc a(x, y int) int { if x > y { x = y }; return x }",
                Boundary,
                EQUAL,
            ),
            (Python, "def a(x):\n    return x * 1\n", Arithmetic, NEUTRAL),
            (Python, "def a(x):\n    return x * 2\n", Arithmetic, None),
            (C, "int a(int x) { return x + 0; }", Arithmetic, NEUTRAL),
            (Python, "def a(x):\n    b = 3\n    b = x\n    return b\n", Number, OVERWRITTEN),
            (Python, "def a(x):\n    b = 3\n    b = x + b\n    return b\n", Number, None),
        ] {
            assert!(about(language, text, operator).iter().all(|own| *own == doubt), "{text}");
        }
        let nested =
            "def a(x):\n    if x > 0:\n        if x >= 0:\n            return 1\n    return 2\n";
        assert_eq!(about(Python, nested, Condition), [None, None, AROUND, None]);
        assert_eq!(about(Python, nested, Boundary), [None, AROUND]);
    }
}
