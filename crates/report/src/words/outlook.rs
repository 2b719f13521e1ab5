//! Additions to the sentence of a comparison without a verdict: what was observed so far, and the
//! time that a verdict would take.
//!
//! Forecasts come from the analysis; here they are rounded, converted to time, and given the option
//! that acts on them.

use super::{Form, Teller, counted, fixed0};
use crate::number;
use assay_analysis::{Interval, Outlook, Verdict};
use assay_data::{StopReason, StopRule, plan};

/// Maximum number of blocks worth recommending.
const MOST_BLOCKS: u64 = 1_000_000;
/// Maximum duration worth recommending, seconds.
const DAY: f64 = 86_400.0;

impl Teller<'_> {
    pub(super) fn details(&self) -> Vec<String> {
        let c = self.c;
        if c.decision.interval.is_none() {
            return self.seen_so_far().into_iter().collect();
        }
        match (c.decision.verdict, c.outlook) {
            (Verdict::Inconclusive, Some(outlook)) => self.outlook(outlook).into_iter().collect(),
            _ => self.busy().into_iter().collect(),
        }
    }

    /// Returns true if the details state that the machine was busy.
    pub(super) fn states_load(&self) -> bool {
        let decision = &self.c.decision;
        decision.interval.is_some() && decision.verdict.is_directional() && self.busy().is_some()
    }

    /// Returns what was observed so far if there are too few values for a verdict, with the
    /// probability that chance alone would produce it.
    fn seen_so_far(&self) -> Option<String> {
        let c = self.c;
        let mut said = Vec::new();
        let estimate = c.decision.estimate;
        if estimate.is_finite() && estimate != 0.0 {
            let here = Interval { lower: estimate, upper: estimate };
            said.push(format!(
                "seen so far: {}",
                self.single(estimate, self.limit().words(), here)
            ));
        }
        if let Some(blocks) = c.blocks.filter(|&n| n > 0 && n < c.fewest_blocks as usize) {
            let (n, of) = (blocks as f64, &self.of);
            if c.wins.better == n || c.wins.worse == n {
                let won = self.won(c.wins.better == n);
                let blocks = counted(blocks, "block");
                let verb = match self.words.noun.is_empty() || self.words.is_time {
                    true => "was",
                    false => "had",
                };
                said.push(format!("{of} {verb} {won} in {} of {blocks}", fixed0(n)));
                if n > 1.0 {
                    let chance = number::percent_fine(2f64.powi(1 - n as i32));
                    said.push(format!("that happens by chance in {chance}"));
                }
            }
            // A user who interrupted the run has already seen how many blocks it takes.
            if self.analysis.stop != Some(StopReason::Interrupted) {
                let confidence = number::chosen_percent(self.analysis.plan.confidence);
                let fewest = c.fewest_blocks;
                said.push(format!("{confidence} confidence takes at least {fewest} blocks"));
            }
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn outlook(&self, outlook: Outlook) -> Option<String> {
        let c = self.c;
        let blocks = c.blocks? as u64;
        let limit = u64::from(plan::MAX_BLOCKS);
        let sequential = self.analysis.plan.is_sequential();
        let in_a_day = |more: &u64| {
            self.analysis.seconds_per_block.is_none_or(|seconds| seconds * *more as f64 <= DAY)
        };
        let in_reach = |more: &u64| {
            let most = if sequential { limit.saturating_sub(blocks) } else { MOST_BLOCKS };
            *more <= most && in_a_day(more)
        };
        let mut said = Vec::new();
        if let Some(more) = outlook.to_rule_out.filter(in_reach) {
            said.push(format!(
                "To rule out {}: about {}",
                self.threshold(),
                self.more_blocks(more)
            ));
        }
        if let Some(more) = outlook.to_confirm.filter(in_reach) {
            let to = if said.is_empty() { "To" } else { "to" };
            let seen = match self.form {
                Form::Multiple => number::multiple(c.decision.estimate.exp()),
                _ => format!("{}{}", self.numbers(&[c.decision.estimate])[0], self.suffix()),
            };
            said.push(format!(
                "{to} confirm the {seen} seen now: about {}",
                self.more_blocks(more)
            ));
        }
        let mut line = said.join("; ");
        if !line.is_empty() {
            line += ".";
            let largest = [outlook.to_rule_out, outlook.to_confirm]
                .into_iter()
                .flatten()
                .filter(in_reach)
                .max();
            if let Some(advice) = largest.and_then(|more| self.advice(more + blocks)) {
                line += &format!(" {advice}");
            }
        }
        let forecasts = [outlook.to_rule_out, outlook.to_confirm];
        if line.is_empty() && forecasts.into_iter().flatten().any(|more| !in_a_day(&more)) {
            line =
                "The difference, if there is one, is too small to be detected in a day.".to_owned();
        }
        if let Some(threshold) = outlook.reachable_threshold {
            let reachable = self.on_scale(threshold);
            let gap = match line.chars().last() {
                None => "",
                Some('.') => " ",
                Some(_) => ". ",
            };
            line += &format!(
                "{gap}Ruling out {} takes more than {limit} blocks with this noise; {reachable} is feasible: --threshold {}",
                self.threshold(),
                reachable.replace(' ', "")
            );
        }
        (!line.is_empty()).then_some(line)
    }

    fn more_blocks(&self, more: u64) -> String {
        let rounded = two_digits(more);
        let blocks = format!("{rounded} more {}", if rounded == 1 { "block" } else { "blocks" });
        match self.analysis.seconds_per_block {
            Some(seconds) => format!("{blocks} ({})", number::duration(seconds * more as f64)),
            None => blocks,
        }
    }

    /// Returns advice on the option with which a run takes this many blocks in total.
    fn advice(&self, blocks: u64) -> Option<String> {
        if self.analysis.plan.until.is_some() {
            return Some("Make --until stricter, or leave it out".to_owned());
        }
        match (&self.analysis.plan.stop, self.analysis.seconds_per_block) {
            (StopRule::Fixed { .. }, _) => {
                Some(format!("Fix the number higher next time: --runs {}", two_digits(blocks)))
            }
            (StopRule::Sequential { .. }, Some(seconds)) => {
                let total = seconds * blocks as f64;
                let time = if total < 120.0 {
                    format!("{}s", (total / 10.0).ceil() * 10.0)
                } else {
                    format!("{}min", (total / 60.0).ceil())
                };
                Some(format!("Give it that time: --time {time}"))
            }
            (StopRule::Sequential { .. }, None) => Some("Give it more time: --time".to_owned()),
        }
    }
}

/// Rounds a forecast up to two significant digits, because it is not exact to the block.
fn two_digits(n: u64) -> u64 {
    let mut unit = 1;
    while n / unit >= 100 {
        unit *= 10;
    }
    n.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_are_rounded_up_to_two_digits() {
        assert_eq!([1, 99, 101, 1234].map(two_digits), [1, 99, 110, 1300]);
    }
}
