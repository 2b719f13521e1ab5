//! The number of runs needed for a question, and the difference that a given number can detect.
//!
//! One of five quantities is unknown: runs per side, difference, standard deviation, significance,
//! or power. Student's t test determines it ([`assay_stats::power_t`]); rank tests get 15 % more
//! runs, a common rule (Lehmann, *Nonparametrics*, 1975). For a shift of any distribution, rank
//! tests are at least 0.864 times as efficient (Hodges and Lehmann, 1956), so they need at most
//! 15.7 % more runs, which the rule rounds to 15 %. A pilot replaces assumptions: its bootstrap
//! intervals give the standard deviation, which is their upper end ([`pilot`]), and its values give
//! the distribution ([`rank`]). If it has blocks, the plan is also made in blocks instead of
//! independent runs ([`blocks`]). Plans are not evidence of a difference.

pub mod blocks;
pub mod pilot;
mod question;
pub mod rank;
mod remedy;

use assay_data::{Environment, Samples, Threshold, Unit};
use assay_stats::normal;
pub use assay_stats::power_t::{Kind, Quantities, Sides, Test, Unknown};
use blocks::BlocksPlan;
use pilot::Pilot;
pub use question::{Alternative, PlanQuestion, PlanningError, RANK_OVERHEAD, rounded_up};
use rank::RankPlan;
pub use remedy::Remedy;

/// Fractions of the planned number of runs at which the power curve is evaluated.
const CURVE: [f64; 7] = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// The unit of a plan's amounts.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// A metric's unit.
    Unit(Unit),
    /// Fractions of the reference.
    Fraction,
}

/// A point of the power curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Runs per side.
    pub n: u64,
    /// Power of the t test.
    pub t: f64,
    /// Power of the rank test, from the pilot's distribution or, without a pilot, from the 15 %
    /// rule.
    pub rank: f64,
    /// The difference that the t test finds with the requested power.
    pub delta: Option<f64>,
    /// The difference that the rank test finds with the requested power, from the pilot's
    /// distribution or, without a pilot, from the 15 % rule; `None` if this many runs find no
    /// difference.
    pub delta_rank: Option<f64>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planning {
    /// The question that the plan answers.
    pub asked: PlanQuestion,
    /// The unit of the plan's amounts.
    pub measure: Measure,
    /// The quantity solved for.
    pub unknown: Unknown,
    /// The answer of the t test.
    pub t: Quantities,
    /// The answer of the rank test.
    pub rank: RankPlan,
    /// Power curve by number of runs, at the difference, spread and significance of the rank test's
    /// answer.
    pub curve: Vec<CurvePoint>,
    /// Results of the pilot.
    pub pilot: Option<Pilot>,
    /// The same plan in blocks; `None` without a suitable pilot in blocks.
    pub blocks: Option<BlocksPlan>,
    /// The duration of the plan according to this machine's calibration.
    pub here: Here,
}

/// Calibration data of this machine, used if no pilot shows the duration of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Here {
    /// Not applicable, because there is a pilot or because the difference is not a fraction, as it
    /// is in calibrations.
    NotAsked,
    /// The machine was never calibrated.
    NotCalibrated,
    /// The machine was calibrated.
    Calibrated {
        /// Date of the calibration.
        at: String,
        /// The smallest difference of wall times detectable in a minute, as a fraction.
        in_a_minute: f64,
        /// Approximate time needed for the planned difference, in seconds.
        seconds: f64,
    },
}

impl Planning {
    /// Adds the time that the plan would take according to the machine's last calibration (the
    /// facts `calibrated_at` and `calibrated_wall_60s`). A difference half as large takes four
    /// times as long. O(1).
    #[must_use]
    pub fn on(mut self, machine: &Environment) -> Self {
        if self.measure != Measure::Fraction || self.pilot.is_some() {
            return self;
        }
        let detectable = machine.facts.get("calibrated_wall_60s").and_then(|fact| fact.as_f64());
        let at = machine.facts.get("calibrated_at").and_then(|fact| fact.as_str());
        self.here = match (detectable, at) {
            (Some(in_a_minute), Some(at)) if in_a_minute > 0.0 && self.t.delta > 0.0 => {
                Here::Calibrated {
                    at: at.to_owned(),
                    in_a_minute,
                    seconds: 60.0 * (in_a_minute / self.t.delta).powi(2),
                }
            }
            _ => Here::NotCalibrated,
        };
        self
    }
}

