//! Selects several elements of one matrix in one search.
//!
//! An estimate and the ends of its interval are close together relative to the whole matrix. Two
//! pivots around all of them are taken from one lattice, and the elements in between are counted; a
//! second lattice of these gives two pivots around each wanted element, close enough to gather
//! everything between them. If many elements are equal, a lattice may mislead; the search then
//! finds nothing, and the guaranteed search takes over.

use super::{MARGIN, Remaining, SortedMatrix, gather_at_most};
use crate::sorting;

/// Below this number of rows and columns, searching each element separately is as fast.
const FEW: usize = 512;

/// Number of rows covered by the second lattice. Neighboring rows hardly differ.
const LATTICE_ROWS: usize = 16_384;

/// Maximum number of points of the second lattice.
const MOST_POINTS: usize = 262_144;

/// Up to this number, the elements between two pivots are always gathered: a megabyte.
const GATHER_CLOSE: u64 = 1 << 17;

/// Maximum number of lattice positions tried.
const TRIES: usize = 4;

/// A row and its columns between the outer pivots.
struct Span {
    row: usize,
    from: usize,
    to: usize,
}

impl<F: Fn(usize, usize) -> f64> SortedMatrix<F> {
    /// The elements with these ranks (1-based, in any order); `None` if one does not exist.
    pub(crate) fn select_each(&self, ranks: &[u64]) -> Option<Vec<f64>> {
        let mut wanted = ranks.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.first() == Some(&0) || wanted.last().is_some_and(|&last| last > self.len()) {
            return None;
        }
        let found = if self.rows.min(self.columns) < FEW { None } else { self.together(&wanted) };
        let mut known = found.unwrap_or_default();
        for rank in wanted {
            if value_of(&known, rank).is_none() {
                let value = match value_of(&known, rank - 1) {
                    Some(before) => self.next(rank - 1, before)?,
                    None => self.select_alone(rank)?,
                };
                known.push((rank, value));
            }
        }
        ranks.iter().map(|&rank| value_of(&known, rank)).collect()
    }

    /// The element after the one with this rank, whose value is known. One walk.
    fn next(&self, rank: u64, value: f64) -> Option<f64> {
        let mut ends = Vec::with_capacity(self.rows);
        if self.staircase(|one| one <= value, &mut ends) > rank {
            return Some(value);
        }
        let behind = ends.iter().enumerate().filter(|(_, end)| (**end as usize) < self.columns);
        behind.map(|(row, &end)| (self.value)(row, end as usize)).min_by(f64::total_cmp)
    }

    /// The elements of as many of the ranks (ascending) as can be found together.
    fn together(&self, ranks: &[u64]) -> Option<Vec<(u64, f64)>> {
        let (&first, &last) = (ranks.first()?, ranks.last()?);
        let mut lattice = Vec::new();
        let points = self.lattice_points();
        let whole = (0..self.rows).map(|row| (row, self.first_column(row), self.columns));
        self.fill_lattice(whole, self.len(), points, &mut lattice);
        sorting::sort(&mut lattice);
        let (lower, upper) = pivots(&lattice, (0, self.len()), (first, last), 0.0);
        let before = lower.map_or(0, |pivot| self.count(|value| value < pivot));
        let until = upper.map_or(self.len(), |pivot| self.count(|value| value <= pivot));
        if first <= before || last > until {
            return None;
        }
        if let Some(pivot) = lower.filter(|_| lower == upper) {
            return Some(ranks.iter().map(|&rank| (rank, pivot)).collect());
        }

        let stride = self.rows.div_ceil(LATTICE_ROWS);
        let spans: Vec<Span> = (stride / 2..self.rows)
            .step_by(stride)
            .map(|row| Span {
                row,
                from: lower.map_or(self.first_column(row), |pivot| {
                    self.end_of_row(row, |value| value < pivot)
                }),
                to: upper
                    .map_or(self.columns, |pivot| self.end_of_row(row, |value| value <= pivot)),
            })
            .collect();
        let spanned: u64 = spans.iter().map(|span| (span.to - span.from) as u64).sum();
        if spanned == 0 {
            return None;
        }
        let most = gather_at_most(self.rows, self.columns);
        let points = points_for(until - before, most).clamp(1024, MOST_POINTS);
        let spans = spans.iter().map(|span| (span.row, span.from, span.to));
        self.fill_lattice(spans, spanned, points, &mut lattice);
        sorting::sort(&mut lattice);
        let mut found = Vec::with_capacity(ranks.len());
        let mut others = Vec::with_capacity(ranks.len());
        for &rank in ranks {
            if let Some(pair) = self.among_ties(rank, &lattice, (before, until), &found) {
                found.push(pair);
            } else {
                others.push(rank);
            }
        }
        // Ranks less than a stratum apart are searched together.
        let apart = (until - before) / points as u64;
        let groups = others.chunk_by(|a, b| b - a <= apart);
        let limit = GATHER_CLOSE.max(2 * most);
        let mut between = Remaining { from: vec![], to: vec![], before_from: 0, before_to: 0 };
        for group in groups {
            // The lattice skips rows, so it may be offset; counting the elements below its pivots
            // gives the offset.
            let mut beside = 0.0;
            for _ in 0..TRIES {
                let ends = (group[0], group[group.len() - 1]);
                let (l, u) = pivots(&lattice, (before, until), ends, beside);
                self.cut_between(l.or(lower), u.or(upper), &mut between);
                if between.before_from < ends.0 && ends.1 <= between.before_to {
                    self.gather_group(group, l.or(lower), u.or(upper), limit, &between, &mut found);
                    break;
                }
                let met = (between.before_from + between.before_to) as f64 / 2.0;
                beside += (ends.0 as f64 - met) / ((until - before) as f64 / points as f64);
            }
        }
        Some(found)
    }

