//! The power of the rank tests, Mann-Whitney's and the signed-rank test, against a shift, for a
//! distribution known from a pilot, by formula and by simulation.
//!
//! The pilot's values represent the distribution itself; the other sample has the same
//! distribution, shifted. [`ShiftedPilot::formula_power`] is the normal approximation with mean and
//! variance of the statistic under the alternative (Lehmann, *Nonparametrics*, 1975, sections 2.3
//! and 4.3), of which Noether's formula ("Sample size determination for some common nonparametric
//! tests", 1987) keeps the leading term. [`ShiftedPilot::simulate`] draws whole experiments from
//! the pilot and runs the tests. Experiments of several sizes share their random numbers: the
//! smaller is the beginning of the larger, so that their powers can be compared.
//!
//! For fewer than 50 values the tests use the exact distribution, with ties counting half,
//! otherwise the normal approximation with the corrections for ties and continuity. The exact
//! distribution is discrete: a test of 4 and 4 values at 5 % has an actual level of 2.9 %, since no
//! outcome has a p-value between 2.9 % and 5.7 %. [`exact_levels`] returns these steps; a plan for
//! few values that ignores them promises too much.

use crate::power_t::{Kind, Sides};
use crate::resampling::Stream;
use crate::signed_rank::SignedRankDistribution;
use crate::threads::with_threads;
use crate::{descriptive, normal, two_sample};
use rayon::prelude::*;

/// Below this size the exact distribution is used, as in R.
const EXACT_BELOW: u64 = 50;
/// Maximum number of pilot values kept for simulation: more change only the cost, not the result.
const KEPT: usize = 20_000;
/// Values that differ by at most this share of the largest value are treated as equal, which allows
/// for rounding of the shift.
const SAME: f64 = 1e-13;
/// Minimum distance of a value from the edge of a step, as a share of the step.
const INSIDE: f64 = 1e-9;

/// The parameters of a rank test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The directions of differences that count; as for the t tests, two-sided tests count only the
    /// right direction unless strict.
    pub sides: Sides,
    /// The probability of a false positive.
    pub sig_level: f64,
}

/// The possible p-values of the exact test of `n` values per sample (or pairs) without ties, for
/// outcomes on the lower side: ascending, from the most extreme outcome to the middle one, in
/// 0..=1; two-sided unless one side is requested. `None` from 50 values on, where the normal
/// distribution is used and the steps are negligible. O(n³).
#[must_use]
pub fn exact_levels(kind: Kind, sides: Sides, n: u64) -> Option<Vec<f64>> {
    if n >= EXACT_BELOW {
        return None;
    }
    let size = n as usize;
    let tail = match kind {
        Kind::TwoSample => two_sample::lower_tail(size, size),
        Kind::OneSample | Kind::Paired => {
            let mut distribution = SignedRankDistribution::new();
            distribution.extend_to(size);
            (0..=n * (n + 1) / 4).map(|k| distribution.at_most(k)).collect()
        }
    };
    let sides = if sides == Sides::One { 1.0 } else { 2.0 };
    Some(tail.into_iter().map(|p| (sides * p).min(1.0)).collect())
}

/// A pilot's distribution and a shifted copy of it, ready to draw from.
#[derive(Clone, Debug)]
pub struct ShiftedPilot {
    design: Design,
    moments: Moments,
}

#[derive(Clone, Debug)]
enum Design {
    /// For each value of the pilot, the class of its ties, and that of its shifted copy; classes
    /// ascend.
    TwoSamples { plain: Vec<u32>, shifted: Vec<u32>, classes: usize },
    /// For each shifted difference, the class of its size, and whether it is positive; class 0 is
    /// for zeros, which the test drops.
    Pairs { sizes: Vec<(u32, bool)>, classes: usize },
}

