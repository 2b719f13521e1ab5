//! Checks whether a changed text can be parsed. If a function means the same on its own, it is cut
//! out of its file and parsed alone, and only the part of its tree around a change is parsed again.
//! The cost then depends on the length of the function, not on that of the file.

use crate::mutants::alike::{self, Word, word};
use crate::mutants::mutant::line_starts;
use std::ops::Range;
use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

/// Text that may be needed around a function to parse it alone: nothing, a class around a method,
/// or parentheses around an expression.
const AROUND: [(&str, &str); 3] = [("", ""), ("class A {", "}"), ("(", ")")];

/// Checks changes to one unit.
pub(crate) struct Trial {
    /// True if the file has a syntax error in the unit. No change is accepted in that case.
    is_hopeless: bool,
    tree: Tree,
    text: Vec<u8>,
    /// Byte range of the unit in `text`.
    unit: Range<usize>,
    /// Byte offset of the unit in its file.
    begin: usize,
    /// Byte offsets at which the lines of `text` begin.
    lines: Vec<usize>,
    is_broken: bool,
    /// The last replacement with a word that was parsed: its range in `text`, the kind of the word,
    /// and the result.
    known: Option<(Range<usize>, Word, bool)>,
}

impl Trial {
    /// Prepares the checks for the unit at this byte range of a file.
    pub fn new(parser: &mut Parser, file: &Tree, text: &[u8], unit: &Range<usize>) -> Self {
        let begin = unit.start;
        let own = text.get(unit.clone()).unwrap_or_default();
        let there = file.root_node().descendant_for_byte_range(unit.start, unit.end);
        let Some(there) = there.filter(|node| !node.has_error()) else {
            let own = Self::of(file.clone(), Vec::new(), 0..0, begin);
            return Self { is_hopeless: true, ..own };
        };
        let kind = there.kind_id();
        for (before, after) in AROUND {
            let text = [before.as_bytes(), own, after.as_bytes()].concat();
            let unit = before.len()..before.len() + own.len();
            let Some(tree) = parser.parse(&text, None) else { continue };
            let root = tree.root_node();
            let there = root.descendant_for_byte_range(unit.start, unit.end);
            let is_same = there.is_some_and(|node| {
                node.kind_id() == kind && node.byte_range() == unit && !root.has_error()
            });
            if is_same {
                return Self::of(tree, text, unit, begin);
            }
        }
        Self::of(file.clone(), text.to_vec(), unit.clone(), begin)
    }

    fn of(tree: Tree, text: Vec<u8>, unit: Range<usize>, begin: usize) -> Self {
        let lines = line_starts(&text);
        let is_broken = tree.root_node().has_error();
        Self { is_hopeless: false, tree, text, unit, begin, lines, is_broken, known: None }
    }

    /// Returns true if the text with this change to the file parses as well as before, with the
    /// unit around the change intact.
    pub fn is_read(
        &mut self,
        parser: &mut Parser,
        range: &Range<usize>,
        replacement: &str,
    ) -> bool {
        if self.is_hopeless {
            return false;
        }
        let at = |byte: usize| byte - self.begin + self.unit.start;
        let range = at(range.start)..at(range.end);
        let word = word(replacement.as_bytes());
        let known = match &self.known {
            Some((place, kind, is_read)) if *place == range && word == Some(*kind) => {
                Some(*is_read)
            }
            _ => alike::is_read(&self.text, &range, replacement.as_bytes()).then_some(true),
        };
        if let Some(known) = known {
            debug_assert_eq!(known, self.is_tried(parser, &range, replacement), "{replacement}");
            return known;
        }
        let is_read = self.is_tried(parser, &range, replacement);
        self.known = word.map(|word| (range, word, is_read));
        is_read
    }

    /// Like [`Self::is_read`], but always parses.
    fn is_tried(&self, parser: &mut Parser, range: &Range<usize>, replacement: &str) -> bool {
        let start = self.point(range.start);
        let new_end = range.start + replacement.len();
        let edit = InputEdit {
            start_byte: range.start,
            old_end_byte: range.end,
            new_end_byte: new_end,
            start_position: start,
            old_end_position: self.point(range.end),
            new_end_position: moved(start, replacement.as_bytes()),
        };
        let mut edited = self.tree.clone();
        edited.edit(&edit);
        let (text, replaced) = (&self.text, replacement.as_bytes());
        let mut read = |at: usize, _: Point| -> &[u8] {
            if at < range.start {
                &text[at..range.start]
            } else if at < new_end {
                &replaced[at - range.start..]
            } else {
                text.get(at - new_end + range.end..).unwrap_or_default()
            }
        };
        let Some(tree) = parser.parse_with_options(&mut read, Some(&edited), None) else {
            return false;
        };
        let root = tree.root_node();
        if root.has_error() && !self.is_broken {
            return false;
        }
        let end = self.unit.end - range.len() + replacement.len();
        self.is_there(root, end)
    }

    /// Returns true if there is still a node of the unit's kind at the unit's position, without
    /// errors.
    fn is_there(&self, root: Node<'_>, end: usize) -> bool {
        let Range { start, end: old_end } = self.unit;
        let before = self.tree.root_node().descendant_for_byte_range(start, old_end);
        let after = root.descendant_for_byte_range(start, end);
        let (Some(before), Some(after)) = (before, after) else { return false };
        after.kind_id() == before.kind_id() && !after.has_error() && after.start_byte() == start
    }

    fn point(&self, at: usize) -> Point {
        let row = self.lines.partition_point(|start| *start <= at) - 1;
        Point { row, column: at - self.lines[row] }
    }
}

/// Returns the point at which a text that begins at `from` ends.
fn moved(from: Point, text: &[u8]) -> Point {
    let feeds = text.iter().filter(|byte| **byte == b'\n').count();
    match text.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => Point { row: from.row + feeds, column: text.len() - last - 1 },
        None => Point { row: from.row, column: from.column + text.len() },
    }
}
