//! A mutant: one change of a file's text, known by what it changes and not by where that stands.

use crate::operator::Operator;
use crate::policy::CONTEXT;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::ops::Range;

/// A function or method, with all that is within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name, with the classes and modules that it stands in: `Stack.push`.
    pub name: String,
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// Those of its body, where it has one.
    pub body: Option<Range<usize>>,
    /// Its first line, from 1,
    pub begin: u32,
    /// and its last one.
    pub end: u32,
}

/// One change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Twelve digits, from the file's path, the unit's name, the operator, what was there, what is there instead, and which of those that agree in all
    /// this it is: the same after other lines of the file changed.
    pub id: String,
    /// Index of its unit among those of the file.
    pub unit: usize,
    /// What kind of change it is.
    pub operator: Operator,
    /// The bytes that are replaced,
    pub range: Range<usize>,
    /// and by what.
    pub replacement: String,
    /// The line on which they begin, from 1,
    pub line: u32,
    /// and that on which they end.
    pub last_line: u32,
    /// Why it may survive, where a comment says so.
    pub kept: Option<String>,
}

impl Mutant {
    /// The whole text with the change.
    pub fn applied(&self, text: &[u8]) -> Vec<u8> {
        let (before, after) = (&text[..self.range.start], &text[self.range.end..]);
        [before, self.replacement.as_bytes(), after].concat()
    }

    /// The change in its lines, with some around it, as `diff -u` shows it, without the heading. Bytes that are no text are replaced.
    pub fn diff(&self, text: &[u8]) -> String {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let first = self.line as usize - 1;
        let last = (self.last_line as usize).min(lines.len());
        let from = first.saturating_sub(CONTEXT);
        let to = (last + CONTEXT).min(lines.len());
        let start: usize = lines[..first].iter().map(|line| line.len()).sum();
        let end = start + lines[first..last].iter().map(|line| line.len()).sum::<usize>();
        let changed = [
            &text[start..self.range.start],
            self.replacement.as_bytes(),
            &text[self.range.end.min(end)..end],
        ]
        .concat();
        let mut diff = String::new();
        let mut put = |sign: char, line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            let _never_fails = writeln!(diff, "{sign}{}", line.trim_end_matches(['\n', '\r']));
        };
        lines[from..first].iter().for_each(|line| put(' ', line));
        lines[first..last].iter().for_each(|line| put('-', line));
        let replaced = changed.split_inclusive(|byte| *byte == b'\n');
        replaced.filter(|line| !line.trim_ascii().is_empty()).for_each(|line| put('+', line));
        lines[last..to].iter().for_each(|line| put(' ', line));
        diff
    }
}

/// The digits by which a mutant is known.
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
        };
        assert_eq!(mutant.applied(text), b"a\nb\nif True:\n    y\nz\nw\n");
        assert_eq!(mutant.diff(text), " a\n b\n-if x:\n+if True:\n     y\n z\n");
        let at_the_end = Mutant { range: 18..19, line: 6, last_line: 6, ..mutant };
        assert_eq!(at_the_end.diff(text), "     y\n z\n-w\n+True\n");
    }
}
