//! Which of many commits brought a change: a noisy binary search over places in a known order, of
//! which the first is good and the last is bad.
//!
//! A [`Search`] says which places the next block measures, and whether the place of the step is
//! established; [`Bisected`] is what recorded samples of such a search come to, and says the same
//! as the search did while it was measured. The statistics are [`assay_stats::step_place`]'s, where
//! the papers are named.
//!
//! A block holds a place that is surely before the step, one that is surely behind it, and between
//! them the one that halves what is not known, so that every value is compared with both levels
//! within its own block. No answer is final: what is surely before is found out anew after every
//! look, and a place is measured again as soon as it matters. A commit is established when two
//! things hold: its probability reaches the confidence, and it was compared with its predecessor
//! directly, in [`policy::BISECT_PAIRS`] blocks or more, with an interval that excludes no change.
//! The first alone would rest on the model; the second holds whatever the noise looks like.
//!
//! It must not know commits, builds or processes: a place is a number.

use crate::design::looks::{self, End};
use crate::number;
use crate::paired::{self, Paired};
use crate::policy;
use crate::verdict::{Decision, Scale, Verdict};
use assay_data::{Action, Finding, Metric, Plan, Samples, Severity, StopReason, StopRule};
use assay_stats::signed_rank::{self, SignedRankDistribution};
use assay_stats::step_place::{StepPlace, step_place};
use assay_stats::{Interval, descriptive};

/// The plan by which the two ends are compared before the search: that of the search, with an end
/// of its own.
pub fn of_ends(plan: &Plan) -> Plan {
    let stop = match plan.stop {
        StopRule::Sequential { look_level, max_blocks } => {
            StopRule::Sequential { look_level, max_blocks: max_blocks.min(policy::BISECT_ENDS) }
        }
        StopRule::Fixed { blocks } => StopRule::Fixed { blocks: blocks.min(policy::BISECT_ENDS) },
    };
    Plan { stop, ..plan.clone() }
}

/// Whether the search may begin after so many blocks of the ends.
pub(crate) fn is_looked_at(ends: &Plan, blocks: u32) -> bool {
    let (StopRule::Sequential { max_blocks: most, .. } | StopRule::Fixed { blocks: most }) =
        ends.stop;
    blocks <= policy::BISECT_LOOKED || looks::is_look(most, blocks)
}

/// Whether a difference of the ends is one to look for: its direction is known, and it is as large
/// as the threshold.
pub fn is_worth_searching(ends: &Decision) -> bool {
    // A threshold that is no number holds nothing back.
    ends.verdict.is_directional()
        && (ends.threshold.is_nan() || ends.estimate.abs() >= ends.threshold)
}

/// Neighbouring places of which the second is behind the step and the first is not, with how
/// probable that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The last place before the step.
    pub after: usize,
    /// The first place behind it; what lies between the two could not be measured.
    pub at: usize,
    /// Its probability.
    pub probability: f64,
}

/// What blocks that hold two neighbours say of their difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// How many there are.
    pub blocks: usize,
    /// The pseudo-median of the differences (Hodges & Lehmann): logarithms of ratios, or amounts.
    pub estimate: f64,
    /// Its interval at the confidence of the search (Wilcoxon's signed ranks); `None` where the
    /// blocks are too few.
    pub interval: Option<Interval>,
}

/// A search under way.
#[derive(Debug)]
pub struct Search {
    confidence: f64,
    skipped: Vec<bool>,
    /// How often each place was measured.
    counts: Vec<usize>,
    blocks: Vec<Vec<(usize, f64)>>,
    is_positive: bool,
    next_look: usize,
    known: Option<StepPlace>,
    best: Option<(Candidate, Pair)>,
}

impl Search {
    /// A search over so many places (at least two), at this confidence.
    pub fn new(places: usize, confidence: f64) -> Self {
        let places = places.max(2);
        Self {
            confidence,
            skipped: vec![false; places],
            counts: vec![0; places],
            blocks: Vec::new(),
            is_positive: true,
            next_look: 0,
            known: None,
            best: None,
        }
    }

    /// Leaves a place out from now on: it can't be measured. What is known of it stays.
    pub fn skip(&mut self, place: usize) {
        if let Some(skipped) = self.skipped.get_mut(place) {
            *skipped = true;
            self.look(true);
        }
    }

    /// Whether a place was left out.
    pub fn is_skipped(&self, place: usize) -> bool {
        self.skipped.get(place).copied().unwrap_or(true)
    }