    /// Finds an element among many ties (such as differences of whole nanoseconds), where the
    /// lattice contains the same value repeatedly: tries the value at the element's expected
    /// position, and its neighbors.
    fn among_ties(
        &self,
        rank: u64,
        lattice: &[f64],
        (before, until): (u64, u64),
        found: &[(u64, f64)],
    ) -> Option<(u64, f64)> {
        /// Minimum number of times that a value must occur in the lattice.
        const TIED: usize = 8;
        let share = (rank - before) as f64 / (until - before) as f64;
        let mut place = ((share * lattice.len() as f64) as usize).min(lattice.len() - 1);
        for _ in 0..TRIES {
            let value = lattice[place];
            let begin = lattice.partition_point(|other| *other < value);
            let end = lattice.partition_point(|other| *other <= value);
            if end - begin < TIED {
                return None;
            }
            if rank > self.count(|other| other <= value) {
                place = end;
            } else if found.iter().any(|(lower, same)| *lower < rank && *same == value)
                || rank > self.count(|other| other < value)
            {
                return Some((rank, value));
            } else {
                place = begin.checked_sub(1)?;
            }
            if place >= lattice.len() {
                return None;
            }
        }
        None
    }

    /// The elements between two pivots, or from an end of the matrix if there is none.
    fn cut_between(&self, lower: Option<f64>, upper: Option<f64>, between: &mut Remaining) {
        between.before_from = match lower {
            Some(pivot) => self.staircase(|value| value < pivot, &mut between.from),
            None => {
                between.from.clear();
                between.from.extend((0..self.rows).map(|row| self.first_column(row) as u32));
                0
            }
        };
        between.before_to = match upper {
            Some(pivot) => self.staircase(|value| value <= pivot, &mut between.to),
            None => {
                between.to.clear();
                between.to.resize(self.rows, self.columns as u32);
                self.len()
            }
        };
    }

    /// Selects a few neighboring ranks from the elements between two pivots; `None` if there are
    /// too many elements.
    fn gather_group(
        &self,
        ranks: &[u64],
        lower: Option<f64>,
        upper: Option<f64>,
        most: u64,
        between: &Remaining,
        found: &mut Vec<(u64, f64)>,
    ) {
        if let Some(pivot) = lower.filter(|_| lower == upper) {
            found.extend(ranks.iter().map(|&rank| (rank, pivot)));
        } else if between.count() <= most {
            let mut rest = self.gather(between);
            let mut part = rest.as_mut_slice();
            // In descending order: the next rank is in the lower part.
            for &rank in ranks.iter().rev() {
                let index = (rank - between.before_from - 1) as usize;
                let (below, &mut value, _) = part.select_nth_unstable_by(index, f64::total_cmp);
                found.push((rank, value));
                part = below;
            }
        }
    }
}

fn value_of(known: &[(u64, f64)], rank: u64) -> Option<f64> {
    known.iter().find(|(one, _)| *one == rank).map(|(_, value)| *value)
}

/// Number of lattice points such that about `gather` elements are between two pivots.
fn points_for(count: u64, gather: u64) -> usize {
    (2.0 * MARGIN * count as f64 / gather as f64).powf(4.0 / 3.0) as usize
}

