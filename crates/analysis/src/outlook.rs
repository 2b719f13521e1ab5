//! Forecasts: the number of further blocks that a verdict would likely take, and the difference
//! that this experiment could detect.
//!
//! The half width of the interval shrinks with the square root of the number of blocks.
//! `docs/concepts/deciding.md`, section 8, gives the factors, which come from the normal
//! approximation and were checked by simulation. The two forecasts of an [`Outlook`] are never
//! merged into one number, since the true difference determines which one matters.

use crate::verdict::Decision;
use assay_data::{Plan, plan};
use assay_stats::{normal, power};

/// Forecast for an unsettled comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Number of further blocks needed to show that any difference is below the threshold, if there
    /// is no difference.
    pub to_rule_out: Option<u64>,
    /// Number of further blocks needed to confirm the observed difference in 80 % of runs, if it is
    /// the true one.
    pub to_confirm: Option<u64>,
    /// The smallest threshold for which a run of the maximum number of blocks could rule out a
    /// difference, on the decision's scale. Set only if `to_rule_out` is out of reach.
    pub reachable_threshold: Option<f64>,
}

/// Returns the smallest true difference that these blocks would find in 80 % of experiments, on the
/// decision's scale; `None` if the decision has no interval.
pub fn detectable(decision: &Decision, level: f64) -> Option<f64> {
    let half_width = decision.interval?.half_width();
    Some(power::minimum_detectable_effect(half_width, z(level)))
}

/// Estimates the number of further blocks that would settle a decision; `None` if it has no
/// interval or is settled. The two levels are those of the decision's interval and of the interval
/// that a resumed run uses, which is valid at any time.
pub fn outlook(
    decision: &Decision,
    blocks: usize,
    (level, going_on): (f64, f64),
    plan: &Plan,
) -> Option<Outlook> {
    if decision.is_settled() {
        return None;
    }
    let half_width = decision.interval?.half_width() * (z(going_on) / z(level)).max(1.0);
    let level = level.min(going_on);
    if half_width <= 0.0 || half_width.is_nan() {
        return None;
    }
    let more = |total: f64| {
        let more = (total - blocks as f64).ceil();
        (more.is_finite() && more < 1e12).then_some(more.max(1.0) as u64)
    };
    let threshold = decision.threshold;
    let to_rule_out = (threshold > 0.0)
        .then(|| power::blocks_for_equivalence(blocks as f64, half_width, threshold, z(level)))
        .and_then(more);
    let seen = decision.estimate.abs();
    let to_confirm = (seen > 0.0)
        .then(|| power::blocks_to_confirm_80(blocks as f64, half_width, seen, z(level)))
        .and_then(more);
    let out_of_reach = plan.is_sequential()
        && to_rule_out.is_some_and(|n| n + blocks as u64 > u64::from(plan::MAX_BLOCKS));
    let reachable_threshold = out_of_reach.then(|| {
        power::reachable_threshold(blocks as f64, half_width, f64::from(plan::MAX_BLOCKS), z(level))
    });
    Some(Outlook { to_rule_out, to_confirm, reachable_threshold })
}

/// Returns the total number of blocks after which a comparison would be settled if the difference
/// stays as it is and its interval keeps shrinking with the square root of the blocks; `None` if
/// there is no interval.
pub fn blocks_until_clear(decision: &Decision, blocks: usize) -> Option<f64> {
    let half_width = decision.interval?.half_width();
    let (size, threshold) = (decision.estimate.abs(), decision.threshold);
    // A comparison is settled if the difference is beyond the threshold, within it, or has a
    // direction and a size known to half a threshold.
    let reach = if threshold.is_nan() {
        size
    } else {
        (size - threshold).abs().max((threshold / 2.0).min(size))
    };
    let needed = blocks as f64 * (half_width / reach).powi(2);
    needed.is_finite().then_some(needed.max(blocks as f64))
}

fn z(level: f64) -> f64 {
    -normal::quantile(level / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Scale;
    use assay_data::Better;
    use assay_stats::Interval;

    #[test]
    fn an_interval_that_has_to_be_half_as_wide_takes_four_times_the_blocks() {
        let until = |estimate: f64, half_width: f64| {
            let interval = Interval { lower: estimate - half_width, upper: estimate + half_width };
            let decision =
                Decision::read(Scale::Ratio, estimate, Some(interval), 0.01, 0.0, Better::Lower);
            blocks_until_clear(&decision, 40)
        };
        // A difference is within the threshold once no part of its interval extends beyond it.
        assert!(until(0.0, 0.02).is_some_and(|n| (n - 160.0).abs() < 1e-9));
        assert!(until(0.04, 0.02).is_some_and(|n| (n - 40.0).abs() < 1e-9));
        // A difference equal to the threshold needs a direction known to half the threshold.
        assert!(until(0.01, 0.01).is_some_and(|n| (n - 160.0).abs() < 1e-9));
    }

    #[test]
    fn the_quantile_is_that_of_both_sides() {
        assert!((z(0.05) - 1.959_963_984_540_054).abs() < 1e-12 && z(0.01) > z(0.05));
    }
}
