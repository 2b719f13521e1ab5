//! The order of several builds of one place. Each build runs once before any runs again, in an
//! order that is redrawn for every cycle, so that builds of two places are paired at random. The
//! random stream is used for nothing else, so with one build per place all other draws are
//! unchanged.

use super::random::{Random, shuffle};

/// The builds of the places of a unit.
#[derive(Debug)]
pub(super) struct Builds {
    random: Random,
    /// For each place, the order of its builds in the current cycle.
    orders: Vec<Vec<usize>>,
    /// For each place, the build of the current block.
    pub now: Vec<u32>,
}

impl Builds {
    /// Creates the order for `counts` builds of each place; a missing count means one build.
    /// `random` must be a stream used for nothing else.
    pub fn new(counts: &[u32], places: usize, random: Random) -> Self {
        let count = |place: usize| counts.get(place).map_or(1, |&count| count.max(1) as usize);
        Self {
            random,
            orders: (0..places).map(|place| (0..count(place)).collect()).collect(),
            now: vec![0; places],
        }
    }

    /// Starts a block, counted from 0. Blocks must be started in sequence.
    pub fn begin(&mut self, block: u32) {
        for (order, now) in self.orders.iter_mut().zip(&mut self.now) {
            let at = block as usize % order.len();
            if at == 0 && order.len() > 1 {
                shuffle(order, &mut self.random);
            }
            *now = order[at] as u32;
        }
    }
}
