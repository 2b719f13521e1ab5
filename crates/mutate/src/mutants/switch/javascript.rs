//! Switches the bodies of functions in JavaScript and TypeScript. A single syntax error makes a
//! whole file unusable, and compilers report only the line of an error, so the lines of each body
//! are recorded.

use super::{Arm, Chain, ChainPosition, SwitchedText, words};
use crate::mutants::absent::each;
use std::ops::Range;
use tree_sitter::Node;

/// Kinds of nodes that are functions. A `break` or `continue` in a function cannot refer to a loop
/// around the function.
const FUNCTIONS: [&str; 6] = [
    "arrow_function",
    "function_declaration",
    "function_expression",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
];
const LOOPS: [&str; 4] = ["for_statement", "for_in_statement", "while_statement", "do_statement"];

/// Returns how the body of a function can be switched, or `None` if this is impossible.
pub(super) fn chain(function: Node<'_>, body: Node<'_>, text: &[u8]) -> Option<Chain> {
    let is_block = body.kind() == "statement_block";
    let first = body.named_child(0).filter(|_| is_block);
    // A directive has to be the first statement of its function.
    let is_directive = |own: Node<'_>| {
        own.kind() == "expression_statement"
            && own.named_child(0).is_some_and(|own| own.kind() == "string")
    };
    // Fields are initialized after the call of the parent's constructor, and compilers look for
    // that call in the body itself.
    let is_constructor = function.kind() == "method_definition"
        && function
            .child_by_field_name("name")
            .is_some_and(|own| words(text, own) == "constructor");
    if first.is_some_and(is_directive) || is_constructor && words(text, body).contains("super(") {
        return None;
    }
    let values = values(function, body);
    let mut chain = Chain { is_expression: !is_block, values, ..Chain::default() };
    let mut cursor = body.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "break_statement" && !is_in_loop(node) {
            chain.fixed.push(node.byte_range());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node().id() == body.id() {
                return Some(chain);
            }
        }
        if cursor.node().id() == body.id() {
            return Some(chain);
        }
    }
}

/// Returns the literals before a body, most of which are default values of parameters.
fn values(function: Node<'_>, body: Node<'_>) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    each(function, &mut |node| {
        let is_simple = matches!(node.kind(), "string" | "number" | "true" | "false");
        // In other positions, a string may be a name.
        let is_given = node.parent().is_some_and(|around| {
            ["right", "value"].iter().any(|name| around.child_by_field_name(name) == Some(node))
                && matches!(
                    around.kind(),
                    "assignment_pattern"
                        | "object_assignment_pattern"
                        | "required_parameter"
                        | "optional_parameter"
                )
        });
        if is_simple && is_given && node.end_byte() <= body.start_byte() {
            all.push(node.byte_range());
        }
    });
    all
}

/// Returns true if a `break` is in a loop, so that `continue` can replace it.
fn is_in_loop(own: Node<'_>) -> bool {
    let mut around = own.parent().filter(|_| own.child_by_field_name("label").is_none());
    while let Some(node) = around.filter(|node| !FUNCTIONS.contains(&node.kind())) {
        if LOOPS.contains(&node.kind()) {
            return true;
        }
        around = node.parent();
    }
    false
}

impl SwitchedText {
    /// Writes the text before a body, with the values that are selected there.
    pub(super) fn before(
        &mut self,
        arms: &[Arm],
        text: &[u8],
        range: Range<usize>,
        place: &ChainPosition<'_>,
    ) -> Option<()> {
        let mut places: Vec<Range<usize>> = arms.iter().filter_map(|arm| arm.at.clone()).collect();
        places.sort_by_key(|own| own.start);
        places.dedup();
        let mut at = range.start;
        for own in places {
            self.put(text.get(at..own.start)?);
            let original = text.get(own.clone())?;
            let here = arms.iter().filter(|arm| arm.at.as_ref() == Some(&own));
            self.choice(here, original, place);
            at = own.end;
        }
        self.put(text.get(at..range.end)?);
        Some(())
    }

    /// Writes an expression that selects one of several values.
    fn choice<'a>(
        &mut self,
        arms: impl Iterator<Item = &'a Arm>,
        original: &[u8],
        place: &ChainPosition<'_>,
    ) {
        self.put(b"(");
        for arm in arms {
            let asks = format!("assay${}({}) === {} ? (", place.tag, place.unit, arm.number);
            self.put(asks.as_bytes());
            self.arm(arm);
            self.put(b") :\n");
        }
        self.put(b"(");
        self.put(original);
        self.put(b"\n))");
    }

    pub(super) fn javascript(
        &mut self,
        chain: &Chain,
        arms: &[Arm],
        original: &[u8],
        place: &ChainPosition<'_>,
    ) {
        let asks = format!("assay${}({})", place.tag, place.unit);
        let bodies = arms.iter().filter(|arm| arm.at.is_none());
        if chain.is_expression {
            self.choice(bodies, original, place);
            return;
        }
        self.put(format!("{{ switch ({asks}) {{").as_bytes());
        for arm in bodies {
            self.put(format!("\ncase {}: ", arm.number).as_bytes());
            self.arm(arm);
            self.put(b"break;");
        }
        self.put(b"\ndefault: ");
        self.put(original);
        self.put(b"\n} }");
    }

    fn arm(&mut self, arm: &Arm) {
        let first = self.feeds + 1;
        self.put(&arm.body);
        self.lines.push((first..self.feeds + 2, arm.number));
        // The body may end with a comment.
        self.put(b"\n");
    }
}
