//! The columns in which observations are stored, private to the samples.
//!
//! Ten thousand runs, or ten million imported numbers, must use little memory, so a column in which
//! no observation has a value is not stored.

use super::{Outcome, Pass};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Columns {
    pub(super) subject: Owners,
    pub(super) pass: Sparse<Option<Pass>>,
    pub(super) block: Sparse<u32>,
    pub(super) position: Sparse<u32>,
    pub(super) time: Sparse<f64>,
    pub(super) outcome: Sparse<Outcome>,
    pub(super) level: Sparse<Vec<u32>>,
    /// One column per metric.
    pub(super) values: Vec<Vec<f64>>,
    /// Maximum number of values, including missing ones. `None` if there is no limit.
    pub(super) most: Option<usize>,
    /// True if an observation was refused because of the limit.
    pub(super) overflowed: bool,
}

/// The subject of each observation. If all observations belong to the first subject, as is common
/// for imported numbers, only their number is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Owners {
    held: usize,
    /// The subject of each observation. Empty if all belong to subject 0.
    several: Vec<u32>,
}

impl Owners {
    pub(super) fn len(&self) -> usize {
        self.held
    }

    pub(super) fn push(&mut self, owner: u32) {
        if owner != 0 && self.several.is_empty() {
            self.several.resize(self.held, 0);
        }
        self.held += 1;
        if owner != 0 || !self.several.is_empty() {
            self.several.push(owner);
        }
    }

    /// Returns the subject of an existing observation.
    pub(super) fn of(&self, index: usize) -> u32 {
        self.several.get(index).copied().unwrap_or(0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let alone = if self.several.is_empty() { self.held } else { 0 };
        self.several.iter().copied().chain(std::iter::repeat_n(0, alone))
    }
}

impl FromIterator<u32> for Owners {
    fn from_iter<I: IntoIterator<Item = u32>>(owners: I) -> Self {
        let mut all = Self::default();
        owners.into_iter().for_each(|owner| all.push(owner));
        all
    }
}

/// A column that is absent while no observation has a value for it, as for imported numbers: with
/// ten million of them, every byte counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sparse<T>(pub(super) Vec<T>);

impl<T: Clone + PartialEq> Sparse<T> {
    /// Appends a value to the column of `held` observations. `nothing` is the value that represents
    /// a missing one.
    pub(super) fn push(&mut self, held: usize, value: T, nothing: T) {
        if !self.0.is_empty() || value != nothing {
            self.0.resize(held, nothing);
            self.0.push(value);
        }
    }

    /// Appends a missing value. Avoids the comparison of vectors, which takes half of the time for
    /// appending a number.
    pub(super) fn push_nothing(&mut self, nothing: T) {
        if !self.0.is_empty() {
            self.0.push(nothing);
        }
    }

    pub(super) fn get(&self, index: usize, nothing: T) -> T {
        self.0.get(index).cloned().unwrap_or(nothing)
    }

    pub(super) fn reserve_exact(&mut self, more: usize) {
        if !self.0.is_empty() {
            self.0.reserve_exact(more);
        }
    }
}

impl Columns {
    /// Returns true if there is no space for another observation, and records that one was refused.
    pub(super) fn refuses(&mut self) -> bool {
        let is_full = self.most.is_some_and(|most| self.subject.len() * self.values.len() >= most);
        self.overflowed |= is_full;
        is_full
    }

    /// Grows the columns by a quarter rather than doubling them. A long run has many columns, and
    /// half of each would be unused.
    pub(super) fn make_room(&mut self) {
        let held = self.subject.len();
        if self.values.first().is_none_or(|column| held < column.capacity()) {
            return;
        }
        let more = (held / 4).max(64);
        if !self.subject.several.is_empty() {
            self.subject.several.reserve_exact(more);
        }
        self.pass.reserve_exact(more);
        self.block.reserve_exact(more);
        self.position.reserve_exact(more);
        self.time.reserve_exact(more);
        self.outcome.reserve_exact(more);
        self.values.iter_mut().for_each(|column| column.reserve_exact(more));
    }
}

/// Represents "not in a block" in the columns.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Represents "no time" in the columns.
pub(super) const NO_TIME: f64 = f64::NEG_INFINITY;

/// Keeps the items whose flag is true. An empty column stays empty.
pub(super) fn retain<T>(column: &mut Vec<T>, stays: &[bool]) {
    let mut flags = stays.iter();
    column.retain(|_| flags.next().copied().unwrap_or(false));
}
