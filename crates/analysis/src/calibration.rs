//! Calibration: the false-positive rate of each measurement method on this machine, and the
//! smallest difference that it can detect.
//!
//! The input is one long series of runs of one unchanging program. Labels A and B are assigned
//! afterwards, as each method would have assigned them. A label can't have affected a run, so every
//! difference found is false, and all methods are judged on the same noise. The second half of the
//! calibration uses the same labeled pieces for the reverse question: if B really had been faster
//! by a given amount, how often would that have been found?
//!
//! A calibration can't detect differences that arise from comparing two programs (another path,
//! another layout; see [`Layout`]), or noise too rare to occur in the series. The random order
//! makes assay's own rate correct by construction, provided that the distribution of its test is
//! implemented correctly. The calibration mainly measures the cost of the other orders, and the
//! detectable difference.

mod detectable;
mod labels;

use crate::comparison::Comparison;
use crate::policy;
use crate::verdict::{Scale, Verdict};
use assay_stats::{Interval, descriptive, proportion};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Budgets in seconds for which the smallest detectable difference is reported.
pub const BUDGETS: [f64; 3] = [10.0, 60.0, 600.0];

/// Successive runs of one program, in their order of measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series<'a> {
    /// Wall-clock times in seconds, all positive.
    pub wall: &'a [f64],
    /// CPU times of the same runs, in seconds.
    pub cpu: &'a [f64],
    /// Seconds from the start of one run to the start of the next: the run plus the measurement
    /// overhead.
    pub seconds_per_run: f64,
}

/// The results of a calibration, which describe measurements on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Number of runs in the series.
    pub runs: usize,
    /// Median wall-clock time of a run, in seconds.
    pub median_seconds: f64,
    /// Seconds from the start of one run to the start of the next.
    pub seconds_per_run: f64,
    /// The measurement methods, the common ones first.
    pub methods: Vec<Method>,
    /// The smallest detectable differences: of wall time, then of CPU time, each for every budget.
    pub detectable: Vec<Detectable>,
}

/// Names of measurement methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodName {
    /// All runs of A, then all of B.
    BlockOrder,
    /// Strict alternation: A B A B.
    Alternating,
    /// Assay, with random order within each of 50 pairs.
    Ours,
    /// Assay, with random order within pairs, stopping when the answer is clear.
    OursDefault,
}

/// Results of a measurement method for a program compared with itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The measurement method.
    pub name: MethodName,
    /// The common name of the test used.
    pub test: &'static str,
    /// Number of comparisons tried.
    pub comparisons: u32,
    /// Number of independent comparisons: those that share no run, or all of them if the order is
    /// redrawn for each.
    pub independent: u32,
    /// Number of comparisons that found a difference at the 5 % level.
    pub false_alarms: u32,
    /// The size of the relative difference that 5 % of the comparisons exceed. This is the
    /// difference between the medians, or for assay, the estimate that it prints.
    pub phantom_p95: f64,
}

impl Method {
    /// Returns the share of comparisons that found a difference, in 0..=1.
    pub fn rate(&self) -> f64 {
        f64::from(self.false_alarms) / f64::from(self.comparisons.max(1))
    }

    /// Returns the 95 % interval of the rate (Wilson), based on the number of independent
    /// comparisons; `None` if there are none.
    pub fn interval(&self) -> Option<Interval> {
        let alarms = (self.rate() * f64::from(self.independent)).round() as u64;
        proportion::wilson_interval(
            alarms,
            u64::from(self.independent),
            policy::CALIBRATED_CONFIDENCE,
        )
    }
}

/// The smallest detectable difference within a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Detectable {
    /// Time spent on both programs together, in seconds.
    pub budget_seconds: f64,
    /// `wall` or `cpu`.
    pub metric: &'static str,
    /// Number of blocks of two runs that fit in the budget.
    pub blocks: u32,
    /// The smallest true relative difference whose direction 90 % of experiments of this length
    /// find, with the interval that a run that stops by itself uses at each look. `None` if there
    /// are too few blocks, or if a value is not positive.
    pub difference: Option<f64>,
    /// True if more blocks fit in the budget than the series has; the value is then extrapolated by
    /// 1/√n from half of the series and all of it.
    pub extrapolated: bool,
}

/// The difference between two byte-identical copies of a program: the effect of path and layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Wall-clock time of the copy divided by that of the original.
    pub ratio: f64,
    /// Confidence interval for `ratio`.
    pub interval: Interval,
    /// The verdict that a comparison of the two would give.
    pub verdict: Verdict,
}

impl Layout {
    /// Reads the difference from the comparison of the copy with the original. Returns `None`
    /// unless the comparison is of ratios and has an interval.
    pub fn of(comparison: &Comparison) -> Option<Self> {
        let ratio = comparison.ratio.filter(|_| comparison.decision.scale == Scale::Ratio)?;
        Some(Self {
            ratio: ratio.estimate,
            interval: ratio.interval?,
            verdict: comparison.decision.verdict,
        })
    }
}

/// Reasons why a series can't be used for calibration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// The series is too short.
    #[error(
        "a calibration needs at least {needed} runs of the program, but there are {have}; measure longer"
    )]
    TooFewRuns {
        /// Number of runs in the series.
        have: usize,
        /// Minimum number of runs.
        needed: usize,
    },
    /// The numbers of wall-clock and CPU times differ.
    #[error("there are {wall} wall-clock times but {cpu} CPU times; every run needs both")]
    DifferentLengths {
        /// Number of wall-clock times in the series.
        wall: usize,
        /// Number of CPU times in the series.
        cpu: usize,
    },
    /// A value that can't be a time.
    #[error("run {run} has the {metric} time {seconds} s, which is not a possible run time")]
    NotATime {
        /// Number of the run, starting at 1.
        run: usize,
        /// `wall` or `cpu`.
        metric: &'static str,
        /// The invalid value, in seconds.
        seconds: f64,
    },
    /// The time per run, in seconds, is not positive.
    #[error("the time from one run to the next must be positive, not {0} s")]
    NoPace(f64),
}

impl Calibration {
    /// Returns the smallest detectable difference of a metric within a budget, which must be one of
    /// [`BUDGETS`].
    pub fn detectable(&self, metric: &str, budget_seconds: f64) -> Option<f64> {
        let of = |s: &&Detectable| s.metric == metric && s.budget_seconds == budget_seconds;
        self.detectable.iter().find(of)?.difference
    }

    /// Returns the facts to record in the environment of later runs, from which
    /// [`crate::machine::detectable`] reads them.
    pub fn facts(&self) -> Vec<(&'static str, f64)> {
        let fact = |name, metric| Some((name, self.detectable(metric, 60.0)?));
        [fact("calibrated_wall_60s", "wall"), fact("calibrated_cpu_60s", "cpu")]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Calibrates a machine. The same series and seed give the same numbers. O(runs · log runs), about
/// a second for 5,000 runs.
///
/// # Errors
/// Returns an error if the series is too short, or contains a value that can't be a time.
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

/// The source of all random draws.
struct Random(Pcg64Mcg);

impl Random {
    /// Draws a number in `0..bound`, where `bound` is at least 1. The bias of 2⁻⁶⁴ · bound is
    /// negligible.
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// Draws a seed for a plan.
    fn seed(&mut self) -> u64 {
        self.0.next_u64() >> 11
    }

    fn coin(&mut self) -> bool {
        self.0.next_u32() & 1 == 1
    }
}

#[cfg(test)]
mod tests;
