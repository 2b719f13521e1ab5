//! Descriptive statistics of one sample: location, spread, shape.
//!
//! Moments are taken about the mean after one refinement, and corrected for its remaining rounding
//! error, so that a common offset (timestamps of 1e12) costs no digits. Quantiles are type 7 of
//! Hyndman and Fan (1996), the default of R and NumPy.

use crate::sorting;

/// Factor by which the median absolute deviation estimates the standard deviation of normal data.
pub const ROBUST_SD: f64 = 1.4826;

/// The arithmetic mean; NaN for no values. `xs`: finite, any order; O(n).
#[must_use]
pub fn mean(xs: &[f64]) -> f64 {
    let Some(&first) = xs.first() else { return f64::NAN };
    let n = xs.len() as f64;
    let rough = first + xs.iter().map(|x| x - first).sum::<f64>() / n;
    rough + xs.iter().map(|x| x - rough).sum::<f64>() / n
}

/// The sum of the given power of the deviations from the mean, which is accurate to the last bit of
/// the deviations.
fn central_sum(xs: &[f64], power: i32) -> f64 {
    let centre = mean(xs);
    let rest = xs.iter().map(|x| x - centre).sum::<f64>() / xs.len() as f64;
    xs.iter().map(|x| ((x - centre) - rest).powi(power)).sum()
}

/// The variance with divisor n − 1; NaN for fewer than two values. `xs`: finite, any order; O(n).
#[must_use]
pub fn variance(xs: &[f64]) -> f64 {
    if xs.len() < 2 {
        return f64::NAN;
    }
    central_sum(xs, 2) / (xs.len() - 1) as f64
}

/// The sum, almost as if computed exactly and rounded once (Neumaier's compensated sum). `xs`:
/// finite, any order; O(n).
#[must_use]
pub fn sum(xs: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &x in xs {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The geometric mean; NaN if a value is not positive, and for no values. `xs`: finite, any order;
/// O(n).
#[must_use]
pub fn geometric_mean(xs: &[f64]) -> f64 {
    if xs.iter().any(|x| *x <= 0.0) {
        return f64::NAN;
    }
    mean(&xs.iter().map(|x| x.ln()).collect::<Vec<_>>()).exp()
}

/// The mean after removing `share` of the values at each end: R's `mean(trim = share)`.
///
/// `sorted`: ascending, finite; `share` in 0..0.5 (the median from 0.5 on). NaN for no values.
/// O(n).
#[must_use]
pub fn trimmed_mean(sorted: &[f64], share: f64) -> f64 {
    let cut = (sorted.len() as f64 * share.max(0.0)).floor() as usize;
    if share >= 0.5 || 2 * cut >= sorted.len() {
        return quantile_sorted(sorted, 0.5);
    }
    mean(&sorted[cut..sorted.len() - cut])
}

/// The square root of [`variance`].
#[must_use]
pub fn standard_deviation(xs: &[f64]) -> f64 {
    variance(xs).sqrt()
}

/// The skewness m₃ / m₂^(3/2), with plain moments (g₁); NaN for constant or no values. `xs`:
/// finite, any order; O(n).
#[must_use]
pub fn skewness(xs: &[f64]) -> f64 {
    let n = xs.len() as f64;
    (central_sum(xs, 3) / n) / (central_sum(xs, 2) / n).powf(1.5)
}

/// The kurtosis m₄ / m₂² − 3, with plain moments (g₂); NaN for constant or no values. `xs`: finite,
/// any order; O(n).
#[must_use]
pub fn excess_kurtosis(xs: &[f64]) -> f64 {
    let n = xs.len() as f64;
    (central_sum(xs, 4) / n) / (central_sum(xs, 2) / n).powi(2) - 3.0
}

/// Mean, variance, skewness and kurtosis of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The [`mean`].
    pub mean: f64,
    /// The [`variance`].
    pub variance: f64,
    /// The [`skewness_by_definition`].
    pub skewness: ByDefinition,
    /// The [`excess_kurtosis_by_definition`].
    pub excess_kurtosis: ByDefinition,
}

/// Computes all four together at a quarter of the cost. Each result is identical to that of the
/// separate function. `xs`: finite, any order; O(n).
#[must_use]
pub fn moments(xs: &[f64]) -> Moments {
    let (centre, n) = (mean(xs), xs.len() as f64);
    let rest = xs.iter().map(|x| x - centre).sum::<f64>() / n;
    let mut sums = [0.0; 3];
    for x in xs {
        let deviation = (x - centre) - rest;
        for (sum, power) in sums.iter_mut().zip(2..) {
            *sum += deviation.powi(power);
        }
    }
    let skewness = (sums[1] / n) / (sums[0] / n).powf(1.5);
    let kurtosis = (sums[2] / n) / (sums[0] / n).powi(2) - 3.0;
    Moments {
        mean: centre,
        variance: if xs.len() < 2 { f64::NAN } else { sums[0] / (xs.len() - 1) as f64 },
        skewness: ByDefinition::of_skewness(xs.len(), skewness),
        excess_kurtosis: ByDefinition::of_excess_kurtosis(xs.len(), kurtosis),
    }
}

/// A skewness or an excess kurtosis by each of the three definitions used by statistics packages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByDefinition {
    /// With plain moments: g₁, g₂.
    pub plain: f64,
    /// Adjusted for bias, as in SAS and Excel: G₁ (at least 3 values), G₂ (at least 4); otherwise
    /// NaN.
    pub adjusted: f64,
    /// With the variance of divisor n − 1 in the denominator: b₁, b₂; the default of R's `e1071`.
    pub by_sd: f64,
}

