//! Ranks of values, with ties sharing their mean rank.
//!
//! Ranks are looked up in the sorted values rather than found by sorting indices: a table over the
//! leading bits narrows the search to a few values. With many values the table and the sorted
//! values exceed the cache, and every look-up would wait for memory; so values are first
//! distributed to parts of the sorted values that fit in the cache, which is the first step of a
//! radix sort (Knuth, "The Art of Computer Programming", volume 3, 5.2.5), and looked up part by
//! part. Both ways give identical ranks.

use crate::{descriptive, sorting};

/// Number of sorted values that fit, with their table, in the second-level cache.
const PART: usize = 1 << 15;
/// Minimum number of values that are distributed to parts before they are looked up.
const MANY: usize = 1 << 18;

/// The ranks of the values, from 1; ties share their mean rank. `xs`: finite, any order; O(n log
/// n).
#[must_use]
pub fn ranks(xs: &[f64]) -> Vec<f64> {
    ranks_within(&descriptive::sorted(xs), xs)
}

/// Like [`ranks`], with the values also given in ascending order as `sorted`. O(n) typically; for
/// many values it needs, in addition to the ranks, three quarters of the values' memory.
#[must_use]
pub fn ranks_within(sorted: &[f64], xs: &[f64]) -> Vec<f64> {
    ranks_by_parts(sorted, xs, MANY, PART)
}

/// Like [`ranks_within`]; from `many` values on, it uses parts of `part` sorted values.
fn ranks_by_parts(sorted: &[f64], xs: &[f64], many: usize, part: usize) -> Vec<f64> {
    if sorted.is_empty() {
        return Vec::new();
    }
    if xs.len() < many {
        let table = Table::of(sorted);
        return xs.iter().map(|&x| table.rank(x)).collect();
    }
    let parts = Parts::of(sorted, part);
    let mut ranks = vec![0.0; xs.len()];
    // Half of the values at a time, to limit memory.
    let half = xs.len().div_ceil(2).min(u32::MAX as usize);
    let mut dealt = Dealt { values: vec![0.0; half], places: vec![0; half] };
    for (xs, ranks) in xs.chunks(half).zip(ranks.chunks_mut(half)) {
        let mut from = 0;
        for (part, end) in dealt.deal(xs, &parts).into_iter().enumerate() {
            if from < end {
                let begin = parts.begins[part];
                let table = Table::of(&sorted[begin..parts.begins[part + 1]]);
                let looked_up = dealt.values[from..end].iter().zip(&dealt.places[from..end]);
                looked_up.for_each(|(&x, &at)| ranks[at as usize] = begin as f64 + table.rank(x));
            }
            from = end;
        }
    }
    ranks
}

/// Sorted values with a table of the start of each group with the same leading bits (relative to
/// the smallest value), so that only a few values are searched.
struct Table<'a> {
    sorted: &'a [f64],
    least: u64,
    range: u64,
    shift: u32,
    begins: Vec<u32>,
}

impl<'a> Table<'a> {
    /// Builds the table; `sorted` must not be empty.
    fn of(sorted: &'a [f64]) -> Self {
        let least = sorting::key(sorted[0]);
        let range = sorting::key(sorted[sorted.len() - 1]).saturating_sub(least);
        let bits = sorted.len().ilog2().saturating_sub(2).max(1);
        let shift = (u64::BITS - range.leading_zeros()).saturating_sub(bits);
        let mut table = Self { sorted, least, range, shift, begins: Vec::new() };
        table.begins = vec![0; (range >> shift) as usize + 2];
        for &value in sorted {
            let cell = table.cell(value);
            table.begins[cell + 1] += 1;
        }
        let mut before = 0;
        for begin in &mut table.begins {
            before += *begin;
            *begin = before;
        }
        table
    }

    fn cell(&self, value: f64) -> usize {
        let offset = sorting::key(value).saturating_sub(self.least).min(self.range);
        (offset >> self.shift) as usize
    }

    fn rank(&self, x: f64) -> f64 {
        // The two zeros are equal but have different keys.
        let part = if x == 0.0 {
            0..self.sorted.len()
        } else {
            let cell = self.cell(x);
            self.begins[cell] as usize..self.begins[cell + 1] as usize
        };
        let near = &self.sorted[part.clone()];
        let below = near.partition_point(|value| *value < x);
        let equal = near[below..].partition_point(|value| *value <= x);
        // The mean of the ranks below + 1 ..= below + equal.
        (part.start + below) as f64 + (equal + 1) as f64 / 2.0
    }
}

/// Sorted values divided into parts, never between equal values.
struct Parts {
    /// Start of each part, and the end of the last.
    begins: Vec<usize>,
    /// The key of the first value of each part.
    firsts: Vec<u64>,
    /// The range of keys is divided into cells of equal width; for each cell, the number of parts
    /// that begin before it.
    before: Vec<u32>,
    least: u64,
    shift: u32,
}

