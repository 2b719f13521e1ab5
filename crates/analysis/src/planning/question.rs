//! The question for a plan, and the parameters common to both kinds of test.

use crate::analysis::units_differ;
use assay_data::{Threshold, Unit};
use assay_stats::power_t::{Kind, Sides, Test, Unknown};

/// Factor by which rank tests need more runs than the t test: the 15 % rule. For a shift, they need
/// at most 15.7 % more.
pub const RANK_OVERHEAD: f64 = 1.15;

/// Largest rounding step: smaller plans are rounded up to two digits, larger ones to thousands.
const LARGEST_ROUNDING: f64 = 1000.0;

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

/// The question for a plan. The difference has no sign; the alternative gives the direction.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanQuestion {
    /// The kind of comparison.
    pub kind: Kind,
    /// The direction of differences that count.
    pub alternative: Alternative,
    /// True if a difference found in the wrong direction counts as found.
    pub strict: bool,
    /// Runs per side; `None` to solve for them.
    pub n: Option<f64>,
    /// The difference; `None` to solve for it. With a pilot, a relative difference refers to the
    /// reference's median.
    pub delta: Option<Threshold>,
    /// The standard deviation, in the unit of the difference; `None` to use the pilot's or, without
    /// a pilot, to solve for it.
    pub sd: Option<f64>,
    /// The significance level; `None` for 0.05, or to solve for it if everything else is given.
    pub sig_level: Option<f64>,
    /// The power; `None` for 0.8, or to solve for it if runs, difference and spread are given.
    pub power: Option<f64>,
    /// Multiple to which the number of runs is rounded up; `None` for one that depends on the
    /// number.
    pub round: Option<u64>,
    /// True if the plan in blocks is shown first.
    pub in_blocks: bool,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// An error in planning.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanningError {
    /// Too many or too few quantities are given.
    #[error(
        "{problem}; give four of --n, --delta, --sd, --alpha and --power; the fifth is calculated (--alpha is 0.05 and --power 0.8 where they are not given)"
    )]
    Given {
        /// What is wrong with the given quantities.
        problem: String,
    },
    /// The spread of runs is unknown.
    #[error(
        "how much do the runs spread? Give --pilot FILE, some runs measured before (`assay run --save pilot.assay ...`), or --sd, the standard deviation"
    )]
    NoSpread,
    /// No value of the unknown quantity gives the requested power.
    #[error("there is no {what} that gives this power: {hint}")]
    NoAnswer {
        /// Name of the unknown quantity.
        what: &'static str,
        /// Condition that the other quantities must meet.
        hint: &'static str,
    },
    /// More runs would be needed than are feasible.
    #[error(
        "about {} runs of each would be needed, which is out of reach; look for a larger difference, or make the runs spread less (--n 1000000 instead of the difference shows which one a million runs can find)",
        spelled(*needed)
    )]
    OutOfReach {
        /// Approximate number of runs.
        needed: f64,
    },
    /// The unit of the difference is not that of the pilot's metric.
    #[error("{}", units_differ("the difference", asked, metric, unit))]
    OtherUnit {
        /// Unit of the difference.
        asked: Unit,
        /// Name of the pilot's metric.
        metric: String,
        /// The unit of the pilot's metric.
        unit: Unit,
    },
    /// The pilot lacks data needed for the question.
    #[error("{0}")]
    Pilot(String),
}

impl PlanQuestion {
    /// Returns the planned test.
    pub fn test(&self) -> Test {
        let sides = match self.alternative {
            Alternative::TwoSided if self.strict => Sides::TwoStrict,
            Alternative::TwoSided => Sides::Two,
            Alternative::Greater | Alternative::Less => Sides::One,
        };
        Test { kind: self.kind, sides }
    }

    /// Returns the quantity to solve for: the one that is missing after the defaults for
    /// significance and power.
    pub(super) fn unknown(&self, has_spread: bool) -> Result<Unknown, PlanningError> {
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
            ([], Some(_), Some(_)) => "everything is given, so there is nothing to calculate",
            (lacking, ..) if lacking.contains(&Unknown::Sd) => return Err(PlanningError::NoSpread),
            _ => "neither the number of runs nor the difference is given",
        };
        Err(PlanningError::Given { problem: problem.to_owned() })
    }
}

/// Returns the number of runs to take, and the multiple to which it was rounded up: `to` or, by
/// default, one that leaves two digits, at most 1,000.
pub fn rounded_up(n: f64, to: Option<u64>) -> (u64, u64) {
    let n = n.clamp(2.0, 1e15).ceil();
    let step = to.map_or_else(
        || 10f64.powi(n.log10().floor() as i32 - 1).clamp(1.0, LARGEST_ROUNDING),
        |step| step.max(1) as f64,
    );
    (((n / step).ceil() * step) as u64, step as u64)
}

/// Formats a number of runs that is out of reach with two digits: `1.8e19`.
fn spelled(needed: f64) -> String {
    if needed.is_finite() { format!("{needed:.1e}") } else { "more than 1e300".to_owned() }
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