impl ByDefinition {
    /// From g₁ of n values.
    fn of_skewness(count: usize, plain: f64) -> Self {
        let n = count as f64;
        let adjusted = plain * (n * (n - 1.0)).sqrt() / (n - 2.0);
        Self {
            plain,
            adjusted: if count >= 3 { adjusted } else { f64::NAN },
            by_sd: plain * ((n - 1.0) / n).powf(1.5),
        }
    }

    /// From g₂ of n values.
    fn of_excess_kurtosis(count: usize, plain: f64) -> Self {
        let n = count as f64;
        let adjusted = (n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * plain + 6.0);
        Self {
            plain,
            adjusted: if count >= 4 { adjusted } else { f64::NAN },
            by_sd: (plain + 3.0) * (1.0 - 1.0 / n).powi(2) - 3.0,
        }
    }
}

/// [`skewness`] by each definition. NaN for constant or no values. O(n).
#[must_use]
pub fn skewness_by_definition(xs: &[f64]) -> ByDefinition {
    ByDefinition::of_skewness(xs.len(), skewness(xs))
}

/// [`excess_kurtosis`] by each definition. NaN for constant or no values. O(n).
#[must_use]
pub fn excess_kurtosis_by_definition(xs: &[f64]) -> ByDefinition {
    ByDefinition::of_excess_kurtosis(xs.len(), excess_kurtosis(xs))
}

/// The values in ascending order. O(n).
#[must_use]
pub fn sorted(xs: &[f64]) -> Vec<f64> {
    let mut values = xs.to_vec();
    sorting::sort(&mut values);
    values
}

/// The quantile of type 7: linear between the order statistics around position (n − 1) p. O(1).
///
/// `sorted`: ascending, n ≥ 1; `p` is clamped to 0..=1. NaN for no values or if `p` is NaN.
#[must_use]
pub fn quantile_sorted(sorted: &[f64], p: f64) -> f64 {
    if sorted.is_empty() || p.is_nan() {
        return f64::NAN;
    }
    let last = sorted.len() - 1;
    let position = last as f64 * p.clamp(0.0, 1.0);
    let below = (position.floor() as usize).min(last);
    let fraction = position - below as f64;
    let low = sorted[below];
    if fraction == 0.0 {
        return low;
    }
    low + fraction * (sorted[(below + 1).min(last)] - low)
}

/// The distance between the quartiles of type 7, computed from offsets to the smallest value so
/// that values around 1e12 keep their digits: R's `IQR`. `sorted`: ascending; NaN for no values.
/// O(1).
#[must_use]
pub fn interquartile_range(sorted: &[f64]) -> f64 {
    let Some(&first) = sorted.first() else { return f64::NAN };
    let last = sorted.len() - 1;
    let offset = |p: f64| {
        let position = last as f64 * p;
        let below = position.floor() as usize;
        let [low, high] = [below, (below + 1).min(last)].map(|at| sorted[at] - first);
        low + (position - below as f64) * (high - low)
    };
    offset(0.75) - offset(0.25)
}

/// The median; NaN for no values. `xs`: any order, unchanged; O(n) plus a copy.
#[must_use]
pub fn median(xs: &[f64]) -> f64 {
    median_of(&mut xs.to_vec())
}

