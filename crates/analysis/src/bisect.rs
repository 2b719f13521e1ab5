//! Finds the commit that introduced a change: a noisy binary search over places in a known order,
//! of which the first is good and the last is bad.
//!
//! A [`Search`] selects the places to measure in the next block, and decides whether the step has
//! been located. [`Bisected`] is the result computed from the recorded samples of a search; it
//! equals the result of the original search. The statistics are in [`assay_stats::step_place`],
//! which cites the papers.
//!
//! A block contains a place that is certainly before the step, one that is certainly after it, and
//! between them the one that halves the uncertainty, so that every value is compared with both
//! levels within its own block. No answer is final: the places certainly before the step are
//! recomputed after every look, and a place is measured again as soon as it matters. A commit is
//! established under two conditions. Its probability must reach the confidence, and it must have
//! been compared directly with its predecessor, in at least [`policy::BISECT_PAIRS`] blocks, with
//! an interval that excludes no change. The first condition alone would depend on the model; the
//! second is valid for any noise.
//!
//! This module knows nothing of commits, builds or processes: a place is a number.

use crate::design::looks::{self, End};
use crate::number;
use crate::paired::{self, Paired};
use crate::policy;
use crate::verdict::{Decision, Scale, Verdict};
use assay_data::code;
use assay_data::{Action, Finding, Metric, Plan, Samples, Severity, StopReason, StopRule};
use assay_stats::signed_rank::{self, SignedRankDistribution};
use assay_stats::step_place::{StepPlace, step_place};
use assay_stats::{Interval, descriptive};

/// Returns the plan for comparing the two ends before the search, which is the plan of the search
/// limited to [`policy::BISECT_ENDS`] blocks.
pub fn of_ends(plan: &Plan) -> Plan {
    let stop = match plan.stop {
        StopRule::Sequential { look_level, max_blocks } => {
            StopRule::Sequential { look_level, max_blocks: max_blocks.min(policy::BISECT_ENDS) }
        }
        StopRule::Fixed { blocks } => StopRule::Fixed { blocks: blocks.min(policy::BISECT_ENDS) },
    };
    Plan { stop, ..plan.clone() }
}

/// Returns true if the difference between the ends is evaluated after `blocks` blocks, so that the
/// search may begin at that point.
pub(crate) fn is_looked_at(ends: &Plan, blocks: u32) -> bool {
    let (StopRule::Sequential { max_blocks: most, .. } | StopRule::Fixed { blocks: most }) =
        ends.stop;
    blocks <= policy::BISECT_LOOKED || looks::is_look(most, blocks)
}

/// Returns true if the difference between the ends is worth searching for: its direction is known,
/// and its estimate is at least as large as the threshold.
pub fn is_worth_searching(ends: &Decision) -> bool {
    // A NaN threshold excludes nothing.
    ends.verdict.is_directional()
        && (ends.threshold.is_nan() || ends.estimate.abs() >= ends.threshold)
}

/// Two neighboring places, and the probability that the step is between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The last place before the step.
    pub after: usize,
    /// The first place after the step. Any places between `after` and this one could not be
    /// measured.
    pub at: usize,
    /// Probability that the step is between the two.
    pub probability: f64,
}

/// The difference between two neighboring places, from the blocks that contain both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Number of blocks that contain both.
    pub blocks: usize,
    /// The pseudo-median (Hodges & Lehmann) of the differences, which are logarithms of ratios, or
    /// amounts.
    pub estimate: f64,
    /// Interval for the difference at the confidence of the search, from Wilcoxon's signed ranks;
    /// `None` if there are too few blocks.
    pub interval: Option<Interval>,
}

/// A search in progress.
#[derive(Debug)]
pub struct Search {
    confidence: f64,
    skipped: Vec<bool>,
    /// Number of measurements of each place.
    counts: Vec<usize>,
    blocks: Vec<Vec<(usize, f64)>>,
    is_positive: bool,
    next_look: usize,
    known: Option<StepPlace>,
    best: Option<(Candidate, Pair)>,
}

impl Search {
    /// Creates a search over `places` places (at least two), at this confidence.
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

    /// Excludes a place from now on because it can't be measured. Earlier results are kept.
    pub fn skip(&mut self, place: usize) {
        if let Some(skipped) = self.skipped.get_mut(place) {
            *skipped = true;
            self.look(true);
        }
    }

    /// Returns true if a place was excluded.
    pub fn is_skipped(&self, place: usize) -> bool {
        self.skipped.get(place).copied().unwrap_or(true)
    }

    /// Adds a block, ignoring values that are not finite, unless fewer than two values remain.
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

    /// Updates the estimates if the number of blocks has grown by 3 % since the last update, or if
    /// `now` is set. An update is O(values).
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

    /// Returns the values on the scale on which they are compared.
    fn values(&self) -> Vec<Vec<(usize, f64)>> {
        if !self.is_positive {
            return self.blocks.clone();
        }
        let logs = |block: &Vec<(usize, f64)>| block.iter().map(|&(p, v)| (p, v.ln())).collect();
        self.blocks.iter().map(logs).collect()
    }

    /// Returns the scale of [`Search::known`] and of [`Pair`].
    pub fn scale(&self) -> Scale {
        if self.is_positive { Scale::Ratio } else { Scale::Shift }
    }

    /// Returns the posterior distribution of the step's place, as of the last look.
    pub fn known(&self) -> Option<&StepPlace> {
        self.known.as_ref()
    }

    /// Returns the most probable candidate as of the last look and its direct measurement.
    pub fn best(&self) -> Option<(Candidate, Pair)> {
        self.best
    }

