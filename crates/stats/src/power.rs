//! The smallest change an experiment in blocks can detect, and the number of blocks a question
//! needs.
//!
//! Every formula scales the current half width h of the interval, which shrinks as 1/√n, so it is
//! valid for any noise with that property; the factors are from normal theory and were checked by
//! the simulation behind the decision procedure. The results are upper estimates for planning, not
//! evidence about a difference: for multimodal noise the width shrinks faster.
//!
//! All widths, effects and thresholds are on one scale (log ratios, or the unit of the values), and
//! z is the two-sided normal quantile of the interval's level: 1.96 for 95 %, 3.09 for the 99.8 %
//! of each look of a sequential run.

/// Normal quantile of 80 %: the usual power.
pub const Z_POWER_80: f64 = 0.841_621_233_572_914_3;

/// Normal quantile of 75 %: the margin with which an interval around 0 is inside both thresholds in
/// half of all experiments.
const Z_BOTH_SIDES: f64 = 0.674_489_750_196_081_7;

/// The half width of the signed-rank interval in units of z s/√n, for the robust spread s of normal
/// differences.
pub const SIGNED_RANK_WIDTH: f64 = 1.023;

/// The expected half width for `blocks` blocks with robust spread `spread` (1.4826 times the MAD of
/// the differences).
///
/// Infinite for no blocks.
#[must_use]
pub fn expected_half_width(spread: f64, blocks: f64, z: f64) -> f64 {
    SIGNED_RANK_WIDTH * z * spread / blocks.sqrt()
}

/// The smallest true effect that an experiment with this half width finds in four of five cases: h
/// (z + 0.84)/z.
#[must_use]
pub fn minimum_detectable_effect(half_width: f64, z: f64) -> f64 {
    half_width * (z + Z_POWER_80) / z
}

/// Approximate total number of blocks to show that a zero difference is within ± `threshold`: n
/// ((z + 0.67)/z · h/T)².
///
/// `half_width` is the half width after `blocks` blocks. Three in four experiments need fewer.
/// Infinite for a threshold of 0.
#[must_use]
pub fn blocks_for_equivalence(blocks: f64, half_width: f64, threshold: f64, z: f64) -> f64 {
    let needed = (z + Z_BOTH_SIDES) / z * half_width / threshold;
    blocks * needed * needed
}

/// Total number of blocks at which the interval just excludes 0 if the observed `effect` is the
/// true one: n (h/m)²; half the experiments need fewer.
///
/// Infinite for an effect of 0.
#[must_use]
pub fn blocks_to_confirm(blocks: f64, half_width: f64, effect: f64) -> f64 {
    let needed = half_width / effect;
    blocks * needed * needed
}

/// Total number of blocks at which four of five experiments exclude 0 if the observed `effect` is
/// the true one: n ((z + 0.84)/z · h/m)².
#[must_use]
pub fn blocks_to_confirm_80(blocks: f64, half_width: f64, effect: f64, z: f64) -> f64 {
    blocks_to_confirm(blocks, minimum_detectable_effect(half_width, z), effect)
}

/// Total number of blocks needed to exclude 0 with the power whose normal quantile is `z_power`, if
/// `effect` is the true one: n ((z + z_power)/z · h/m)², for half width `half_width` after `blocks`
/// blocks.
///
/// Infinite for an effect of 0.
#[must_use]
pub fn blocks_to_find(blocks: f64, half_width: f64, effect: f64, z: f64, z_power: f64) -> f64 {
    blocks_to_confirm(blocks, half_width * (z + z_power) / z, effect)
}

/// The threshold within which a zero difference can be shown after `limit` blocks: the inverse of
/// [`blocks_for_equivalence`].
#[must_use]
pub fn reachable_threshold(blocks: f64, half_width: f64, limit: f64, z: f64) -> f64 {
    (z + Z_BOTH_SIDES) / z * half_width * (blocks / limit).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENTIAL: f64 = 3.090_232;
    const FIXED: f64 = 1.959_964;

    fn close(ours: f64, published: f64) {
        assert!((ours / published - 1.0).abs() < 0.006, "{ours} {published}");
    }

    #[test]
    fn the_factors_are_those_of_the_decision_procedure() {
        close(minimum_detectable_effect(1.0, SEQUENTIAL), 1.27);
        close(minimum_detectable_effect(1.0, FIXED), 1.43);
        close(blocks_for_equivalence(1.0, 1.0, 1.0, SEQUENTIAL), 1.48);
        close(blocks_for_equivalence(1.0, 1.0, 1.0, FIXED), 1.80);
        close(blocks_to_confirm_80(1.0, 1.0, 1.0, SEQUENTIAL), 1.62);
        close(blocks_to_find(1.0, 1.0, 1.0, SEQUENTIAL, Z_POWER_80), 1.62);
        assert_eq!(blocks_to_confirm(40.0, 0.03, 0.01), 360.0);
    }

    #[test]
    fn a_pilot_spread_gives_the_same_forecast_as_its_half_width() {
        let (pilot, spread) = (25.0, 0.02);
        let h = expected_half_width(spread, pilot, SEQUENTIAL);
        close(blocks_for_equivalence(pilot, h, 0.01, SEQUENTIAL), 14.8 * 4.0);
        close(blocks_to_confirm(pilot, h, 0.01), 10.0 * 4.0);
        close(blocks_to_confirm_80(pilot, h, 0.01, SEQUENTIAL), 16.2 * 4.0);
    }

    #[test]
    fn the_reachable_threshold_is_the_one_whose_forecast_is_the_limit() {
        let threshold = reachable_threshold(25.0, 0.02, 1024.0, SEQUENTIAL);
        let blocks = blocks_for_equivalence(25.0, 0.02, threshold, SEQUENTIAL);
        assert!((blocks - 1024.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_see_needs_infinitely_many_blocks() {
        assert_eq!(blocks_to_confirm(10.0, 0.1, 0.0), f64::INFINITY);
        assert_eq!(blocks_for_equivalence(10.0, 0.1, 0.0, FIXED), f64::INFINITY);
    }
}