    /// Takes in a block; values that are no number are left out.
    pub fn take(&mut self, block: &[(usize, f64)]) {
        let places = self.counts.len();
        let usable = block.iter().filter(|(place, value)| *place < places && value.is_finite());
        let block: Vec<(usize, f64)> = usable.copied().collect();
        if block.len() < 2 {
            return;
        }
        self.is_positive &= block.iter().all(|&(_, value)| value > 0.0);
        block.iter().for_each(|&(place, _)| self.counts[place] += 1);
        self.blocks.push(block);
    }

    /// Finds out what is known, if there is enough that is new; `now`: in any case. O(values) where
    /// it looks, which it does once in three hundredths more blocks.
    pub fn look(&mut self, now: bool) {
        let count = self.blocks.len();
        if !now && count < self.next_look {
            return;
        }
        self.next_look = count + (count * 3 / 100).max(1);
        self.known = step_place(self.counts.len(), &self.values());
        let candidates = self.candidates();
        let best = candidates.into_iter().max_by(|a, b| a.probability.total_cmp(&b.probability));
        self.best = best.map(|best| (best, self.pair(best)));
    }

    /// The values on the scale on which they are compared.
    fn values(&self) -> Vec<Vec<(usize, f64)>> {
        if !self.is_positive {
            return self.blocks.clone();
        }
        let logs = |block: &Vec<(usize, f64)>| block.iter().map(|&(p, v)| (p, v.ln())).collect();
        self.blocks.iter().map(logs).collect()
    }

    /// The scale of [`Search::known`] and of pairs.
    pub fn scale(&self) -> Scale {
        if self.is_positive { Scale::Ratio } else { Scale::Shift }
    }

    /// What is known of the place of the step, as of the last look.
    pub fn known(&self) -> Option<&StepPlace> {
        self.known.as_ref()
    }

    /// The most probable candidate as of the last look, and what was measured of it directly.
    pub fn best(&self) -> Option<(Candidate, Pair)> {
        self.best
    }

    /// Whether the best candidate is established.
    pub fn is_established(&self) -> bool {
        let (Some((best, pair)), Some(known)) = (self.best, &self.known) else { return false };
        let apart = pair.interval.is_some_and(|i| match known.step > 0.0 {
            true => i.lower > 0.0,
            false => i.upper < 0.0,
        });
        best.probability >= self.confidence && pair.blocks >= policy::BISECT_PAIRS && apart
    }

    /// Neighbours that can be measured, in their order, each with the probability that the step
    /// lies between them.
    pub fn candidates(&self) -> Vec<Candidate> {
        let Some(known) = &self.known else { return Vec::new() };
        let usable = self.usable();
        let candidate = |pair: &[usize]| {
            let probability = known.probabilities[pair[0] + 1..=pair[1]].iter().sum();
            Candidate { after: pair[0], at: pair[1], probability }
        };
        usable.windows(2).map(candidate).collect()
    }

    fn usable(&self) -> Vec<usize> {
        (0..self.skipped.len()).filter(|&place| !self.skipped[place]).collect()
    }

    fn pair(&self, of: Candidate) -> Pair {
        let in_block = |block: &Vec<(usize, f64)>| {
            let value = |place| block.iter().find(|v| v.0 == place).map(|v| v.1);
            let (before, behind) = (value(of.after)?, value(of.at)?);
            Some(if self.is_positive { (behind / before).ln() } else { behind - before })
        };
        let differences: Vec<f64> = self.blocks.iter().filter_map(in_block).collect();
        let sorted = descriptive::sorted(&differences);
        let estimate =
            if sorted.is_empty() { f64::NAN } else { signed_rank::pseudo_median(&sorted) };
        let mut distribution = SignedRankDistribution::default();
        let interval = paired::interval_of(&sorted, 1.0 - self.confidence, &mut distribution);
        Pair { blocks: differences.len(), estimate, interval }
    }

    /// The places of the next block, ascending; at least two.
    pub fn next(&self) -> Vec<usize> {
        let ends = vec![0, self.skipped.len() - 1];
        let (Some(known), Some((best, _))) = (&self.known, self.best) else { return ends };
        if best.probability >= self.confidence {
            return vec![best.after, best.at];
        }
        let rest = (1.0 - self.confidence) / 2.0;
        let usable = self.usable();
        let measured = || usable.iter().copied().filter(|&place| self.counts[place] > 0);
        let before = measured().rfind(|&place| known.is_behind(place) <= rest);
        let behind = measured().find(|&place| known.is_behind(place) >= 1.0 - rest);
        let (before, behind) = (before.unwrap_or(ends[0]), behind.unwrap_or(ends[1]));
        let from = known.is_behind(before);
        let all = known.is_behind(behind) - from;
        let halves = |place: usize| {
            let share = (known.is_behind(place) - from) / all;
            share.min(1.0 - share)
        };
        let between = || usable.iter().copied().filter(|&p| p > before && p < behind);
        let most = |a: &usize, b: &usize| halves(*a).total_cmp(&halves(*b));
        let Some(any) = between().max_by(most) else { return vec![before, behind] };
        let open = || between().filter(|&place| !self.is_well_known(known, place));
        let Some(fairest) = open().max_by(most) else {
            // All of them are known as well as their builds allow.
            let mut block = vec![before, any, behind];
            block.extend(self.neighbour(known, (before, behind)));
            block.sort_unstable();
            return block;
        };
        // A build takes long: one that is there and divides nearly as well will do.
        let built = open().filter(|&place| self.counts[place] > 0).max_by(most);
        let built = built.filter(|&p| halves(p) >= policy::BISECT_BUILT * halves(fairest));
        vec![before, built.unwrap_or(fairest), behind]
    }