/// Number of equal-width cells per part. With this many, a lookup has to consider only one or two
/// parts, unless a few outliers leave all other values in one cell.
const CELLS_OF_A_PART: usize = 8;

impl Parts {
    /// Divides the values into parts of about `part` values; `sorted` must not be empty.
    fn of(sorted: &[f64], part: usize) -> Self {
        let mut begins = vec![0];
        while let Some(&last) = begins.last()
            && last < sorted.len()
        {
            let end = (last + part).min(sorted.len());
            let equal = sorted[end..].partition_point(|value| *value <= sorted[end - 1]);
            begins.push(end + equal);
        }
        let parts = begins.len() - 1;
        let firsts: Vec<u64> =
            begins[..parts].iter().map(|&begin| sorting::key(sorted[begin])).collect();
        let least = firsts[0];
        let range = firsts[parts - 1].saturating_sub(least);
        let bits = (parts * CELLS_OF_A_PART).ilog2();
        let shift = (u64::BITS - range.leading_zeros()).saturating_sub(bits);
        let mut before = vec![0; (range >> shift) as usize + 2];
        firsts.iter().for_each(|first| before[((first - least) >> shift) as usize + 1] += 1);
        let mut sum = 0;
        for count in &mut before {
            sum += *count;
            *count = sum;
        }
        Self { begins, firsts, before, least, shift }
    }

    /// The part that contains a value.
    fn part_of(&self, value: f64) -> usize {
        let key = sorting::key(value);
        let cell = (key.saturating_sub(self.least) >> self.shift) as usize;
        let cell = cell.min(self.before.len() - 2);
        let (from, to) = (self.before[cell] as usize, self.before[cell + 1] as usize);
        let begun = from + self.firsts[from..to].partition_point(|first| *first <= key);
        begun.saturating_sub(1)
    }
}

/// Values distributed to parts, each with its index.
struct Dealt {
    values: Vec<f64>,
    places: Vec<u32>,
}

impl Dealt {
    /// Distributes these values, and returns the end of each part.
    fn deal(&mut self, xs: &[f64], parts: &Parts) -> Vec<usize> {
        let mut next = vec![0; parts.firsts.len()];
        xs.iter().for_each(|&x| next[parts.part_of(x)] += 1);
        let mut before = 0;
        for count in &mut next {
            before += std::mem::replace(count, before);
        }
        for (place, &x) in xs.iter().enumerate() {
            let to = &mut next[parts.part_of(x)];
            (self.values[*to], self.places[*to]) = (x, place as u32);
            *to += 1;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(ranks(&[]), Vec::<f64>::new());
    }

    fn samples() -> Vec<Vec<f64>> {
        let mut stream = Stream::new(9, 0);
        let mut samples: Vec<Vec<f64>> = [0.0, 1e-9, 0.3, 5.0, 1000.0]
            .into_iter()
            .map(|step: f64| {
                let mut xs: Vec<f64> = (0..3000)
                    .map(|_| 10.0 * stream.normal())
                    .map(|x| if step > 0.0 { (x / step).round() * step } else { x })
                    .collect();
                xs.extend([0.0, -0.0, 1e300, -1e300, 5e-324, 0.0]);
                xs
            })
            .collect();
        samples.push(vec![2.5; 700]);
        samples
    }

    #[test]
    fn ranks_are_those_of_counting_whatever_the_values() {
        for xs in samples() {
            let expected = xs[600..].iter().map(|x| {
                let below = xs.iter().filter(|other| *other < x).count() as f64;
                let equal = xs.iter().filter(|other| *other == x).count() as f64;
                below + (equal + 1.0) / 2.0
            });
            assert_eq!(ranks(&xs)[600..], expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn ranks_found_by_parts_are_the_same() {
        for xs in samples() {
            let sorted = descriptive::sorted(&xs);
            let whole = ranks_within(&sorted, &xs);
            for part in [1, 7, 256, 4000] {
                assert_eq!(ranks_by_parts(&sorted, &xs, 2, part), whole, "{part}");
            }
        }
        assert_eq!(ranks_by_parts(&[1.0], &[1.0], 1, 1), [1.0]);
    }

    #[test]
    fn what_is_no_number_gives_ranks_without_meaning_but_as_many() {
        let no_numbers = [1.0, f64::NAN, -f64::NAN, f64::INFINITY, 3.0];
        assert_eq!(ranks(&no_numbers).len(), 5);
        let sorted = descriptive::sorted(&no_numbers);
        assert_eq!(ranks_by_parts(&sorted, &no_numbers, 1, 2).len(), 5);
    }
}
