//! Planning in blocks: each block measures both sides, so that only the difference within a block
//! matters.
//!
//! The spread of the pilot's per-block differences gives the half width of the signed-rank interval
//! after a number of blocks, and from it the number needed ([`assay_stats::power`],
//! `docs/concepts/deciding.md`, section 8): for a fixed number, evaluated once, and for a run that
//! looks after every block and stops by itself.

use super::PlanQuestion;
use crate::analysis::seconds_per_block;
use crate::paired::threshold_on;
use crate::policy;
use crate::verdict::Scale;
use assay_data::{Samples, Threshold, plan};
use assay_stats::power_t::Quantities;
use assay_stats::{descriptive, normal, power};

/// The number of blocks needed under one stopping rule, and the difference that a given number
/// detects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needed {
    /// Number of blocks that detect the difference with the requested power; an upper estimate.
    pub to_find: Option<u64>,
    /// Number of blocks with which half of all experiments would rule out a difference as large as
    /// the threshold, if there is no difference.
    pub to_rule_out: Option<u64>,
    /// The difference that [`BlocksPlan::at_blocks`] blocks detect with the requested power, on the
    /// plan's scale.
    pub detectable: f64,
}

/// The plan in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct BlocksPlan {
    /// Name of the subject whose differences from its reference vary most.
    pub of: String,
    /// Name of that subject's reference.
    pub against: String,
    /// Number of blocks in the pilot.
    pub pilot_blocks: usize,
    /// The requested number of blocks or, by default, the pilot's.
    pub at_blocks: f64,
    /// The scale of the differences.
    pub scale: Scale,
    /// Robust standard deviation of the per-block differences, on the plan's scale (log ratios, or
    /// the unit).
    pub spread: f64,
    /// The difference that matters, on the plan's scale; `None` if none was requested.
    pub threshold: Option<f64>,
    /// Requirements if the number of blocks is fixed.
    pub fixed: Needed,
    /// Requirements for a run that stops by itself.
    pub sequential: Needed,
    /// Duration of a block in seconds, including pauses; `None` if no times were recorded.
    pub seconds_per_block: Option<f64>,
}

impl BlocksPlan {
    /// Plans from a pilot in blocks; `None` if the pilot has no blocks or too few, or if its
    /// differences do not vary.
    pub(super) fn of(
        samples: &Samples,
        metric: usize,
        asked: &PlanQuestion,
        t: Quantities,
    ) -> Option<Self> {
        let rows = samples.complete_blocks(metric);
        if rows.len() < policy::FEWEST_PILOT_BLOCKS || samples.subjects.len() < 2 {
            return None;
        }
        let column =
            |subject: usize| rows.iter().map(|row| row.values[subject]).collect::<Vec<_>>();
        let positive = rows.iter().all(|row| row.values.iter().all(|&v| v > 0.0));
        let scale = match asked.delta {
            Some(Threshold::Relative(_)) if positive => Scale::Ratio,
            None if positive => Scale::Ratio,
            _ => Scale::Shift,
        };
        let spread = |of: usize, against: usize| {
            let differences: Vec<f64> = column(against)
                .iter()
                .zip(column(of))
                .map(|(a, b)| match scale {
                    Scale::Ratio => (b / a).ln(),
                    Scale::Shift => b - a,
                })
                .collect();
            descriptive::ROBUST_SD * descriptive::median_absolute_deviation(&differences)
        };
        let pairs = (0..samples.subjects.len())
            .filter_map(|of| Some((of, samples.reference_of(of)?)))
            .map(|(of, against)| (of, against, spread(of, against)));
        let (of, against, spread) = pairs.max_by(|a, b| a.2.total_cmp(&b.2))?;
        if spread.is_nan() || spread <= 0.0 {
            return None;
        }
        let threshold = asked
            .delta
            .as_ref()
            .map(|delta| threshold_on(scale, delta, descriptive::median(&column(against))));
        let confidence = 1.0 - t.sig_level;
        let at_blocks = asked.n.unwrap_or(rows.len() as f64);
        let needed = |level: f64| needed(spread, at_blocks, threshold, level, t.power);
        Some(Self {
            of: samples.subjects[of].name.clone(),
            against: samples.subjects[against].name.clone(),
            pilot_blocks: rows.len(),
            at_blocks,
            scale,
            spread,
            threshold,
            fixed: needed(t.sig_level),
            sequential: needed(plan::look_level(confidence)),
            seconds_per_block: seconds_per_block(samples),
        })
    }
}

fn needed(spread: f64, at: f64, threshold: Option<f64>, level: f64, chance: f64) -> Needed {
    let (z, z_power) = (-normal::quantile(level / 2.0), normal::quantile(chance));
    let one = power::expected_half_width(spread, 1.0, z);
    let whole = |blocks: f64| (blocks < 1e12).then(|| blocks.ceil().max(1.0) as u64);
    let to_find = |t: f64| whole(power::blocks_to_find(1.0, one, t, z, z_power));
    let to_rule_out = |t: f64| whole(power::blocks_for_equivalence(1.0, one, t, z));
    let half_width = power::expected_half_width(spread, at, z);
    Needed {
        to_find: threshold.and_then(to_find),
        to_rule_out: threshold.and_then(to_rule_out),
        detectable: half_width * (z + z_power) / z,
    }
}