    /// Whether more runs of this place's build would say little more, because builds differ by
    /// themselves by more than what is not known of it.
    fn is_well_known(&self, known: &StepPlace, place: usize) -> bool {
        let count = self.counts[place];
        // Against the mean of two others within its block.
        count >= policy::BISECT_WELL_KNOWN
            && 1.5 * known.noise.powi(2) < known.own.powi(2) * count as f64
    }

    /// A commit beside those in question that is not well known yet: what builds differ by is then
    /// known from more of them.
    fn neighbour(&self, known: &StepPlace, (before, behind): (usize, usize)) -> Option<usize> {
        let usable = self.usable();
        let near = policy::BISECT_NEIGHBOURS;
        let below = usable.iter().rev().copied().filter(|&place| place < before).take(near);
        let above = usable.iter().copied().filter(|&place| place > behind).take(near);
        let outside = below.enumerate().chain(above.enumerate());
        let open = outside.filter(|&(_, place)| !self.is_well_known(known, place));
        open.min().map(|(_, place)| place)
    }

    /// About how many blocks it takes until a place is established; `None` before the ends are
    /// known. The information that a block brings about the place that halves what is not known,
    /// and about two neighbours, in units of what is not known yet (nats).
    pub fn blocks_left(&self) -> Option<f64> {
        let known = self.known.as_ref()?;
        let ratio = (known.noise / known.step).powi(2);
        let unknown: f64 =
            known.probabilities.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
        let sure = -(1.0 - self.confidence).ln();
        let found = self.best.map_or(0, |(_, pair)| pair.blocks);
        let direct = (policy::BISECT_PAIRS.max((8.0 * ratio) as usize)).saturating_sub(found);
        let left = 12.0 * ratio * unknown + 4.0 * ratio * sure;
        Some(if self.is_established() { 0.0 } else { left.max(direct as f64) })
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A commit is established, or several neighbours of which only the last could be measured.
    Found,
    /// The ends don't differ by the threshold.
    Unchanged,
    /// Whether the ends differ is not known.
    EndsUnknown,
    /// They differ, and where the change is is not known.
    Unplaced,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Bisected {
    /// How it ended.
    pub outcome: Outcome,
    /// The last place against the first, by the blocks before the search; `None` where there are
    /// none.
    pub ends: Option<Decision>,
    /// The scale of all differences.
    pub scale: Scale,
    /// The most probable candidate, with what was measured of it directly.
    pub best: Option<(Candidate, Pair)>,
    /// All candidates, the most probable first.
    pub candidates: Vec<Candidate>,
    /// What is known of the place.
    pub known: Option<StepPlace>,
    /// The confidence that is asked for.
    pub confidence: f64,
    /// How many places were measured.
    pub measured: usize,
    /// How many runs there were.
    pub runs: usize,
    /// In how many blocks.
    pub blocks: usize,
    /// About how many blocks more it takes, where it is not established.
    pub blocks_left: Option<f64>,
}

impl Bisected {
    /// What samples of a search over so many places came to; a place is the number of its subject.
    /// `skipped`: places that could not be measured.
    pub fn of(samples: &Samples, metric: usize, plan: &Plan, skipped: &[usize]) -> Self {
        let places = samples.subjects.len();
        let mut search = Search::new(places, plan.confidence);
        skipped.iter().for_each(|&place| search.skip(place));
        let blocks = blocks_of(samples, metric);
        blocks.iter().for_each(|block| search.take(block));
        search.look(true);
        let of = samples.metrics.get(metric);
        let ends = ends(&blocks, places, of, plan, samples.stop);
        let outcome = match &ends {
            Some(ends) if is_worth_searching(ends) => match search.is_established() {
                true => Outcome::Found,
                false => Outcome::Unplaced,
            },
            Some(ends) if ends.verdict == Verdict::Inconclusive => Outcome::EndsUnknown,
            Some(ends) if !ends.is_settled() => Outcome::EndsUnknown,
            Some(_) => Outcome::Unchanged,
            None => Outcome::EndsUnknown,
        };
        let mut candidates = search.candidates();
        candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Self {
            outcome,
            ends,
            scale: search.scale(),
            best: search.best(),
            candidates,
            known: search.known().cloned(),
            confidence: plan.confidence,
            measured: search.counts.iter().filter(|&&count| count > 0).count(),
            runs: samples.len(),
            blocks: blocks.len(),
            blocks_left: search.blocks_left(),
        }
    }

    /// Whether the found change is clearly smaller than that of the ends, so that there are others.
    pub fn is_part(&self) -> bool {
        let (Some(ends), Some((_, pair))) = (&self.ends, self.best) else { return false };
        let reaches = pair.interval.is_some_and(|i| match ends.estimate > 0.0 {
            true => ends.interval.is_some_and(|e| i.upper < e.lower),
            false => ends.interval.is_some_and(|e| i.lower > e.upper),
        });
        self.outcome == Outcome::Found && ends.scale == self.scale && reaches
    }

    /// What to know about the answer: that there are other changes, or that builds differ by
    /// themselves.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.is_part() {
            let message =
                "the two ends differ by more than this commit changed: others changed it, too";
            findings.push(
                Finding::new("OTHER_CHANGES", Severity::Note, message)
                    .advise(Action::text("search the commits before and after it as well")),
            );
        }
        if let Some(known) = self.known.as_ref().filter(|_| self.is_luck()) {
            let message = format!(
                "builds of neighbouring commits differ by themselves by about {} of the change (standard deviation): more runs of the same builds say little about which it was",
                number::percent(known.own / known.step.abs())
            );
            findings.push(
                Finding::new("BUILDS_VARY", Severity::Warning, message)
                    .with("own", known.own)
                    .with("step", known.step)
                    .advise(Action::SeveralBuilds),
            );
        }
        findings
    }

