//! The changes that no test notices, in the order of what matters, each with all that a report shows of it. Nothing is decided here but the order.

use super::advice;
use assay_data::mutation::{Fate, MutantResult, MutatedFile, MutatedUnit, Mutation, Place};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A change that no test notices; of a function that no test uses one stands for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survivor<'a> {
    pub own: &'a MutantResult,
    pub unit: &'a MutatedUnit,
    pub file: &'a MutatedFile,
    mutation: &'a Mutation,
    /// How many changes count as missed with it: itself, and those that were not tried because of it.
    pub weight: usize,
}

/// All of them: first functions that no test uses, then those whose whole body is not missed, then the harsher changes before the milder ones; of equal
/// ones the function with more missed changes first. Functions that only format a value for debugging come after all others, and changes that may mean
/// the same last. O(mutants · log mutants).
pub(crate) fn of(mutation: &Mutation) -> Vec<Survivor<'_>> {
    let mut weights: HashMap<usize, usize> = HashMap::new();
    for own in mutation.mutants.iter().filter(|own| own.fate.is_missed()) {
        *weights.entry(own.unit).or_insert(0) += 1;
    }
    let mut said: Vec<bool> = vec![false; mutation.units.len()];
    let mut all = Vec::new();
    for own in &mutation.mutants {
        let Some(survivor) = Survivor::of(mutation, own) else { continue };
        let of_unit = || weights.get(&own.unit).copied().unwrap_or(0);
        let weight = match own.fate {
            Fate::Uncovered if std::mem::replace(&mut said[own.unit], true) => continue,
            Fate::Uncovered => of_unit(),
            Fate::Survived if is_whole(own) => of_unit(),
            Fate::Survived => 1,
            _ => continue,
        };
        all.push(Survivor { weight, ..survivor });
    }
    all.sort_by_key(|survivor| {
        let own = survivor.own;
        let is_doubtful = own.doubt.is_some();
        let is_for_readers = is_for_readers(&survivor.unit.name);
        let rank = advice::rank(&own.operator);
        (is_doubtful, is_for_readers, own.fate != Fate::Uncovered, rank, Reverse(survivor.weight))
    });
    all
}

/// Functions that only format a value for debugging.
const FOR_READERS: [&str; 8] =
    ["__repr__", "__str__", "__format__", "inspect", "pretty_print", "GoString", "toString", "fmt"];

/// Returns true for a function that only formats a value, by its qualified name.
fn is_for_readers(name: &str) -> bool {
    let last = name.rsplit(['.', '#', ':']).next().unwrap_or(name);
    FOR_READERS.contains(&last)
}

/// Whether it is the change of a whole body.
fn is_whole(own: &MutantResult) -> bool {
    own.operator == "body"
}

impl<'a> Survivor<'a> {
    /// A change with what it belongs to; `None` where that is not known.
    pub fn of(mutation: &'a Mutation, own: &'a MutantResult) -> Option<Self> {
        let unit = mutation.units.get(own.unit)?;
        let file = mutation.files.get(unit.file)?;
        Some(Self { own, unit, file, mutation, weight: 1 })
    }

    /// Where it is: path and line.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file.path, self.line())
    }

    /// The line.
    pub fn line(&self) -> u32 {
        match self.own.fate {
            Fate::Uncovered => self.unit.begin,
            _ => self.own.begin.line,
        }
    }

    /// What is wrong, as a part of a sentence.
    pub fn said(&self) -> String {
        match self.own.fate {
            Fate::Uncovered => "no test uses it".to_owned(),
            _ => format!("nobody notices that {}", self.own.what),
        }
    }

    /// Whether its change is shown: what no test uses needs none.
    pub fn shows_change(&self) -> bool {
        self.own.fate != Fate::Uncovered
    }

    /// Whether the whole function is meant.
    pub fn is_whole(&self) -> bool {
        self.own.fate == Fate::Uncovered || is_whole(self.own)
    }

    /// The names of the tests that ran over it; `None`: it is not known which, all ran.
    pub fn tests(&self) -> Option<Vec<&'a str>> {
        let tests = self.own.covered_by.as_ref()?;
        Some(tests.iter().filter_map(|test| Some(&*self.mutation.tests.get(*test)?.name)).collect())
    }

    /// Which tests ran, with so many of their names, in words; empty where no test uses it.
    pub fn ran(&self, most: usize) -> String {
        match self.tests() {
            _ if self.own.fate == Fate::Uncovered => String::new(),
            None => "all tests ran, and passed".to_owned(),
            Some(names) if names.is_empty() => "no test ran over it".to_owned(),
            Some(names) => format!("ran over it, and passed: {}", super::shortened(&names, most)),
        }
    }

    /// What stood where the change is.
    pub fn before(&self) -> &'a str {
        let text = &*self.file.source;
        let (from, to) = (at(text, self.own.begin), at(text, self.own.end));
        text.get(from..to).unwrap_or_default()
    }

    /// The line of the change, and which of its bytes are changed, if it is within that line.
    pub fn line_of_change(&self) -> (&'a str, Option<(usize, usize)>) {
        let own = self.own;
        let number = (own.begin.line as usize).saturating_sub(1);
        let line = self.file.source.lines().nth(number).unwrap_or_default();
        let range = (own.begin.line == own.end.line)
            .then(|| (column(line, own.begin.column), column(line, own.end.column)));
        (line, range)
    }
}

/// The byte of a line at which a column begins.
fn column(line: &str, column: u32) -> usize {
    let before = (column as usize).saturating_sub(1);
    line.char_indices().nth(before).map_or(line.len(), |(at, _)| at)
}

/// The byte of a text at which a place is.
fn at(text: &str, place: Place) -> usize {
    let mut begin = 0;
    let lines = text.split_inclusive('\n').take((place.line as usize).saturating_sub(1));
    lines.for_each(|line| begin += line.len());
    begin
        + column(
            text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default(),
            place.column,
        )
}
