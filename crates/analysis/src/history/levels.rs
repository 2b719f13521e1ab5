//! Where the runs of a series went to another level: the one place that says so, for the trend and
//! for what the gate takes for normal.
//!
//! Changes are looked for on ranks ([`change_points::levels`]), so that a single bad run is taken
//! for what it is, and with what successive runs have in common. Those too small to matter are left
//! out.

use crate::policy;
use assay_stats::change_points::{self, Levels};
use assay_stats::{autocorrelation, descriptive};

/// Seed of the order of equal values: the same runs always give the same changes.
pub(super) const SEED: u64 = 20;

/// The edges of the parts between changes, with both ends of the series, and what was found before
/// trifles were left out. `values` are those of runs in the order of their revisions; `level` is
/// the chance of a change where there is none. O(n log n) for each change.
pub(super) fn edges(values: &[f64], level: f64) -> (Vec<usize>, Levels) {
    let found = change_points::levels(values, level, policy::FEWEST_RUNS, SEED);
    let mut edges: Vec<usize> = vec![0];
    edges.extend(found.changes.iter().map(|change| change.index));
    edges.push(values.len());
    leave_out_trifles(values, &mut edges);
    (edges, found)
}

/// Takes out changes that are too small to matter, the smallest first.
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

/// The autocorrelation time of the runs, where it is more than chance.
pub(super) fn dependence(values: &[f64]) -> f64 {
    let ranks = autocorrelation::ranks(values);
    let found = autocorrelation::dependence_of_ranks(&ranks);
    let n = values.len();
    let is_noticed = n >= policy::TESTED_FROM && found.lag1 > policy::NOTICED_Z / (n as f64).sqrt();
    if is_noticed { autocorrelation::time_of_lag1(n, found.lag1) } else { 1.0 }
}