/// Properties of the distribution that the formulas use.
#[derive(Clone, Copy, Debug)]
struct Moments {
    /// P(X < Y) plus half of ties; for pairs P(D₁ + D₂ > 0).
    p: f64,
    /// The variance of one comparison.
    one: f64,
    /// The covariance of comparisons that share a value, summed over both samples; for pairs, of
    /// comparisons that share one difference.
    each: f64,
    /// P(D > 0), for pairs.
    positive: f64,
    /// 1 − Σ q³ over tied values: the variance relative to that without ties.
    untied: f64,
}

impl ShiftedPilot {
    /// Two samples of one distribution, the second shifted by `shift`. `values`: n ≥ 2, finite, any
    /// order, otherwise `None`. O(n log n).
    #[must_use]
    pub fn two_samples(values: &[f64], shift: f64) -> Option<Self> {
        if values.len() < 2 || !values.iter().all(|v| v.is_finite()) || !shift.is_finite() {
            return None;
        }
        let all = descriptive::sorted(values);
        let beside = |plain: &[f64]| classes_of(plain, &moved(plain, shift, plain[0]));
        let (plain, shifted, classes) = beside(&all);
        let moments = two_sample_moments(&plain, &shifted, classes);
        let (plain, shifted, classes) = beside(&thinned(all));
        Some(Self { design: Design::TwoSamples { plain, shifted, classes }, moments })
    }

    /// Pairs with these `differences`, moved so that their center is `shift`: their median of
    /// pairwise means is subtracted first. n ≥ 2, finite, any order, otherwise `None`. O(n log n).
    #[must_use]
    pub fn pairs(differences: &[f64], shift: f64) -> Option<Self> {
        if differences.len() < 2 || !differences.iter().all(|v| v.is_finite()) || !shift.is_finite()
        {
            return None;
        }
        let sorted = descriptive::sorted(differences);
        let centre = crate::signed_rank::pseudo_median(&sorted);
        let moved = moved(&sorted, shift - centre, 0.0);
        let moments = paired_moments(&moved);
        let kept = thinned(moved);
        let same = SAME * largest(&kept);
        let mut by_size: Vec<usize> = (0..kept.len()).collect();
        by_size.sort_by(|&a, &b| kept[a].abs().total_cmp(&kept[b].abs()));
        let mut sizes = vec![(0, false); kept.len()];
        let (mut class, mut last) = (0, same);
        for index in by_size {
            let size = kept[index].abs();
            if size - last > same {
                class += 1;
            }
            last = size;
            sizes[index] = (class, kept[index] > 0.0);
        }
        Some(Self { design: Design::Pairs { sizes, classes: class as usize + 1 }, moments })
    }

    /// P(X < Y) + P(X = Y)/2 for one value of each sample; for pairs P(D₁ + D₂ > 0).
    #[must_use]
    pub fn superiority(&self) -> f64 {
        self.moments.p
    }

    /// The power with `n` values per sample (or pairs), from the normal approximation; for n < 50
    /// (rounded down), with the critical value of the exact test. In 0..=1; NaN for n < 1. O(1), or
    /// O(n³) for n < 50.
    #[must_use]
    pub fn formula_power(&self, n: f64, test: RankTest) -> f64 {
        if n.is_nan() || n < 1.0 {
            return f64::NAN;
        }
        let n = if n < EXACT_BELOW as f64 { n.floor() } else { n };
        let Moments { p, one, each, positive, untied } = self.moments;
        let (beyond, null, alternative) = match self.design {
            Design::TwoSamples { .. } => (
                n * n * (p - 0.5),
                n * n * (2.0 * n + 1.0) / 12.0 * untied,
                n * n * (one + (n - 1.0) * each),
            ),
            Design::Pairs { .. } => (
                n * (positive - 0.5) + n * (n - 1.0) / 2.0 * (p - 0.5),
                n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 * untied,
                n * positive * (1.0 - positive)
                    + n * (n - 1.0) / 2.0 * one
                    + n * (n - 1.0) * (n - 2.0).max(0.0) * each,
            ),
        };
        // Continuity correction: a step is entered at its middle, whichever distribution gives the
        // critical value.
        let reach = self.critical(n as u64, test).map_or_else(
            || normal::two_sided(1.0 - two_sided_level(test)) * null.max(0.0).sqrt() + 0.5,
            |reach| reach - 0.5,
        );
        let sd = alternative.max(0.0).sqrt();
        let chance = |distance: f64| {
            if sd > 0.0 { normal::cdf(distance / sd) } else { f64::from(distance > 0.0) }
        };
        let found = chance(beyond - reach);
        let wrongly = if test.sides == Sides::TwoStrict { chance(-beyond - reach) } else { 0.0 };
        (found + wrongly).min(1.0)
    }