/// The median of values in ascending order; NaN if there are none. O(1).
#[must_use]
pub fn median_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => f64::NAN,
        Some(&upper) if sorted.len() % 2 == 1 => upper,
        Some(&upper) => midpoint(sorted[middle - 1], upper),
    }
}

/// The median of values that may be reordered.
fn median_of(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if !even {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    midpoint(lower, upper)
}

/// The midpoint of two values; exact if both are equal.
pub(crate) fn midpoint(a: f64, b: f64) -> f64 {
    (a + b) / 2.0
}

/// The median of the absolute deviations from the median, not scaled; times [`ROBUST_SD`] it
/// estimates the standard deviation.
///
/// NaN for no values. `xs`: any order; O(n).
#[must_use]
pub fn median_absolute_deviation(xs: &[f64]) -> f64 {
    let centre = median(xs);
    let mut deviations: Vec<f64> = xs.iter().map(|x| (x - centre).abs()).collect();
    median_of(&mut deviations)
}

/// Like [`median_absolute_deviation`], for ascending values and without a copy: from the median
/// outwards the deviations ascend on either side. NaN for no values; O(n).
#[must_use]
pub fn median_absolute_deviation_sorted(sorted: &[f64]) -> f64 {
    let centre = median_sorted(sorted);
    let deviation = |x: &f64| (x - centre).abs();
    let middle = sorted.partition_point(|x| *x < centre);
    let (below, above) = sorted.split_at(middle);
    let mut below = below.iter().rev().map(deviation).peekable();
    let mut above = above.iter().map(deviation).peekable();
    let (mut before, mut last) = (f64::NAN, f64::NAN);
    for _ in 0..=sorted.len() / 2 {
        let left = match (below.peek(), above.peek()) {
            (Some(left), Some(right)) => left <= right,
            (left, _) => left.is_some(),
        };
        let next = if left { below.next() } else { above.next() };
        (before, last) = (last, next.unwrap_or(f64::NAN));
    }
    if sorted.len() % 2 == 1 { last } else { midpoint(before, last) }
}

/// The values, in order, with those that are more than `reach` robust standard deviations
/// ([`ROBUST_SD`] times the MAD) from the median moved to that distance. Unchanged if at least half
/// of them are equal; O(n).
#[must_use]
pub fn clipped(xs: &[f64], reach: f64) -> Vec<f64> {
    let (centre, reach) = (median(xs), reach * ROBUST_SD * median_absolute_deviation(xs));
    let moved = |x: &f64| x.clamp(centre - reach, centre + reach);
    if reach > 0.0 { xs.iter().map(moved).collect() } else { xs.to_vec() }
}

/// The smallest distance between two distinct values: an estimate of the clock's step. `None` if
/// all are equal.
///
/// `sorted`: ascending; O(n).
#[must_use]
pub fn smallest_gap(sorted: &[f64]) -> Option<f64> {
    sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_of_a_million_millions_costs_no_digits() {
        let small = [0.25, 1.5, 3.0, -2.75, 0.125];
        let large: Vec<f64> = small.iter().map(|x| x + 1e12).collect();
        assert_eq!(mean(&large) - 1e12, 0.425_048_828_125);
        assert!((variance(&large) - variance(&small)).abs() < 1e-14 * variance(&small));
        assert!((skewness(&large) - skewness(&small)).abs() < 1e-13);
        assert!((excess_kurtosis(&large) - excess_kurtosis(&small)).abs() < 1e-13);
    }

    #[test]
    fn nothing_is_known_of_no_values() {
        assert!(mean(&[]).is_nan() && median(&[]).is_nan() && variance(&[1.0]).is_nan());
        assert!(quantile_sorted(&[], 0.5).is_nan() && median_absolute_deviation(&[]).is_nan());
        assert!(skewness(&[]).is_nan() && excess_kurtosis(&[2.0, 2.0]).is_nan());
        assert_eq!(smallest_gap(&[]), None);
    }

    #[test]
    fn sums_lose_nothing_between_large_numbers() {
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(sum(&[1e100, 1.0, -1e100, 1.0]), 2.0);
        assert_eq!((sum(&[]), sum(&[0.1; 10])), (0.0, 1.0));
    }

    #[test]
    fn means_of_other_kinds_are_those_of_the_textbook() {
        assert!((geometric_mean(&[1.0, 4.0, 16.0]) - 4.0).abs() < 1e-14);
        assert!(geometric_mean(&[0.0, 1.0]).is_nan() && geometric_mean(&[]).is_nan());
        // R: mean(c(0, 1, 2, 4, 100), trim = …).
        let xs = [0.0, 1.0, 2.0, 4.0, 100.0];
        for (share, expected) in
            [(-1.0, 21.4), (0.0, 21.4), (0.19, 21.4), (0.2, 7.0 / 3.0), (0.45, 2.0), (0.5, 2.0)]
        {
            assert!((trimmed_mean(&xs, share) - expected).abs() < 1e-13, "{share}");
        }
        assert_eq!(trimmed_mean(&xs[..4], 0.5), 1.5);
        assert!(trimmed_mean(&[], 0.1).is_nan());
    }

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let xs = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile_sorted(&xs, 0.0), 1.0);
        assert_eq!(quantile_sorted(&xs, 1.0), 8.0);
        assert_eq!(quantile_sorted(&xs, 0.5), 3.0);
        assert_eq!(quantile_sorted(&xs, 0.25), 1.75);
        assert_eq!(quantile_sorted(&[7.0], 0.9), 7.0);
    }

    #[test]
    fn the_median_needs_no_order_and_keeps_it() {
        let xs = [5.0, 1.0, 4.0, 2.0];
        assert_eq!(median(&xs), 3.0);
        assert_eq!(median(&xs[..3]), 4.0);
        assert_eq!(median_sorted(&[1.0, 2.0, 4.0, 5.0]), 3.0);
        assert_eq!(median_sorted(&[1.0, 4.0, 5.0]), 4.0);
        assert!(median_sorted(&[]).is_nan());
        assert_eq!(xs, [5.0, 1.0, 4.0, 2.0]);
        assert_eq!(median_absolute_deviation(&[1.0, 2.0, 4.0, 9.0, 100.0]), 3.0);
    }

    #[test]
    fn the_deviation_of_sorted_values_is_that_of_any_order() {
        let mut random = crate::resampling::Stream::new(1, 0);
        for n in 0..40 {
            let wild: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            for xs in [wild, (0..n).map(|i| f64::from(i / 9)).collect()] {
                let (any, of_sorted) = (
                    median_absolute_deviation(&xs),
                    median_absolute_deviation_sorted(&sorted(&xs)),
                );
                assert!(any == of_sorted || n == 0 && of_sorted.is_nan(), "{n}: {any} {of_sorted}");
            }
        }
    }

    #[test]
    fn all_moments_at_once_are_those_found_one_by_one() {
        for n in 0..30_u32 {
            let xs: Vec<f64> = (0..n).map(|i| 1e9 + f64::from(i * i % 23) / 7.0).collect();
            let found = moments(&xs);
            let one_by_one = [
                mean(&xs),
                variance(&xs),
                skewness_by_definition(&xs).plain,
                skewness_by_definition(&xs).adjusted,
                excess_kurtosis_by_definition(&xs).adjusted,
                excess_kurtosis_by_definition(&xs).by_sd,
            ];
            let at_once = [
                found.mean,
                found.variance,
                found.skewness.plain,
                found.skewness.adjusted,
                found.excess_kurtosis.adjusted,
                found.excess_kurtosis.by_sd,
            ];
            let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
            assert!(one_by_one.iter().zip(&at_once).all(same), "{n}: {one_by_one:?} {at_once:?}");
        }
    }

    #[test]
    fn the_smallest_gap_ignores_ties() {
        assert_eq!(smallest_gap(&[1.0, 1.0, 1.5, 1.5, 1.75, 3.0]), Some(0.25));
        assert_eq!(smallest_gap(&[2.0, 2.0, 2.0]), None);
    }

    #[test]
    fn skewness_and_kurtosis_by_each_definition_are_those_of_the_textbook() {
        // R: moments by hand, with the three types of `e1071`.
        let xs = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0];
        let near = |found: ByDefinition, expected: [f64; 3]| {
            let all = [found.plain, found.adjusted, found.by_sd];
            all.iter().zip(expected).all(|(ours, expected)| (ours / expected - 1.0).abs() < 1e-12)
        };
        let skewness = [0.378_389_478_047_332_4, 0.434_736_412_286_745_4, 0.332_090_314_941_263_8];
        let kurtosis = [-0.726_237_095_051_620_2, -0.420_576_717_693_129_7, -1.089_407_559_036_43];
        assert!(near(skewness_by_definition(&xs), skewness));
        assert!(near(excess_kurtosis_by_definition(&xs), kurtosis));
    }
}
