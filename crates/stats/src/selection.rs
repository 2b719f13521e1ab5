//! Selection of the k-th smallest element of an implicit matrix.
//!
//! Walsh averages and pairwise differences of sorted samples form matrices that ascend along every
//! row and every column. Counting the elements below a value takes one walk along a staircase, with
//! rows plus columns steps, so the k-th element can be found with O(rows + columns) memory. The
//! framework is that of Johnson and Mizoguchi ("Selecting the kth element in X + Y and X1 + X2 +
//! ... + Xm", 1978): bounds per row converge on the element. Their pivot, the weighted median of
//! the row medians, guarantees that a quarter of the remaining elements is eliminated, but requires
//! a sort, so here it is only the fallback. First a fixed lattice of the remaining elements is
//! examined, and two of them, slightly to either side of the element's expected position, become
//! pivots (the idea of Floyd and Rivest, 1975, without random numbers). Few rounds are needed,
//! nothing is random, and the result is exactly the element that sorting the whole matrix would
//! give.

mod staircase;
mod together;

/// Below this number of remaining elements, or a quarter of the rows and columns if that is more,
/// the elements are gathered, which costs less than another walk.
const GATHER: u64 = 1024;

/// Offset of a pivot from the element's expected position, in lattice points, as a multiple of the
/// fourth root of their number: the discrepancy of a lattice in the plane grows with it, much more
/// slowly than that of a random sample.
const MARGIN: f64 = 1.6;

/// Maximum number of elements to gather for this number of rows and columns.
fn gather_at_most(rows: usize, columns: usize) -> u64 {
    GATHER.max((rows + columns) as u64 / 4)
}

/// Returns true if the values are finite and ascending, and fewer than 2³². Only matrices of such
/// values may be searched; otherwise there is no staircase, and the search might not end. Sums and
/// differences of finite values may overflow, but are never NaN and keep their order.
pub(crate) fn is_ascending(xs: &[f64]) -> bool {
    let ends_are_finite = [xs.first(), xs.last()].into_iter().flatten().all(|x| x.is_finite());
    // Column indices are stored in 32 bits, since they take most of a search's memory.
    let countable = u32::try_from(xs.len()).is_ok();
    countable && ends_are_finite && xs.windows(2).all(|pair| pair[0] <= pair[1])
}

/// A matrix whose elements are computed on demand and ascend (not strictly) along rows and columns.
pub(crate) struct SortedMatrix<F> {
    rows: usize,
    columns: usize,
    /// True if row i begins at column i (pairs i ≤ j) instead of column 0.
    triangular: bool,
    value: F,
}

/// The remaining candidates: in row i the columns `from[i]..to[i]`.
struct Remaining {
    from: Vec<u32>,
    to: Vec<u32>,
    /// Number of elements of the matrix before all `from`, and before all `to`.
    before_from: u64,
    before_to: u64,
}

impl Remaining {
    fn count(&self) -> u64 {
        self.before_to - self.before_from
    }
}

impl<F: Fn(usize, usize) -> f64> SortedMatrix<F> {
    /// All pairs of `rows` and `columns`.
    pub(crate) fn rectangle(rows: usize, columns: usize, value: F) -> Self {
        SortedMatrix { rows, columns, triangular: false, value }
    }