    /// The minimum number of values per sample (or pairs) for this power according to the formula;
    /// not necessarily whole from 50 on; `None` if no number suffices.
    #[must_use]
    pub fn formula_n(&self, power: f64, test: RankTest) -> Option<f64> {
        // The exact test's power is not monotone, so every number is tried.
        let small = (2..EXACT_BELOW).find(|&n| self.formula_power(n as f64, test) >= power);
        if let Some(n) = small {
            return Some(n as f64);
        }
        let (mut low, mut high) = (EXACT_BELOW as f64, EXACT_BELOW as f64);
        while self.formula_power(high, test) < power {
            low = high;
            high *= 2.0;
            if high > 1e15 {
                return None;
            }
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.formula_power(middle, test) < power { low = middle } else { high = middle }
        }
        high.is_finite().then_some(high)
    }

    /// Cost of an experiment of these sizes in steps of about two nanoseconds each.
    #[must_use]
    pub fn cost(&self, sizes: &[u64]) -> f64 {
        let largest = sizes.iter().copied().max().unwrap_or(0) as f64;
        let classes = match &self.design {
            Design::TwoSamples { classes, .. } | Design::Pairs { classes, .. } => *classes,
        };
        2.0 * largest + (sizes.len() * classes) as f64
    }

    /// The share of `experiments` in which the test finds the shift, for each of the `sizes`
    /// (ascending). The same digits for any number of threads. O(experiments ·
    /// [`cost`](Self::cost)).
    #[must_use]
    pub fn simulate(&self, sizes: &[u64], test: RankTest, experiments: u64, seed: u64) -> Vec<f64> {
        let critical: Vec<Option<f64>> = sizes.iter().map(|&n| self.critical(n, test)).collect();
        let one = |experiment: u64| -> Vec<u64> {
            let mut stream = Stream::new(seed, experiment);
            let mut drawn = DrawnRanks::new(&self.design);
            let found = |(&n, critical): (&u64, &Option<f64>)| {
                drawn.extend_to(n, &self.design, &mut stream);
                u64::from(drawn.is_found(*critical, test))
            };
            sizes.iter().zip(&critical).map(found).collect()
        };
        let added = |mut sum: Vec<u64>, found: Vec<u64>| {
            sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
            sum
        };
        let none = || vec![0; sizes.len()];
        let counts = with_threads(|| (0..experiments).into_par_iter().map(one).reduce(none, added));
        counts.into_iter().map(|count| count as f64 / experiments.max(1) as f64).collect()
    }

    /// Minimum distance of the statistic from the middle, for sizes with an exact distribution;
    /// infinite if even the most extreme outcome is not significant.
    fn critical(&self, n: u64, test: RankTest) -> Option<f64> {
        if n >= EXACT_BELOW {
            return None;
        }
        let (level, size) = (two_sided_level(test), n as usize);
        let (critical, middle) = match self.design {
            Design::TwoSamples { .. } => {
                (two_sample::mann_whitney_critical(size, size, level), (n * n) as f64 / 2.0)
            }
            Design::Pairs { .. } => {
                (SignedRankDistribution::new().critical(size, level), (n * (n + 1)) as f64 / 4.0)
            }
        };
        Some(critical.map_or(f64::INFINITY, |k| middle - k as f64))
    }
}

