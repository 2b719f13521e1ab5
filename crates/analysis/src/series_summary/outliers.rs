//! Outliers by Tukey's fences (*Exploratory Data Analysis*, 1977): the inner fences are one and a
//! half interquartile ranges beyond the quartiles, the outer fences three. Outliers are counted and
//! listed, but never removed, since a stall that users notice is a result.

use assay_stats::descriptive;

/// Maximum number of listed outliers, farthest first.
const MOST_NAMED: usize = 10;

/// The fences and the values outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// The inner fences, lower and upper.
    pub inner: (f64, f64),
    /// The outer fences, lower and upper.
    pub outer: (f64, f64),
    /// Number of values below the lower inner fence, and above the upper one.
    pub beyond_inner: (usize, usize),
    /// Number of values below the lower outer fence, and above the upper one.
    pub beyond_outer: (usize, usize),
    /// Values beyond the outer fences with their indices in the series, counted from 0: at most
    /// ten, farthest first.
    pub farthest: Vec<(usize, f64)>,
}

impl Outliers {
    /// Finds the outliers; `sorted` contains the values in ascending order and must not be empty.
    /// O(n).
    pub(super) fn of(values: &[f64], sorted: &[f64]) -> Self {
        let [p25, p75] = [0.25, 0.75].map(|p| descriptive::quantile_sorted(sorted, p));
        let range = descriptive::interquartile_range(sorted);
        let fences = |times: f64| (p25 - times * range, p75 + times * range);
        let beyond = |(low, high): (f64, f64)| {
            let below = sorted.partition_point(|v| *v < low);
            (below, sorted.len() - sorted.partition_point(|v| *v <= high))
        };
        let (inner, outer) = (fences(1.5), fences(3.0));
        let distance = |v: f64| (outer.0 - v).max(v - outer.1);
        let outside = values.iter().copied().enumerate().filter(|(_, v)| distance(*v) > 0.0);
        let mut farthest: Vec<(usize, f64)> = outside.collect();
        farthest.sort_by(|a, b| distance(b.1).total_cmp(&distance(a.1)).then(a.0.cmp(&b.0)));
        farthest.truncate(MOST_NAMED);
        Self { inner, outer, beyond_inner: beyond(inner), beyond_outer: beyond(outer), farthest }
    }
}