/// Plans from numbers alone.
///
/// # Errors
/// Returns an error if too few or too many quantities are given, if no value gives the requested
/// power, or if more runs would be needed than are feasible.
pub fn from_numbers(asked: PlanQuestion, measure: Measure) -> Result<Planning, PlanningError> {
    let unknown = asked.unknown(asked.sd.is_some())?;
    let delta = match &asked.delta {
        Some(Threshold::Relative(size)) => Some(*size),
        Some(Threshold::Absolute { value, .. }) => Some(*value),
        None => None,
    };
    let t = solved(&asked, unknown, delta, asked.sd)?;
    let rank = RankPlan::by_rule(&asked, unknown, t, 1.0);
    within_reach(&rank)?;
    let curve = curve(&asked, t, &rank, None);
    let here = Here::NotAsked;
    Ok(Planning { asked, measure, unknown, t, rank, curve, pilot: None, blocks: None, here })
}

/// Plans from a pilot, that is, from samples measured before the experiment. `metric` names the
/// metric to plan for; the default is the pilot's primary metric.
///
/// # Errors
/// Returns an error in the same cases as [`from_numbers`], and if the pilot lacks data needed for
/// the question or has another unit.
pub fn from_pilot(
    asked: PlanQuestion,
    samples: &Samples,
    metric: Option<&str>,
) -> Result<Planning, PlanningError> {
    from_pilot_telling(asked, samples, metric, &mut |_| ())
}

/// Number of phases reported by [`from_pilot_telling`].
pub const PHASES: usize = 2;

/// Like [`from_pilot`], but calls `tell` with the name of each phase as it starts.
///
/// # Errors
/// Returns the same errors as [`from_pilot`].
pub fn from_pilot_telling(
    asked: PlanQuestion,
    samples: &Samples,
    metric: Option<&str>,
    tell: &mut dyn FnMut(&str),
) -> Result<Planning, PlanningError> {
    tell("resampling");
    let (facts, series) = Pilot::of(samples, metric, asked.kind, asked.seed)?;
    let delta = match &asked.delta {
        Some(Threshold::Absolute { unit, .. }) if *unit != facts.unit => {
            return Err(PlanningError::OtherUnit {
                asked: unit.clone(),
                metric: facts.metric.clone(),
                unit: facts.unit,
            });
        }
        Some(Threshold::Absolute { value, .. }) => Some(*value),
        Some(Threshold::Relative(share)) => Some(share * facts.median.abs()),
        None => None,
    };
    if delta == Some(0.0) {
        return Err(PlanningError::Pilot(
            "the reference's median is 0, and so is any percentage of it; give --delta as an amount".to_owned(),
        ));
    }
    let sd = asked.sd.unwrap_or(facts.sd);
    if sd.is_infinite() || !(sd > 0.0 || series.is_constant()) {
        return Err(PlanningError::Pilot(
            "the values of the pilot are so large or so small that their spread cannot be computed; scale them, or give --sd".to_owned(),
        ));
    }
    if sd.is_nan() || sd <= 0.0 {
        return Err(PlanningError::Pilot(
            "all values of the pilot are equal: a few runs detect any difference; give --sd if you know better".to_owned(),
        ));
    }
    let unknown = asked.unknown(true)?;
    let t = solved(&asked, unknown, delta, Some(sd))?;
    let mut pilot = facts;
    let dependence = pilot.runs_per_independent;
    pilot.detectable = rank::delta_by_rule(&asked, t, pilot.n as f64 / dependence);
    tell("simulating");
    let rank = RankPlan::from_pilot(&asked, unknown, t, (&series, dependence));
    within_reach(&rank)?;
    let curve = curve(&asked, t, &rank, Some(&series));
    let blocks = BlocksPlan::of(samples, pilot.metric_index, &asked, t);
    if asked.in_blocks && blocks.is_none() {
        return Err(PlanningError::Pilot(
            "--blocks needs a pilot in blocks, at least five, of commands whose times vary: `assay run --save pilot.assay A B`".to_owned(),
        ));
    }
    let measure = Measure::Unit(pilot.unit.clone());
    let (pilot, here) = (Some(pilot), Here::NotAsked);
    Ok(Planning { asked, measure, unknown, t, rank, curve, pilot, blocks, here })
}

