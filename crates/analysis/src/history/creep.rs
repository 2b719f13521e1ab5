//! Creep: a steady rise or fall, in steps too small to be changes, or split into steps only because
//! of its slope.
//!
//! Many small steps go unnoticed, and so are never accepted. A part between two changes, or several
//! parts that all move in the same direction, creep if the runs correlate with time more than
//! dependent runs would by chance, a straight line fits better than the best step (or those steps),
//! and the difference from the first third to the last matters ([`change_points::creep`]). No
//! single commit caused such a trend, so changes within it are not reported.

use super::levels::SEED;
use super::size::{Size, size};
use super::{Revision, Series};
use crate::comparison::Effect;
use crate::policy;
use crate::verdict::Verdict;
use assay_data::code;
use assay_data::{Better, Finding, Severity};
use assay_stats::{change_points, descriptive};

/// Maximum number of consecutive parts tested together.
const MOST_PARTS: usize = 12;

/// A steady rise or fall.
#[derive(Clone, Debug, PartialEq)]
pub struct Creep {
    /// Index of the first run.
    pub from: usize,
    /// One past the index of the last run.
    pub to: usize,
    /// Ratio of the last third of the runs to the first; `None` if a value is zero or negative.
    pub ratio: Option<Effect>,
    /// Difference of the last third of the runs from the first, in the metric's unit.
    pub shift: Effect,
    /// `Faster` for an improvement, `Slower` for a worsening.
    pub verdict: Verdict,
    /// p-value of a rise or fall at least this clear.
    pub p: f64,
}

impl Creep {
    /// Returns the revisions of the first and the last run.
    pub fn between<'a>(&self, series: &'a Series) -> (Option<&'a Revision>, Option<&'a Revision>) {
        let of = |index: usize| series.points.get(index).and_then(|p| p.revision.as_ref());
        (of(self.from), self.to.checked_sub(1).and_then(of))
    }
}

/// Finds creeping stretches, preferring the longest, and removes the edges inside these stretches
/// from `edges`.
pub(super) fn take(
    values: &[f64],
    edges: &mut Vec<usize>,
    better: Better,
    confidence: f64,
) -> Vec<Creep> {
    let medians: Vec<f64> =
        edges.windows(2).map(|pair| descriptive::median(&values[pair[0]..pair[1]])).collect();
    let rises = |first: usize| medians[first + 1] > medians[first];
    let parts = medians.len();
    let mut found: Vec<(usize, usize, Creep)> = Vec::new();
    for length in (1..=parts.min(MOST_PARTS)).rev() {
        for first in 0..=parts - length {
            let last = first + length;
            let is_one_way = (first..last - 1).all(|part| rises(part) == rises(first));
            let is_free = found.iter().all(|&(from, to, _)| last <= from || to <= first);
            if is_one_way && is_free {
                let creep = creep(values, &edges[first..=last], better, confidence);
                found.extend(creep.map(|creep| (first, last, creep)));
            }
        }
    }
    found.sort_by_key(|&(first, _, _)| first);
    for (first, last, _) in found.iter().rev() {
        edges.drain(first + 1..*last);
    }
    found.into_iter().map(|(_, _, creep)| creep).collect()
}

/// Tests whether the parts between these edges creep together.
fn creep(values: &[f64], edges: &[usize], better: Better, confidence: f64) -> Option<Creep> {
    let (from, to) = (*edges.first()?, *edges.last()?);
    let part = &values[from..to];
    if part.len() < policy::CREEP_FROM {
        return None;
    }
    let steps: Vec<usize> = edges[1..edges.len() - 1].iter().map(|edge| edge - from).collect();
    let found = change_points::creep(part, &steps, policy::FEWEST_RUNS, SEED)?;
    if found.p >= policy::CREEP_LEVEL || !found.steadier {
        return None;
    }
    let third = part.len() / 3;
    let (first, last) = (&part[..third], &part[part.len() - third..]);
    let Size { ratio, shift, verdict } = size(first, last, better, confidence)?;
    let matters =
        shift.estimate.abs() >= policy::CREEP_TOLERANCE * descriptive::median(first).abs();
    matters.then_some(Creep { from, to, ratio, shift, verdict, p: found.p })
}

/// Returns the finding about a creeping series.
pub(super) fn finding(series: &Series, creep: &Creep) -> Finding {
    let label = series.benchmark.label();
    let size = creep.ratio.map_or_else(
        || format!("{:+.3} {}", creep.shift.estimate, series.metric.unit.symbol()),
        |ratio| format!("{:+.1} %", 100.0 * (ratio.estimate - 1.0)),
    );
    let between = match creep.between(series) {
        (Some(from), Some(to)) if from.commit != to.commit => {
            format!("from {} to {}", from.short(), to.short())
        }
        _ => format!("over {} runs", creep.to - creep.from),
    };
    let (severity, way) = match creep.verdict {
        Verdict::Faster => (Severity::Note, "better"),
        _ => (Severity::Warning, "worse"),
    };
    let message = format!(
        "{label} gets {way} steadily {between}, by {size} from the first third to the last: many small steps, none of which is a change by itself"
    );
    let found = Finding::new(code::CREEP, message).at(severity).about(&label);
    let found = found.with("from", creep.from as f64).with("runs", (creep.to - creep.from) as f64);
    match creep.ratio {
        Some(ratio) => found.with("ratio", ratio.estimate),
        None => found.with("shift", creep.shift.estimate),
    }
}

#[cfg(test)]
mod tests;
