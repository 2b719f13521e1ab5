//! Detects a series that begins or ends on another level for fewer runs than a change requires.
//! This is not yet a change, but "did not change" would be misleading, so it is reported with the
//! number of runs needed to decide.
//!
//! The two to four runs at either end of the series are compared with the adjacent runs up to the
//! next change. For n runs in random order, the probability that all of the k runs are above or
//! below all others is 2 / C(n, k), which is exact for any distribution. The six tests of a series
//! share the error. If successive runs are correlated, nothing is reported, since correlation alone
//! can cause such ends.

use super::Series;
use super::levels::dependence;
use super::size::{Size, size};
use crate::policy;
use crate::verdict::Verdict;
use assay_data::code;
use assay_data::{Better, Finding};
use assay_stats::descriptive;

/// Minimum number of runs at an end, because a single one is an outlier.
const FEWEST: usize = 2;

/// Runs at an end of a series whose level differs from that of the adjacent runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortLevel {
    /// True if the level is at the beginning of the series, not the end.
    pub is_first: bool,
    /// Number of runs on the level.
    pub runs: usize,
    /// Number of adjacent runs, up to the next change.
    pub others: usize,
    /// True if the level's runs are higher than the adjacent ones.
    pub is_higher: bool,
    /// Ratio of the level after the change to that before; `None` if a value is zero or negative.
    pub ratio: Option<f64>,
    /// Difference of the level after the change from that before, in the metric's unit.
    pub shift: f64,
    /// `Faster` if the change would be an improvement, `Slower` if it would be a worsening.
    pub verdict: Verdict,
    /// p-value of an end that differs at least this clearly.
    pub p: f64,
}

impl ShortLevel {
    /// Returns the number of further runs needed for this to count as a change.
    pub fn more(&self) -> usize {
        policy::FEWEST_RUNS - self.runs
    }
}

/// Returns the end of the series that differs most clearly, if any. `edges` are the edges of its
/// parts. O(n log n).
pub(super) fn find(
    values: &[f64],
    edges: &[usize],
    better: Better,
    confidence: f64,
) -> Option<ShortLevel> {
    let (&[first, second, ..], &[.., before, last]) = (edges, edges) else { return None };
    let looks = 2 * (FEWEST..policy::FEWEST_RUNS).count();
    let at = |is_first: bool, runs: usize| {
        let part = if is_first { &values[first..second] } else { &values[before..last] };
        // Fewer adjacent runs do not establish a level from which the end could differ.
        let others = part.len().checked_sub(runs).filter(|o| *o >= policy::FEWEST_RUNS)?;
        let p = (looks as f64 * 2.0 / combinations(part.len(), runs)).min(1.0);
        let (old, new) = part.split_at(if is_first { runs } else { others });
        let (own, rest) = if is_first { (old, new) } else { (new, old) };
        let ends = |of: &[f64]| {
            let fold = |pick: fn(f64, f64) -> f64, start| of.iter().copied().fold(start, pick);
            (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY))
        };
        let ((own_low, own_high), (low, high)) = (ends(own), ends(rest));
        let is_higher = own_low > high;
        let is_apart = is_higher || own_high < low;
        let [was, is] = [old, new].map(descriptive::median);
        let matters = (is - was).abs() >= policy::CHANGE_TOLERANCE * was.abs();
        if p > policy::SHORT_LEVEL || !is_apart || !matters || dependence(rest) > 1.0 {
            return None;
        }
        let Size { ratio, shift, verdict } = size(old, new, better, confidence)?;
        // Intervals are omitted because they would be very wide or unbounded.
        let (ratio, shift) = (ratio.map(|ratio| ratio.estimate), shift.estimate);
        Some(ShortLevel { is_first, runs, others, is_higher, ratio, shift, verdict, p })
    };
    let all = [false, true].into_iter().flat_map(|is_first| {
        (FEWEST..policy::FEWEST_RUNS).filter_map(move |runs| at(is_first, runs))
    });
    all.min_by(|a, b| a.p.total_cmp(&b.p))
}

/// Returns the number of ways to choose `chosen` of `n` items.
fn combinations(n: usize, chosen: usize) -> f64 {
    (0..chosen).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Returns the finding about a series that begins or ends on another level.
pub(super) fn finding(series: &Series, short: &ShortLevel) -> Finding {
    let label = series.benchmark.label();
    let unit = series.metric.unit.symbol();
    let by = match short.ratio {
        Some(ratio) => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
        None => format!("{:+.3} {unit}", short.shift),
    };
    let way = if short.is_higher { "higher" } else { "lower" };
    let (which, beside) = if short.is_first { ("first", "after") } else { ("last", "before") };
    let (runs, others, fewest) = (short.runs, short.others, policy::FEWEST_RUNS);
    let message = format!(
        "the {which} {runs} runs of {label} are all {way} than the {others} {beside} them, a change by {by}; it takes {fewest} runs on either side of a change to call it one: {} needed",
        needed(short)
    );
    let found = too_short(message).about(&label);
    found.with("runs", runs as f64).with("more", short.more() as f64).with("p", short.p)
}

/// Returns the finding about several series that begin or end on another level.
pub(super) fn finding_of_several(short: &[(&str, &ShortLevel)], series: usize) -> Option<Finding> {
    let (name, nearest) = short.iter().min_by_key(|(_, short)| short.more())?;
    let message = format!(
        "{} of {series} series, {name} among them, begin or end on another level for fewer than {} runs, too few to call it a change: {} needed (`assay history trend BENCHMARK` shows each)",
        short.len(),
        policy::FEWEST_RUNS,
        needed(nearest)
    );
    Some(too_short(message).with("series", short.len() as f64).with("more", nearest.more() as f64))
}

fn needed(short: &ShortLevel) -> String {
    let of = if short.is_first { " of their revisions, or of earlier ones," } else { "" };
    match short.more() {
        1 => format!("1 more run{of} is"),
        more => format!("{more} more runs{of} are"),
    }
}

fn too_short(message: String) -> Finding {
    Finding::new(code::TOO_FEW_RUNS, message)
}

#[cfg(test)]
mod tests;
