//! Signed ranks in which differences measured at quiet times count more.
//!
//! On a shared machine, the noise itself changes from one second to the next. The weight of a
//! difference is 1 / (½ + s/m), where s is the mean distance of its [`NEIGHBOURS`] on either side,
//! in order of measurement, from the center of all differences, and m is the median of all s. A
//! difference does not contribute to its own weight. A Walsh average has the product of its two
//! weights; the estimate is the weighted median of the Walsh averages, and the interval contains
//! every θ with |T| ≤ z √V:
//!
//! - T = Σ sign(dᵢ − θ) wᵢ Rᵢ is the weight of the averages above θ less that of those below it.
//!   Rᵢ is the sum of the weights of all differences that are at most as far from θ as dᵢ.
//! - V = Σ (wᵢ Rᵢ)² is its variance if the signs are random, given the distances.
//!
//! The weights depend only on distances from the center. If the differences are independent and
//! symmetric about θ, their signs are independent of all distances, so that the interval is as valid
//! as that of unweighted signed ranks, for any noise of each difference (Hájek, Šidák and Sen,
//! *Theory of Rank Tests*, 2nd ed., section 3.1; for statistics of residuals in randomized pairs:
//! Rosenbaum, "Covariance adjustment in randomized experiments and observational studies", 2002).
//! With equal weights, it is the interval of the normal approximation.

use crate::{Interval, autocorrelation, descriptive, normal};

/// Number of neighbors on either side that determine the weight of a difference.
const NEIGHBOURS: usize = 8;
/// Minimum number of differences: fewer have hardly more than one neighborhood.
pub const WEIGHTED_FROM: usize = 4 * NEIGHBOURS;
/// Differences are weighted if the rank correlation of their distances with those of their
/// neighbors exceeds this many standard errors; by chance it does so in one of 100 series.
const CLUSTERED_Z: f64 = 2.326;
/// Limits the weights to 2, since s is uncertain.
const FLOOR: f64 = 0.5;
/// Number of bisections that locate a double to its last digit.
const HALVINGS: usize = 100;

/// Differences with their weights, ascending by difference.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedDifferences {
    sorted: Vec<(f64, f64)>,
}

impl WeightedDifferences {
    /// Weights differences by the distances of their neighbors from `center`; `None` if there are
    /// fewer than [`WEIGHTED_FROM`] differences, or if the noise does not change over time more
    /// than by chance. `in_order`: finite, in order of measurement. O(n log n).
    #[must_use]
    pub fn by_neighbours(in_order: &[f64], center: f64) -> Option<Self> {
        if in_order.len() < WEIGHTED_FROM {
            return None;
        }
        let distances: Vec<f64> = in_order.iter().map(|d| (d - center).abs()).collect();
        let local = means_of_neighbours(&distances);
        let correlation =
            correlation(&autocorrelation::ranks(&distances), &autocorrelation::ranks(&local))?;
        if correlation * (in_order.len() as f64 - 1.0).sqrt() <= CLUSTERED_Z {
            return None;
        }
        let usual = descriptive::median(&local);
        let weight = |s: &f64| 1.0 / (FLOOR + s / usual);
        let pairs = in_order.iter().copied().zip(local.iter().map(weight)).collect();
        (usual > 0.0).then(|| Self::new(pairs))
    }

    /// Takes (difference, weight) pairs in any order. Differences must be finite, weights positive.
    #[must_use]
    pub fn new(mut pairs: Vec<(f64, f64)>) -> Self {
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self { sorted: pairs }
    }

    /// The weighted median of the Walsh averages, a weighted Hodges-Lehmann estimate; `None`
    /// without differences. With equal weights it equals the pseudo-median. O(n) in memory, 200 n
    /// in time.
    #[must_use]
    pub fn pseudo_median(&self) -> Option<f64> {
        let (least, most) = self.ends()?;
        let half = self.weight_up_to(most) / 2.0;
        // If exactly half of the weight is below a gap, the median is the middle of that gap.
        let slack = half * 1e-11;
        let lower = first_where(least, most, |x| self.weight_up_to(x) >= half - slack);
        let upper = first_where(least, most, |x| self.weight_up_to(x) > half + slack);
        Some(lower + (upper - lower) / 2.0)
    }