    /// The pairs i ≤ j of one sample of size `n`.
    pub(crate) fn triangle(n: usize, value: F) -> Self {
        SortedMatrix { rows: n, columns: n, triangular: true, value }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> u64 {
        let (rows, columns) = (self.rows as u64, self.columns as u64);
        if self.triangular { rows * (rows + 1) / 2 } else { rows * columns }
    }

    fn first_column(&self, row: usize) -> usize {
        if self.triangular { row } else { 0 }
    }

    /// Number of elements that are at most `x`. O(rows + columns).
    pub(crate) fn count_at_most(&self, x: f64) -> u64 {
        self.count(|value| value <= x)
    }

    /// For every row, the number of elements less than `x`, and the number at most `x`.
    pub(crate) fn row_counts(&self, x: f64) -> (Vec<u32>, Vec<u32>) {
        let (mut less, mut at_most) = (Vec::new(), Vec::new());
        self.staircase(|value| value < x, &mut less);
        self.staircase(|value| value <= x, &mut at_most);
        (less, at_most)
    }

    /// The median of all elements, the mean of the two middle ones for an even number; `None` if
    /// there are no elements.
    pub(crate) fn median(&self) -> Option<f64> {
        self.median_and(&[]).map(|(median, _)| median)
    }

    /// The median, and the elements with these ranks, in one search; `None` if one of them does not
    /// exist.
    pub(crate) fn median_and(&self, ranks: &[u64]) -> Option<(f64, Vec<f64>)> {
        let count = self.len();
        let middle = [count.div_ceil(2), count / 2 + 1];
        let mut found = self.select_each(&[&middle, ranks].concat())?;
        let others = found.split_off(2);
        let median = if count % 2 == 1 {
            found[0]
        } else {
            crate::descriptive::midpoint(found[0], found[1])
        };
        Some((median, others))
    }

    /// A single element, for any matrix.
    fn select_alone(&self, rank: u64) -> Option<f64> {
        if rank == 0 || rank > self.len() {
            return None;
        }
        let mut remaining = Remaining {
            from: (0..self.rows).map(|row| self.first_column(row) as u32).collect(),
            to: vec![self.columns as u32; self.rows],
            before_from: 0,
            before_to: self.len(),
        };
        let mut spare = Vec::with_capacity(self.rows);
        let mut lattice = Vec::new();
        let gather = gather_at_most(self.rows, self.columns);
        while remaining.count() > gather {
            let count = remaining.count();
            if let Some(found) = self.cut_by_lattice(rank, &mut remaining, &mut lattice, &mut spare)
            {
                return Some(found);
            }
            // Ties, or a lattice in step with the data: falls back on the guaranteed pivot.
            if remaining.count() > count / 2
                && let Some(found) = self.cut_by_medians(rank, &mut remaining, &mut spare)
            {
                return Some(found);
            }
        }
        let mut rest = self.gather(&remaining);
        let index = (rank - remaining.before_from - 1) as usize;
        Some(*rest.select_nth_unstable_by(index, f64::total_cmp).1)
    }

    /// All remaining elements, in no particular order.
    fn gather(&self, remaining: &Remaining) -> Vec<f64> {
        let mut rest = Vec::with_capacity(remaining.count() as usize);
        for (row, (&from, &to)) in remaining.from.iter().zip(&remaining.to).enumerate() {
            rest.extend((from..to).map(|column| (self.value)(row, column as usize)));
        }
        rest
    }

    /// Number of points in a lattice of the whole matrix: more points eliminate more elements and
    /// cost little compared with the walks; the square root of the rows is a good balance.
    fn lattice_points(&self) -> usize {
        (self.rows / 16).clamp(16_384.min(self.rows / 2), 65_536).max(256)
    }

    /// One round with two pivots from a lattice of the remaining elements. `Some` if the element is
    /// found.
    fn cut_by_lattice(
        &self,
        rank: u64,
        remaining: &mut Remaining,
        lattice: &mut Vec<f64>,
        spare: &mut Vec<u32>,
    ) -> Option<f64> {
        let points = self.lattice_points();
        let rows = remaining.from.iter().zip(&remaining.to).enumerate();
        let rows = rows.map(|(row, (&from, &to))| (row, from as usize, to as usize));
        self.fill_lattice(rows, remaining.count(), points, lattice);
        // The expected position of the element among the points, and the offsets of its pivots.
        let share = (rank - remaining.before_from) as f64 / remaining.count() as f64;
        let centre = share * points as f64 - 0.5;
        let margin = MARGIN * (points as f64).powf(0.25);
        let (left, right) = ((centre - margin).floor(), (centre + margin).ceil());
        let right_pivot = if right < (points - 1) as f64 {
            Some(*lattice.select_nth_unstable_by(right as usize, f64::total_cmp).1)
        } else {
            None
        };
        let left_pivot = if left > 0.0 {
            let part = right_pivot.map_or(points, |_| right as usize);
            // `left` < `right`: the smaller part contains the element.
            Some(*lattice[..part].select_nth_unstable_by(left as usize, f64::total_cmp).1)
        } else {
            None
        };
        if let Some(pivot) = left_pivot {
            let less = self.staircase(|value| value < pivot, spare);
            if rank <= less {
                std::mem::swap(&mut remaining.to, spare);
                remaining.before_to = less;
                return None;
            }
            std::mem::swap(&mut remaining.from, spare);
            remaining.before_from = less;
        }
        if let Some(pivot) = right_pivot {
            let at_most = self.staircase(|value| value <= pivot, spare);
            if rank > at_most {
                std::mem::swap(&mut remaining.from, spare);
                remaining.before_from = at_most;
                return None;
            }
            if left_pivot == right_pivot {
                return Some(pivot);
            }
            std::mem::swap(&mut remaining.to, spare);
            remaining.before_to = at_most;
        }
        None
    }

    /// Takes `points` of the `count` elements of these rows, each given with its first column and
    /// the one past its last: one from each of `points` equal strata (counted along the rows), at a
    /// position in the stratum that advances by the golden ratio, so that it can't fall into step
    /// with any stride of rows and columns.
    fn fill_lattice(
        &self,
        mut rows: impl Iterator<Item = (usize, usize, usize)>,
        count: u64,
        points: usize,
        lattice: &mut Vec<f64>,
    ) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        lattice.clear();
        let stratum = count as f64 / points as f64;
        let mut place = 0.5_f64;
        let (mut row, mut from, mut length, mut passed) = (0, 0, 0, 0_u64);
        for point in 0..points {
            let position = (((point as f64 + place) * stratum) as u64).min(count - 1);
            place = (place + GOLDEN).fract();
            while passed + length <= position {
                passed += length;
                let Some((next, first, end)) = rows.next() else { return };
                (row, from, length) = (next, first, (end - first) as u64);
            }
            lattice.push((self.value)(row, from + (position - passed) as usize));
        }
    }

