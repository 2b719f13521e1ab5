//! A series over time, and its autocorrelation.

use crate::policy;
use assay_stats::{autocorrelation, descriptive, normal};

/// Maximum number of pieces; more would be narrower than a pixel.
const MOST_PIECES: usize = 800;
/// Maximum number of values that are also kept individually.
const MOST_POINTS: usize = 3000;
/// Maximum number of lags of the correlogram.
const LAGS: usize = 30;

/// Successive values, summarized by their extremes and their median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Index of the first value.
    pub from: usize,
    /// One past the index of the last value.
    pub to: usize,
    /// Smallest value.
    pub min: f64,
    /// Median of the values.
    pub median: f64,
    /// Largest value.
    pub max: f64,
}

/// The values in order of measurement, in pieces of equal length (the last may be shorter).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The pieces, at most 800, which together contain all values.
    pub pieces: Vec<Piece>,
    /// Every value if there are at most 3,000, otherwise empty.
    pub points: Vec<f64>,
}

impl Trace {
    /// Summarizes a series. O(n).
    pub fn of(values: &[f64]) -> Self {
        let length = values.len().div_ceil(MOST_PIECES).max(1);
        let piece = |(index, chunk): (usize, &[f64])| Piece {
            from: index * length,
            to: index * length + chunk.len(),
            min: chunk.iter().copied().fold(f64::INFINITY, f64::min),
            median: descriptive::median(chunk),
            max: chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        let points = if values.len() <= MOST_POINTS { values.to_vec() } else { Vec::new() };
        Self { pieces: values.chunks(length).enumerate().map(piece).collect(), points }
    }
}

/// Autocorrelations with their bounds under independence.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlogram {
    /// The autocorrelations at lags 1, 2, ..., each from −1 to 1.
    pub at_lags: Vec<f64>,
    /// 1.96 / √n: 95 % of the autocorrelations of independent values lie within ± this bound.
    pub bound: f64,
}

impl Correlogram {
    /// Computes the correlogram of a series. `None` for fewer than ten values, or if all are equal.
    /// O(n) per lag.
    pub fn of(values: &[f64]) -> Option<Self> {
        let differ = values.iter().any(|v| *v != values[0]);
        (values.len() >= policy::CORRELOGRAM_FROM && differ).then(|| Self {
            at_lags: autocorrelation::autocorrelation(values, LAGS.min(values.len() / 2)),
            bound: normal::two_sided(0.95) / (values.len() as f64).sqrt(),
        })
    }
}
