//! How a family of comparisons shares the error: by what each level is divided.
//!
//! Both procedures work on levels instead of p-values, so that the printed interval is the one that decided. Holm's: all at one
//! m-th; every direction found leaves the others a larger share. Benjamini and Hochberg's: the largest R for which R directions are
//! known at R/m of the level, found from above; it is the step-up procedure, since a direction is known at a level exactly when its
//! p-value is below it. A comparison without a direction at the whole level is not asked again: it has none, or its difference is known to
//! be below the threshold, and then a wider interval may only say less.

use super::Adjust;
use crate::comparison::Question;
use crate::evidence::Pair;
use assay_stats::signed_rank::SignedRankDistribution;

/// One comparison of a family.
pub(super) struct Member<'a> {
    pub question: Question<'a>,
    pub pair: Pair,
}

impl Member<'_> {
    fn has_direction(&self, share: f64, distribution: &mut SignedRankDistribution) -> bool {
        let question = Question { share, ..self.question };
        self.pair.decide(question, distribution).verdict.is_directional()
    }
}

/// For every member by what its level is divided, at least 1. O(members · rounds · cost of a decision).
pub(super) fn shares<'a>(
    members: impl Iterator<Item = &'a Member<'a>>,
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<f64> {
    let members: Vec<&Member<'_>> = members.collect();
    // Counts that are known take nothing of the error.
    let uncertain: Vec<&Member<'_>> =
        members.iter().copied().filter(|member| !member.pair.is_certain()).collect();
    let mut shared = shares_of_uncertain(&uncertain, adjust, distribution).into_iter();
    let share = |member: &&Member<'_>| {
        if member.pair.is_certain() { 1.0 } else { shared.next().unwrap_or(1.0) }
    };
    members.iter().map(share).collect()
}

fn shares_of_uncertain(
    members: &[&Member<'_>],
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<f64> {
    let all = members.len() as f64;
    if adjust == Adjust::None || members.len() < 2 {
        return vec![1.0; members.len()];
    }
    let mut open: Vec<usize> =
        (0..members.len()).filter(|&m| members[m].has_direction(1.0, distribution)).collect();
    if adjust == Adjust::FalseDiscovery {
        loop {
            let share = all / open.len().max(1) as f64;
            let before = open.len();
            open.retain(|&m| members[m].has_direction(share, distribution));
            if open.len() == before || open.is_empty() {
                // The last round's level is that of as many as are left.
                return vec![all / open.len().max(1) as f64; members.len()];
            }
        }
    }
    let mut shares = vec![all; members.len()];
    let mut share = all;
    loop {
        let decided: Vec<usize> = open
            .iter()
            .copied()
            .filter(|&m| members[m].has_direction(share, distribution))
            .collect();
        open.retain(|m| decided.binary_search(m).is_err());
        for member in &decided {
            shares[*member] = -share;
        }
        let left = shares.iter().filter(|s| **s > 0.0).count();
        if decided.is_empty() || left == 0 {
            // Those with a direction keep the share at which it was found, marked by its sign until here.
            let last = left.max(1) as f64;
            return shares.into_iter().map(|s| if s < 0.0 { -s } else { last }).collect();
        }
        share = left as f64;
    }
}
