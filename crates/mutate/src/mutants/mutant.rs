//! A mutant: one change to a file's text, identified by the code that it changes rather than by its
//! position.

use crate::mutants::operator::Operator;
use crate::mutants::policy::CONTEXT;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::ops::Range;
use tree_sitter::Node;

/// A function or method, with everything within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Name, with the enclosing classes and modules, such as `Stack.push`.
    pub name: String,
    /// Byte range of the unit in the file.
    pub range: Range<usize>,
    /// Byte range of the body, if there is one.
    pub body: Option<Range<usize>>,
    /// First line, counting from 1.
    pub begin: u32,
    /// Last line, inclusive.
    pub end: u32,
}

impl Unit {
    /// Returns the unit's node in the syntax tree of its file, if the unit has a body. Another node
    /// that spans the same bytes may enclose this node.
    pub(crate) fn node<'t>(&self, root: Node<'t>) -> Option<Node<'t>> {
        let mut node = root.descendant_for_byte_range(self.range.start, self.range.end)?;
        while node.child_by_field_name("body").is_none() {
            node = node.named_child(0).filter(|own| own.byte_range() == self.range)?;
        }
        (node.byte_range() == self.range).then_some(node)
    }
}

/// One change to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Twelve hexadecimal digits, computed from the file's path, the unit's name, the operator, the
    /// original text, the replacement, and an ordinal among mutants that agree in all of these.
    /// Changes to other lines of the file do not affect the id.
    pub id: String,
    /// Index of the unit in `Mutants::units`.
    pub unit: usize,
    /// The kind of change.
    pub operator: Operator,
    /// Byte range of the file that is replaced.
    pub range: Range<usize>,
    /// The text that replaces the range.
    pub replacement: String,
    /// Line on which the range begins, counting from 1.
    pub line: u32,
    /// Line on which the range ends, counting from 1.
    pub last_line: u32,
    /// The reason why the mutant may survive, if a comment in the source gives one.
    pub kept: Option<String>,
    /// The condition that excludes the mutant's code from the program on this machine, if any.
    pub absent: Option<String>,
}

impl Mutant {
    /// Returns the whole text with the change applied.
    pub fn applied(&self, text: &[u8]) -> Vec<u8> {
        let (before, after) = (&text[..self.range.start], &text[self.range.end..]);
        [before, self.replacement.as_bytes(), after].concat()
    }

    /// Returns the changed lines with some context, as in `diff -u`, without the header. Invalid
    /// UTF-8 is replaced.
    pub fn diff(&self, text: &[u8]) -> String {
        self.diff_at(text, &line_starts(text))
    }

    /// Like [`Self::diff`], but takes the byte offsets of the text's lines ([`line_starts`]).
    /// O(lines shown).
    pub fn diff_at(&self, text: &[u8], starts: &[usize]) -> String {
        let count = starts.iter().rev().take_while(|start| **start >= text.len()).count();
        let total = starts.len() - count;
        let first = (self.line as usize - 1).min(total);
        let last = (self.last_line as usize).clamp(first, total);
        let at = |line: usize| starts.get(line).copied().unwrap_or(text.len()).min(text.len());
        let line = |number: usize| &text[at(number)..at(number + 1)];
        let (start, end) = (at(first), at(last));
        let changed = [
            &text[start..self.range.start.max(start)],
            self.replacement.as_bytes(),
            &text[self.range.end.min(end)..end],
        ]
        .concat();
        let mut diff = String::new();
        let mut put = |sign: char, line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            let _never_fails = writeln!(diff, "{sign}{}", line.trim_end_matches(['\n', '\r']));
        };
        (first.saturating_sub(CONTEXT)..first).for_each(|number| put(' ', line(number)));
        (first..last).for_each(|number| put('-', line(number)));
        let replaced = changed.split_inclusive(|byte| *byte == b'\n');
        replaced.filter(|line| !line.trim_ascii().is_empty()).for_each(|line| put('+', line));
        (last..(last + CONTEXT).min(total)).for_each(|number| put(' ', line(number)));
        diff
    }
}

/// Returns the byte offsets at which the lines of a text begin.
pub fn line_starts(text: &[u8]) -> Vec<usize> {
    let feeds = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    std::iter::once(0).chain(feeds.map(|(at, _)| at + 1)).collect()
}

/// Computes the id of a mutant.
pub(crate) fn id_of(parts: &[&[u8]], ordinal: usize) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    digest.update(ordinal.to_le_bytes());
    let digest = digest.finalize();
    digest.iter().take(6).fold(String::with_capacity(12), |mut id, byte| {
        let _never_fails = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_in_its_lines() {
        let text = b"a\nb\nif x:\n    y\nz\nw\n";
        let mutant = Mutant {
            id: String::new(),
            unit: 0,
            operator: Operator::Condition,
            range: 7..8,
            replacement: "True".to_owned(),
            line: 3,
            last_line: 3,
            kept: None,
            absent: None,
        };
        assert_eq!(mutant.applied(text), b"a\nb\nif True:\n    y\nz\nw\n");
        assert_eq!(mutant.diff(text), " a\n b\n-if x:\n+if True:\n     y\n z\n");
        let at_the_end = Mutant { range: 18..19, line: 6, last_line: 6, ..mutant };
        assert_eq!(at_the_end.diff(text), "     y\n z\n-w\n+True\n");
    }
}
