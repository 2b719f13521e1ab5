//! Whose turn it is among several builds of one place: each once before any comes again, in an order that is drawn anew each time,
//! so that builds of two places meet by chance. It has a random stream of its own: with a build a place nothing else is drawn
//! otherwise.

use super::{Random, shuffle};

/// The builds of the places of a unit.
#[derive(Debug)]
pub(super) struct Builds {
    random: Random,
    /// By place the order of its builds in this cycle.
    orders: Vec<Vec<usize>>,
    /// By place the build of the block at hand.
    pub now: Vec<u32>,
}

impl Builds {
    /// So many builds of each place; of one where it is not said. `random`: a stream that nothing else is drawn from.
    pub fn new(counts: &[u32], places: usize, random: Random) -> Self {
        let count = |place: usize| counts.get(place).map_or(1, |&count| count.max(1) as usize);
        Self {
            random,
            orders: (0..places).map(|place| (0..count(place)).collect()).collect(),
            now: vec![0; places],
        }
    }

    /// Begins a block, counted from 0; blocks come one after another.
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
