//! Calibration: the false-positive rate of each way of measuring on this machine, and the smallest
//! difference it can detect.
//!
//! The input is one long series of runs of one unchanging program. Labels A and B are put on it
//! afterwards, as each way of measuring would have put them: a label can't have changed a run, so
//! every difference that is found is false, and all ways are judged on the same noise. The second
//! half turns the same labelled pieces round: had B really been faster by so much, how often would
//! it have been found?
//!
//! What it can't see: a difference that being two programs makes (another path, another layout:
//! [`Layout`] is for that), and noise that comes less often than the series lasts. The random order
//! makes assay's own rate right by construction, as far as its distribution is implemented right;
//! what is measured here is chiefly what the other orders cost, and the detectable.

mod detectable;
mod labels;

use crate::comparison::Comparison;
use crate::policy;
use crate::verdict::{Scale, Verdict};
use assay_stats::{Interval, descriptive, proportion};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The budgets for which the smallest detectable difference is reported, s.
pub const BUDGETS: [f64; 3] = [10.0, 60.0, 600.0];

/// Successive runs of one program, in the order in which they were taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series<'a> {
    /// Wall-clock times, s, positive.
    pub wall: &'a [f64],
    /// CPU times of the same runs, s.
    pub cpu: &'a [f64],
    /// Seconds from one run's start to the next: the run and what measuring it costs.
    pub seconds_per_run: f64,
}

/// What a series says about measuring on its machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Runs in the series.
    pub runs: usize,
    /// Median wall-clock time of a run, s.
    pub median_seconds: f64,
    /// Seconds from one run's start to the next.
    pub seconds_per_run: f64,
    /// The ways of measuring, the usual ones first.
    pub methods: Vec<Method>,
    /// The smallest detectable differences: wall time, then CPU time, each by budget.
    pub detectable: Vec<Detectable>,
}

/// A way of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodName {
    /// All runs of A, then all of B.
    BlockOrder,
    /// A B A B.
    Alternating,
    /// Random order within pairs, 50 of them.
    Ours,
    /// Random order within pairs, stopping when the answer is clear.
    OursDefault,
}

/// How a way of measuring fared on a program compared with itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Which.
    pub name: MethodName,
    /// The test that decided, as people call it.
    pub test: &'static str,
    /// Comparisons tried.
    pub comparisons: u32,
    /// How many independent ones they are worth: those that share no run, or, where the order is
    /// drawn again for each, all.
    pub independent: u32,
    /// How many found a difference, at 5 %.
    pub false_alarms: u32,
    /// The relative difference that 5 % of the comparisons exceed, in either direction: between the
    /// medians, or for assay the one that it prints.
    pub phantom_p95: f64,
}

impl Method {
    /// The share of false alarms, in 0..=1.
    pub fn rate(&self) -> f64 {
        f64::from(self.false_alarms) / f64::from(self.comparisons.max(1))
    }

    /// Its 95 % interval (Wilson), as wide as the independent comparisons demand; `None` without
    /// comparisons.
    pub fn interval(&self) -> Option<Interval> {
        let alarms = (self.rate() * f64::from(self.independent)).round() as u64;
        proportion::wilson_interval(
            alarms,
            u64::from(self.independent),
            policy::CALIBRATED_CONFIDENCE,
        )
    }
}

/// How small a difference can be believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Detectable {
    /// Seconds spent on the two programs together.
    pub budget_seconds: f64,
    /// `wall` or `cpu`.
    pub metric: &'static str,
    /// Blocks of two runs that fit into the budget.
    pub blocks: u32,
    /// The smallest true relative difference of which the direction is found in 90 % of such
    /// experiments, with the interval that a run that stops by itself uses at every look; `None`
    /// for too few blocks or values that are not positive.
    pub difference: Option<f64>,
    /// True when more blocks fit into the budget than the series holds: then by 1/√n from its half
    /// and its whole.
    pub extrapolated: bool,
}

/// The difference between two byte-identical copies of a program: what the luck of path and layout
/// is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Copy / original, of the wall-clock time.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
    /// What would have been said of two programs.
    pub verdict: Verdict,
}

