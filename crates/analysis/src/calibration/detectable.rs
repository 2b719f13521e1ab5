//! The smallest true difference whose direction 90 % of experiments of a given length would find.
//!
//! A true factor shifts every per-block log-ratio, and with them the whole interval, by its
//! logarithm. It is found if this shift exceeds the distance from zero to the opposite end of the
//! interval for *no* difference, here called the reach of the interval. So no search is needed: the
//! 90 % quantile of the reach, over many labelings of pieces of the series, is the difference that
//! is found 90 times in 100. The interval is that of [`crate::paired`], widened if the difference
//! drifts, at the level of a look (0.002 for 95 %), which a run that stops by itself must pass.
//! With a fixed number of blocks, the detectable difference is about a quarter smaller.
//!
//! The result applies to programs whose noise, relative to their time, is like that of the measured
//! program.

use super::{BUDGETS, Detectable, Random, Series};
use crate::paired::{self, Level};
use crate::policy;
use crate::verdict::Scale;
use assay_data::plan::look_level;
use assay_stats::{descriptive, signed_rank::SignedRankDistribution};

/// Number of labelings of the series for each length.
const LABELLINGS: usize = 60;

/// Returns the results for wall times, then CPU times, each for every budget.
pub(super) fn detectable(series: &Series<'_>, random: &mut Random) -> Vec<Detectable> {
    let mut distribution = SignedRankDistribution::default();
    let mut found = Vec::new();
    for (metric, values) in [("wall", series.wall), ("cpu", series.cpu)] {
        let mut eye = Eye::of(values, random, &mut distribution);
        for budget_seconds in BUDGETS {
            let blocks = (budget_seconds / (2.0 * series.seconds_per_run)).floor();
            let (difference, extrapolated) = match &mut eye {
                Some(eye) => eye.sees(blocks),
                None => (None, false),
            };
            let blocks = blocks.min(f64::from(u32::MAX)) as u32;
            found.push(Detectable { budget_seconds, metric, blocks, difference, extrapolated });
        }
    }
    found
}

struct Eye<'a> {
    logs: Vec<f64>,
    clock_step: f64,
    random: &'a mut Random,
    distribution: &'a mut SignedRankDistribution,
    /// Reach of the interval times √n, for lengths beyond the series; the outer `None` until
    /// computed.
    beyond: Option<Option<f64>>,
}

impl<'a> Eye<'a> {
    /// Prepares a series; returns `None` if ratios of its values are undefined.
    fn of(
        values: &[f64],
        random: &'a mut Random,
        distribution: &'a mut SignedRankDistribution,
    ) -> Option<Self> {
        values.iter().all(|&v| v > 0.0).then(|| Self {
            logs: values.iter().map(|v| v.ln()).collect(),
            clock_step: paired::clock_step(values, &[], Scale::Ratio),
            random,
            distribution,
            beyond: None,
        })
    }

    /// Returns the smallest relative difference detected in `blocks` blocks, and whether it is
    /// extrapolated beyond the recorded blocks.
    fn sees(&mut self, blocks: f64) -> (Option<f64>, bool) {
        let recorded = self.logs.len() / 2;
        if blocks < f64::from(paired::fewest_blocks(look_level(policy::CALIBRATED_CONFIDENCE))) {
            return (None, false);
        }
        let extrapolated = blocks > recorded as f64;
        let reach = if extrapolated {
            let beyond = match self.beyond {
                Some(known) => known,
                None => {
                    let found = self.beyond(recorded);
                    self.beyond = Some(found);
                    found
                }
            };
            beyond.map(|scaled| scaled / blocks.sqrt())
        } else {
            self.reach(blocks as usize)
        };
        // However many looks there are, a difference below one step of the clock is not detected.
        (reach.map(|reach| reach.max(self.clock_step).exp_m1()), extrapolated)
    }

    fn beyond(&mut self, recorded: usize) -> Option<f64> {
        let scaled = |eye: &mut Self, n: usize| Some(eye.reach(n)? * (n as f64).sqrt());
        Some((scaled(self, recorded)? + scaled(self, recorded / 2)?) / 2.0)
    }

    /// Returns the reach of the interval for no difference, on the log scale: the value that 90 %
    /// of labelings do not exceed.
    fn reach(&mut self, blocks: usize) -> Option<f64> {
        let mut reaches = Vec::with_capacity(2 * LABELLINGS);
        for _ in 0..LABELLINGS {
            let begin = self.random.below(self.logs.len() - 2 * blocks + 1);
            let differences: Vec<f64> = self.logs[begin..begin + 2 * blocks]
                .chunks_exact(2)
                .map(|pair| {
                    let difference = pair[1] - pair[0];
                    if self.random.coin() { difference } else { -difference }
                })
                .collect();
            let confidence = policy::CALIBRATED_CONFIDENCE;
            let level = Level { interval: look_level(confidence), groups: 1.0 - confidence };
            let interval = paired::location(&differences, level, self.distribution).interval?;
            // A true slowdown of B larger than the first value would have been found, and so would
            // a speedup larger than the second.
            reaches.extend([-interval.lower, interval.upper]);
        }
        Some(
            descriptive::quantile_sorted(&descriptive::sorted(&reaches), policy::CALIBRATED_POWER)
                .max(0.0),
        )
    }
}