/// The level of the two-sided test with the same one-sided critical value.
fn two_sided_level(test: RankTest) -> f64 {
    let level = if test.sides == Sides::One { 2.0 * test.sig_level } else { test.sig_level };
    level.clamp(0.0, 1.0 - 1e-12)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
}

/// Evenly spaced order statistics, if there are more than [`KEPT`].
fn thinned(sorted: Vec<f64>) -> Vec<f64> {
    if sorted.len() <= KEPT {
        return sorted;
    }
    let n = sorted.len() as f64;
    (0..KEPT).map(|i| sorted[((i as f64 + 0.5) * n / KEPT as f64) as usize]).collect()
}

/// Ascending values shifted as a clock would show them: if values are on a grid (through `origin`)
/// and move by a fraction of a step, that fraction of them reaches the next step. Otherwise a clock
/// too coarse to show the difference would always show it.
fn moved(sorted: &[f64], by: f64, origin: f64) -> Vec<f64> {
    let step = descriptive::smallest_gap(sorted).unwrap_or(0.0);
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let place = |(index, value): (usize, &f64)| {
        let exact = value + by;
        // Spreads values evenly over a step around its grid point, with neighbors far apart. The
        // lower edge is avoided, since rounding there would move an unshifted value to the step
        // below.
        let within = (index as f64 * golden).fract().max(INSIDE) - 0.5;
        let steps = ((exact - origin) / step + within).round();
        if steps.is_finite() && steps.abs() < 1e15 { origin + steps * step } else { exact }
    };
    let mut moved: Vec<f64> = sorted.iter().enumerate().map(place).collect();
    moved.sort_unstable_by(f64::total_cmp);
    moved
}

/// The classes of tied values for the values of two ascending lists.
fn classes_of(plain: &[f64], shifted: &[f64]) -> (Vec<u32>, Vec<u32>, usize) {
    let same = SAME * largest(plain).max(largest(shifted));
    let (mut of_plain, mut of_shifted) = (Vec::new(), Vec::new());
    let (mut class, mut last) = (0_u32, f64::NAN);
    while of_plain.len() < plain.len() || of_shifted.len() < shifted.len() {
        let next_plain = plain.get(of_plain.len()).copied().unwrap_or(f64::INFINITY);
        let next_shifted = shifted.get(of_shifted.len()).copied().unwrap_or(f64::INFINITY);
        let value = next_plain.min(next_shifted);
        if value - last > same {
            class += 1;
        }
        last = value;
        if next_plain <= next_shifted { of_plain.push(class) } else { of_shifted.push(class) }
    }
    (of_plain, of_shifted, class as usize + 1)
}

fn counted(members: &[u32], classes: usize) -> Vec<f64> {
    let mut counts = vec![0.0; classes];
    members.iter().for_each(|&class| counts[class as usize] += 1.0);
    counts
}

fn two_sample_moments(plain: &[u32], shifted: &[u32], classes: usize) -> Moments {
    let n = plain.len() as f64;
    let (x, y) = (counted(plain, classes), counted(shifted, classes));
    let (mut below_x, mut below_y) = (0.0, 0.0);
    let (mut p, mut ties, mut cubes) = (0.0, 0.0, 0.0);
    let (mut of_x, mut of_y) = (0.0, 0.0);
    for (&x, &y) in x.iter().zip(&y) {
        // Shares of x below this class and of y above it, plus half of those in it.
        let (share_x, share_y) = ((below_x + x / 2.0) / n, 1.0 - (below_y + y / 2.0) / n);
        p += y / n * share_x;
        ties += x / n * y / n;
        of_y += y / n * share_x * share_x;
        of_x += x / n * share_y * share_y;
        cubes += ((x + y) / (2.0 * n)).powi(3);
        below_x += x;
        below_y += y;
    }
    Moments {
        p,
        one: p - ties / 4.0 - p * p,
        each: (of_x - p * p).max(0.0) + (of_y - p * p).max(0.0),
        positive: f64::NAN,
        untied: 1.0 - cubes,
    }
}

