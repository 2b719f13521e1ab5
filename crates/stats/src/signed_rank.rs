//! Estimate and interval from Wilcoxon's signed ranks, used for the comparison of blocks.
//!
//! The estimate is the pseudo-median, the median of all Walsh averages (x_i + x_j)/2 with i ≤ j;
//! the interval extends from one Walsh average to its mirror image in rank, as determined by the
//! exact distribution of the signed-rank statistic (Hollander and Wolfe, "Nonparametric Statistical
//! Methods", section 3; R's `wilcox.test(conf.int = TRUE)` and `psignrank`). Unlike in R, zeros are
//! kept, so that ties and zeros can only widen the interval. The confidence is chosen by the
//! caller.

mod test;
mod weighted;

pub use test::SignedRankTest;
pub use weighted::{WEIGHTED_FROM, WeightedDifferences};

use crate::selection::{SortedMatrix, is_ascending};
use crate::{Interval, normal};
use std::collections::BTreeMap;

/// Maximum number of observations for the exact distribution; above, its normal approximation is
/// within about one rank.
pub const EXACT_UP_TO: usize = 200;

/// A probability that exceeds the level only by rounding counts as equal to it.
pub(crate) const LEVEL_SLACK: f64 = 1e-12;

/// The distribution of the signed-rank statistic W of n observations with random signs.
///
/// Keeps one row of probabilities and extends it one observation at a time, at O(n²) each, as an
/// experiment grows block by block. Critical values are cached, so a repeated query is a look-up; a
/// query for fewer observations than before with a new level rebuilds the row, about a millisecond
/// at worst.
#[derive(Clone, Debug)]
pub struct SignedRankDistribution {
    n: usize,
    /// P(W = k) for k in 0..=n(n+1)/2.
    row: Vec<f64>,
    /// Critical values by n and the bits of the level.
    critical: BTreeMap<(usize, u64), Option<u64>>,
}

impl Default for SignedRankDistribution {
    fn default() -> Self {
        SignedRankDistribution::new()
    }
}

impl SignedRankDistribution {
    /// The distribution of no observations: W = 0.
    #[must_use]
    pub fn new() -> Self {
        SignedRankDistribution { n: 0, row: vec![1.0], critical: BTreeMap::new() }
    }

    /// Number of observations of the current row.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.n
    }

    /// Extends the row to `n` observations, at most [`EXACT_UP_TO`] (larger n are clamped);
    /// rebuilds it if it is already longer.
    pub fn extend_to(&mut self, n: usize) {
        let n = n.min(EXACT_UP_TO);
        if n < self.n {
            self.n = 0;
            self.row.clear();
            self.row.push(1.0);
        }
        while self.n < n {
            self.n += 1;
            let rank = self.n;
            // p_i[s] = (p_{i−1}[s] + p_{i−1}[s−i]) / 2: computed from above, so that it can be done
            // in place.
            let old = self.row.len();
            self.row.resize(old + rank, 0.0);
            for s in (rank..old + rank).rev() {
                self.row[s] = 0.5 * (self.row[s] + self.row[s - rank]);
            }
            for p in &mut self.row[..rank] {
                *p *= 0.5;
            }
        }
    }

    /// P(W ≤ k) for the current row. O(k).
    #[must_use]
    pub fn at_most(&self, k: u64) -> f64 {
        let end =
            usize::try_from(k).map_or(self.row.len(), |k| k.saturating_add(1).min(self.row.len()));
        self.row[..end].iter().sum::<f64>().min(1.0)
    }

    /// The largest k with P(W ≤ k) ≤ `level`/2 for `n` observations: the Walsh averages number k +
    /// 1 and N − k, with N = n(n+1)/2, then enclose the center of symmetry with confidence 1 −
    /// `level`.
    ///
    /// `level` in 0..1, two-sided. `None` if even k = 0 is too likely: for fewer than 6
    /// observations at 0.05, or 10 at 0.002. Exact up to [`EXACT_UP_TO`] observations; above,
    /// ⌊n(n+1)/4 − z √(n(n+1)(2n+1)/24) − ½⌋.
    pub fn critical(&mut self, n: usize, level: f64) -> Option<u64> {
        if n == 0 || !(0.0..1.0).contains(&level) {
            return None;
        }
        if n > EXACT_UP_TO {
            return normal_critical(n, level);
        }
        if let Some(&known) = self.critical.get(&(n, level.to_bits())) {
            return known;
        }
        self.extend_to(n);
        let most = level / 2.0 * (1.0 + LEVEL_SLACK);
        let mut sum = 0.0;
        let reached = self.row.iter().take_while(|p| {
            sum += **p;
            sum <= most
        });
        let critical = (reached.count() as u64).checked_sub(1);
        self.critical.insert((n, level.to_bits()), critical);
        critical
    }
}

