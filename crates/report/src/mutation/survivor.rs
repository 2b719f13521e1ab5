//! One undetected change.

use assay_data::mutation::{Fate, LineColumn, MutantResult, MutatedFile, MutatedUnit, Mutation};

/// An undetected change. A function that no test uses is represented by a single change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survivor<'a> {
    pub own: &'a MutantResult,
    pub unit: &'a MutatedUnit,
    pub file: &'a MutatedFile,
    pub mutation: &'a Mutation,
    /// Number of missed changes that this one represents: all of the function's if it concerns the
    /// whole function, otherwise 1.
    pub weight: usize,
}

/// Returns true if the change replaces a whole body.
pub(super) fn is_whole(own: &MutantResult) -> bool {
    own.operator == "body"
}

impl<'a> Survivor<'a> {
    /// Returns a change with its unit and file, or `None` if either is unknown.
    pub fn of(mutation: &'a Mutation, own: &'a MutantResult) -> Option<Self> {
        let unit = mutation.units.get(own.unit)?;
        let file = mutation.files.get(unit.file)?;
        Some(Self { own, unit, file, mutation, weight: 1 })
    }

    /// Returns the location as `path:line`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file.path, self.line())
    }

    /// Returns the line number of the change, or of the function if no test uses it.
    pub fn line(&self) -> u32 {
        match self.own.fate {
            Fate::Uncovered => self.unit.begin,
            _ => self.own.begin.line,
        }
    }

    /// Returns the problem as a clause: `no test uses it`, or a description of what no test
    /// notices.
    pub fn said(&self) -> String {
        match self.own.fate {
            Fate::Uncovered => "no test uses it".to_owned(),
            _ => format!("no test notices that {}", self.own.what),
        }
    }

    /// Returns true if the report should show the change itself, which is unnecessary for a
    /// function that no test uses.
    pub fn shows_change(&self) -> bool {
        self.own.fate != Fate::Uncovered
    }

    /// Returns true if the survivor concerns the whole function.
    pub fn is_whole(&self) -> bool {
        self.own.fate == Fate::Uncovered || is_whole(self.own)
    }

    /// Returns the names of the tests that ran the changed code, or `None` if they are unknown and
    /// all tests ran.
    pub fn tests(&self) -> Option<Vec<&'a str>> {
        let tests = self.own.covered_by.as_ref()?;
        Some(tests.iter().filter_map(|test| Some(&*self.mutation.tests.get(*test)?.name)).collect())
    }

    /// Describes the tests that ran, with at most `most` names. It is empty if no test uses the
    /// function.
    pub fn ran(&self, most: usize) -> String {
        match self.tests() {
            _ if self.own.fate == Fate::Uncovered => String::new(),
            None => "all tests ran, and passed".to_owned(),
            Some(names) if names.is_empty() => "no test ran over it".to_owned(),
            Some(names) => {
                format!("ran over it, and passed: {}", assay_data::list::first(&names, most))
            }
        }
    }

    /// Returns the original text that the change replaces.
    pub fn before(&self) -> &'a str {
        let text = &*self.file.source;
        let (from, to) = (at(text, self.own.begin), at(text, self.own.end));
        text.get(from..to).unwrap_or_default()
    }

    /// Returns the line on which the change begins, and the changed byte range if the change does
    /// not extend beyond this line.
    pub fn line_of_change(&self) -> (&'a str, Option<(usize, usize)>) {
        let own = self.own;
        let number = (own.begin.line as usize).saturating_sub(1);
        let line = self.file.source.lines().nth(number).unwrap_or_default();
        let range = (own.begin.line == own.end.line)
            .then(|| (column(line, own.begin.column), column(line, own.end.column)));
        (line, range)
    }
}

/// Returns the byte offset of a 1-based column in a line.
fn column(line: &str, column: u32) -> usize {
    let before = (column as usize).saturating_sub(1);
    line.char_indices().nth(before).map_or(line.len(), |(at, _)| at)
}

/// Returns the byte offset of a line and column in a text.
fn at(text: &str, place: LineColumn) -> usize {
    let mut begin = 0;
    let lines = text.split_inclusive('\n').take((place.line as usize).saturating_sub(1));
    lines.for_each(|line| begin += line.len());
    begin
        + column(
            text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default(),
            place.column,
        )
}
