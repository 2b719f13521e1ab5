//! The random numbers of an experiment, all derived from the seed of its plan.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Generator used for all random draws.
pub(super) type Random = Pcg64Mcg;

/// Shuffles uniformly (Fisher-Yates).
pub(super) fn shuffle(things: &mut [usize], random: &mut Random) {
    for i in (1..things.len()).rev() {
        let j = below(random, i as u32 + 1) as usize;
        things.swap(i, j);
    }
}

/// Draws a uniformly distributed number below `bound` (Lemire 2019, with rejection).
pub(super) fn below(random: &mut Random, bound: u32) -> u32 {
    let reject_below = bound.wrapping_neg() % bound;
    loop {
        let wide = u64::from(random.next_u32()) * u64::from(bound);
        if wide as u32 >= reject_below {
            return (wide >> 32) as u32;
        }
    }
}
