//! The walk along the staircase that separates the elements of a sorted matrix below a bound from
//! the others.
//!
//! Each step goes unpredictably to the next row or back by one column, so branch prediction fails
//! half of the time. The step is therefore written without a branch, and four walks through
//! different rows are interleaved, each hiding the others' latencies.

use super::SortedMatrix;

/// Number of interleaved walks.
const LANES: usize = 4;

/// Below this number of rows a single walk is as fast.
const FEW_ROWS: usize = 256;

/// A walk through some of the rows.
#[derive(Clone, Copy, Default)]
struct Walk {
    /// The current row.
    row: usize,
    /// The row where the walk stops.
    stop: usize,
    /// In the current row, elements from this column on are known not to be `below`.
    end: usize,
}

impl<F: Fn(usize, usize) -> f64> SortedMatrix<F> {
    /// Number of elements for which the monotone condition `below` is true. O(rows + columns).
    pub(super) fn count(&self, below: impl Fn(f64) -> bool) -> u64 {
        let mut count = 0;
        self.walk_all(&below, |_, first, end, done| {
            count += if done { (end - first) as u64 } else { 0 };
        });
        count
    }

    /// Like [`Self::count`], also storing the end of each row.
    pub(super) fn staircase(&self, below: impl Fn(f64) -> bool, ends: &mut Vec<u32>) -> u64 {
        ends.resize(self.rows, 0);
        let mut count = 0;
        // The last value stored for a row is its end.
        self.walk_all(&below, |row, first, end, done| {
            ends[row] = end as u32;
            count += if done { (end - first) as u64 } else { 0 };
        });
        count
    }

    /// The column after the last element of a row for which `below` is true.
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

    /// Calls `at` for every step with the row, its first column, the end, and whether this is the
    /// row's final end.
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
        // Parts of the rows pass different numbers of columns; a finished walk takes another part.
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
            // No walk ends within this many steps.
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
        // In a triangle a row may begin beyond the end of the previous one, so none of it is below.
        let end = walk.end.max(first);
        let looked_at = end.max(first + 1) - 1;
        let done = (end == first) | below((self.value)(walk.row, looked_at));
        at(walk.row, first, end, done);
        walk.row += usize::from(done);
        walk.end = end - usize::from(!done);
    }
}