    /// Returns true if the best candidate is established.
    pub fn is_established(&self) -> bool {
        let (Some((best, pair)), Some(known)) = (self.best, &self.known) else { return false };
        let apart = pair.interval.is_some_and(|i| match known.step > 0.0 {
            true => i.lower > 0.0,
            false => i.upper < 0.0,
        });
        best.probability >= self.confidence && pair.blocks >= policy::BISECT_PAIRS && apart
    }

    /// Returns all pairs of neighbors that can be measured, in order, each with the probability
    /// that the step is between them.
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

    /// Returns the places to measure in the next block, at least two, in ascending order.
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
            // All places in between are known as precisely as their builds allow.
            let mut block = vec![before, any, behind];
            block.extend(self.neighbour(known, (before, behind)));
            block.sort_unstable();
            return block;
        };
        // Building takes long, so an existing build that splits nearly as well is preferred.
        let built = open().filter(|&place| self.counts[place] > 0).max_by(most);
        let built = built.filter(|&p| halves(p) >= policy::BISECT_BUILT * halves(fairest));
        vec![before, built.unwrap_or(fairest), behind]
    }

    /// Returns true if more runs of this place's build would add little, because the variation
    /// between builds exceeds the remaining uncertainty about this place's value.
    fn is_well_known(&self, known: &StepPlace, place: usize) -> bool {
        let count = self.counts[place];
        // The place's value is compared with the mean of two others in the same block.
        count >= policy::BISECT_WELL_KNOWN
            && 1.5 * known.noise.powi(2) < known.own.powi(2) * count as f64
    }

    /// Returns a place near the step that is certainly before or after it and not well known yet.
    /// More such places improve the estimate of the variation between builds.
    fn neighbour(&self, known: &StepPlace, (before, behind): (usize, usize)) -> Option<usize> {
        let usable = self.usable();
        let near = policy::BISECT_NEIGHBOURS;
        let below = usable.iter().rev().copied().filter(|&place| place < before).take(near);
        let above = usable.iter().copied().filter(|&place| place > behind).take(near);
        let outside = below.enumerate().chain(above.enumerate());
        let open = outside.filter(|&(_, place)| !self.is_well_known(known, place));
        open.min().map(|(_, place)| place)
    }

    /// Estimates the number of further blocks until the step is established. Returns `None` until
    /// the ends were measured and differ. The remaining uncertainty (in nats) is divided by the
    /// information that a block gives about the place that halves the uncertainty, and about two
    /// neighbors.
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

/// Outcomes of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The step is established: at one commit, or at several neighbors of which only the last could
    /// be measured.
    Found,
    /// The ends differ by less than the threshold, if at all.
    Unchanged,
    /// It is not known whether the ends differ.
    EndsUnknown,
    /// The ends differ, but it is not known where the change happened.
    Unplaced,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Bisected {
    /// What was found.
    pub outcome: Outcome,
    /// The difference of the last place from the first, from the blocks before the search; `None`
    /// without such blocks.
    pub ends: Option<Decision>,
    /// The scale of all differences.
    pub scale: Scale,
    /// The most probable candidate, and its direct measurement.
    pub best: Option<(Candidate, Pair)>,
    /// All candidates, in descending order of probability.
    pub candidates: Vec<Candidate>,
    /// The posterior of the step's place.
    pub known: Option<StepPlace>,
    /// Requested confidence.
    pub confidence: f64,
    /// Number of places measured.
    pub measured: usize,
    /// Number of runs.
    pub runs: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// Approximate number of further blocks needed; `None` until the ends were measured and differ.
    pub blocks_left: Option<f64>,
}

impl Bisected {
    /// Computes the result from the samples of a search, in which the index of a subject is its
    /// place. `skipped` lists the places that could not be measured.
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

    /// Returns true if the change found is clearly smaller than the difference between the ends, so
    /// that there must be other changes.
    pub fn is_part(&self) -> bool {
        let (Some(ends), Some((_, pair))) = (&self.ends, self.best) else { return false };
        let reaches = pair.interval.is_some_and(|i| match ends.estimate > 0.0 {
            true => ends.interval.is_some_and(|e| i.upper < e.lower),
            false => ends.interval.is_some_and(|e| i.lower > e.upper),
        });
        self.outcome == Outcome::Found && ends.scale == self.scale && reaches
    }

    /// Returns findings about other changes and about the variation between builds.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.is_part() {
            let message = "the two ends differ by more than this commit changed: other commits changed it as well";
            findings.push(
                Finding::new(code::OTHER_CHANGES, message)
                    .advise(Action::text("search the commits before and after it as well")),
            );
        }
        if let Some(known) = self.known.as_ref().filter(|_| self.is_luck()) {
            let message = format!(
                "builds of neighboring commits differ by themselves by about {} of the change (standard deviation): more runs of the same builds hardly show which commit it was",
                number::percent(known.own / known.step.abs())
            );
            findings.push(
                Finding::new(code::LAYOUT, message)
                    .at(Severity::Warning)
                    .with("own", known.own)
                    .with("step", known.step)
                    .advise(Action::SeveralBuilds),
            );
        }
        findings
    }

    /// Returns true if the step was not located and builds vary so much that more runs of the same
    /// builds would add little.
    pub fn is_luck(&self) -> bool {
        let known = self.known.as_ref().filter(|_| self.outcome == Outcome::Unplaced);
        known.is_some_and(|known| known.own >= policy::BISECT_LUCK * known.step.abs())
    }
}

/// Returns the blocks of a recording, in order, each with its places and their values.
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

/// Evaluates the difference between the ends in the blocks before the search, which contain only
/// the ends.
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
        // The search began after this block.
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
