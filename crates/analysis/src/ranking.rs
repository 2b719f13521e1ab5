//! The order of three or more subjects that are all compared with one reference.

use crate::{Analysis, Interval};
use assay_data::Better;

/// Subjects that share a rank because they can't be distinguished.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// Indices of the subjects, best estimate first.
    pub subjects: Vec<usize>,
    /// Value of the first of these subjects, as a multiple of the best subject's.
    pub ratio: f64,
}

/// A subject, relative to the reference.
struct Placed {
    subject: usize,
    ratio: f64,
    /// Interval of the ratio to the reference; `None` for the reference itself.
    interval: Option<Interval>,
    /// True if the subject differs from the reference according to the verdict.
    differs: bool,
}

/// Ranks the subjects by the primary metric, best first.
///
/// Two subjects are distinguished if their intervals against the reference do not overlap. Whether
/// a subject is distinguished from the reference depends on the verdict. Returns `None` if there
/// are fewer than three subjects or two ranks, if the subjects are not all compared with one
/// reference, if a comparison has no interval, or if the distinctions are not transitive.
/// O(subjects² + subjects log subjects).
pub fn ranking(analysis: &Analysis) -> Option<Vec<Rank>> {
    let comparisons = &analysis.comparisons;
    let reference = comparisons.first().filter(|_| comparisons.len() >= 2)?.against;
    let is_plain = comparisons.iter().all(|c| c.against == reference && c.failing.is_none());
    if !is_plain || comparisons.len() + 1 != analysis.subjects.len() {
        return None;
    }
    let mut placed =
        vec![Placed { subject: reference, ratio: 1.0, interval: None, differs: false }];
    for c in comparisons {
        c.decision.interval?;
        let effect = c.ratio?;
        placed.push(Placed {
            subject: c.of,
            ratio: effect.estimate,
            interval: Some(effect.interval?),
            differs: c.decision.verdict.is_directional(),
        });
    }
    placed.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    if analysis.metrics[analysis.primary].better == Better::Higher {
        placed.reverse();
    }
    let mut ranks: Vec<Vec<&Placed>> = Vec::new();
    for one in &placed {
        match ranks.last_mut() {
            Some(rank) if !rank.iter().all(|other| are_apart(one, other)) => rank.push(one),
            _ => ranks.push(vec![one]),
        }
    }
    let is_clear = |rank: &Vec<&Placed>| {
        rank.iter().enumerate().all(|(at, one)| rank[..at].iter().all(|o| !are_apart(one, o)))
    };
    let best = placed.first()?.ratio;
    (ranks.len() > 1 && ranks.iter().all(is_clear)).then(|| {
        let rank = |own: &Vec<&Placed>| Rank {
            subjects: own.iter().map(|one| one.subject).collect(),
            ratio: own[0].ratio / best,
        };
        ranks.iter().map(rank).collect()
    })
}

fn are_apart(one: &Placed, other: &Placed) -> bool {
    match (one.interval, other.interval) {
        (Some(a), Some(b)) => a.upper < b.lower || b.upper < a.lower,
        (Some(_), None) => one.differs,
        (None, _) => other.differs,
    }
}
