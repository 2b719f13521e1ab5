//! A family of comparisons: all that share the error which is allowed, decided together.
//!
//! The comparisons of the primary metric are one family, those of all secondary metrics another, so
//! that counters nobody asked for do not cost the verdicts on the times anything. Of a suite of
//! tests the whole is a family of its own: a verdict on it must not take the more runs the more
//! tests there are. Both procedures of sharing work on levels instead of p-values, so that the
//! printed interval is the one that decided. Holm's: all at one m-th; every direction found leaves
//! the others a larger share. Benjamini and Hochberg's: the largest R for which R directions are
//! known at R/m of the level, found from above; it is the step-up procedure, since a direction is
//! known at a level exactly when its p-value is below it. A comparison without a direction at the
//! whole level is not asked again: it has none, or its difference is known to be below the
//! threshold, and then a wider interval may only say less.

use crate::comparison::{Comparison, Question};
use crate::evidence::Pair;
use assay_stats::signed_rank::SignedRankDistribution;

/// In larger families it pays to find out first who has no direction at any level.
const SMALL: usize = 8;

/// How the comparisons of a family share the error that is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjust {
    /// Holm's (1979), by levels: at most so rarely is *any* direction wrong. Whoever is decided
    /// leaves the others a larger share.
    #[default]
    Holm,
    /// Benjamini and Hochberg's (1995): of the directions that are reported, at most this share is
    /// wrong on average. With R of m reported, intervals are at R/m of the error (Benjamini and
    /// Yekutieli 2005), so that as few of theirs miss.
    FalseDiscovery,
    /// None: every comparison by itself may be wrong so often.
    None,
}

impl Adjust {
    /// The word that options and JSON use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::FalseDiscovery => "bh",
            Self::None => "none",
        }
    }
}

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

/// Decides every member at its share of the error. O(members · rounds · cost of a decision).
pub(super) fn decide(
    members: &[&Member<'_>],
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<Comparison> {
    // Counts that are known take nothing of the error.
    let uncertain: Vec<&Member<'_>> =
        members.iter().copied().filter(|m| !m.pair.is_certain()).collect();
    let mut shared = shares(&uncertain, adjust, distribution).into_iter();
    let mut decided = |member: &Member<'_>| {
        let share = if member.pair.is_certain() { 1.0 } else { shared.next().unwrap_or(1.0) };
        member.pair.compare(Question { share, ..member.question }, distribution)
    };
    members.iter().map(|member| decided(member)).collect()
}

/// For every member by what its level is divided, at least 1.
fn shares(
    members: &[&Member<'_>],
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<f64> {
    shared_out(members.len(), adjust, |m, share| members[m].has_direction(share, distribution))
}

/// The same of so many members of any kind, of which `has_direction` says whether one has a
/// direction with its level divided by a share.
pub(crate) fn shared_out(
    members: usize,
    adjust: Adjust,
    mut has_direction: impl FnMut(usize, f64) -> bool,
) -> Vec<f64> {
    let all = members as f64;
    if adjust == Adjust::None || members < 2 {
        return vec![1.0; members];
    }
    let mut open: Vec<usize> = (0..members).collect();
    if adjust == Adjust::FalseDiscovery || members > SMALL {
        open.retain(|&m| has_direction(m, 1.0));
    }
    if adjust == Adjust::FalseDiscovery {
        loop {
            let share = all / open.len().max(1) as f64;
            let before = open.len();
            open.retain(|&m| has_direction(m, share));
            if open.len() == before || open.is_empty() {
                // The last round's level is that of as many as are left.
                return vec![all / open.len().max(1) as f64; members];
            }
        }
    }
    // Those with a direction keep the share at which it was found.
    let mut found: Vec<Option<f64>> = vec![None; members];
    loop {
        let left = found.iter().filter(|share| share.is_none()).count().max(1) as f64;
        let before = open.len();
        open.retain(|&m| {
            let known = has_direction(m, left);
            if known {
                found[m] = Some(left);
            }
            !known
        });
        if open.len() == before || found.iter().all(Option::is_some) {
            return found.into_iter().map(|share| share.unwrap_or(left)).collect();
        }
    }
}
