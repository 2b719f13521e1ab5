//! The number of runs a question needs, and the difference that a number of runs can show.
//!
//! One of five quantities is unknown: runs per side, difference, standard deviation, significance,
//! or power. Student's t test determines it ([`assay_stats::power_t`]); rank tests get 15 % more
//! runs, a common rule (Lehmann, *Nonparametrics*, 1975). For a shift of any distribution they are
//! at least 0.864 times as efficient (Hodges and Lehmann, 1956), so they need at most 15.7 % more,
//! which the rule rounds. A pilot replaces assumptions with its own values: the standard deviation
//! with the upper end of its bootstrap intervals ([`pilot`]), the distribution with the pilot's
//! ([`rank`]), and independent runs with blocks, if it has any ([`blocks`]). Plans are no evidence
//! about a difference.

pub mod blocks;
pub mod pilot;
pub mod rank;
mod remedy;

use crate::analysis::units_differ;
use assay_data::{Environment, Samples, Threshold, Unit};
use assay_stats::normal;
pub use assay_stats::power_t::{Kind, Quantities, Sides, Test, Unknown};
use blocks::BlocksPlan;
use pilot::Pilot;
use rank::RankPlan;
pub use remedy::Remedy;

/// Overhead of rank tests over the t test: the 15 % rule. At worst they need 15.7 % more, for a
/// shift.
pub const RANK_OVERHEAD: f64 = 1.15;
/// Largest rounding step: larger plans are rounded up to thousands, smaller ones to two digits.
const LARGEST_ROUNDING: f64 = 1000.0;
/// Shares of the planned number at which the curve is drawn.
const CURVE: [f64; 7] = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// The direction of differences that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternative {
    /// Both directions.
    #[default]
    TwoSided,
    /// Only larger values.
    Greater,
    /// Only smaller values.
    Less,
}

/// The question for a plan. Differences are sizes; the alternative gives the direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The kind of comparison.
    pub kind: Kind,
    /// The direction of differences that count.
    pub alternative: Alternative,
    /// True if a difference found in the wrong direction counts as found.
    pub strict: bool,
    /// Runs per side.
    pub n: Option<f64>,
    /// The difference; relative to the reference's median with a pilot.
    pub delta: Option<Threshold>,
    /// The standard deviation, in the unit of the difference.
    pub sd: Option<f64>,
    /// The significance.
    pub sig_level: Option<f64>,
    /// The power.
    pub power: Option<f64>,
    /// Multiple to round the number of runs up to; by default depends on the number.
    pub round: Option<u64>,
    /// True if blocks are shown first.
    pub in_blocks: bool,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// The unit of amounts.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// A unit.
    Unit(Unit),
    /// Fractions of the reference.
    Fraction,
}

/// An error in planning.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanningError {
    /// Too many or too few quantities are given.
    #[error(
        "{problem}; give four of --n, --delta, --sd, --alpha and --power; the fifth is calculated (--alpha is 0.05 and --power 0.8 where they are not given)"
    )]
    Given {
        /// The problem.
        problem: String,
    },
    /// The spread of runs is unknown.
    #[error(
        "how much do the runs spread? Give --pilot FILE, some runs measured before (`assay run --save pilot.assay ...`), or --sd, the standard deviation"
    )]
    NoSpread,
    /// No value of the unknown gives the power.
    #[error("there is no {what} that gives this power: {hint}")]
    NoAnswer {
        /// The unknown quantity.
        what: &'static str,
        /// Suggested change.
        hint: &'static str,
    },
    /// More runs would be needed than are feasible.
    #[error(
        "about {} runs of each would be needed, which is out of reach; look for a larger difference, or make the runs spread less (--n 1000000 in place of the difference tells which one a million runs can see)",
        spelled(*needed)
    )]
    OutOfReach {
        /// Approximate number of runs.
        needed: f64,
    },
    /// The difference has a unit that the pilot does not have.
    #[error("{}", units_differ("the difference", asked, metric, unit))]
    OtherUnit {
        /// Unit of the difference.
        asked: Unit,
        /// Name of the pilot's metric.
        metric: String,
        /// The unit of the pilot's metric.
        unit: Unit,
    },
    /// The pilot doesn't contain what the question needs.
    #[error("{0}")]
    Pilot(String),
}

/// Power at a number of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Runs per side.
    pub n: u64,
    /// The power of the t test.
    pub t: f64,
    /// The power of the rank test: by the pilot's distribution, or the 15 % rule without one.
    pub rank: f64,
    /// The difference that the t test finds with the requested power.
    pub delta: Option<f64>,
    /// The difference that the rank test finds with the requested power: by the pilot's
    /// distribution, or the 15 % rule without one; `None` if this many runs find none.
    pub delta_rank: Option<f64>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planning {
    /// The question that was asked.
    pub asked: Asked,
    /// The unit of amounts.
    pub measure: Measure,
    /// The quantity solved for.
    pub unknown: Unknown,
    /// The answer of the t test.
    pub t: Quantities,
    /// The answer of the rank test.
    pub rank: RankPlan,
    /// Power by number of runs, at the difference, spread and significance of the rank test's
    /// answer.
    pub curve: Vec<CurvePoint>,
    /// Results of the pilot.
    pub pilot: Option<Pilot>,
    /// The same question in blocks; `None` without a pilot in blocks.
    pub blocks: Option<BlocksPlan>,
    /// The plan in terms of this machine's calibration.
    pub here: Here,
}

