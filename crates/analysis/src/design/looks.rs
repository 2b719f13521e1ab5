//! The schedule of evaluations of a run that stops by itself, and the confidence level of each
//! look.
//!
//! Comparisons are evaluated after 10, 12, 14, 17, 20, … blocks (a fifth more each time) and at the
//! maximum number of blocks. The looks share four fifths of the allowed error, spent in proportion
//! to the logarithm of their blocks, so that each has about the same critical value (Lan & DeMets
//! 1983). The remaining error is spent if measuring ends for a reason independent of the data, such
//! as the end of the budget. At any other moment (Ctrl-C, a user's condition) somebody may have
//! seen the numbers, so the plan's look level applies, which allows a look after every block. The
//! total error of all three stays below the allowed error (`tests/it/simulation`). Levels do not
//! depend on values, so rereading a file gives the same levels.

use crate::paired::{self, Level};
use crate::policy::LOOKED_SHARE;
use assay_data::{Plan, StopRule};
use assay_stats::{group_sequential, group_sequential::Within, normal};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Number of blocks at the first scheduled look, unless the maximum is smaller.
const FIRST: f64 = 10.0;
/// A scheduled look is skipped unless the maximum number of blocks exceeds this multiple of it.
const NEAR: f64 = 1.1;

/// How measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Measuring ended for a reason independent of the data.
    Planned,
    /// Measuring ended in any other way, or is still going on.
    Any,
}

/// Returns true if `blocks` is one of the looks of a run of at most `most` blocks.
pub fn is_look(most: u32, blocks: u32) -> bool {
    looks(most).any(|look| look == blocks)
}

/// Returns the levels of a comparison of `blocks` blocks that has 1/`share` of the error. `share`
/// must be at least 1.
// Note: these levels are not shown to the user: "95 %" in the output is the confidence of the whole
// run.
pub fn level(plan: &Plan, share: f64, blocks: usize, end: End) -> Level {
    Level { interval: interval(plan, share, blocks, end), groups: (1.0 - plan.confidence) / share }
}

/// Returns the minimum number of blocks for a verdict of a comparison that has 1/`share` of the
/// error.
pub fn fewest_blocks(plan: &Plan, share: f64) -> u32 {
    let could = |blocks: u32| {
        let level = interval(plan, share, blocks as usize, End::Planned);
        paired::fewest_blocks(level) <= blocks
    };
    let StopRule::Sequential { max_blocks, .. } = plan.stop else {
        return paired::fewest_blocks(plan.level() / share);
    };
    (2..max_blocks).find(|&blocks| could(blocks)).unwrap_or(max_blocks)
}

fn interval(plan: &Plan, share: f64, blocks: usize, end: End) -> f64 {
    let at_any_moment = plan.level() / share;
    let StopRule::Sequential { max_blocks, .. } = plan.stop else { return at_any_moment };
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    let planned = is_look(max_blocks, blocks) || end == End::Planned;
    if plan.until.is_some() || blocks == 0 || !planned {
        return at_any_moment;
    }
    let error = LOOKED_SHARE * (1.0 - plan.confidence) / share;
    level_of_look(max_blocks, error, blocks).max(at_any_moment)
}

fn looks(most: u32) -> impl Iterator<Item = u32> {
    let before = (0..)
        .map(|k| FIRST * 2.0_f64.powf(f64::from(k) / 4.0))
        .take_while(move |look| look * NEAR < f64::from(most))
        .map(|look| look.round() as u32);
    before.chain([most])
}

/// Returns the share of the looks' error that is spent up to and including this look.
fn spent(most: u32, look: u32) -> f64 {
    let by_logarithm = |blocks: u32| (f64::from(blocks) / (FIRST / 2.0)).ln();
    if look >= most { 1.0 } else { by_logarithm(look) / by_logarithm(most) }
}

/// Cached levels, by maximum number of blocks, bits of the error, and number of blocks. There are
/// few of them, each takes a few milliseconds to compute, and every row of a suite needs them.
static KNOWN: Mutex<BTreeMap<Look, f64>> = Mutex::new(BTreeMap::new());
type Look = (u32, u64, u32);

/// Returns the level of the look at `blocks` blocks, given all looks before it. If `blocks` is not
/// a look, it counts as the last look.
fn level_of_look(most: u32, error: f64, blocks: u32) -> f64 {
    let key = (most, error.to_bits(), blocks);
    // A panicking thread leaves only complete entries.
    let known = || KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(&level) = known().get(&key) {
        return level;
    }
    let mut within: Option<Within> = None;
    let mut before = 0.0;
    for look in looks(most).take_while(|&look| look < blocks) {
        let now = spent(most, look);
        let information = f64::from(look);
        let value =
            group_sequential::critical(within.as_ref(), information, error * (now - before));
        within = Some(Within::after(within.as_ref(), information, value));
        before = now;
    }
    let to_spend = if is_look(most, blocks) { spent(most, blocks) } else { 1.0 } - before;
    let value = group_sequential::critical(within.as_ref(), f64::from(blocks), error * to_spend);
    let level = 2.0 * normal::cdf(-value);
    known().insert(key, level);
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Threshold;

    #[test]
    fn looks_are_ever_farther_apart_and_the_last_is_the_most() {
        let all: Vec<u32> = looks(1024).collect();
        assert_eq!(all[..8], [10, 12, 14, 17, 20, 24, 28, 34]);
        assert_eq!(all[all.len() - 3..], [761, 905, 1024]);
        assert_eq!(looks(40).collect::<Vec<_>>(), [10, 12, 14, 17, 20, 24, 28, 34, 40]);
        assert_eq!(looks(7).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn a_planned_end_is_surer_than_a_look_and_that_than_any_moment() {
        let plan = Plan::sequential(0.95, Threshold::default(), 1);
        let of = |plan: &Plan, blocks, end| level(plan, 1.0, blocks, end).interval;
        let anyhow = of(&plan, 100, End::Any);
        assert!((anyhow - 0.002).abs() < 1e-12);
        let look = of(&plan, 113, End::Any);
        assert!((0.0030..0.0040).contains(&look), "{look}");
        assert_eq!(of(&plan, 113, End::Planned), look);
        let end = of(&plan, 114, End::Planned);
        assert!((0.018..0.03).contains(&end), "{end}");
        // Without earlier looks, the whole error is left.
        assert!((of(&plan, 6, End::Planned) - 0.04).abs() < 1e-6);
        let until = Plan { until: Some("blocks >= 113".to_owned()), ..plan.clone() };
        assert!((of(&until, 113, End::Planned) - 0.002).abs() < 1e-12);
        let fixed = Plan { stop: StopRule::Fixed { blocks: 113 }, ..plan };
        assert!((of(&fixed, 113, End::Any) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn the_fewest_blocks_are_those_of_an_end_by_the_clock() {
        let plan = Plan::sequential(0.95, Threshold::default(), 1);
        assert_eq!([1.0, 11.0, 1000.0].map(|share| fewest_blocks(&plan, share)), [6, 11, 16]);
        let fixed = Plan { stop: StopRule::Fixed { blocks: 9 }, ..plan };
        assert_eq!(fewest_blocks(&fixed, 1.0), 6);
    }
}