fn solved(
    asked: &PlanQuestion,
    unknown: Unknown,
    delta: Option<f64>,
    sd: Option<f64>,
) -> Result<Quantities, PlanningError> {
    let given = Quantities {
        n: asked.n.unwrap_or(f64::NAN),
        delta: delta.unwrap_or(f64::NAN),
        sd: sd.unwrap_or(f64::NAN),
        sig_level: asked.sig_level.unwrap_or(0.05),
        power: asked.power.unwrap_or(0.8),
    };
    let (what, hint) = match unknown {
        Unknown::N => ("number of runs", "the power must be above the significance"),
        Unknown::Delta => (
            "difference",
            "the power must be above the significance, and there must be at least two runs of each",
        ),
        Unknown::Sd => (
            "standard deviation",
            "the power must be above the significance, and there must be at least two runs of each",
        ),
        Unknown::SigLevel => ("significance", "the power must be below 1"),
        Unknown::Power => ("answer", "there must be at least two runs of each"),
    };
    asked.test().solve(unknown, given).ok_or_else(|| {
        let needed = if unknown == Unknown::N { about(asked, given) } else { f64::NAN };
        if needed > MOST_RUNS {
            PlanningError::OutOfReach { needed }
        } else {
            PlanningError::NoAnswer { what, hint }
        }
    })
}

/// Returns the approximate runs per side for the rank test, from the normal distribution and the 15
/// % rule, for numbers too large for the exact solution. NaN if the power does not exceed the
/// significance.
fn about(asked: &PlanQuestion, given: Quantities) -> f64 {
    let Quantities { delta, sd, sig_level, power, .. } = given;
    let tail = if asked.test().sides == Sides::One { sig_level } else { sig_level / 2.0 };
    let samples = if asked.kind == Kind::TwoSample { 2.0 } else { 1.0 };
    let z = normal::quantile(power) - normal::quantile(tail);
    if power > sig_level { RANK_OVERHEAD * samples * (z * sd / delta).powi(2) } else { f64::NAN }
}

/// Maximum feasible number of runs.
const MOST_RUNS: f64 = 1e12;

fn within_reach(rank: &RankPlan) -> Result<(), PlanningError> {
    let needed = rank.rule.n;
    if needed > MOST_RUNS { Err(PlanningError::OutOfReach { needed }) } else { Ok(()) }
}

fn curve(
    asked: &PlanQuestion,
    t: Quantities,
    rank: &RankPlan,
    series: Option<&pilot::Series>,
) -> Vec<CurvePoint> {
    let test = asked.test();
    // The plan for the rank test, or for the t test if so few runs can never be significant in the
    // rank test.
    let rule = rank.rule;
    let finite = |of_rank: f64, of_t: f64| if of_rank.is_finite() { of_rank } else { of_t };
    let planned = Quantities {
        delta: finite(rule.delta, t.delta),
        sd: finite(rule.sd, t.sd),
        power: if rule.power > 0.0 { rule.power } else { t.power },
        ..rule
    };
    let distribution = series.and_then(|series| series.shifted(planned.delta));
    let thinned = series.map(pilot::Series::thinned);
    let rank_test = rank::test_of(asked, planned.sig_level);
    let at = |n: u64| {
        let independent = rank.independent(n);
        let able = independent >= rank.fewest_n as f64;
        let of_rank = match &distribution {
            _ if !able => 0.0,
            Some(distribution) => distribution.formula_power(independent, rank_test),
            None => rank::power_by_rule(asked, planned, independent),
        };
        let delta_rank = match &thinned {
            _ if !able => None,
            Some(series) => rank::delta_by_distribution(series, planned, independent, rank_test),
            None => rank::delta_by_rule(asked, planned, independent),
        };
        let given = Quantities { n: independent, ..planned };
        CurvePoint {
            n,
            t: test.power(independent.max(1.1), planned.delta, planned.sd, planned.sig_level),
            rank: of_rank,
            delta: test.solve(Unknown::Delta, given).map(|found| found.delta),
            delta_rank,
        }
    };
    let mut sizes: Vec<u64> =
        CURVE.iter().map(|share| (share * rank.n as f64).round().max(2.0) as u64).collect();
    sizes.dedup();
    sizes.into_iter().map(at).collect()
}
