//! A family of comparisons, which share the allowed error and are decided together.
//!
//! The comparisons on the primary metric are one family and those on all secondary metrics another,
//! so that extra counters do not affect the verdicts on times. The comparison of a test suite as a
//! whole is a separate family, because the number of runs that its verdict needs must not depend on
//! the number of tests.
//!
//! Both adjustments ([`Adjust`]) work on levels instead of p-values, so that the printed interval
//! is the one that decided. Holm's procedure starts with each comparison at one m-th of the level;
//! every direction found leaves a larger share to the others. Benjamini and Hochberg's procedure
//! looks, in descending order, for the largest R for which R directions are known at R/m of the
//! level. This is the step-up procedure, since a direction is known at a level exactly if its
//! p-value is below it. A comparison without a direction at the full level is not tried again,
//! since a wider interval cannot have one.

use super::controls::{self, Controls, Part};
use crate::comparison::{Comparison, Question};
use crate::evidence::{Evidence, Pair};
use crate::recording::Recording;
use assay_data::Samples;
use assay_stats::signed_rank::SignedRankDistribution;
use std::collections::BTreeMap;
use std::rc::Rc;

/// In families larger than this, members that have no direction at the full level are ruled out
/// first.
const SMALL: usize = 8;

/// How the comparisons of a family share the allowed error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjust {
    /// Holm (1979), by levels: limits the probability that *any* direction is wrong. Each direction
    /// found leaves a larger share to the other members.
    #[default]
    Holm,
    /// Benjamini and Hochberg (1995): limits the expected share of wrong directions among those
    /// reported. With R of m reported, intervals are at R/m of the error (Benjamini and Yekutieli
    /// 2005), which limits their miss rate in the same way.
    FalseDiscovery,
    /// No adjustment: each comparison has the whole allowed error.
    None,
}

impl Adjust {
    /// Returns the word for this method in options and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::FalseDiscovery => "bh",
            Self::None => "none",
        }
    }
}

/// One comparison of a family. Its pair is created each time it is needed, since all pairs of a
/// suite of a hundred thousand rows would be larger than the samples.
pub(super) struct Member<'a> {
    pub question: Question<'a>,
    evidence: &'a Evidence<'a>,
    /// Recordings of the metric that are available already, as for [`Evidence::pair`].
    known: &'a [Rc<Recording<'static>>],
    /// True if the difference is certain, so that it uses none of the allowed error.
    is_certain: bool,
    /// The role among the controls of a suite.
    pub part: Part,
}

impl<'a> Member<'a> {
    /// Creates a member from a pair that the evidence created with these recordings.
    pub fn new(
        question: Question<'a>,
        pair: &Pair,
        evidence: &'a Evidence<'a>,
        known: &'a [Rc<Recording<'static>>],
    ) -> Self {
        Self { question, evidence, known, is_certain: pair.is_certain(), part: Part::Alone }
    }

    /// Returns the data of both subjects.
    pub fn pair(&self) -> Pair {
        let Question { against, of, metric, .. } = self.question;
        self.evidence.pair_or_empty(against, of, metric, self.known)
    }

    fn has_direction(&self, share: f64, distribution: &mut SignedRankDistribution) -> bool {
        let question = Question { share, ..self.question };
        match &self.part {
            Part::Alone => self.pair().decide(question, distribution).verdict.is_directional(),
            _ => self.compare(question, distribution).decision.verdict.is_directional(),
        }
    }

    fn compare(
        &self,
        question: Question<'_>,
        distribution: &mut SignedRankDistribution,
    ) -> Comparison {
        let found = self.pair().compare(question, distribution);
        match &self.part {
            Part::Alone => found,
            Part::Control => controls::as_control(found, question.better),
            Part::Judged(controls) => controls.judge(found, question),
        }
    }
}

/// Assigns a role to each member of a suite's family. O(members · cost of a comparison).
pub(super) fn assign(
    samples: &Samples,
    members: &mut [Member<'_>],
    distribution: &mut SignedRankDistribution,
) {
    let key = |question: &Question<'_>| (question.metric, samples.subjects[question.of].side);
    let mut effects: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let is_control = |q: &Question<'_>| controls::has_same_code(samples, q.metric, q.of, q.against);
    for member in members.iter().filter(|member| is_control(&member.question)) {
        let found = controls::measured(&member.pair().compare(member.question, distribution));
        effects.entry(key(&member.question)).or_default().extend(found);
    }
    let known: BTreeMap<_, Rc<Controls>> = effects
        .into_iter()
        .filter_map(|(key, effects)| Some((key, Rc::new(Controls::of(&effects)?))))
        .collect();
    for member in members {
        if let Some(controls) = known.get(&key(&member.question)) {
            member.part = match is_control(&member.question) {
                true => Part::Control,
                false => Part::Judged(Rc::clone(controls)),
            };
        }
    }
}

/// Decides every member at its share of the error. O(members · rounds · cost of a decision).
pub(super) fn decide(
    members: &[&Member<'_>],
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<Comparison> {
    // Certain counts use none of the error, and controls are a separate family.
    let uncertain = members.iter().copied().filter(|m| !m.is_certain);
    let (controls, judged): (Vec<_>, Vec<_>) = uncertain.partition(|m| m.part == Part::Control);
    let mut of_controls = shares(&controls, adjust, distribution).into_iter();
    let mut shared = shares(&judged, adjust, distribution).into_iter();
    let mut decided = |member: &Member<'_>| {
        let next = match member.part {
            _ if member.is_certain => None,
            Part::Control => of_controls.next(),
            _ => shared.next(),
        };
        let question = Question { share: next.unwrap_or(1.0), ..member.question };
        member.compare(question, distribution)
    };
    members.iter().map(|member| decided(member)).collect()
}

/// Returns the divisor of the level for every member, at least 1.
fn shares(
    members: &[&Member<'_>],
    adjust: Adjust,
    distribution: &mut SignedRankDistribution,
) -> Vec<f64> {
    shared_out(members.len(), adjust, |m, share| members[m].has_direction(share, distribution))
}

/// Returns the divisor of the level for each of `members` members. `has_direction` returns true if
/// a member has a direction at its level divided by the given share.
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
                // All members use the level of the last round.
                return vec![all / open.len().max(1) as f64; members];
            }
        }
    }
    // Members with a direction keep the share at which it was found.
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
