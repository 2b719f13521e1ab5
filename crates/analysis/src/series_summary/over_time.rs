//! A series over time, cut into slices with their extremes and medians, so that even ten million
//! values are drawn quickly.

use assay_stats::descriptive;

/// Maximum number of slices; a shorter series has one per value.
const MOST_SLICES: usize = 120;

/// A stretch of the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Index of the first value of the slice, counted from 0.
    pub begin: usize,
    /// One past the index of the last value of the slice.
    pub end: usize,
    /// Smallest value.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Largest value.
    pub max: f64,
}

/// Returns the slices. Their lengths differ by at most one value. O(n).
pub(super) fn of(values: &[f64]) -> Vec<Slice> {
    let n = values.len();
    let slices = n.min(MOST_SLICES);
    (0..slices)
        .map(|slice| {
            let (begin, end) = (slice * n / slices, (slice + 1) * n / slices);
            let part = &values[begin..end];
            Slice {
                begin,
                end,
                min: part.iter().copied().fold(f64::INFINITY, f64::min),
                median: descriptive::median(part),
                max: part.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            }
        })
        .collect()
}