    /// Whether builds differ by themselves by so much that more runs of the same ones say little.
    pub fn is_luck(&self) -> bool {
        let known = self.known.as_ref().filter(|_| self.outcome == Outcome::Unplaced);
        known.is_some_and(|known| known.own >= policy::BISECT_LUCK * known.step.abs())
    }
}

/// The blocks of a recording, in their order: places with values.
fn blocks_of(samples: &Samples, metric: usize) -> Vec<Vec<(usize, f64)>> {
    let mut blocks: Vec<(u32, Vec<(usize, f64)>)> = Vec::new();
    for own in samples.observations().filter(|own| own.pass.is_none()) {
        let value = own.values.get(metric).copied().unwrap_or(f64::NAN);
        let block = own.block.unwrap_or(0);
        match blocks.last_mut().filter(|(number, _)| *number == block) {
            Some((_, values)) => values.push((own.subject, value)),
            None => blocks.push((block, vec![(own.subject, value)])),
        }
    }
    blocks.into_iter().map(|(_, values)| values).collect()
}

/// What the blocks before the search say of the ends: those that hold the ends alone.
fn ends(
    blocks: &[Vec<(usize, f64)>],
    places: usize,
    metric: Option<&Metric>,
    plan: &Plan,
    stop: Option<StopReason>,
) -> Option<Decision> {
    let mut paired = metric.map_or_else(Paired::default, Paired::of_metric);
    let better = metric.map(|metric| metric.better).unwrap_or_default();
    let plan = of_ends(plan);
    let mut distribution = SignedRankDistribution::default();
    let mut found = None;
    for (number, block) in blocks.iter().enumerate() {
        let value = |place| block.iter().find(|v| v.0 == place).map(|v| v.1);
        let both = value(0).zip(value(places.saturating_sub(1))).filter(|_| block.len() == 2);
        let Some((first, last)) = both else { break };
        if first.is_finite() && last.is_finite() {
            paired.push(first, last);
        }
        if paired.is_empty() {
            continue;
        }
        let is_last = number + 1 == blocks.len() || blocks[number + 1].len() != 2;
        if !is_last && !is_looked_at(&plan, number as u32 + 1) {
            continue;
        }
        let by_budget = number + 1 == blocks.len() && stop == Some(StopReason::Budget);
        let end = if by_budget { End::Planned } else { End::Any };
        let level = looks::level(&plan, 1.0, paired.len(), end);
        let decision = paired.decide(&plan.threshold, level, better, &mut distribution).decision;
        // Here the search began.
        let is_enough = !by_budget && is_worth_searching(&decision);
        found = Some(decision);
        if is_enough {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests;