fn normal_critical(n: usize, level: f64) -> Option<u64> {
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let k = (mean - normal::two_sided(1.0 - level) * sd - 0.5).floor();
    (k >= 0.0).then_some(k as u64)
}

/// The matrix of all Walsh averages; `None` for values that are not finite and ascending.
fn walsh_averages(sorted: &[f64]) -> Option<SortedMatrix<impl Fn(usize, usize) -> f64>> {
    let average = |i: usize, j: usize| (sorted[i] + sorted[j]) / 2.0;
    is_ascending(sorted).then(|| SortedMatrix::triangle(sorted.len(), average))
}

/// The number of Walsh averages, n(n+1)/2.
#[must_use]
pub fn walsh_count(n: usize) -> u64 {
    let n = n as u64;
    n * (n + 1) / 2
}

/// The interval from Walsh average number `k` + 1 to number N − `k`, in ascending order (1-based),
/// with N = n(n+1)/2.
///
/// `sorted`: ascending, finite. The ends are exactly the elements that sorting all averages would
/// give; O(n log n) typically and O(n) memory. A `k` past the middle is clamped to the middle.
/// [`Interval::UNBOUNDED`] for no values, or values that are not finite and ascending.
#[must_use]
pub fn walsh_interval(sorted: &[f64], k: u64) -> Interval {
    let ends = walsh_averages(sorted).and_then(|averages| {
        let count = averages.len();
        let k = k.min(count.saturating_sub(1) / 2);
        let ends = averages.select_each(&[k + 1, count - k])?;
        Some(Interval { lower: ends[0], upper: ends[1] })
    });
    ends.unwrap_or(Interval::UNBOUNDED)
}

/// The pseudo-median (one-sample Hodges-Lehmann estimate): the median of all Walsh averages, the
/// mean of the two middle ones for an even number.
///
/// `sorted`: n ≥ 1, ascending, finite; otherwise NaN. O(n log n) typically, O(n) memory.
#[must_use]
pub fn pseudo_median(sorted: &[f64]) -> f64 {
    walsh_averages(sorted).and_then(|averages| averages.median()).unwrap_or(f64::NAN)
}