    /// One round with the weighted median of the row medians, which divides the remaining elements
    /// into less, equal and greater, and leaves at most three quarters of them. `Some` if the
    /// element is found.
    fn cut_by_medians(
        &self,
        rank: u64,
        remaining: &mut Remaining,
        spare: &mut Vec<u32>,
    ) -> Option<f64> {
        let before = remaining.count();
        let mut medians: Vec<(f64, u64)> = remaining
            .from
            .iter()
            .zip(&remaining.to)
            .enumerate()
            .filter(|(_, (from, to))| from < to)
            .map(|(row, (&from, &to))| {
                ((self.value)(row, (from + (to - from) / 2) as usize), u64::from(to - from))
            })
            .collect();
        medians.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut weight = 0;
        let pivot = medians.iter().find_map(|&(value, length)| {
            weight += length;
            (2 * weight >= before).then_some(value)
        })?;
        let less = self.staircase(|value| value < pivot, spare);
        if rank <= less {
            std::mem::swap(&mut remaining.to, spare);
            remaining.before_to = less;
        } else {
            let at_most = self.staircase(|value| value <= pivot, spare);
            if rank <= at_most {
                return Some(pivot);
            }
            std::mem::swap(&mut remaining.from, spare);
            remaining.before_from = at_most;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_rank_is_right(matrix: &SortedMatrix<impl Fn(usize, usize) -> f64>, stride: usize) {
        let mut all = Vec::new();
        for row in 0..matrix.rows {
            for column in matrix.first_column(row)..matrix.columns {
                all.push((matrix.value)(row, column));
            }
        }
        all.sort_by(f64::total_cmp);
        assert_eq!(all.len() as u64, matrix.len());
        for index in (0..all.len()).step_by(stride).chain([all.len() - 1]) {
            assert_eq!(
                matrix.select_each(&[index as u64 + 1]),
                Some(vec![all[index]]),
                "rank {}",
                index + 1
            );
        }
        let middle = if all.len() % 2 == 1 {
            all[all.len() / 2]
        } else {
            (all[all.len() / 2 - 1] + all[all.len() / 2]) / 2.0
        };
        assert_eq!(matrix.median(), Some(middle));
    }

    /// Shapes that have defeated pivots before: even steps, huge ratios, few distinct values, a
    /// single far outlier.
    fn shapes(n: usize) -> Vec<Vec<f64>> {
        vec![
            (0..n).map(|i| i as f64).collect(),
            (0..n).map(|i| (i as f64 * 0.7).exp2().min(1e300)).collect(),
            (0..n).map(|i| (i / (n / 3 + 1)) as f64).collect(),
            (0..n).map(|i| if i + 1 == n { 1e15 } else { (i as f64).sqrt() }).collect(),
            vec![2.5; n],
            (0..n).map(|i| if i < n / 2 { -1.0 } else { 1.0 + (i as f64) * 1e-9 }).collect(),
        ]
    }

    #[test]
    fn every_element_of_a_triangle_is_found() {
        for n in [1, 2, 7, 44, 45, 46, 120, 300] {
            for xs in shapes(n) {
                let matrix = SortedMatrix::triangle(n, |i, j| (xs[i] + xs[j]) / 2.0);
                every_rank_is_right(&matrix, 1 + n * n / 300);
            }
        }
    }

    #[test]
    fn every_element_of_a_rectangle_is_found() {
        for (n, m) in [(1, 1), (1, 3000), (3000, 1), (40, 50), (256, 256), (64, 512)] {
            for (xs, ys) in shapes(n).iter().zip(shapes(m).iter().rev()) {
                let matrix = SortedMatrix::rectangle(n, m, |i, j| ys[j] - xs[n - 1 - i]);
                every_rank_is_right(&matrix, 1 + n * m / 300);
            }
        }
    }

    #[test]
    fn ranks_that_do_not_exist_give_nothing() {
        let matrix = SortedMatrix::rectangle(2, 3, |i, j| (i + j) as f64);
        assert_eq!(matrix.select_each(&[0]), None);
        assert_eq!(matrix.select_each(&[7]), None);
        assert_eq!(SortedMatrix::triangle(0, |_, _| 0.0).median(), None);
    }

    #[test]
    fn only_finite_ascending_values_are_fit_for_selection() {
        assert!(is_ascending(&[]) && is_ascending(&[-1.0, 0.0, 0.0, 2.0]));
        assert!(!is_ascending(&[1.0, 0.0]) && !is_ascending(&[f64::NAN]));
        assert!(!is_ascending(&[0.0, f64::INFINITY]) && !is_ascending(&[0.0, f64::NAN, 1.0]));
    }
}