    /// The interval of the center of symmetry with this confidence, in 0..1; `None` if there are too
    /// few differences for it. O(n) in memory, 200 n in time.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let (least, most) = self.ends()?;
        let z = normal::two_sided(confidence);
        let total = self.weight_up_to(most);
        let statistic = |x: f64| total - 2.0 * self.weight_up_to(x);
        let limit = |x: f64| z * self.variance(x).sqrt();
        let is_reachable = |end: f64| limit(end) < total;
        if !is_reachable(least) || !is_reachable(most) {
            return None;
        }
        Some(Interval {
            lower: first_where(least, most, |x| statistic(x) <= limit(x)),
            upper: first_where(least, most, |x| statistic(x) < -limit(x)),
        })
    }

    fn ends(&self) -> Option<(f64, f64)> {
        Some((self.sorted.first()?.0, self.sorted.last()?.0))
    }

    /// Weight of the Walsh averages at or below `x`, counting every pair once, including each
    /// difference with itself. O(n), without forming the averages.
    fn weight_up_to(&self, x: f64) -> f64 {
        let sorted = &self.sorted;
        let mut total = 0.0;
        // The weight of the differences before `end`, which decreases while `i` increases.
        let mut end = sorted.len();
        let mut below: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let mut before = 0.0;
        for (i, &(difference, weight)) in sorted.iter().enumerate() {
            while end > i && (difference + sorted[end - 1].0) / 2.0 > x {
                end -= 1;
                below -= sorted[end].1;
            }
            if end <= i {
                break;
            }
            total += weight * (below - before);
            before += weight;
        }
        total
    }

    /// The variance of the statistic at `x` under random signs. O(n).
    fn variance(&self, x: f64) -> f64 {
        let mut above = self.sorted.partition_point(|(difference, _)| *difference < x);
        let mut below = above;
        let (mut rank, mut sum) = (0.0, 0.0);
        // From the nearest difference outwards.
        while below > 0 || above < self.sorted.len() {
            let left = below.checked_sub(1).map(|i| self.sorted[i]);
            let right = self.sorted.get(above).copied();
            let weight = match (left, right) {
                (Some(left), Some(right)) if x - left.0 < right.0 - x => {
                    below -= 1;
                    left.1
                }
                (Some(left), None) => {
                    below -= 1;
                    left.1
                }
                (_, Some(right)) => {
                    above += 1;
                    right.1
                }
                (None, None) => break,
            };
            rank += weight;
            sum += (weight * rank).powi(2);
        }
        sum
    }
}

/// For each value, the mean of up to [`NEIGHBOURS`] values before and after it. O(n).
fn means_of_neighbours(values: &[f64]) -> Vec<f64> {
    let mean = |i: usize| {
        let before = &values[i.saturating_sub(NEIGHBOURS)..i];
        let after = &values[i + 1..(i + 1 + NEIGHBOURS).min(values.len())];
        let sum: f64 = before.iter().chain(after).sum();
        sum / (before.len() + after.len()) as f64
    };
    (0..values.len()).map(mean).collect()
}

/// Pearson's correlation of two series of equal length; `None` if either is constant.
fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mean_x, mean_y) = (descriptive::mean(x), descriptive::mean(y));
    let product = |f: fn(f64, f64) -> f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| f(x - mean_x, y - mean_y)).sum()
    };
    let scale = (product(|x, _| x * x) * product(|_, y| y * y)).sqrt();
    (scale > 0.0).then(|| product(|x, y| x * y) / scale)
}