fn paired_moments(ascending: &[f64]) -> Moments {
    let n = ascending.len() as f64;
    let (mut p, mut squares) = (0.0, 0.0);
    // As values ascend, fewer others need to be counted as exceeding their negative.
    let mut first_above = ascending.len();
    for d in ascending {
        while first_above > 0 && ascending[first_above - 1] > -d {
            first_above -= 1;
        }
        let above = (n - first_above as f64) / n;
        p += above / n;
        squares += above * above / n;
    }
    let positive = ascending.iter().filter(|d| **d > 0.0).count() as f64 / n;
    Moments {
        p,
        one: 2.0 * (positive - p) * (positive - p) + 3.0 * p * (1.0 - p),
        each: (squares - p * p).max(0.0),
        positive,
        untied: 1.0,
    }
}

/// The values drawn so far in one experiment.
struct DrawnRanks {
    pairs: bool,
    n: u64,
    first: Vec<u32>,
    second: Vec<u32>,
}

impl DrawnRanks {
    fn new(design: &Design) -> Self {
        let (Design::TwoSamples { classes, .. } | Design::Pairs { classes, .. }) = design;
        let pairs = matches!(design, Design::Pairs { .. });
        Self { pairs, n: 0, first: vec![0; *classes], second: vec![0; *classes] }
    }

    fn extend_to(&mut self, n: u64, design: &Design, stream: &mut Stream) {
        match design {
            Design::TwoSamples { plain, shifted, .. } => {
                for _ in self.n..n {
                    let (x, y) = stream.next_two_indices(plain.len());
                    self.first[plain[x] as usize] += 1;
                    self.second[shifted[y] as usize] += 1;
                }
            }
            Design::Pairs { sizes, .. } => {
                for _ in self.n..n {
                    let (class, positive) = sizes[stream.next_index(sizes.len())];
                    let side = if positive { &mut self.second } else { &mut self.first };
                    side[class as usize] += 1;
                }
                // Differences of zero are ignored.
                self.first[0] = 0;
            }
        }
        self.n = self.n.max(n);
    }

    fn is_found(&self, critical: Option<f64>, test: RankTest) -> bool {
        // Both statistics are sums over the classes: U of the values of the first sample below each
        // of the second, W of the ranks of positive differences.
        let (mut before, mut statistic, mut ties) = (0.0, 0.0, 0.0);
        let mut firsts = 0.0;
        for (&first, &second) in self.first.iter().zip(&self.second) {
            let (first, second) = (f64::from(first), f64::from(second));
            let both = first + second;
            statistic += if self.pairs {
                second * (before + (both + 1.0) / 2.0)
            } else {
                second * (firsts + first / 2.0)
            };
            ties += (both * both - 1.0) * both;
            before += both;
            firsts += first;
        }
        let all = before;
        let (middle, variance) = if self.pairs {
            (all * (all + 1.0) / 4.0, (all * (all + 1.0) * (2.0 * all + 1.0) - ties / 2.0) / 24.0)
        } else {
            let square = firsts * (all - firsts);
            (square / 2.0, square / 12.0 * (all + 1.0 - ties / (all * (all - 1.0))))
        };
        let reach = critical.unwrap_or_else(|| {
            normal::two_sided(1.0 - two_sided_level(test)) * variance.max(0.0).sqrt() + 0.5
        });
        let beyond = statistic - middle;
        beyond >= reach || (test.sides == Sides::TwoStrict && -beyond >= reach)
    }
}

#[cfg(test)]
mod tests;