/// Number of Walsh averages that are at most `x`. `sorted`: ascending, finite, otherwise 0; O(n).
#[must_use]
pub fn count_at_most(sorted: &[f64], x: f64) -> u64 {
    walsh_averages(sorted).map_or(0, |averages| averages.count_at_most(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_with_no_observations_and_knows_how_many_it_has() {
        let mut distribution = SignedRankDistribution::default();
        assert_eq!((distribution.observations(), distribution.at_most(0)), (0, 1.0));
        distribution.extend_to(3);
        // Of the 8 sign patterns of the ranks 1, 2, 3, five have sums of at most 3: 0, 1, 2, 3
        // and 3.
        assert_eq!((distribution.observations(), distribution.at_most(3)), (3, 5.0 / 8.0));
    }

    #[test]
    fn critical_values_are_those_the_procedure_was_simulated_with() {
        let mut distribution = SignedRankDistribution::new();
        let strict = [
            (10, 0),
            (11, 1),
            (12, 2),
            (13, 4),
            (15, 8),
            (20, 26),
            (30, 86),
            (50, 323),
            (100, 1634),
        ];
        for (n, k) in strict {
            assert_eq!(distribution.critical(n, 0.002), Some(k), "{n}");
        }
        for (n, k) in [(6, 0), (8, 3), (10, 8), (20, 52), (50, 434), (100, 1955)] {
            assert_eq!(distribution.critical(n, 0.05), Some(k), "{n}");
        }
        assert_eq!(distribution.critical(9, 0.002), None);
        assert_eq!(distribution.critical(5, 0.05), None);
        assert_eq!(distribution.critical(0, 0.05), None);
        assert_eq!(distribution.critical(10, f64::NAN), None);
        // A query after one for a smaller n gives the same result.
        assert_eq!(distribution.critical(100, 0.002), Some(1634));
    }

    #[test]
    fn the_row_equals_all_sign_patterns() {
        for n in 1..=12_u32 {
            let mut counts = vec![0_u32; (n * (n + 1) / 2 + 1) as usize];
            for signs in 0..1_u32 << n {
                counts[(0..n).filter(|i| signs >> i & 1 == 1).map(|i| i + 1).sum::<u32>()
                    as usize] += 1;
            }
            let mut distribution = SignedRankDistribution::new();
            distribution.extend_to(n as usize);
            let mut sum = 0;
            for (k, count) in counts.iter().enumerate() {
                sum += count;
                let expected = f64::from(sum) / f64::from(1_u32 << n);
                assert!((distribution.at_most(k as u64) - expected).abs() < 1e-15);
            }
            for level in [0.002, 0.01, 0.05, 0.1, 0.25, 0.5] {
                let mut sum = 0;
                let expected = counts
                    .iter()
                    .take_while(|count| {
                        sum += **count;
                        f64::from(sum) / f64::from(1_u32 << n) <= level / 2.0
                    })
                    .count();
                assert_eq!(
                    distribution.critical(n as usize, level),
                    (expected as u64).checked_sub(1)
                );
            }
        }
    }

    #[test]
    fn the_normal_form_takes_over_without_a_step() {
        let mut distribution = SignedRankDistribution::new();
        for level in [0.05, 0.002] {
            let exact = distribution.critical(EXACT_UP_TO, level).unwrap();
            let normal = normal_critical(EXACT_UP_TO, level).unwrap();
            assert!(normal <= exact && exact - normal <= 15, "{level}: {exact} {normal}");
            assert!(distribution.critical(EXACT_UP_TO + 1, level).unwrap() > exact);
        }
    }

    #[test]
    fn an_interval_of_few_values_is_what_sorting_gives() {
        let xs = [-1.0, 0.0, 4.0];
        // Averages: -1, -0.5, 0, 1.5, 2, 4.
        assert_eq!(walsh_interval(&xs, 0), Interval { lower: -1.0, upper: 4.0 });
        assert_eq!(walsh_interval(&xs, 1), Interval { lower: -0.5, upper: 2.0 });
        assert_eq!(walsh_interval(&xs, 99), Interval { lower: 0.0, upper: 1.5 });
        assert_eq!(pseudo_median(&xs), 0.75);
        assert_eq!(count_at_most(&xs, 1.5), 4);
        assert_eq!(count_at_most(&xs, -2.0), 0);
        assert_eq!(walsh_interval(&[], 0), Interval::UNBOUNDED);
        assert!(pseudo_median(&[]).is_nan());
        assert_eq!(walsh_interval(&[2.0, 1.0], 0), Interval::UNBOUNDED);
        assert_eq!(count_at_most(&[f64::NAN], 0.0), 0);
    }
}