/// The smallest double at which a monotone condition is true; `most` if it never is.
fn first_where(least: f64, most: f64, condition: impl Fn(f64) -> bool) -> f64 {
    let (mut no, mut yes) = (least, most);
    if condition(least) {
        return least;
    }
    for _ in 0..HALVINGS {
        let middle = no + (yes - no) / 2.0;
        if middle <= no || middle >= yes {
            break;
        }
        if condition(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;
    use crate::signed_rank::{SignedRankDistribution, pseudo_median, walsh_interval};
    use proptest::prelude::*;

    /// All Walsh averages with their weights, ascending.
    fn averages(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        for (i, a) in pairs.iter().enumerate() {
            all.extend(pairs[i..].iter().map(|b| ((a.0 + b.0) / 2.0, a.1 * b.1)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    /// Returns the averages at which nearly and just over half of the weight is reached.
    fn plainly(pairs: &[(f64, f64)]) -> (f64, f64) {
        let all = averages(pairs);
        let half = all.iter().map(|(_, w)| w).sum::<f64>() / 2.0;
        let reached = |limit: f64| {
            let mut sum = 0.0;
            let at = all.iter().find(|(_, w)| {
                sum += w;
                sum > limit
            });
            at.map_or(f64::NAN, |(x, _)| *x)
        };
        (reached(half * (1.0 - 1e-9)), reached(half * (1.0 + 1e-9)))
    }

    /// Differences about 0 whose standard deviation alternates between 1 and 10 after every `period`.
    fn bursts(n: usize, period: usize, stream: &mut Stream) -> Vec<f64> {
        let sd = |i: usize| if (i / period).is_multiple_of(2) { 1.0 } else { 10.0 };
        (0..n).map(|i| sd(i) * stream.normal()).collect()
    }

    proptest! {
        #[test]
        fn with_equal_weights_it_is_the_pseudo_median(values in prop::collection::vec(-5.0..5.0f64, 1..40)) {
            let equal = WeightedDifferences::new(values.iter().map(|&v| (v, 0.25)).collect());
            let sorted = descriptive::sorted(&values);
            let found = equal.pseudo_median().unwrap_or(f64::NAN);
            prop_assert!((found - pseudo_median(&sorted)).abs() < 1e-9);
        }

        #[test]
        fn it_is_the_weighted_median_of_all_walsh_averages(
            pairs in prop::collection::vec((-5.0..5.0f64, 0.05..1.0f64), 1..25)
        ) {
            let (lower, upper) = plainly(&pairs);
            let found = WeightedDifferences::new(pairs).pseudo_median().unwrap_or(f64::NAN);
            prop_assert!(found >= lower - 1e-9 && found <= upper + 1e-9, "{found} {lower} {upper}");
        }

        #[test]
        fn the_statistic_and_its_variance_are_those_of_weighted_ranks(
            pairs in prop::collection::vec((-5.0..5.0f64, 0.05..1.0f64), 1..25), at in -5.0..5.0f64
        ) {
            let rank = |d: f64| pairs.iter().filter(|p| (p.0 - at).abs() <= (d - at).abs()).map(|p| p.1).sum::<f64>();
            let terms: Vec<f64> = pairs.iter().map(|&(d, w)| (d - at).signum() * w * rank(d)).collect();
            let of = WeightedDifferences::new(pairs.clone());
            let total = of.weight_up_to(f64::INFINITY);
            let sum: f64 = terms.iter().sum();
            prop_assert!((total - 2.0 * of.weight_up_to(at) - sum).abs() < 1e-9);
            let variance: f64 = terms.iter().map(|t| t * t).sum();
            prop_assert!((of.variance(at) - variance).abs() < 1e-9 * variance.max(1.0));
        }
    }

    #[test]
    fn with_equal_weights_the_interval_is_that_of_signed_ranks() {
        let mut stream = Stream::new(54, 0);
        let values: Vec<f64> = (0..400).map(|_| stream.normal()).collect();
        let equal = WeightedDifferences::new(values.iter().map(|&v| (v, 0.7)).collect());
        let found = equal.interval(0.95).unwrap();
        let k = SignedRankDistribution::new().critical(400, 0.05).unwrap();
        let plain = walsh_interval(&descriptive::sorted(&values), k);
        assert!(
            (found.half_width() / plain.half_width() - 1.0).abs() < 0.01,
            "{found:?} {plain:?}"
        );
    }

    #[test]
    fn steady_noise_has_no_weights_and_bursts_have() {
        let weighted = |period: usize| {
            let is_weighted = |seed: &u64| {
                let values = bursts(100, period, &mut Stream::new(7, *seed));
                WeightedDifferences::by_neighbours(&values, 0.0).is_some()
            };
            (0..200).filter(is_weighted).count()
        };
        assert!(weighted(usize::MAX) <= 8);
        assert!(weighted(25) >= 198);
        let few = bursts(WEIGHTED_FROM - 1, 8, &mut Stream::new(7, 0));
        assert_eq!(WeightedDifferences::by_neighbours(&few, 0.0), None);
        assert_eq!(WeightedDifferences::by_neighbours(&[0.0; 100], 0.0), None);
    }

    #[test]
    fn bursts_make_the_interval_narrower() {
        let values = bursts(200, 50, &mut Stream::new(3, 0));
        let of = WeightedDifferences::by_neighbours(&values, 0.0).unwrap();
        let k = SignedRankDistribution::new().critical(200, 0.05).unwrap();
        let plain = walsh_interval(&descriptive::sorted(&values), k);
        let found = of.interval(0.95).unwrap();
        assert!(found.half_width() < 0.75 * plain.half_width(), "{found:?} {plain:?}");
        assert!(found.contains(of.pseudo_median().unwrap()));
    }

    #[test]
    fn too_few_differences_have_no_interval() {
        let few = WeightedDifferences::new((0..9).map(|i| (f64::from(i), 1.0)).collect());
        assert_eq!(few.interval(0.999), None);
        assert_eq!(WeightedDifferences::new(Vec::new()).interval(0.5), None);
        assert_eq!(WeightedDifferences::new(Vec::new()).pseudo_median(), None);
    }
}
