//! A searched unit: its places are ordered, one step is somewhere among them, and each block
//! measures only a few.
//!
//! At first only the two ends are compared, by the usual rules. If they differ by at least the
//! threshold, the search continues until the place of the step is established. Otherwise the unit
//! is done. [`crate::bisect`] selects the places of each block.

use super::row::{RowState, Watched};
use crate::bisect::{Search, is_looked_at, is_worth_searching, of_ends};
use assay_data::{Plan, StopReason, StopRule};

/// A search in progress.
#[derive(Debug)]
pub(super) struct Searching {
    /// The comparison of the ends.
    pub ends: RowState,
    /// The plan by which the ends are compared.
    of_ends: Plan,
    /// The state of the search.
    pub search: Search,
    current: Vec<(usize, f64)>,
    has_begun: bool,
    most: u32,
}

impl Searching {
    /// Creates a search with this plan over `places` places.
    pub fn new(plan: &Plan, places: usize) -> Self {
        let most = match plan.stop {
            StopRule::Sequential { max_blocks: most, .. } | StopRule::Fixed { blocks: most } => {
                most
            }
        };
        let of_ends = of_ends(plan);
        Self {
            ends: RowState::new(&of_ends, &[None, Some(0)], &[]),
            of_ends,
            search: Search::new(places, plan.confidence),
            current: Vec::new(),
            has_begun: false,
            most,
        }
    }

    /// Returns true if the ends are known to differ, so that the search has begun.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns the places to measure in the next block.
    pub fn order(&self, places: usize) -> Vec<usize> {
        if self.has_begun { self.search.next() } else { vec![0, places.saturating_sub(1)] }
    }

    /// Records the value of a place in the current block.
    pub fn observe(&mut self, place: usize, value: f64) {
        self.current.push((place, value));
    }

    /// Ends block number `blocks`, counted from 1, and returns the reason to stop, if any.
    pub fn end_block(
        &mut self,
        blocks: u32,
        elapsed_seconds: f64,
        watched: Watched,
    ) -> Option<StopReason> {
        let block = std::mem::take(&mut self.current);
        self.search.take(&block);
        if !self.has_begun {
            for (place, value) in block {
                self.ends.observe(usize::from(place > 0), value, 0);
            }
            self.ends.end_block(elapsed_seconds, watched);
            let is_end = self.ends.stopped.is_some();
            self.has_begun = (is_end || is_looked_at(&self.of_ends, blocks))
                && self.ends.estimate(1).is_some_and(|ends| is_worth_searching(&ends));
            if !self.has_begun && self.ends.stopped.is_some() {
                return self.ends.stopped;
            }
        }
        if self.has_begun {
            self.search.look(false);
            if self.search.is_established() {
                return Some(StopReason::Clear);
            }
        }
        (blocks >= self.most).then_some(StopReason::Blocks)
    }

    /// Excludes a place that can't be measured. Returns a reason to stop if it is one of the ends,
    /// because the search then fails.
    pub fn skip(&mut self, place: usize, places: usize) -> Option<StopReason> {
        self.search.skip(place);
        (place == 0 || place + 1 == places).then_some(StopReason::Failed)
    }
}
