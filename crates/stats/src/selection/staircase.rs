//! The walk along the staircase between the elements of a sorted matrix that are below something
//! and those that are not.
//!
//! Every step goes on to the next row or back by one column, and which of the two cannot be
//! foretold; a processor that guesses is wrong half of the time. So the step is written without a
//! branch, and four walks through different rows go on side by side, each filling the others'
//! waits.

use super::SortedMatrix;

/// Walks side by side.
const LANES: usize = 4;

/// Below this number of rows one walk is as quick.
const FEW_ROWS: usize = 256;

/// A walk through some of the rows.
#[derive(Clone, Copy, Default)]
struct Walk {
    /// The row at hand, and where the walk stops.
    row: usize,
    stop: usize,
    /// Columns from here on are known not to be below.
    end: usize,
}

impl<F: Fn(usize, usize) -> f64> SortedMatrix<F> {
    /// How many elements are `below`, a condition that holds up to some value and not beyond.
    /// O(rows + columns).
    pub(super) fn count(&self, below: impl Fn(f64) -> bool) -> u64 {
        let mut count = 0;
        self.walk_all(&below, |_, first, end, done| {
            count += if done { (end - first) as u64 } else { 0 };
        });
        count
    }

    /// The same, and where in each row it ends.
    pub(super) fn staircase(&self, below: impl Fn(f64) -> bool, ends: &mut Vec<u32>) -> u64 {
        ends.resize(self.rows, 0);
        let mut count = 0;
        // What stands at a row's place when the walk leaves the row is its end.
        self.walk_all(&below, |row, first, end, done| {
            ends[row] = end as u32;
            count += if done { (end - first) as u64 } else { 0 };
        });
        count
    }

    /// Where in one row the elements that are `below` end.
    pub(super) fn end_of_row(&self, row: usize, below: impl Fn(f64) -> bool) -> usize {
        let (mut first, mut end) = (self.first_column(row), self.columns);
        while first < end {
            let middle = first + (end - first) / 2;
            if below((self.value)(row, middle)) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        end
    }

    /// Calls `at` with row, first column, end and whether this is the row's end, for every step.
    fn walk_all(
        &self,
        below: &impl Fn(f64) -> bool,
        mut at: impl FnMut(usize, usize, usize, bool),
    ) {
        if self.len() == 0 {
            return;
        }
        if self.rows < FEW_ROWS {
            let mut walk = Walk { row: 0, stop: self.rows, end: self.columns };
            self.walk_on(&mut walk, below, &mut at);
            return;
        }
        // Parts of the rows differ in how many columns they pass; whoever is done takes another
        // part.
        let part = self.rows.div_ceil(16 * LANES);
        let mut walks = [Walk::default(); LANES];
        let mut next = 0;
        loop {
            for walk in walks.iter_mut().filter(|walk| walk.row == walk.stop) {
                if next == self.rows {
                    break;
                }
                let end = self.end_of_row(next, below);
                *walk = Walk { row: next, stop: (next + part).min(self.rows), end };
                next = walk.stop;
            }
            // So many steps at least no walk comes to its end.
            let steps = walks.iter().map(|walk| walk.stop - walk.row).min().unwrap_or(0);
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                for walk in &mut walks {
                    self.step(walk, below, &mut at);
                }
            }
        }
        for walk in &mut walks {
            self.walk_on(walk, below, &mut at);
        }
    }

    fn walk_on(
        &self,
        walk: &mut Walk,
        below: &impl Fn(f64) -> bool,
        at: &mut impl FnMut(usize, usize, usize, bool),
    ) {
        while walk.row < walk.stop {
            self.step(walk, below, at);
        }
    }

    #[inline(always)]
    fn step(
        &self,
        walk: &mut Walk,
        below: &impl Fn(f64) -> bool,
        at: &mut impl FnMut(usize, usize, usize, bool),
    ) {
        let first = self.first_column(walk.row);
        // In a triangle a row may begin beyond the end of the one before: nothing of it is below.
        let end = walk.end.max(first);
        let looked_at = end.max(first + 1) - 1;
        let done = (end == first) | below((self.value)(walk.row, looked_at));
        at(walk.row, first, end, done);
        walk.row += usize::from(done);
        walk.end = end - usize::from(!done);
    }
}
