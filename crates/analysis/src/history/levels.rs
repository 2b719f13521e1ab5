//! Detects changes of level in a series of runs, for both the trend and the normal runs of a gate.
//!
//! Changes are detected on ranks ([`change_points::levels`]), so that a single bad run has little
//! effect. Correlation between successive runs is taken into account. Changes too small to matter
//! are dropped.

use crate::policy;
use assay_stats::change_points::{self, Levels};
use assay_stats::{autocorrelation, descriptive};

/// Seed for ordering ties. It is fixed, so that the same runs always give the same changes.
pub(super) const SEED: u64 = 20;

/// Returns the edges of the parts between changes, including both ends of the series, and the
/// changes before negligible ones were dropped. `values` are in the order of the runs' revisions;
/// `level` is the false-positive rate. O(n log n) per change.
pub(super) fn edges(values: &[f64], level: f64) -> (Vec<usize>, Levels) {
    let found = change_points::levels(values, level, policy::FEWEST_RUNS, SEED);
    let mut edges: Vec<usize> = vec![0];
    edges.extend(found.changes.iter().map(|change| change.index));
    edges.push(values.len());
    leave_out_trifles(values, &mut edges);
    (edges, found)
}

/// Removes changes that are too small to matter, smallest first.
fn leave_out_trifles(values: &[f64], edges: &mut Vec<usize>) {
    loop {
        let size = |place: usize| {
            let [before, after] = [place - 1, place]
                .map(|part| descriptive::median(&values[edges[part]..edges[part + 1]]));
            (after - before).abs() / before.abs()
        };
        let sizes = (1..edges.len() - 1).map(|place| (size(place), place));
        match sizes.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((size, place)) if size < policy::CHANGE_TOLERANCE => edges.remove(place),
            _ => return,
        };
    }
}

/// Returns the autocorrelation time of the runs if their correlation is beyond chance, otherwise 1.
pub(super) fn dependence(values: &[f64]) -> f64 {
    let ranks = autocorrelation::ranks(values);
    let found = autocorrelation::dependence_of_ranks(&ranks);
    let n = values.len();
    let is_noticed = n >= policy::TESTED_FROM && found.lag1 > policy::NOTICED_Z / (n as f64).sqrt();
    if is_noticed { autocorrelation::time_of_lag1(n, found.lag1) } else { 1.0 }
}