/// Two pivots from the sorted points of a lattice of the elements with ranks `before` to `until`:
/// one that is probably below the element of rank `first`, and one that is probably above that of
/// rank `last`. `beside` is the offset of the lattice, in points. `None` on a side where no point
/// is far enough out.
fn pivots(
    lattice: &[f64],
    (before, until): (u64, u64),
    (first, last): (u64, u64),
    beside: f64,
) -> (Option<f64>, Option<f64>) {
    let points = lattice.len() as f64;
    let share = |rank: u64| (rank - before) as f64 / (until - before) as f64;
    let place = |rank: u64| share(rank) * points - 0.5 + beside;
    let margin = MARGIN * points.powf(0.25);
    let (left, right) = ((place(first) - margin).floor(), (place(last) + margin).ceil());
    let pick = |place: f64| if place >= 0.0 { lattice.get(place as usize).copied() } else { None };
    // If the offset leads beyond the lattice, the outer pivot is used.
    (pick(left), pick(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks ranks at regular intervals, each with its neighbors and a distant one, as needed for
    /// an estimate and its interval.
    fn each_is(matrix: &SortedMatrix<impl Fn(usize, usize) -> f64>, element: impl Fn(u64) -> f64) {
        let last = matrix.len();
        for rank in (1..=last).step_by(last as usize / 23).chain([2, last - 1, last]) {
            let ranks = [rank, (rank + 1).min(last), rank, (rank + 400).min(last), last / 2];
            let expected: Vec<f64> = ranks.iter().map(|&rank| element(rank)).collect();
            assert_eq!(matrix.select_each(&ranks), Some(expected), "{ranks:?} of {last}");
        }
    }

    #[test]
    fn elements_that_are_searched_for_together_are_those_of_the_sorted_list() {
        // Row after row, the elements ascend: each equals its rank, or the number of its group of
        // ties.
        for tie in [1, 7, 5000] {
            let matrix = SortedMatrix::rectangle(600, 520, |i, j| ((i * 520 + j) / tie) as f64);
            each_is(&matrix, |rank| ((rank as usize - 1) / tie) as f64);
        }
        let columns = SortedMatrix::rectangle(520, 600, |i, j| (j * 520 + i) as f64);
        each_is(&columns, |rank| (rank - 1) as f64);
        let constant = SortedMatrix::rectangle(600, 600, |_, _| 2.5);
        each_is(&constant, |_| 2.5);
    }

    #[test]
    fn sums_of_two_samples_are_found_by_counting_them() {
        // i + j: one 0, two 1s, … 600 of 599, 599 of 600, …
        let n = 600_u64;
        let of = |sum: u64| if sum < n { sum + 1 } else { 2 * n - 1 - sum };
        let sorted: Vec<f64> = (0..2 * n - 1)
            .flat_map(|sum| std::iter::repeat_n(sum as f64, of(sum) as usize))
            .collect();
        let matrix = SortedMatrix::rectangle(600, 600, |i, j| (i + j) as f64);
        each_is(&matrix, |rank| sorted[rank as usize - 1]);
        // In a triangle the diagonal counts once, the rest half as often.
        let sorted: Vec<f64> = (0..2 * n - 1)
            .flat_map(|sum| std::iter::repeat_n(sum as f64, of(sum).div_ceil(2) as usize))
            .collect();
        let matrix = SortedMatrix::triangle(600, |i, j| (i + j) as f64);
        each_is(&matrix, |rank| sorted[rank as usize - 1]);
    }

    #[test]
    fn pivots_lie_a_margin_around_the_ranks() {
        // The margin of 16 points is 1.6 · 2.
        let lattice: Vec<f64> = (0..16).map(f64::from).collect();
        // Rank 50 of 100 is at 7.5.
        let around = |ranks, beside| pivots(&lattice, (0, 100), ranks, beside);
        assert_eq!(around((50, 50), 0.0), (Some(4.0), Some(11.0)));
        assert_eq!(around((50, 75), 0.0), (Some(4.0), Some(15.0)));
        assert_eq!(around((50, 50), 3.0), (Some(7.0), Some(14.0)));
        assert_eq!(around((10, 50), 0.0), (None, Some(11.0)));
        assert_eq!(around((50, 95), 0.0), (Some(4.0), None));
        // Elements 1,000 to 1,100 give the same pivots.
        assert_eq!(pivots(&lattice, (1000, 1100), (1050, 1050), 0.0), (Some(4.0), Some(11.0)));
    }

    #[test]
    fn more_is_gathered_with_fewer_points() {
        // (2 · 1.6 · 1,000 / 3)^(4/3) is 10,898.6, and 3.2^(4/3) is 4.7.
        assert_eq!((points_for(1000, 3), points_for(1 << 20, 1 << 20)), (10_898, 4));
    }
}