impl Layout {
    /// From the comparison of the copy with the original; `None` where there is no ratio with an
    /// interval.
    pub fn of(comparison: &Comparison) -> Option<Self> {
        let ratio = comparison.ratio.filter(|_| comparison.decision.scale == Scale::Ratio)?;
        Some(Self {
            ratio: ratio.estimate,
            interval: ratio.interval?,
            verdict: comparison.decision.verdict,
        })
    }
}

/// Why a series can't calibrate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// Too short.
    #[error(
        "a calibration needs at least {needed} runs of the program, but there are {have}; measure longer"
    )]
    TooFewRuns {
        /// How many there are.
        have: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Wall and CPU times do not belong to the same runs.
    #[error("there are {wall} wall-clock times but {cpu} CPU times; every run needs both")]
    DifferentLengths {
        /// Wall-clock times.
        wall: usize,
        /// CPU times.
        cpu: usize,
    },
    /// A number that is no time.
    #[error(
        "run {run} has the {metric} time {seconds} s, which is no time that a program can take"
    )]
    NotATime {
        /// The run, counted from 1.
        run: usize,
        /// `wall` or `cpu`.
        metric: &'static str,
        /// The number.
        seconds: f64,
    },
    /// What a run costs is not known.
    #[error("the time from one run to the next must be positive, not {0} s")]
    NoPace(f64),
}

impl Calibration {
    /// The smallest detectable difference of a metric within a budget.
    pub fn detectable(&self, metric: &str, budget_seconds: f64) -> Option<f64> {
        let of = |s: &&Detectable| s.metric == metric && s.budget_seconds == budget_seconds;
        self.detectable.iter().find(of)?.difference
    }

    /// The facts for the environment of later runs, which [`crate::machine::detectable`] reads.
    pub fn facts(&self) -> Vec<(&'static str, f64)> {
        let fact = |name, metric| Some((name, self.detectable(metric, 60.0)?));
        [fact("calibrated_wall_60s", "wall"), fact("calibrated_cpu_60s", "cpu")]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Calibrates. The same series and seed give the same numbers. O(runs · log runs), about a second
/// for 5,000 runs.
///
/// # Errors
/// When the series is too short, or not one of times.
pub fn calibrate(series: &Series<'_>, seed: u64) -> Result<Calibration, CalibrationError> {
    check(series)?;
    let mut random = Random(Pcg64Mcg::seed_from_u64(seed));
    Ok(Calibration {
        runs: series.wall.len(),
        median_seconds: descriptive::median(series.wall),
        seconds_per_run: series.seconds_per_run,
        methods: labels::methods(series, &mut random),
        detectable: detectable::detectable(series, &mut random),
    })
}

fn check(series: &Series<'_>) -> Result<(), CalibrationError> {
    let (wall, cpu) = (series.wall.len(), series.cpu.len());
    if wall != cpu {
        return Err(CalibrationError::DifferentLengths { wall, cpu });
    }
    if wall < policy::CALIBRATED_FROM {
        return Err(CalibrationError::TooFewRuns { have: wall, needed: policy::CALIBRATED_FROM });
    }
    if !(series.seconds_per_run > 0.0 && series.seconds_per_run.is_finite()) {
        return Err(CalibrationError::NoPace(series.seconds_per_run));
    }
    let wrong = |values: &[f64], metric, fine: fn(f64) -> bool| {
        let run = values.iter().position(|&v| !(v.is_finite() && fine(v)))?;
        Some(CalibrationError::NotATime { run: run + 1, metric, seconds: values[run] })
    };
    let found =
        wrong(series.wall, "wall", |v| v > 0.0).or_else(|| wrong(series.cpu, "cpu", |v| v >= 0.0));
    found.map_or(Ok(()), Err)
}

/// Where all that is drawn comes from.
struct Random(Pcg64Mcg);

impl Random {
    /// A number below `bound` (at least 1); the unevenness of 2⁻⁶⁴ · bound is none.
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// A seed for a plan.
    fn seed(&mut self) -> u64 {
        self.0.next_u64() >> 11
    }

    fn coin(&mut self) -> bool {
        self.0.next_u32() & 1 == 1
    }
}

#[cfg(test)]
mod tests;