/// Calibration data of this machine, used if no pilot shows how long a run takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Here {
    /// Not applicable: there is a pilot, or the difference is not a fraction, as a calibration's
    /// are.
    NotAsked,
    /// The machine was never calibrated.
    NotCalibrated,
    /// The machine was calibrated.
    Calibrated {
        /// Date of the calibration.
        at: String,
        /// The smallest difference of wall times detectable in a minute, as a fraction.
        in_a_minute: f64,
        /// Approximate seconds needed for the planned difference.
        seconds: f64,
    },
}

impl Planning {
    /// Adds what the last calibration of a machine implies for the plan (`calibrated_at` and
    /// `calibrated_wall_60s` among its facts): a difference half as large takes four times as long.
    /// O(1).
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

impl Asked {
    /// The planned test.
    pub fn test(&self) -> Test {
        let sides = match self.alternative {
            Alternative::TwoSided if self.strict => Sides::TwoStrict,
            Alternative::TwoSided => Sides::Two,
            Alternative::Greater | Alternative::Less => Sides::One,
        };
        Test { kind: self.kind, sides }
    }

    /// Returns the quantity to solve for: the one that is not given, after defaults for
    /// significance and power.
    fn unknown(&self, has_spread: bool) -> Result<Unknown, PlanningError> {
        let lacking = [
            (self.n.is_none(), Unknown::N),
            (self.delta.is_none(), Unknown::Delta),
            (!has_spread, Unknown::Sd),
        ];
        let lacking: Vec<Unknown> = lacking.into_iter().filter(|l| l.0).map(|l| l.1).collect();
        let problem = match (lacking.as_slice(), self.sig_level, self.power) {
            ([one], ..) => return Ok(*one),
            ([], _, None) => return Ok(Unknown::Power),
            ([], None, Some(_)) => return Ok(Unknown::SigLevel),
            ([], Some(_), Some(_)) => "everything is given and nothing is asked",
            (lacking, ..) if lacking.contains(&Unknown::Sd) => return Err(PlanningError::NoSpread),
            _ => "neither the number of runs nor the difference is given",
        };
        Err(PlanningError::Given { problem: problem.to_owned() })
    }
}

/// Plans from numbers alone.
///
/// # Errors
/// If too few or too many quantities are given, or no value gives the requested power.
pub fn from_numbers(asked: Asked, measure: Measure) -> Result<Planning, PlanningError> {
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

/// Plans from a pilot, that is, samples measured before. `metric` names the metric to plan for
/// (default: the pilot's primary one).
///
/// # Errors
/// As [`from_numbers`], and if the pilot lacks data that the question needs.
pub fn from_pilot(
    asked: Asked,
    samples: &Samples,
    metric: Option<&str>,
) -> Result<Planning, PlanningError> {
    from_pilot_telling(asked, samples, metric, &mut |_| ())
}

/// Number of phases reported by [`from_pilot_telling`].
pub const PHASES: usize = 2;

/// Like [`from_pilot`]; calls `tell` with the name of each phase as it starts.
///
/// # Errors
/// As [`from_pilot`].
pub fn from_pilot_telling(
    asked: Asked,
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
            "the reference's median is 0, of which no fraction is a difference; give --delta as an amount".to_owned(),
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
            "--blocks needs a pilot in blocks, five at least, of commands that do not always take the same: `assay run --save pilot.assay A B`".to_owned(),
        ));
    }
    let measure = Measure::Unit(pilot.unit.clone());
    let (pilot, here) = (Some(pilot), Here::NotAsked);
    Ok(Planning { asked, measure, unknown, t, rank, curve, pilot, blocks, here })
}

fn solved(
    asked: &Asked,
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

/// Approximate runs per side for the rank test, by the normal distribution and the 15 % rule, for
/// numbers beyond what the exact solution handles. NaN if the power does not exceed the
/// significance.
fn about(asked: &Asked, given: Quantities) -> f64 {
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

/// Formats an excessive number with two digits: `1.8e19`.
fn spelled(needed: f64) -> String {
    if needed.is_finite() { format!("{needed:.1e}") } else { "more than 1e300".to_owned() }
}

/// Returns the number of runs to take, and the multiple it was rounded up to: the requested one, or
/// two digits with steps of at most a thousand.
pub fn rounded_up(n: f64, to: Option<u64>) -> (u64, u64) {
    let n = n.clamp(2.0, 1e15).ceil();
    let step = to.map_or_else(
        || 10f64.powi(n.log10().floor() as i32 - 1).clamp(1.0, LARGEST_ROUNDING),
        |step| step.max(1) as f64,
    );
    (((n / step).ceil() * step) as u64, step as u64)
}

fn curve(
    asked: &Asked,
    t: Quantities,
    rank: &RankPlan,
    series: Option<&pilot::Series>,
) -> Vec<CurvePoint> {
    let test = asked.test();
    // What the rank test was planned for, or the t test if ranks can't show anything with so few
    // runs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_reach_are_spelled_by_their_size() {
        assert_eq!(spelled(1_234_567.0), "1.2e6");
        assert_eq!(
            (spelled(f64::INFINITY), spelled(f64::NAN)),
            ("more than 1e300".to_owned(), "more than 1e300".to_owned())
        );
    }
}
