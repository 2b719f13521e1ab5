//! Whether a changed text can be read: its tree is made again from the one of the text, of which only the part around the change is read anew.

use crate::mutant::line_starts;
use std::ops::Range;
use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

/// Tries changes on one text.
pub(crate) struct Trial<'a> {
    tree: &'a Tree,
    text: &'a [u8],
    /// Where lines begin.
    lines: Vec<usize>,
    is_broken: bool,
}

impl<'a> Trial<'a> {
    pub fn new(tree: &'a Tree, text: &'a [u8]) -> Self {
        let lines = line_starts(text);
        Self { tree, text, lines, is_broken: tree.root_node().has_error() }
    }

    /// Whether the text with this change is understood as well as it was before, and the unit around the change is one still.
    pub fn is_read(
        &self,
        parser: &mut Parser,
        unit: &Range<usize>,
        range: &Range<usize>,
        replacement: &str,
    ) -> bool {
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
        let (text, replaced) = (self.text, replacement.as_bytes());
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
        let end = unit.end - range.len() + replacement.len();
        self.is_there(root, unit, end)
    }

    /// Whether there is a node of the unit's kind in its place, in which everything is understood.
    fn is_there(&self, root: Node<'_>, unit: &Range<usize>, end: usize) -> bool {
        let before = self.tree.root_node().descendant_for_byte_range(unit.start, unit.end);
        let after = root.descendant_for_byte_range(unit.start, end);
        let (Some(before), Some(after)) = (before, after) else { return false };
        // Where a file is broken in that unit already, nothing of it is changed.
        after.kind_id() == before.kind_id()
            && !after.has_error()
            && after.start_byte() == unit.start
    }

    fn point(&self, at: usize) -> Point {
        let row = self.lines.partition_point(|start| *start <= at) - 1;
        Point { row, column: at - self.lines[row] }
    }
}

/// Where one is behind a text that begins at a point.
fn moved(from: Point, text: &[u8]) -> Point {
    let feeds = text.iter().filter(|byte| **byte == b'\n').count();
    match text.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => Point { row: from.row + feeds, column: text.len() - last - 1 },
        None => Point { row: from.row, column: from.column + text.len() },
    }
}
