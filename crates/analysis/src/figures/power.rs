//! The differences that this experiment could have detected: the power of a t test (R's
//! `power.t.test`) with the same effective number of values and spread, and that of a rank test
//! according to the 15 % rule.
//!
//! The rule (GraphPad's, from the relative efficiency of rank tests, which is never below 0.864:
//! Hodges and Lehmann 1956) is that a rank test needs at most about 15 % more values than a t test
//! (1/0.864: 15.7 %).

use crate::Comparison;
use crate::planning::RANK_OVERHEAD;
use crate::policy;
use crate::protocol::Protocol;
use assay_data::Threshold;
use assay_stats::descriptive;
use assay_stats::power_t::{Kind, Quantities, Sides, Test, Unknown};

const POINTS: usize = 80;
/// Power at which the curve ends.
const SURE: f64 = 0.999;

/// Power as a function of the difference in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerCurve {
    /// Power of a t test.
    pub t: Vec<Point>,
    /// Lower bound of the power of a rank test.
    pub rank: Vec<Point>,
    /// Effective number of values per side, or of blocks.
    pub n: f64,
    /// Standard deviation of the values, or of the differences by block.
    pub standard_deviation: f64,
    /// Significance level of the comparison.
    pub level: f64,
    /// Desired power: 80 %, or that requested in the protocol.
    pub wanted: f64,
    /// The difference that is detected with the desired power, by a t test or a protocol's rank
    /// test.
    pub visible: Option<f64>,
    /// True if this is the power analysis of a protocol, which uses the upper end of the standard
    /// deviation's interval.
    pub of_protocol: bool,
    /// The smallest difference that matters, in the metric's unit.
    pub threshold: Option<f64>,
}

impl PowerCurve {
    /// Computes the curve of a protocol's power analysis; `None` if there is no such analysis, or
    /// if nothing varies.
    pub(super) fn of_protocol(chain: &Protocol) -> Option<Self> {
        let found = chain.power.found.as_ref()?;
        let kind = if chain.paired { Kind::Paired } else { Kind::TwoSample };
        let experiment = Experiment {
            test: Test { kind, sides: Sides::Two },
            n: found.have,
            sd: found.sd,
            level: chain.level_planned(),
            wanted: chain.power_wanted,
        };
        let curve = experiment.curve(chain.threshold)?;
        Some(Self { visible: found.visible, of_protocol: true, ..curve })
    }

    /// Computes the curve for two subjects; `None` if there are several builds, if there are too
    /// few data to estimate the spread, or if nothing varies.
    pub(super) fn of(
        comparison: &Comparison,
        (against, of): (&[f64], &[f64]),
        blocks: Option<&[(f64, f64)]>,
        threshold: &Threshold,
        chain: Option<&Protocol>,
    ) -> Option<Self> {
        if let Some(planned) = chain.and_then(Self::of_protocol) {
            return Some(planned);
        }
        // With several builds, power depends on their number, not on the number of blocks.
        if comparison.layout.is_some() {
            return None;
        }
        let (kind, n, sd) = match blocks {
            Some(blocks) => {
                let shifts: Vec<f64> = blocks.iter().map(|(a, b)| b - a).collect();
                let n = comparison.effective.min(shifts.len() as f64);
                (Kind::Paired, n, descriptive::standard_deviation(&shifts))
            }
            None => {
                let (n, m) = (against.len() as f64, of.len() as f64);
                let share = (comparison.effective / n.min(m)).min(1.0);
                let spread = |xs| descriptive::variance(xs);
                let sd = ((spread(against) + spread(of)) / 2.0).sqrt();
                (Kind::TwoSample, 2.0 / (1.0 / n + 1.0 / m) * share, sd)
            }
        };
        let threshold = match threshold {
            Threshold::Absolute { value, .. } => *value,
            Threshold::Relative(fraction) => fraction * comparison.medians.0.abs(),
        };
        let experiment = Experiment {
            test: Test { kind, sides: Sides::Two },
            n,
            sd,
            // A protocol that ended before its power analysis still has its own level and power.
            level: chain.map_or(comparison.level, Protocol::level_planned),
            wanted: chain.map_or(policy::USUAL_POWER, |chain| chain.power_wanted),
        };
        experiment.curve(threshold)
    }
}

struct Experiment {
    test: Test,
    n: f64,
    sd: f64,
    level: f64,
    wanted: f64,
}

impl Experiment {
    fn curve(&self, threshold: f64) -> Option<PowerCurve> {
        let &Self { test, n, sd, level, wanted } = self;
        let with = |n: f64, power: f64| Quantities { n, delta: 0.0, sd, sig_level: level, power };
        let delta =
            |n: f64, power: f64| Some(test.solve(Unknown::Delta, with(n, power))?.delta.abs());
        let n_of_ranks = (n / RANK_OVERHEAD).max(1.2);
        let last = delta(n, SURE)?.max(delta(n_of_ranks, SURE)?);
        if !(last > 0.0 && last.is_finite()) {
            return None;
        }
        let curve = |n: f64| {
            let at = |k: usize| last * k as f64 / (POINTS - 1) as f64;
            (0..POINTS).map(|k| (at(k), test.power(n, at(k), sd, level))).collect()
        };
        Some(PowerCurve {
            t: curve(n),
            rank: curve(n_of_ranks),
            n,
            standard_deviation: sd,
            level,
            wanted,
            visible: delta(n, wanted),
            of_protocol: false,
            threshold: Some(threshold).filter(|t| *t > 0.0 && t.is_finite()),
        })
    }
}

/// The coordinates x and y of a point of a curve.
pub type Point = (f64, f64);
